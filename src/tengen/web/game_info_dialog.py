"""The dialog of the game information of a record."""

from __future__ import annotations

from collections.abc import Callable

from nicegui import ui

from tengen.errors import TengenError
from tengen.sgf.info import other_name
from tengen.sgf.values import result as read_result
from tengen.sgf.values import rules_name
from tengen.web.dialog import dialog_buttons, titled_dialog
from tengen.web.language import N_, _, translated
from tengen.web.new_game_dialog import RULE_NAMES
from tengen.web.panels import MAX_COMMENT
from tengen.web.session import GameSession

TEXTS = {
    "PB": N_("Black"),
    "BR": N_("Black's rank"),
    "PW": N_("White"),
    "WR": N_("White's rank"),
    "EV": N_("Event"),
    "PC": N_("Place"),
    "DT": N_("Date"),
    "RE": N_("Result"),
}
MAX_TEXT = 500


class GameInfoDialog:
    """Shows what a record says of its game, and calls `on_change` with the texts that a person has changed, by their
    properties, the rules and the komi. The dialog stays open where that raises TengenError."""

    def __init__(self, on_change: Callable[[dict[str, str], str, float], None]) -> None:
        self._on_change, self._shown = on_change, dict.fromkeys(TEXTS, "")
        self._shown_rules = ""
        with titled_dialog(_("Game info"), "game-info-dialog") as self._dialog:
            with ui.element("div").classes("tg-pair"):
                self._texts = {name: self._text(name, _(label)) for name, label in TEXTS.items()}
                self._texts["RE"].props["placeholder"] = "B+3.5, W+R"
                self._rules = ui.select({}, label=_("Rules")).props("outlined dense options-dense")
                self._rules.props("data-testid=info-rules")
                self._komi = ui.number(label=_("Komi"), step=0.5, format="%.1f").props("outlined dense")
                self._komi.props("data-testid=info-komi")
            self._texts["GN"] = self._text("GN", _("Name of the game")).classes("w-full")
            self._texts["GC"] = self._text("GC", _("About the game")).classes("w-full").props("type=textarea autogrow")
            self._texts["GC"].props(f"maxlength={MAX_COMMENT}")
            self._fixed = ui.label(_("Rules, komi and result are those of the game in progress.")).classes("tg-note")
            with dialog_buttons(self._dialog):
                ui.button(_("Apply"), on_click=self._apply).props("unelevated no-caps data-testid=apply-info")

    def _text(self, name: str, label: str) -> ui.input:
        return ui.input(label=label).props(f"outlined dense maxlength={MAX_TEXT} data-testid=info-{name}")

    def open(self, session: GameSession, plays: bool) -> None:
        """Show the game information of a session; where it `plays`, rules, komi and result cannot be changed."""
        tree = session.tree
        root = tree.root
        self._shown = {
            name: root.text(name) or root.text(other_name(root.properties, name, tree.charset)) for name in self._texts
        }
        # Fields of a single line would join the words around a line break.
        self._shown |= {name: text.replace("\n", " ") for name, text in self._shown.items() if name != "GC"}
        if (result := str(tree.info.result)) != str(read_result(self._shown["RE"])):
            self._shown["RE"] = result  # the record counts in Chinese stones, the komi here is in points
        for name, field in self._texts.items():
            field.set_value(self._shown[name])
        name = rules_name(tree.root.text("RU"))
        self._shown_rules = name if name in RULE_NAMES else tree.rules
        names = {self._shown_rules: self._shown_rules, **translated(RULE_NAMES)}
        self._rules.set_options(names, value=self._shown_rules)
        self._komi.set_value(tree.komi)
        for fixed in (self._texts["RE"], self._rules, self._komi):
            fixed.set_enabled(not plays)
        self._fixed.set_visibility(plays)
        self._dialog.open()

    def close(self) -> None:
        """Close the dialog: another game is shown."""
        self._dialog.close()

    def _apply(self) -> None:
        texts = {name: str(field.value or "").strip() for name, field in self._texts.items()}
        changed = {name: text for name, text in texts.items() if text != self._shown[name].strip()}
        try:
            if self._komi.value is None:
                raise TengenError(_("komi is missing: enter a whole or half number such as 7.5"))
            if (rules := str(self._rules.value)) != self._shown_rules:
                changed["RU"] = rules
            self._on_change(changed, rules, float(self._komi.value))
        except TengenError as error:
            ui.notify(str(error), position="top")
            return
        self._dialog.close()

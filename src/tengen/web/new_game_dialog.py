"""The dialog of a new game: its fields and what they are remembered as."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import fields, replace
from typing import Any

from nicegui import binding, ui

from tengen.coords import MAX_SIZE, MIN_SIZE
from tengen.engine import TimeControl
from tengen.errors import TengenError
from tengen.handicap import max_fixed_handicap
from tengen.web.dialog import dialog_buttons, titled_dialog
from tengen.web.engine import PageEngines
from tengen.web.language import N_, _, ngettext, translated
from tengen.web.opponents import Opponents
from tengen.web.player_field import PlayerField, Side, network_names, restored_sides
from tengen.web.players import AUTO, DEFAULT_ENGINE, PEOPLE, PlayerChoice, facing
from tengen.web.settings import GameSettings, Mode, usual_komi

MODES = {Mode.PLAY: N_("Play"), Mode.WATCH: N_("Watch"), Mode.ANALYZE: N_("Analyze")}
SIZES = {7: "7", 9: "9", 13: "13", 19: "19", 0: N_("Other")}
COLORS = {0: N_("Black"), 1: N_("White"), 2: N_("Random")}
RULE_NAMES = {
    "chinese": N_("Chinese"),
    "japanese": N_("Japanese"),
    "korean": N_("Korean"),
    "aga": N_("AGA"),
    "new-zealand": N_("New Zealand"),
    "tromp-taylor": N_("Tromp-Taylor"),
}
NO_NETWORK = N_("No network: the engine searches with random playouts.")
CLOCKS: dict[str, tuple[str, TimeControl | None]] = {
    "none": (N_("No clock"), None),
    "blitz": (N_("1 min + 3 x 10 s"), TimeControl.byoyomi(60, 10, 3)),
    "quick": (N_("5 min + 3 x 20 s"), TimeControl.byoyomi(300, 20, 3)),
    "normal": (N_("15 min + 5 x 30 s"), TimeControl.byoyomi(900, 30, 5)),
    "long": (N_("60 min + 5 x 60 s"), TimeControl.byoyomi(3600, 60, 5)),
    "fischer": (N_("3 min + 10 s a move"), TimeControl.fischer(180, 10)),
}


@binding.bindable_dataclass
class Form:
    """The values of the fields of the dialog. `sides`: the person's opponent, and Black and White of engines alone."""

    mode: Mode
    size: int
    other: float
    color: int
    sides: tuple[Side, ...]
    rules: str
    komi: float | None
    handicap: int
    clock: str = "none"

    def settings(self, choices: Mapping[str, PlayerChoice]) -> GameSettings:
        """The settings that the fields describe. Raises TengenError for impossible values."""
        if self.komi is None:
            raise TengenError(_("komi is missing: enter a whole or half number such as 7.5"))
        return GameSettings(
            size=self.board,
            rules=self.rules,
            komi=float(self.komi),
            handicap=self.handicap,
            players=self._players(choices),
            clock=None if self.mode == Mode.ANALYZE else CLOCKS[self.clock][1],
        )

    def _players(self, choices: Mapping[str, PlayerChoice]) -> tuple[PlayerChoice, PlayerChoice]:
        opponent, black, white = self.sides
        match Mode(self.mode):
            case Mode.ANALYZE:
                return PEOPLE
            case Mode.WATCH:
                return black.player(choices), white.player(choices)
        human = self.color if self.color < 2 else random.randrange(2)
        return facing(opponent.player(choices), human)

    def restored(self, values: dict[str, Any], choices: Mapping[str, PlayerChoice]) -> Form:
        """The fields as a browser remembers them; these fields where that makes no sense."""
        known = {field.name: values[field.name] for field in fields(self) if field.name in values}
        known["sides"] = restored_sides(self.sides, values.get("sides"), choices)

        def kind(name: str, value: Any) -> type:  # a browser keeps 7.0 as 7
            return float if name in ("other", "komi") and type(value) is int else type(value)

        if any(kind(name, known[name]) is not kind(name, getattr(self, name)) for name in known if name != "mode"):
            return self
        try:
            made = replace(self, **known)
            made.mode = Mode(made.mode)
            made.settings(choices)
        except (TengenError, ValueError, KeyError, TypeError, OverflowError):
            return self
        return made if made.size in SIZES and made.color in COLORS and made.rules in RULE_NAMES else self

    @property
    def board(self) -> int:
        """The chosen board size."""
        return self.size or int(self.other)


class NewGameDialog:
    """Asks for the settings of a new game and calls `on_start` with them."""

    def __init__(
        self,
        settings: GameSettings,
        engines: PageEngines,
        opponents: Opponents,
        on_start: Callable[[GameSettings], Awaitable[None]],
    ) -> None:
        self._on_start = on_start
        self._engines, self._opponents, self._first = engines, opponents, settings.opponent
        named = settings.size in SIZES
        first = Side.of(settings.opponent)
        # Who named no strength is offered the level that follows the results.
        unnamed = first.key == DEFAULT_ENGINE.key and not settings.chosen
        opponent = replace(first, key=AUTO) if unnamed else first
        self.form = Form(
            settings.mode,
            settings.size if named else 0,
            settings.size,
            settings.human,
            (opponent, replace(first), replace(first)),
            settings.rules,
            settings.komi,
            settings.handicap,
        )
        with titled_dialog(_("New game"), "new-game-dialog") as self._dialog:
            self._fields()
            with dialog_buttons(self._dialog):
                ui.button(_("Start"), on_click=self._start).props("unelevated no-caps").props("data-testid=start-game")

    def open(self) -> None:
        """Show the dialog."""
        self._show_players()
        self._dialog.open()

    def _choices(self, automatic: bool = True) -> dict[str, PlayerChoice]:
        """All opponents on the chosen board, that of the first game too."""
        choices = self._opponents.choices(self.form.board, automatic)
        known = self._first.is_person or self._first.key in choices
        return choices if known else {self._first.key: self._first, **choices}

    def _show_players(self) -> None:
        networks = network_names(self._engines, self.form.board)
        for number, field in enumerate(self._players):
            field.show(self._choices(automatic=number == 0), networks)

    def remember(self, values: dict[str, Any]) -> None:
        """Fill the fields as a browser remembers them, unless the person is filling them."""
        if self._dialog.value:  # a busy browser may answer late
            return
        made = self.form.restored(values, self._choices())
        for side, known in zip(self.form.sides, made.sides, strict=True):
            side.copy(known)
        names = [field.name for field in fields(made) if field.name not in ("sides", "handicap", "komi")]
        for name in [*names, "handicap", "komi"]:
            setattr(self.form, name, getattr(made, name))  # the other fields change handicap and komi
        self._show_players()

    def _fields(self) -> None:
        form = self.form
        modes = ui.toggle(translated(MODES), value=form.mode).bind_value(form, "mode")
        modes.props("no-caps unelevated role=group").props["aria-label"] = _("Who plays")
        with ui.element("div").classes("tg-field"):
            ui.label(_("Board")).classes("tg-heading")
            sizes = ui.toggle(translated(SIZES), value=form.size, on_change=self._resized).bind_value(form, "size")
            sizes.props("no-caps unelevated role=group data-testid=size").props["aria-label"] = _("Board")
            slider = ui.slider(
                min=MIN_SIZE, max=MAX_SIZE, step=1, value=form.other, on_change=self._resized
            ).bind_value(form, "other")
            slider.props("label-always snap markers").classes("mt-6").bind_visibility_from(form, "size", value=0)
            slider.props["aria-label"] = _("Board")
        with ui.element("div").classes("tg-field").bind_visibility_from(form, "mode", value=Mode.PLAY):
            ui.label(_("You play")).classes("tg-heading")
            colors = ui.toggle(translated(COLORS), value=form.color).bind_value(form, "color")
            colors.props("no-caps unelevated role=group data-testid=color").props["aria-label"] = _("You play")
        labels = ((_("Opponent"), "level"), (_("Black"), "black"), (_("White"), "white"))
        self._players = [PlayerField(side, *label) for side, label in zip(form.sides, labels, strict=True)]
        for field, mode in zip(self._players, (Mode.PLAY, Mode.WATCH, Mode.WATCH), strict=True):
            field.element.bind_visibility_from(form, "mode", value=mode)
        self._plays = ui.label(self._network_line()).classes("tg-note")
        self._plays.bind_visibility_from(form, "mode", backward=lambda mode: mode != Mode.ANALYZE)
        self._show_players()
        with ui.element("div").classes("tg-pair"):
            names = {form.rules: form.rules, **translated(RULE_NAMES)}  # a record may have others
            ui.select(names, label=_("Rules"), value=form.rules, on_change=self._usual_komi).bind_value(
                form, "rules"
            ).props("outlined dense options-dense").classes("tg-long")
            ui.number(label=_("Komi"), value=form.komi, step=0.5, format="%.1f").bind_value(form, "komi").props(
                "outlined dense"
            ).props("data-testid=komi")
            self._handicap = ui.select(
                self._handicaps(), label=_("Handicap"), value=form.handicap, on_change=self._usual_komi
            ).bind_value(form, "handicap")
            self._handicap.props("outlined dense options-dense")
            clocks = {key: _(title) for key, (title, _control) in CLOCKS.items()}
            time = ui.select(clocks, label=_("Time"), value=form.clock).bind_value(form, "clock")
            time.props("outlined dense options-dense data-testid=time").classes("tg-long")
            time.bind_visibility_from(form, "mode", backward=lambda mode: mode != Mode.ANALYZE)

    def _handicaps(self) -> dict[int, str]:
        numbers = range(2, max_fixed_handicap(self.form.board) + 1)
        return {0: _("None"), **{n: ngettext("{n} stone", "{n} stones", n) for n in numbers}}

    def _resized(self) -> None:
        self._fit_handicap()
        self._usual_komi()
        self._plays.text = self._network_line()
        self._show_players()

    def _network_line(self) -> str:
        """The network for the chosen board size."""
        network = self._engines.network(self.form.board)
        return _("Default network: {name}", name=network) if network else _(NO_NETWORK)

    def _fit_handicap(self) -> None:
        choices = self._handicaps()
        if self.form.handicap not in choices:
            self.form.handicap = 0
        self._handicap.set_options(choices)

    def _usual_komi(self) -> None:
        self.form.komi = usual_komi(self.form.rules, self.form.handicap, self.form.board)

    async def _start(self) -> None:
        try:
            settings = self.form.settings(self._choices())
        except TengenError as error:
            ui.notify(str(error), position="top")
            return
        self._dialog.close()
        await self._on_start(settings)

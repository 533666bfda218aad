"""The fields that choose a player other than a person: an opponent, or the engine with settings of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Any

from nicegui import binding, ui

from tengen.web.engine import PageEngines
from tengen.web.language import N_, _, translated
from tengen.web.players import AUTO, DEFAULT_ENGINE, MAX_VISITS, OWN, PlayerChoice, own_player

UNITS = {"visits": N_("visits"), "seconds": N_("seconds")}


@binding.bindable_dataclass
class Side:
    """The values of the fields: the key of an opponent, and for the engine with settings of its own an installed
    network, empty for the default, and what it may spend on a move."""

    key: str = DEFAULT_ENGINE.key
    network: str = ""
    amount: float | None = 400.0
    unit: str = "visits"

    @classmethod
    def of(cls, player: PlayerChoice) -> Side:
        """The fields that make this player."""
        key = DEFAULT_ENGINE.key if player.is_person else AUTO if player.is_automatic else player.key
        if player.seconds is not None:
            return cls(key, player.network, player.seconds, "seconds")
        return cls(key, player.network, float(player.visits or 400))

    def player(self, choices: Mapping[str, PlayerChoice]) -> PlayerChoice:
        """The chosen player. Raises TengenError for an engine without a possible limit."""
        if self.key != OWN:
            return choices[self.key]
        amount = self.amount or 0.0
        seconds = amount if self.unit == "seconds" else None
        return own_player(self.network, int(amount) if seconds is None else None, seconds)

    def restored(self, values: object, choices: Mapping[str, PlayerChoice]) -> Side:
        """The fields as a browser remembers them; these fields where that makes no sense."""
        if not isinstance(values, Mapping) or set(values) != set(asdict(self)) or values["key"] not in choices:
            return self
        amount = values["amount"]
        fits = isinstance(values["network"], str) and values["unit"] in UNITS and type(amount) in (int, float)
        return replace(self, **values) if fits else self

    def copy(self, other: Side) -> None:
        """Take the values of another."""
        for name, value in asdict(other).items():
            setattr(self, name, value)


class PlayerField:
    """The fields for `side` under a label. `name` identifies the choice in tests."""

    def __init__(self, side: Side, label: str, name: str) -> None:
        self.side = side
        self.choices: Mapping[str, PlayerChoice] = {}
        self._level: str | None = None  # of the automatic opponent
        with ui.element("div").classes("tg-field") as self.element:
            ui.label(label).classes("tg-heading")
            # Without its option a select sets the bound value to None.
            self._select = ui.select({side.key: ""}, value=side.key, on_change=self._show_title)
            self._select.bind_value(side, "key").classes("w-full")
            self._select.props(f"outlined dense options-dense data-testid={name}").props["aria-label"] = label
            self._about = ui.label().classes("tg-note")
            self._about.bind_text_from(side, "key", self._text)
            with ui.element("div").classes("tg-own").bind_visibility_from(side, "key", value=OWN):
                self._network = ui.select({side.network: ""}, label=_("Network"), value=side.network)
                self._network.bind_value(side, "network")
                self._network.props(f"outlined dense options-dense data-testid={name}-network")
                ui.number(label=_("Limit of a move"), min=0, max=MAX_VISITS).bind_value(side, "amount").props(
                    f"outlined dense data-testid={name}-amount"
                )
                units = ui.toggle(translated(UNITS)).bind_value(side, "unit").props("no-caps unelevated role=group")
                units.props["aria-label"] = _("Limit of a move")

    def show(self, choices: Mapping[str, PlayerChoice], networks: dict[str, str]) -> None:
        """Offer these players and networks; a choice that is not among them becomes the first one."""
        self.choices, side = choices, self.side
        titles = {key: player.program or player.title for key, player in choices.items()}
        self._level = titles.get(AUTO)
        titles.update({AUTO: _("Automatic") + f" \u00b7 {self._level}"} if AUTO in titles else {})
        self._select.set_options(titles, value=side.key if side.key in choices else next(iter(choices)))
        self._network.set_options(networks, value=side.network if side.network in networks else "")
        self._about.text = self._text(side.key)
        self._show_title()

    def player(self) -> PlayerChoice:
        """The chosen player. Raises TengenError for an engine without a possible limit."""
        return self.side.player(self.choices)

    def _show_title(self) -> None:
        """Leave *Automatic* out of the closed select, which is narrow on a phone: the line below explains it."""
        self._select.props.set_optional("display-value", self._level if self._select.value == AUTO else None)

    def _text(self, key: str | None) -> str:
        return self.choices[key].about if key is not None and key in self.choices else ""


def network_names(engines: PageEngines, size: int) -> dict[str, str]:
    """What a person can choose from on a board size: installed networks by name, empty for the default."""
    default = engines.network(size) or _("random playouts")
    return {"": _("Default: {name}", name=default), **engines.networks(size)}


def restored_sides(sides: tuple[Side, ...], values: Any, choices: Mapping[str, PlayerChoice]) -> tuple[Side, ...]:
    """Several sides as a browser remembers them."""
    kept = values if isinstance(values, list) and len(values) == len(sides) else [None] * len(sides)
    return tuple(side.restored(value, choices) for side, value in zip(sides, kept, strict=True))

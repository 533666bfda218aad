"""The arguments of the analysis commands: the color to search for, and the options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from tengen.engine.katago_params import ownership_overrides
from tengen.engine.search import MoveRestriction
from tengen.errors import GtpError
from tengen.game import Game
from tengen.gtp.parse import Arguments, is_color, parse_color, parse_vertex
from tengen.gtp.session import GtpSession

MAX_INTERVAL = 1e25  # centiseconds, as in KataGo: LizzieYzy asks for one line by an interval of 2^31 - 1
MAX_COUNT = 10**12  # of moves and depths
MAX_DEPTH = 1_000_000  # of allow and avoid: deeper than any search
# Further fields, by the names of their keys.
_SHOWN = (
    "rootInfo",
    "ownership",
    "ownershipStdev",
    "movesOwnership",
    "movesOwnershipStdev",
    "pvVisits",
    "pvEdgeVisits",
    "noResultValue",
)
_BELOW = frozenset(["ownershipStdev", "movesOwnership", "movesOwnershipStdev"])
_SHOWN_BY_KEY = {name.lower(): name for name in _SHOWN}


@dataclass(frozen=True)
class AnalyzeOptions:
    """The options of an analysis command.

    every: seconds between lines. min_moves, max_moves: how many moves to show. restrictions: moves that the search may
    not consider, or may consider alone. shown: KataGo's names of the further fields to print.
    """

    every: float = 1.0
    min_moves: int = 0
    max_moves: int | None = None
    restrictions: tuple[MoveRestriction, ...] = ()
    shown: frozenset[str] = frozenset()

    def overrides(self, session: GtpSession) -> dict[str, Any]:
        """Settings of the search that the fields to print need."""
        params = session.engine.params_on(session.game.size)
        return ownership_overrides(params, mean="ownership" in self.shown, below=bool(self.shown & _BELOW))


def read_options(args: Arguments, game: Game) -> tuple[int, AnalyzeOptions]:
    """The color to search for and the options.

    Raises GtpError for an unknown key or a bad value, and where no legal move is left for the color.
    """
    words = list(args.words)
    color = parse_color(words.pop(0)) if words and is_color(words[0]) else game.to_play
    if words and words[0][:1] in "0123456789.":
        words.insert(0, "interval")
    reader = _Reader(words, game.size)
    while reader.words:
        reader.read_key()
    left = {*game.legal_points(color), game.pass_point}
    for restriction in reader.options.restrictions:
        if restriction.color == color:
            left = left & {*restriction.points} if restriction.allow else left - {*restriction.points}
    if not left:
        raise GtpError("no legal move is left by allow and avoid")
    return color, reader.options


class _Reader:
    """Reads the keys of an analysis command from a list of words."""

    def __init__(self, words: list[str], size: int) -> None:
        self.words, self.size = words, size
        self.options = AnalyzeOptions()

    def read_key(self) -> None:
        options = self.options
        key = self._next("a key").lower()
        match key:
            case "interval":
                every = self._checked(key, self._argument(key).number(0), MAX_INTERVAL) / 100
                self.options = replace(options, every=every)
            case "minmoves":
                self.options = replace(options, min_moves=self._integer(key))
            case "maxmoves":
                self.options = replace(options, max_moves=self._integer(key))
            case "allow" | "avoid":
                self.options = replace(options, restrictions=(*options.restrictions, self._restriction(key)))
            case _ if name := _SHOWN_BY_KEY.get(key):
                is_shown = self._argument(key).boolean(0)
                self.options = replace(options, shown=options.shown | {name} if is_shown else options.shown - {name})
            case _:
                raise GtpError(f"unknown key {key} of the analysis")

    def _restriction(self, key: str) -> MoveRestriction:
        """COLOR VERTEX,VERTEX... DEPTH: for the moves of this color until the depth, at which 1 is the next move."""
        color = parse_color(self._next(f"the color of {key}"))
        words = self._next(f"the moves of {key}").split(",")
        points = sorted({parse_vertex(word, self.size) for word in words if word})
        depth = self._integer(f"the depth of {key}")
        if depth < 1:
            raise GtpError(f"the depth of {key} is {depth}: 1 (the next move) or more expected")
        return MoveRestriction(color, points, min(depth, MAX_DEPTH), key == "allow")

    def _integer(self, key: str) -> int:
        return int(self._checked(key, self._argument(key).integer(0), MAX_COUNT))

    @staticmethod
    def _checked(key: str, value: float, limit: float) -> float:
        if not 0 <= value <= limit:
            raise GtpError(f"{key} {value:g} is out of range: 0 to {limit:g} expected")
        return value

    def _argument(self, key: str) -> Arguments:
        return Arguments((self._next(f"a value of {key}"),))

    def _next(self, what: str) -> str:
        if not self.words:
            raise GtpError(f"syntax error: {what} expected")
        return self.words.pop(0)

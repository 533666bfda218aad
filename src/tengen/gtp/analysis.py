"""The analysis commands `lz-analyze` and `kata-analyze`, those that play a move at the end, and their output lines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tengen import coords
from tengen.engine.limits import Limits
from tengen.engine.positions import with_turn
from tengen.engine.result import Candidate, SearchResult
from tengen.errors import GtpError
from tengen.game import Game
from tengen.gtp.parse import Arguments, is_color, parse_color, parse_vertex
from tengen.gtp.play import play_result
from tengen.gtp.session import Emit, GtpSession, Restriction, Stream


@dataclass(frozen=True)
class AnalyzeOptions:
    """The options of an analysis command.

    every: seconds between lines. min_moves, max_moves: how many moves to show. allow, avoid: points to search alone, if
    there are any, and points not to search. root_info, ownership: whether to print them.
    """

    every: float = 1.0
    min_moves: int = 0
    max_moves: int | None = None
    allow: frozenset[int] = frozenset()
    avoid: frozenset[int] = frozenset()
    root_info: bool = False
    ownership: bool = False

    def choose(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The moves to show: those with visits, best first, and moves without visits up to `min_moves`."""
        shown = [c for rank, c in enumerate(candidates) if c.visits > 0 or rank < self.min_moves]
        return shown if self.max_moves is None else shown[: self.max_moves]


Format = Callable[[SearchResult, AnalyzeOptions, int], str]


def leela_line(result: SearchResult, options: AnalyzeOptions, size: int) -> str:
    """`info move D4 visits 9 winrate 5123 prior 801 lcb 4800 order 0 pv D4 Q16 info ...`; rates in 1/10000."""
    return " ".join(
        f"info move {coords.to_gtp(c.point, size)} visits {c.visits} winrate {_myriad(c.winrate)} "
        f"prior {_myriad(c.prior)} lcb {_myriad(c.lcb)} order {order} pv {_line_of(c, size)}"
        for order, c in enumerate(options.choose(result.candidates))
    )


def kata_line(result: SearchResult, options: AnalyzeOptions, size: int) -> str:
    """KataGo's `info` groups, then `rootInfo` and `ownership` on request; all for the side to move."""
    parts = [_kata_move(c, order, size) for order, c in enumerate(options.choose(result.candidates))]
    if options.root_info:
        parts.append(
            f"rootInfo visits {result.visits} utility {_fraction(2 * result.winrate - 1)} "
            f"winrate {_fraction(result.winrate)}{_scores(result.score)} weight {result.visits}"
        )
    if options.ownership and result.ownership is not None:
        parts.append("ownership " + " ".join(f"{value:.4f}" for value in result.ownership.ravel()))
    return " ".join(parts)


def _kata_move(c: Candidate, order: int, size: int) -> str:
    return (
        f"info move {coords.to_gtp(c.point, size)} visits {c.visits} edgeVisits {c.visits} "
        f"utility {_fraction(2 * c.winrate - 1)} winrate {_fraction(c.winrate)}{_scores(c.score)} "
        f"prior {_fraction(c.prior)} "
        f"lcb {_fraction(c.lcb)} utilityLcb {_fraction(2 * c.lcb - 1)} weight {c.visits} "
        f"order {order} pv {_line_of(c, size)}"
    )


def _scores(score: float | None) -> str:
    """The fields of the score lead, none where it is not known."""
    if score is None:
        return ""
    text = _fraction(score)
    return f" scoreMean {text} scoreLead {text} scoreSelfplay {text}"


def _line_of(candidate: Candidate, size: int) -> str:
    return " ".join(coords.to_gtp(point, size) for point in candidate.pv or (candidate.point,))


def _myriad(rate: float) -> int:
    return round(10000 * rate)


def _fraction(value: float) -> str:
    return f"{value:.6g}"


# Further keys of KataGo, which programs send to any engine: accepted and ignored.
_IGNORED = ("ownershipstdev", "movesownership", "movesownershipstdev", "pvvisits", "pvedgevisits", "noresultvalue")
MAX_INTERVAL = 360_000  # centiseconds


def analyze(form: Format) -> Callable[[GtpSession, Arguments], Stream]:
    """[COLOR] [CENTISECONDS] KEY VALUE ...: search until the next input line, with an output line each interval."""

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options = read_options(args, session.game.size, session.game.to_play)
        game = with_turn(session.game, color)
        restricted = restriction(options, session.game, color)

        def run(emit: Emit) -> str:
            session.engine.set_position(game, *restricted)
            session.engine.think(
                Limits(early_stop=False),
                _printer(form, options, game.size, emit),
                until=session.lines.pending,
                every=options.every,
            )
            return ""

        return Stream(run)

    return command


def genmove_analyze(form: Format) -> Callable[[GtpSession, Arguments], Stream]:
    """The same arguments: search a move within its limits with output lines, then play it: `play D4`."""

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options = read_options(args, session.game.size, session.game.to_play)
        size, restricted = session.game.size, restriction(options, session.game, color)

        def run(emit: Emit) -> str:
            show = _printer(form, options, size, emit)
            result = session.search(color, show, every=options.every, restricted=restricted)
            show(result)
            return f"play {play_result(session, color, result)}"

        return Stream(run)

    return command


def _printer(form: Format, options: AnalyzeOptions, size: int, emit: Emit) -> Callable[[SearchResult], None]:
    """Print results as lines; nothing before a move has a visit, since an empty line would end the answer."""

    def show(result: SearchResult) -> None:
        if text := form(result, options, size):
            emit(text)

    return show


lz_analyze, kata_analyze = analyze(leela_line), analyze(kata_line)
lz_genmove_analyze, kata_genmove_analyze = genmove_analyze(leela_line), genmove_analyze(kata_line)


def read_options(args: Arguments, size: int, to_play: int) -> tuple[int, AnalyzeOptions]:
    """The color to search for and the options. Raises GtpError for an unknown key or a bad value."""
    words = list(args.words)
    color = parse_color(words.pop(0)) if words and is_color(words[0]) else to_play
    if words and words[0][:1].isdigit():
        words.insert(0, "interval")
    reader = _Reader(words, size, color)
    while reader.words:
        reader.read_key()
    return color, AnalyzeOptions(**reader.found)  # type: ignore[arg-type]


def restriction(options: AnalyzeOptions, game: Game, color: int) -> Restriction:
    """The points to search alone, and the points not to search. Raises GtpError when no legal move is left."""
    legal = {*game.legal_points(color), game.size**2}
    if not (legal & options.allow if options.allow else legal) - options.avoid:
        raise GtpError("no legal move is left by allow and avoid")
    return sorted(options.allow), sorted(options.avoid)


class _Reader:
    """Reads the keys of an analysis command from a list of words."""

    def __init__(self, words: list[str], size: int, color: int) -> None:
        self.words, self.size, self.color = words, size, color
        self.found: dict[str, object] = {}

    def read_key(self) -> None:
        key = self._next("a key").lower()
        match key:
            case "interval":
                self.found["every"] = self._integer(key, MAX_INTERVAL) / 100
            case "minmoves":
                self.found["min_moves"] = self._integer(key, self.size**2 + 1)
            case "maxmoves":
                self.found["max_moves"] = self._integer(key, self.size**2 + 1)
            case "allow" | "avoid":
                self._read_points(key)
            case "rootinfo":
                self.found["root_info"] = self._boolean(key)
            case "ownership":
                self.found["ownership"] = self._boolean(key)
            case _ if key in _IGNORED:
                self._boolean(key)
            case _:
                raise GtpError(f"unknown key {key} of the analysis")

    def _read_points(self, key: str) -> None:
        """COLOR VERTEX,VERTEX... DEPTH: applies to the first move, so only for the color to move."""
        color = parse_color(self._next(f"the color of {key}"))
        words = self._next(f"the moves of {key}").split(",")
        points = frozenset(parse_vertex(word, self.size) for word in words if word)
        self._integer(f"the depth of {key}", 1_000_000)
        if color == self.color:
            already = self.found.get(key, frozenset())
            assert isinstance(already, frozenset)
            self.found[key] = already | points

    def _integer(self, key: str, limit: int) -> int:
        value = self._argument(key).integer(0)
        if not 0 <= value <= limit:
            raise GtpError(f"{key} {value} is out of range: 0 to {limit} expected")
        return value

    def _boolean(self, key: str) -> bool:
        return self._argument(key).boolean(0)

    def _argument(self, key: str) -> Arguments:
        return Arguments((self._next(f"a value of {key}"),))

    def _next(self, what: str) -> str:
        if not self.words:
            raise GtpError(f"syntax error: {what} expected")
        return self.words.pop(0)

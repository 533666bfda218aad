"""The analysis commands of Leela Zero, KataGo and Sabaki, those that search or play a move, and their output lines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tengen import _native, coords
from tengen.engine.katago_params import ownership_overrides, perspective_sign
from tengen.engine.limits import Limits
from tengen.engine.positions import with_turn
from tengen.engine.result import Candidate, SearchResult, score_lead
from tengen.engine.search import MoveRestriction
from tengen.engine.symmetries import distinct_images, root_symmetries
from tengen.errors import GtpError
from tengen.evaluators.evaluation import Floats
from tengen.evaluators.symmetric import transform
from tengen.game import Game
from tengen.gtp.parse import Arguments, is_color, parse_color, parse_vertex
from tengen.gtp.play import Cancel, play_result, searched
from tengen.gtp.session import Emit, GtpSession, Stream


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

    def choose(self, candidates: Sequence[Candidate], view: View) -> list[Shown]:
        """The moves to show: those with visits, best first, and moves without visits up to `min_moves`."""
        seen = [c for rank, c in enumerate(candidates) if c.visits > 0 or rank < self.min_moves]
        copies = [
            Shown(c, symmetry)
            for c in seen
            for symmetry in distinct_images(c.point, view.size, view.symmetries).values()
        ]
        return copies if self.max_moves is None else copies[: self.max_moves]


@dataclass(frozen=True)
class Shown:
    """A move of the search, or its copy under a symmetry that leaves the position as it is."""

    found: Candidate
    symmetry: int = 0


@dataclass(frozen=True)
class View:
    """How results are written: the board, and whose values they are.

    below: mean and deviation of the ownership below a root move, or below the root. symmetries: those of the position,
    of whose moves the search has one each; the identity is left out. sign: 1 for values of the side to
    move, -1 for its opponent's. whole: whether rates are whole numbers of 1/10000.
    """

    size: int
    below: Callable[[int | None], tuple[Floats, Floats] | None]
    symmetries: Sequence[int] = ()
    sign: int = 1
    whole: bool = False

    def move(self, point: int, symmetry: int = 0) -> str:
        return coords.to_gtp(_native.transform(point, self.size, symmetry), self.size)

    def share(self, value: float) -> float:
        """A fraction in the unit of this form."""
        return round(10000 * value) if self.whole else value

    def rate(self, winrate: float) -> float:
        """A winrate, or a bound of one, for the side whose values are shown."""
        return self.share(winrate if self.sign > 0 else 1 - winrate)

    def pairs(self, values: Iterable[tuple[str, float | None]]) -> str:
        """Names and values; those that are not known are left out."""
        return " ".join(f"{name} {value:.6g}" for name, value in values if value is not None)

    def points(self, name: str, values: Floats) -> str:
        """One value for each point of the board, row by row from the top left."""
        return " ".join([name, *(f"{value:.4f}" for value in values.ravel())])

    def ownership(
        self, names: tuple[str, str], shown: frozenset[str], point: int | None = None, symmetry: int = 0
    ) -> list[str]:
        """The mean and the deviation of the ownership under these names, if they are asked for and known."""
        found = self.below(point) if shown & {*names} else None
        if found is None:
            return []
        columns = zip(names, (self.sign * found[0], found[1]), strict=True)
        return [self.points(name, transform(values, symmetry)) for name, values in columns if name in shown]


Format = Callable[[SearchResult, AnalyzeOptions, View], str]


def leela_line(result: SearchResult, options: AnalyzeOptions, view: View) -> str:
    """`info move D4 visits 9 winrate 5123 prior 801 lcb 4800 order 0 pv D4 Q16 info ...`; rates in 1/10000."""
    lines = []
    for order, move in enumerate(options.choose(result.candidates, view)):
        c = move.found
        lines.append(
            f"info move {view.move(c.point, move.symmetry)} visits {c.node_visits} winrate {view.rate(c.winrate)} "
            f"prior {view.share(c.prior)} lcb {view.rate(c.lcb)} order {order} {_variation(move, options, view)}"
        )
    return " ".join(lines)


def kata_line(result: SearchResult, options: AnalyzeOptions, view: View) -> str:
    """KataGo's `info` groups, then `rootInfo` and `ownership` on request; as in KataGo nothing without a group."""
    moves = options.choose(result.candidates, view)
    if not moves:
        return ""
    parts = [_kata_move(move, order, options, view) for order, move in enumerate(moves)]
    if "rootInfo" in options.shown:
        parts.append(_root(result, view))
    below = view.ownership(("ownership", "ownershipStdev"), options.shown)
    if not below and "ownership" in options.shown and result.ownership is not None:
        below = [view.points("ownership", view.sign * result.ownership)]
    return " ".join(parts + below)


def _kata_move(move: Shown, order: int, options: AnalyzeOptions, view: View) -> str:
    c = move.found
    values = [
        *_means(c, view),
        *([("noResultValue", c.no_result)] if "noResultValue" in options.shown else []),
        ("prior", view.share(c.prior)),
        ("lcb", view.rate(c.lcb)),
        ("utilityLcb", view.sign * c.utility_lcb),
        ("weight", c.node_weight),
    ]
    copied = f" isSymmetryOf {view.move(c.point)}" if move.symmetry else ""
    return (
        f"info move {view.move(c.point, move.symmetry)} visits {c.node_visits} edgeVisits {c.visits} "
        f"{view.pairs(values)}{copied} order {order} {_variation(move, options, view)}"
    )


def _root(result: SearchResult, view: View) -> str:
    """The fields of the whole search; an expected error of the network is -1 where the network predicts none."""
    values = [*_means(result, view), ("weight", result.weight)]
    if result.raw is not None:
        raw = (result.raw.value_error, result.raw.score_error, result.raw.time_left)
        names = ("rawStWrError", "rawStScoreError", "rawVarTimeLeft")
        values += [(name, -1 if value is None else value) for name, value in zip(names, raw, strict=True)]
    return f"rootInfo visits {result.visits} {view.pairs(values)}"


def _means(found: Candidate | SearchResult, view: View) -> list[tuple[str, float | None]]:
    """What moves and the root both have. KataGo repeats the lead as scoreMean, for programs older than that field.

    A deviation that is not known is 0, as in the JSON protocol: q5go shows no score without it.
    """
    lead = _signed(score_lead(found), view)
    return [
        ("utility", view.sign * found.utility),
        ("winrate", view.rate(found.winrate)),
        ("scoreMean", lead),
        ("scoreStdev", found.score_stdev or 0.0),
        ("scoreLead", lead),
        ("scoreSelfplay", _signed(found.score, view)),
    ]


def _signed(value: float | None, view: View) -> float | None:
    return None if value is None else view.sign * value


def _variation(move: Shown, options: AnalyzeOptions, view: View) -> str:
    """The principal variation, on request with the visits of its moves and the ownership below the first."""
    c = move.found
    moves = (view.move(point, move.symmetry) for point in c.pv or (c.point,))
    columns = {"pvVisits": c.pv_node_visits, "pvEdgeVisits": c.pv_visits}
    visits = [
        " ".join([name, *map(str, column)]) for name, column in columns.items() if name in options.shown and column
    ]
    names = ("movesOwnership", "movesOwnershipStdev")
    below = view.ownership(names, options.shown, c.point, move.symmetry) if c.visits else []
    return " ".join(["pv", *moves, *visits, *below])


MAX_INTERVAL = 1e25  # centiseconds, as in KataGo: LizzieYzy asks for one line by an interval of 2^31 - 1
MAX_COUNT = 10**12  # of moves and depths
MAX_DEPTH = 1_000_000  # of allow and avoid: deeper than any search
# Further fields, by the names of their keys.
SHOWN = (
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
_SHOWN = {name.lower(): name for name in SHOWN}


def analyze(form: Format, whole: bool = False) -> Callable[[GtpSession, Arguments], Stream]:
    """[COLOR] [CENTISECONDS] KEY VALUE ...: search until the next input line, with an output line each interval."""

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options, game = _asked(session, args)
        session.set_position(
            color,
            game,
            restrictions=options.restrictions,
            overrides=options.overrides(session),
        )

        def run(emit: Emit) -> str:
            session.engine.think(
                Limits(early_stop=False),
                _printer(form, options, _view(session, game, options, whole), emit),
                until=session.lines.pending,
                every=options.every,
                decide=False,
                pv_length=session.settings.pv_length + 1,
            )
            return ""

        return Stream(run)

    return command


def genmove_analyze(
    form: Format, *, whole: bool = False, play: bool = True, cancellable: bool = False
) -> Callable[[GtpSession, Arguments], Stream]:
    """The same arguments: search a move within its limits with output lines, and play it unless told not to.

    The last line is `play D4`, or `play cancelled` where a line of input has ended a cancellable search.
    """

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options, game = _asked(session, args)
        # What the search cannot do is an error before the answer begins.
        session.set_position(
            color,
            restrictions=options.restrictions,
            overrides=options.overrides(session),
        )

        def run(emit: Emit) -> str:
            show = _printer(form, options, _view(session, game, options, whole), emit)
            cancel = Cancel(session) if cancellable else None
            result = session.search(
                color,
                show,
                every=options.every,
                restrictions=options.restrictions,
                overrides=options.overrides(session),
                until=cancel,
            )
            show(result)
            move = play_result(session, color, result) if play else searched(session, color, result, cancel)
            return f"play {move}"

        return Stream(run)

    return command


def _asked(session: GtpSession, args: Arguments) -> tuple[int, AnalyzeOptions, Game]:
    """The color to search for, the options and the position. What cannot be searched is an error before the answer."""
    color, options = read_options(args, session.game)
    session.engine.evaluator.on(session.game.size)
    return color, options, with_turn(session.game, color)


def _view(session: GtpSession, game: Game, options: AnalyzeOptions, whole: bool) -> View:
    """Values are those of the side to move unless `reportAnalysisWinratesAs` names a color."""
    merged = session.engine.params_on(game.size).merge_symmetric
    return View(
        game.size,
        session.engine.ownership_below,
        root_symmetries(game, options.restrictions) if merged else (),
        perspective_sign(session.settings.perspective, game.to_play),
        whole,
    )


def _printer(form: Format, options: AnalyzeOptions, view: View, emit: Emit) -> Callable[[SearchResult], None]:
    """Print results as lines; nothing before a move has a visit, since an empty line would end the answer."""

    def show(result: SearchResult) -> None:
        if text := form(result, options, view):
            emit(text)

    return show


lz_analyze, lz_genmove_analyze = analyze(leela_line, whole=True), genmove_analyze(leela_line, whole=True)
kata_analyze, kata_genmove_analyze = analyze(kata_line), genmove_analyze(kata_line)
# Sabaki 0.60 reads these rates in 1/10000; older ones do so where a number has no decimal point.
sabaki_analyze, sabaki_genmove_analyze = analyze(kata_line, whole=True), genmove_analyze(kata_line, whole=True)
kata_search_analyze = genmove_analyze(kata_line, play=False)
kata_search_analyze_cancellable = genmove_analyze(kata_line, play=False, cancellable=True)


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
            case _ if name := _SHOWN.get(key):
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

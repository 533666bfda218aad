"""The output lines of the analysis commands, in the forms of Leela Zero and KataGo."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from tengen import _native, coords
from tengen.engine.katago_view import Viewpoint, with_copies
from tengen.engine.result import Candidate, SearchResult, score_lead
from tengen.evaluators.evaluation import Floats
from tengen.evaluators.symmetric import transform
from tengen.gtp.analysis_options import AnalyzeOptions


@dataclass(frozen=True)
class Shown:
    """A move of the search, or its copy under a symmetry that leaves the position as it is."""

    found: Candidate
    symmetry: int = 0


@dataclass(frozen=True)
class View:
    """How results are written: the board, and whose values they are.

    below: mean and deviation of the ownership below a root move, or below the root. symmetries: those of the position,
    of whose moves the search has one each; the identity is left out. viewpoint: whose values they are. whole: whether
    rates are whole numbers of 1/10000.
    """

    size: int
    below: Callable[[int | None], tuple[Floats, Floats] | None]
    symmetries: Sequence[int]
    viewpoint: Viewpoint
    whole: bool

    def move(self, point: int, symmetry: int = 0) -> str:
        return coords.to_gtp(_native.transform(point, self.size, symmetry), self.size)

    def share(self, value: float) -> float:
        """A fraction in the unit of this form."""
        return round(10000 * value) if self.whole else value

    def rate(self, winrate: float) -> float:
        """A winrate, or a bound of one, for the side whose values are shown."""
        return self.share(self.viewpoint.rate(winrate))

    def points(self, value: float | None) -> float | None:
        """A score or utility for that side; None where it is not known."""
        return None if value is None else self.viewpoint.points(value)

    def pairs(self, values: Iterable[tuple[str, float | None]]) -> str:
        """Names and values; those that are not known are left out."""
        return " ".join(f"{name} {value:.6g}" for name, value in values if value is not None)

    def board(self, name: str, values: Floats) -> str:
        """One value for each point of the board, row by row from the top left."""
        return " ".join([name, *(f"{value:.4f}" for value in values.ravel())])

    def ownership(
        self, names: tuple[str, str], shown: frozenset[str], point: int | None = None, symmetry: int = 0
    ) -> list[str]:
        """The mean and the deviation of the ownership under these names, if they are asked for and known."""
        found = self.below(point) if shown & {*names} else None
        if found is None:
            return []
        columns = zip(names, (self.viewpoint.points(found[0]), found[1]), strict=True)
        return [self.board(name, transform(values, symmetry)) for name, values in columns if name in shown]


Format = Callable[[SearchResult, AnalyzeOptions, View], str]
"""Writes a result as a line; empty where there is no move to show."""


def leela_line(result: SearchResult, options: AnalyzeOptions, view: View) -> str:
    """`info move D4 visits 9 winrate 5123 prior 801 lcb 4800 order 0 pv D4 Q16 info ...`; rates in 1/10000."""
    lines = []
    for order, move in enumerate(_shown_moves(result.candidates, options, view)):
        c = move.found
        lines.append(
            f"info move {view.move(c.point, move.symmetry)} visits {c.node_visits} winrate {view.rate(c.winrate)} "
            f"prior {view.share(c.prior)} lcb {view.rate(c.lcb)} order {order} {_variation(move, options, view)}"
        )
    return " ".join(lines)


def kata_line(result: SearchResult, options: AnalyzeOptions, view: View) -> str:
    """KataGo's `info` groups, then `rootInfo` and `ownership` on request; as in KataGo nothing without a group."""
    moves = _shown_moves(result.candidates, options, view)
    if not moves:
        return ""
    parts = [_kata_move(move, order, options, view) for order, move in enumerate(moves)]
    if "rootInfo" in options.shown:
        parts.append(_root(result, view))
    below = view.ownership(("ownership", "ownershipStdev"), options.shown)
    if not below and "ownership" in options.shown and result.ownership is not None:
        below = [view.board("ownership", view.viewpoint.points(result.ownership))]
    return " ".join(parts + below)


def chat_line(result: SearchResult, size: int, viewpoint: Viewpoint) -> str:
    """KataGo's line for the chat of a game on OGS, without the score where the network knows none."""
    best = next((c for c in result.candidates if c.point == result.move and c.pv), None)
    line = (result.move,) if best is None else best.pv
    lead = score_lead(result)
    stdev = result.score_stdev or 0.0  # gtp2ogs takes no line without it, and does not show it
    score = "" if lead is None else f" ScoreLead {viewpoint.points(lead):.1f} ScoreStdev {stdev:.1f}"
    moves = " ".join(coords.to_gtp(point, size) for point in line)
    return f"MALKOVICH:Visits {result.visits} Winrate {viewpoint.rate(result.winrate):.2%}{score} PV {moves}"


def _shown_moves(candidates: Sequence[Candidate], options: AnalyzeOptions, view: View) -> list[Shown]:
    """The moves to show: those with visits, best first, and moves without visits up to `min_moves`."""
    seen = [c for rank, c in enumerate(candidates) if c.visits > 0 or rank < options.min_moves]
    copies = [Shown(c, symmetry) for c, symmetry in with_copies(seen, view.size, view.symmetries)]
    return copies if options.max_moves is None else copies[: options.max_moves]


def _kata_move(move: Shown, order: int, options: AnalyzeOptions, view: View) -> str:
    c = move.found
    values = [
        *_means(c, view),
        *([("noResultValue", c.no_result)] if "noResultValue" in options.shown else []),
        ("prior", view.share(c.prior)),
        ("lcb", view.rate(c.lcb)),
        ("utilityLcb", view.points(c.utility_lcb)),
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
    lead = view.points(score_lead(found))
    return [
        ("utility", view.points(found.utility)),
        ("winrate", view.rate(found.winrate)),
        ("scoreMean", lead),
        ("scoreStdev", found.score_stdev or 0.0),
        ("scoreLead", lead),
        ("scoreSelfplay", view.points(found.score)),
    ]


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

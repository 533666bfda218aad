"""Reports of the analysis protocol: from what a search found to the fields of a JSON object."""

from __future__ import annotations

import hashlib

import numpy as np
from numpy.typing import NDArray

from tengen import _native
from tengen.analysis.fields import Fields
from tengen.analysis.query import Query
from tengen.analysis.query_game import QueryPosition
from tengen.coords import from_gtp, to_gtp
from tengen.engine.katago_view import Viewpoint, with_copies
from tengen.engine.result import Candidate, SearchResult, score_lead
from tengen.engine.search import TreeSearch
from tengen.engine.symmetries import root_symmetries
from tengen.evaluators.raw import RawOutput
from tengen.evaluators.symmetric import SYMMETRIES, transform
from tengen.game import WHITE, Game

UNKNOWN = -1.0
"""What KataGo reports for an output that its network does not have."""


def report(
    query: Query,
    turn: QueryPosition,
    result: SearchResult,
    search: TreeSearch,
    *,
    during: bool,
    human: RawOutput | None = None,
) -> Fields:
    """The report of a search that has a visit: `during` it, or its last one. `search` still has its tree.

    `human` is what a human-style network says of the position.
    """
    view = _View(query, turn.game)
    includes = query.includes
    fields = {
        "id": query.id,
        "turnNumber": turn.number,
        "isDuringSearch": during,
        "moveInfos": _move_infos(view, query, turn.game, result, search),
        "rootInfo": _root_info(view, turn.game, result),
    }
    below = search.ownership_below()  # where the search keeps the ownership of every position
    mean = result.ownership if below is None else below[0]
    if includes.ownership and mean is not None:
        fields["ownership"] = view.board(mean)
    if includes.ownership_stdev and below is not None:
        fields["ownershipStdev"] = _rounded_board(below[1])
    if includes.policy and result.raw is not None:
        fields["policy"] = _policy(turn.game, result.raw.policy)
    if human is not None:
        _add_human(view, fields, human, turn.game.size, policy=includes.policy)
    return fields


def no_results(query: Query, turn: QueryPosition) -> Fields:
    """The report of a search that was terminated before it began."""
    return {"id": query.id, "turnNumber": turn.number, "isDuringSearch": False, "noResults": True}


class _View:
    """Rounds what holds for the player whose winrate is reported."""

    def __init__(self, query: Query, game: Game) -> None:
        self._viewpoint = Viewpoint.of(query.settings.perspective, game.to_play)
        self.white = self._viewpoint.sign if game.to_play == WHITE else -self._viewpoint.sign
        """The sign of what holds for White."""

    def rate(self, winrate: float) -> float:
        return _rounded(self._viewpoint.rate(winrate))

    def points(self, value: float | None) -> float:
        """A score or utility; 0 where it is not known."""
        return _rounded(self._viewpoint.points(value or 0.0))

    def board(self, ownership: NDArray[np.float32]) -> list[float]:
        return _rounded_board(self._viewpoint.points(ownership))


def _rounded(value: float) -> float:
    """Nine significant digits."""
    return float(f"{value:.9g}") + 0.0  # no negative zero


def _rounded_board(values: NDArray[np.float32]) -> list[float]:
    """Row by row from the top, six decimals."""
    found: list[float] = (np.round(values.astype(np.float64).ravel(), 6) + 0.0).tolist()
    return found


# --- The moves


def _move_infos(view: _View, query: Query, game: Game, result: SearchResult, search: TreeSearch) -> list[Fields]:
    """The moves that have a visit, best first; after each those that a symmetry of the position makes of it."""
    infos: list[Fields] = []
    symmetries = root_symmetries(game, query.restrictions) if search.params.merge_symmetric else []
    best = max((c.play_weight for c in result.candidates), default=0.0)
    scale = 1 / best if 0 < best < 1 else 1.0  # KataGo reports 1 or more for the move to play
    seen = (candidate for candidate in result.candidates if candidate.visits)
    for candidate, symmetry in with_copies(seen, game.size, symmetries):
        info = _move_info(view, query, game.size, candidate, symmetry, search)
        info["order"] = len(infos)
        # The chosen move may have fewer visits than another one, but nothing may stand above it.
        info["playSelectionValue"] = _rounded(scale * (candidate.play_weight if infos else best))
        if symmetry:
            info["isSymmetryOf"] = to_gtp(candidate.point, game.size)
        infos.append(info)
    return infos


def _move_info(view: _View, query: Query, size: int, c: Candidate, symmetry: int, search: TreeSearch) -> Fields:
    lead = score_lead(c)
    line = [to_gtp(_native.transform(point, size, symmetry), size) for point in c.pv or (c.point,)]
    info: Fields = {
        "move": line[0],
        "visits": c.node_visits,
        "edgeVisits": c.visits,
        "weight": _rounded(c.node_weight),
        "edgeWeight": _rounded(c.weight),
        "utility": view.points(c.utility),
        "utilityLcb": view.points(c.utility_lcb),
        "winrate": view.rate(c.winrate),
        "lcb": view.rate(c.lcb),
        "scoreMean": view.points(lead),
        "scoreLead": view.points(lead),
        "scoreSelfplay": view.points(c.score),
        "scoreStdev": _rounded(c.score_stdev or 0.0),
        "prior": _rounded(c.prior),
        "pv": line,
    }
    includes = query.includes
    if includes.no_result:
        info["noResultValue"] = _rounded(c.no_result or 0.0)
    if includes.pv_visits:
        info["pvVisits"] = list(c.pv_node_visits)
        info["pvEdgeVisits"] = list(c.pv_visits)
    if includes.of_moves and (below := search.ownership_below(c.point)) is not None:
        mean, stdev = (transform(board, symmetry) for board in below)
        if includes.moves_ownership:
            info["ownership"] = view.board(mean)
        if includes.moves_ownership_stdev:
            info["ownershipStdev"] = _rounded_board(stdev)
    return info


# --- The root


def _root_info(view: _View, game: Game, result: SearchResult) -> Fields:
    raw = result.raw
    this, canonical = position_hashes(game)
    info: Fields = {
        "currentPlayer": "BW"[game.to_play],
        "visits": result.visits,
        "weight": _rounded(result.weight),
        "winrate": view.rate(result.winrate),
        "utility": view.points(result.utility),
        "scoreLead": view.points(score_lead(result)),
        "scoreSelfplay": view.points(result.score),
        "scoreStdev": _rounded(result.score_stdev or 0.0),
        "thisHash": this,
        "symHash": canonical,
    }
    if raw is not None:
        info |= {
            "rawWinrate": view.rate((raw.value + 1) / 2),
            "rawLead": view.points(score_lead(raw)),
            "rawScoreSelfplay": view.points(raw.score),
            "rawScoreSelfplayStdev": _rounded(raw.score_stdev or 0.0),
            "rawNoResultProb": _rounded(raw.no_result or 0.0),
            # Half of the error of win minus loss is that of the winrate.
            "rawStWrError": _rounded((UNKNOWN if raw.value_error is None else raw.value_error) / 2),
            "rawStScoreError": _rounded(UNKNOWN if raw.score_error is None else raw.score_error),
            "rawVarTimeLeft": _rounded(UNKNOWN if raw.time_left is None else raw.time_left),
        }
    return info


def _add_human(view: _View, fields: Fields, human: RawOutput, size: int, *, policy: bool) -> None:
    """The fields of a human-style network."""
    chances = [*np.nan_to_num(human.policy, nan=-1.0).ravel().tolist(), human.policy_pass]
    for info in fields["moveInfos"]:
        info["humanPrior"] = _rounded(max(0.0, chances[from_gtp(info["move"], size)]))
    fields["rootInfo"] |= {
        "humanWinrate": _rounded(0.5 + 0.5 * view.white * (human.white_win - human.white_loss)),
        "humanScoreMean": _rounded(view.white * human.white_score),
        "humanScoreStdev": _rounded(max(0.0, human.white_score_square - human.white_score**2) ** 0.5),
        "humanStWrError": _rounded(human.value_error / 2),
        "humanStScoreError": _rounded(human.score_error),
    }
    if policy:
        fields["humanPolicy"] = [_rounded(chance) for chance in chances]


def _policy(game: Game, policy: NDArray[np.float32]) -> list[float]:
    """The probabilities of the points, row by row, and of pass; -1 where a move is illegal."""
    legal = [*game.legal_points(), game.pass_point]
    total = float(policy[legal].sum())
    found = [-1.0] * len(policy)
    for point in legal:
        found[point] = _rounded(float(policy[point]) / total) if total > 0 else 1 / len(legal)
    return found


def position_hashes(game: Game) -> tuple[str, str]:
    """128 bits of stones, ko and side to move, as 32 hexadecimal digits, and the least of all eight symmetries."""
    board = game.board
    if game.ko is not None:
        board[divmod(game.ko, game.size)] = 3
    found = [
        hashlib.blake2b(bytes([game.to_play]) + transform(board, s).tobytes(), digest_size=16).hexdigest().upper()
        for s in range(SYMMETRIES)
    ]
    return found[0], min(found)

"""The review as a self-contained page and as JSON."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tengen.coords import to_gtp
from tengen.disk import json_text, write_text
from tengen.review.annotate import cost_text, leader, line_text
from tengen.review.game import BAD, DOUBTFUL, LOSSES, PHASES, WINRATE_LOSSES, GameReview, ReviewedMove, Summary
from tengen.runs.boards import position_picture
from tengen.runs.report import Board, Tile, write_page

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_DRAWN = 6  # mistakes of a player with a diagram
_LINE = 5  # moves of the better line in a diagram


def write_review(path: Path, review: GameReview, source: str = "") -> Path:
    """Write the page of a review; return `path`. It has no scripts and needs no other file.

    `source` is the fingerprint of the record and the settings, so that the same review is not made again.
    """
    names, unit = _names(review), _unit(review)
    return write_page(
        path,
        "review.html",
        title=_title(review) or " \N{EN DASH} ".join(names),
        what="review",
        source=source,
        state=_state(review),
        problems=review.tree.problems,
        tiles=[_tile(review, color, name) for color, name in enumerate(names)],
        plots=_plots(review, names),
        unit=unit,
        heads=("", "moves", f"mean loss ({unit})", "top five", "engine's choice", f"below {_bound(review, DOUBTFUL)}"),
        rows=[row for color, name in enumerate(names) for row in _rows(review, color, name)],
        players=[
            {
                "name": name,
                "boards": [_board(review, move) for move in review.mistakes(color, _DRAWN)],
                "mistakes": [_mistake(move) for move in review.mistakes(color)],
            }
            for color, name in enumerate(names)
        ],
    )


def write_json(path: Path, review: GameReview, source: str = "") -> Path:
    """Write the review as JSON (docs/guides/review.md has its fields); return `path`.

    `source` is that of `write_review`.
    """
    return write_text(path, json_text({"source": source, **as_dict(review)}, indent=1) + "\n", durable=False)


def as_dict(review: GameReview) -> dict[str, Any]:
    """The review as plain values; winrates (0..1) and leads (points) are Black's, losses those of the player."""
    size = review.tree.size
    return {
        "engine": review.engine,
        "visits": review.visits,
        "size": size,
        "black": review.tree.info.black,
        "white": review.tree.info.white,
        "result": str(review.tree.info.result),
        "problems": review.tree.problems,
        "positions": [
            {"move": node.move_number, **asdict(node.analysis)} for node in review.nodes if node.analysis is not None
        ],
        "moves": [
            {
                "number": move.number,
                "color": "BW"[move.color],
                "move": to_gtp(move.point, size),
                "phase": move.phase,
                "loss": move.loss,
                "winrate_loss": move.winrate_loss,
                "rank": move.rank,
                "best": None if move.best is None else to_gtp(move.best.point, size),
                "best_line": None if move.best is None else [to_gtp(point, size) for point in move.best.pv],
            }
            for move in review.moves
        ],
        "players": {
            "BW"[color]: {
                "all": _plain(Summary.of(review.of(color))),
                **{phase: _plain(Summary.of(review.of(color, phase))) for phase in PHASES},
                "mistakes": [move.number for move in review.mistakes(color)],
            }
            for color in (0, 1)
        },
    }


def _plain(summary: Summary | None) -> dict[str, Any] | None:
    return None if summary is None else asdict(summary)


def _names(review: GameReview) -> list[str]:
    info = review.tree.info
    ranks = info.black_rank, info.white_rank
    return [f"{name} {rank}".strip() for name, rank in zip(info.players(), ranks, strict=True)]


def _title(review: GameReview) -> str:
    """What names the game better than its players: nothing where these have names or both have ranks."""
    info = review.tree.info
    return "" if info.black_rank and info.white_rank else info.title(review.tree.root.comment)


def _state(review: GameReview) -> str:
    info, tree = review.tree.info, review.tree
    parts = [
        *([str(info.date)] if info.date else []),
        f"{tree.size}x{tree.size}, komi {tree.komi:g}",
        *([f"handicap {info.handicap}"] if info.handicap else []),
        f"result {info.result}",
        f"{len(review.moves)} moves",
        f"{review.engine}, {review.visits} visits a move",
    ]
    return ", ".join(parts) + "."


def _tile(review: GameReview, color: int, name: str) -> Tile:
    found = Summary.of(review.of(color))
    if found is None:
        return Tile(name, "no move")
    bad = f"{found.bad} move{'' if found.bad == 1 else 's'} lost {_bound(review, BAD)} or more"
    return Tile(name, found.loss_text, f"mean loss a move; {bad}")


def _score_is_unknown(review: GameReview) -> bool:
    return all(node.analysis is None or node.analysis.score_lead is None for node in review.nodes)


def _unit(review: GameReview) -> str:
    return "% of winrate" if _score_is_unknown(review) else "points"


def _bound(review: GameReview, grade: int) -> str:
    """The least loss of a grade: `3 points`, or `10% of winrate` where the engine knows no score."""
    if _score_is_unknown(review):
        return f"{WINRATE_LOSSES[grade - 1]:.0%} of winrate"
    return f"{LOSSES[grade - 1]:g} points"


def _rows(review: GameReview, color: int, name: str) -> list[list[str]]:
    """A row for all moves of a player, and one for each phase."""
    parts = [(name, review.of(color))]
    parts += [(f"    {phase}".replace(" ", "\u00a0"), review.of(color, phase)) for phase in PHASES]
    rows = []
    for label, moves in parts:
        if found := Summary.of(moves):
            shares = [f"{100 * share:.0f}%" for share in (found.top5, found.best, found.good)]
            no_score = found.mean_loss is None
            loss = f"{100 * found.mean_winrate_loss:.1f}" if no_score else f"{found.mean_loss:.2f}"
            rows.append([label, str(found.moves), loss, *shares])
    return rows


def _plots(review: GameReview, names: Sequence[str]) -> list[Any]:
    # Matplotlib takes as long to load as all else of a review, and JSON, SGF and the help need none.
    from tengen.runs.plots import ACCENT, INK, SECOND, plot

    numbers = [node.move_number for node in review.nodes]
    found = [node.analysis for node in review.nodes if node.analysis is not None]
    marker = "o" if len(found) == 1 else ""  # a line needs two points

    def winrate(axes: Axes) -> None:
        axes.plot(numbers, [100 * each.winrate for each in found], color=INK, linewidth=1.6, marker=marker)
        axes.axhline(50, color=INK, linewidth=0.6)
        axes.set_ylim(0, 100)
        _set_units(axes, "percent")

    def lead(axes: Axes) -> None:
        axes.plot(numbers, [each.score_lead or 0.0 for each in found], color=INK, linewidth=1.6, marker=marker)
        axes.axhline(0, color=INK, linewidth=0.6)
        _set_units(axes, "points")

    def losses(axes: Axes) -> None:
        for color, shade in enumerate((ACCENT, SECOND)):
            moves = review.of(color)
            label = f"\u200b{names[color]}"  # matplotlib leaves out a label that begins with _
            axes.bar([move.number for move in moves], [move.cost for move in moves], 0.9, color=shade, label=label)
        _set_units(axes, _unit(review))

    plots: list[tuple[str, Callable[[Axes], None]]] = [("Black's winrate", winrate)]
    if not _score_is_unknown(review):
        plots.append(("Black's lead", lead))
    if review.moves:
        plots.append(("Loss of each move", losses))
    return [plot(title, "move", draw, size=(5.4, 2.8), bottom=0.17) for title, draw in plots]


def _set_units(axes: Axes, text: str) -> None:
    from matplotlib.ticker import MaxNLocator

    axes.set_ylabel(text)
    axes.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))  # moves


def _mistake(move: ReviewedMove) -> list[str]:
    size, analysis, parent = move.node.tree.size, move.node.analysis, move.node.parent
    before = None if parent is None else parent.analysis
    leads = [leader(each.score_lead) if each and each.score_lead is not None else "-" for each in (before, analysis)]
    better = "-" if move.best is None else line_text(move)
    return [str(move.number), to_gtp(move.point, size), f"{move.cost:.1f}", " to ".join(leads), better]


def _board(review: GameReview, move: ReviewedMove) -> Board:
    """The position before a mistake: the move with a cross, the better line numbered."""
    assert move.node.parent is not None
    game = review.tree.position(move.node.parent)
    line = () if move.best is None else move.best.pv[:_LINE]
    picture = position_picture(game, f"position before move {move.number}", move.point, move.color, line)
    size = review.tree.size
    better = "" if move.best is None else f"better: {to_gtp(move.best.point, size)}"
    return Board(picture, f"{move.number}. {to_gtp(move.point, size)} lost {cost_text(move)}", better)

"""report.html, report.png and games.csv of a match, or of all that `tengen rate` was given. Nothing else is needed."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from tengen.match.game import Outcome
from tengen.match.sprt import Progress, Sprt, pair_scores
from tengen.ratings import charts, report_tables
from tengen.ratings.games_csv import write_games
from tengen.ratings.pool import Lot, Pool, match_lot
from tengen.ratings.report_games import sample_games
from tengen.ratings.standings import ANCHOR, Standings, standings
from tengen.runs import boards
from tengen.runs.report import Draw, Plot, page, plot, save_picture, section, table, tile, tiles, warning, write_page
from tengen.statistics import Tally

_ROW = 0.34  # inches that a player takes in a chart
_LOWEST = 1.9  # inches of a chart
_NAMES = 0.48  # of a chart's width for names, at most
_STYLE = """
h1.size{margin-top:3.5rem}.plots.wide figure{grid-column:1/-1;margin-bottom:1rem}
.plots.pairs{grid-template-columns:repeat(auto-fill,minmax(min(29rem,100%),1fr));align-items:start}
"""
_FIRST_MOVE = (
    '<p class="state"><small>Ratings take into account what the first move is worth, which moves them a little from '
    "the Elo of a score.</small></p>"
)
_MOST_ROWS = 40  # players whose bars are drawn


def write_report(folder: Path) -> Path | None:
    """Write report.html, report.png and games.csv of a match folder, finished or not; return the page's path.

    None, and nothing written, while no game is finished. Raises TengenError when the folder holds no match.
    """
    lot = match_lot(folder)
    if not lot.outcomes or lot.match is None:
        return None
    names = lot.match.names
    anchor = names[1] if len(names) == 2 and ANCHOR not in names else None
    found = standings(Pool((lot,)), lot.terms.size, anchor)
    title = " against ".join(names) if len(names) == 2 else folder.resolve().name
    return write_pool_report(Pool((lot,)), [found], folder, title)


def write_pool_report(pool: Pool, found: Sequence[Standings], out: Path, title: str) -> Path:
    """Write the three files of all these standings into the folder `out`, which is made; return the page's path.

    Games of a pool on boards of other sizes are left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    sizes = {one.size for one in found}
    pool = replace(pool, lots=tuple(lot for lot in pool.lots if lot.terms.size in sizes))
    body = [boards.DEFINITIONS, f"<h1>{html.escape(title)}</h1>", _state(pool)]
    for one in found:
        if len(found) > 1:
            body.append(f'<h1 class="size">{one.size}x{one.size}</h1>')
        body.append(_size(one, pool.at(one.size), out))
    body.append(section("Players and conditions", _about(pool)))
    style = boards.STYLE + report_tables.STYLE + _STYLE
    path = write_page(out / "report.html", page(f"{title}: ratings", "".join(body), style=style))
    largest = max(found, key=lambda one: one.games)
    save_picture(out / "report.png", _picture_title(title, largest), *_picture(largest, pool.at(largest.size)))
    write_games(pool, out / "games.csv")
    return path


def _state(pool: Pool) -> str:
    """What was played by, and which matches are not over."""
    told = []
    for lot in pool.lots:
        if (more := lot.left) and not any(test.accepted for _, test, _ in _tests(lot)):
            most = "at most " if lot.match and lot.match.more.get("within") else ""
            whole = f"{most}{len(lot.outcomes) + more}"
            told.append(f"{lot.source.resolve().name} stopped after {len(lot.outcomes)} of {whole} games")
    terms = "; ".join(str(terms) for terms in pool.terms)
    return f'<p class="state">{html.escape(". ".join([terms, *told]))}.</p>'


def _tests(lot: Lot) -> list[tuple[Sprt, Progress, list[float]]]:
    """The sequential test of a match, if it has one, how far it is, and the scores of its pairs."""
    if lot.match is None or not lot.match.more.get("sprt"):
        return []
    test = Sprt.model_validate(lot.match.more["sprt"])
    scores = pair_scores(lot.outcomes, lot.match.names[0])
    return [(test, test.judge(scores), scores)]


def _sequential(pool: Pool) -> str:
    """What the sequential tests say, each with its curve."""
    found = [(lot, *test) for lot in pool.lots for test in _tests(lot)]
    words = "".join(
        f'<p class="state">{html.escape(lot.match.names[0] if lot.match else "")}: {html.escape(str(progress))}.</p>'
        for lot, _, progress, _ in found
    )
    curves = [
        plot(
            f"Log likelihood ratio, {lot.source.resolve().name}",
            "pairs of games",
            partial(charts.sequential_test, test=test, scores=scores),
            left=0.12,
        )
        for lot, test, _, scores in found
        if scores
    ]
    return words + (_pairs(curves) if curves else "")


def _size(one: Standings, pool: Pool, out: Path) -> str:
    games = pool.outcomes
    outcomes = [outcome for _, outcome in games]
    return "".join(
        (
            "".join(warning("note", text) for text in one.warnings),
            tiles(_tiles(one, outcomes)),
            section("Ratings", _ratings(one, outcomes)),
            section("Sequential test", _sequential(pool)),
            section("Who beat whom", report_tables.matrix(one) + report_tables.pairs(one)),
            section(
                "How they played", f'<div class="plots pairs">{"".join(map(_figure, _charts(one, outcomes)))}</div>'
            ),
            section("Lost by failure", report_tables.failures(games, out)),
            section("Counted differently", report_tables.disagreements(games, out)),
            section("Final positions", sample_games(games, out)),
            section("Games", report_tables.list_of_games(games, out)),
        )
    )


def _tiles(one: Standings, outcomes: Sequence[Outcome]) -> list[str]:
    shown = [tile("games", f"{one.games:,}", f"{len(one.players)} players")]
    if len(one.pairs) == 1:
        shown += _duel(one)
    black = one.black.interval()
    shown.append(tile("Black's share", f"{one.black.score:.1%}", f"{black[0]:.0%} to {black[1]:.0%}"))
    if (advantage := one.ratings.first_move) is not None:
        elo, low, high = (f"{round(end):+}" for end in (advantage.elo, advantage.low, advantage.high))
        shown.append(tile("first move", f"{elo} Elo", f"{low} to {high}"))
    if outcomes:
        moves = sum(outcome.moves for outcome in outcomes) / len(outcomes)
        failed = sum(charts.is_failure(outcome) for outcome in outcomes)
        shown.append(tile("moves a game", f"{moves:.0f}"))
        shown.append(tile("lost by failure", str(failed), "crash, time, illegal move"))
        counted = sum(bool(outcome.counts) for outcome in outcomes)
        apart = sum(outcome.counts_differ for outcome in outcomes)
        disputed = sum(outcome.disputed for outcome in outcomes)
        if counted:
            shown.append(tile("counts differ", f"{apart} of {counted}", f"{disputed} on the winner"))
    return shown


def _duel(one: Standings) -> list[str]:
    """Two players: what the match says of the better one."""
    pair = one.pairs[0]
    tally: Tally = pair.tally
    low, high = tally.interval()
    elo, elo_low, elo_high = tally.elo()
    return [
        tile("score", f"{tally.score:.1%}", f"{pair.first}: {low:.1%} to {high:.1%}"),
        tile("Elo of the score", f"{elo:+.0f}", f"{elo_low:+.0f} to {elo_high:+.0f}"),
        tile("is stronger", f"{tally.superiority():.1%}", "probability"),
    ]


def _ratings(one: Standings, outcomes: Sequence[Outcome]) -> str:
    shown = len(one.ratings.players)
    chart = ""
    if 2 < shown <= _MOST_ROWS:
        chart = f'<div class="plots wide">{_figure(_wide(one))}</div>'
    note = "" if one.ratings.first_move is None else _FIRST_MOVE
    return chart + report_tables.ratings(one, outcomes) + note


def _wide(one: Standings) -> str:
    names = [rating.player for rating in one.ratings.players]
    title = f"Elo with 95% intervals; {charts.shortened(one.ratings.anchor)} is 0"
    return _plot(title, partial(charts.ratings, standings=one), names, width=11.0)


def _pairs(svgs: Sequence[str]) -> str:
    """Charts two in a row."""
    return f'<div class="plots pairs">{"".join(map(_figure, svgs))}</div>'


def _figure(svg: str) -> str:
    return f"<figure>{svg}</figure>"


def _charts(one: Standings, outcomes: Sequence[Outcome]) -> list[str]:
    names = one.players[:_MOST_ROWS]
    shown = [_plot("Score by colour", partial(charts.by_color, standings=one), names, below=charts.LEGEND)]
    if not outcomes:
        return shown
    draw = partial(charts.endings, outcomes=outcomes, names=names)
    shown.append(_plot("Games won (right) and lost (left)", draw, names, below=charts.LEGEND))
    for title, found in (
        ("Seconds a move", charts.seconds_a_move(outcomes)),
        ("Visits a move", charts.visits_a_move(outcomes)),
    ):
        known = [name for name in names if name in found]
        if known:
            shown.append(_spread(title, found, known))
    return [*shown, plot("Length of games", "moves", partial(charts.lengths, outcomes=outcomes), left=0.12)]


def _spread(title: str, found: dict[str, list[float]], names: Sequence[str]) -> str:
    return _plot(f"{title}, median and 80% of the games", partial(charts.spread, figures=found, names=names), names)


def _plot(title: str, draw: Draw, names: Sequence[str], *, width: float = 5.4, below: float = 0.0) -> str:
    """A chart with a row a player: as high as they need, with room for their names and `below` inches for a legend."""
    height = max(_LOWEST, _ROW * len(names) + 0.7) + below
    longest = max((len(charts.shortened(name)) for name in names), default=0)
    left = min(_NAMES, (0.25 + 0.085 * longest) / width)
    return plot(title, "", draw, size=(width, height), left=left, bottom=(0.3 + below) / height)


def _picture_title(title: str, one: Standings) -> str:
    return f"{title}   ·   {one.size}x{one.size}, {one.games:,} games"


def _picture(one: Standings, pool: Pool) -> tuple[list[Plot], float]:
    """The charts of report.png, and how high each is."""
    outcomes = [outcome for _, outcome in pool.outcomes]
    names = one.players
    shown: list[Plot] = [
        (f"Elo; {charts.shortened(one.ratings.anchor)} is 0", "", partial(charts.ratings, standings=one)),
        ("Score of the row against the column, %", "", partial(charts.matrix, standings=one)),
        ("Score by colour", "", partial(charts.by_color, standings=one)),
    ]
    if outcomes:
        shown.append(("Games won and lost", "", partial(charts.endings, outcomes=outcomes, names=names)))
    return shown, max(2.4, _ROW * len(names) + 0.8)


def _about(pool: Pool) -> str:
    """Every player's word and every match's conditions."""
    rows: dict[str, str] = {}
    for lot in pool.lots:
        if lot.match is None:
            continue
        for player in lot.match.players:
            said = {key: value for key, value in player.items() if key not in ("name", "player") and value}
            limits = ", ".join(f"{key} {value}" for key, value in said.items())
            rows[player["name"]] = f"{player['player']}{f' ({limits})' if limits else ''}"
    for lot in pool.lots:
        if lot.match is not None:
            rows[lot.source.resolve().name] = ", ".join(f"{key} {value}" for key, value in lot.match.conditions.items())
    return table(rows.items()) if rows else ""

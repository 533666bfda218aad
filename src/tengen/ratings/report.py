"""report.html, report.png and games.csv of a match, or of all games given to `tengen rate`."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from markupsafe import Markup
from pydantic import BaseModel

from tengen.disk import write_whole
from tengen.game import BLACK, WHITE
from tengen.match.conditions import Conditions
from tengen.match.outcome import Outcome
from tengen.match.spec import PlayerSpec, fields_taken
from tengen.match.sprt import Sprt, SprtState, pair_scores
from tengen.ratings import charts, report_tables
from tengen.ratings.pool import GameSet, Pool, match_games
from tengen.ratings.standings import ANCHOR, Standings, elo_text, standings
from tengen.rules import RULE_NAMES, Rules
from tengen.runs.plots import Draw, Plot, plot, save_picture
from tengen.runs.report import Tile, sentence, with_minus, write_page

_ROW = 0.34  # inches that a player takes in a chart
_MIN_HEIGHT, _MAX_HEIGHT = 1.9, 3.4  # inches of a chart; the maximum is that of a chart without a row a player
_WIDTH, _WIDE = 5.4, 11.0  # inches of a chart, and of one that has a row of its own
_MAX_NAMES = 0.48  # of a chart's width for names
_MAX_ROWS = 40  # players in a chart or a matrix
_RULES = {
    "aga": "AGA",
    "aga-button": "AGA with button",
    "chinese-ogs": "Chinese (OGS)",
    "new-zealand": "New Zealand",
    "tromp-taylor": "Tromp-Taylor",
}
_ALWAYS = {"size", "rules", "komi", "openings", "dead_stones"}  # conditions that decide a match, also by default
_UNFOLDED = 24  # rows up to which a list is unfolded


def write_report(folder: Path) -> Path | None:
    """Write report.html, report.png and games.csv of a match folder, finished or not; return the page's path.

    None, and nothing written, while no game is finished. Raises TengenError when the folder holds no match.
    """
    game_set = match_games(folder)
    if not game_set.outcomes or game_set.match is None:
        return None
    names = game_set.match.names
    anchor = names[1] if len(names) == 2 and ANCHOR not in names else None
    pool = Pool.of([game_set])
    found = standings(pool, game_set.rules.size, anchor)
    title = " against ".join(names) if len(names) == 2 else folder.resolve().name
    return write_pool_report(pool, [found], folder, title)


def write_pool_report(pool: Pool, found: Sequence[Standings], out: Path, title: str) -> Path:
    """Write the three files of all these standings into the folder `out`, which is made; return the page's path.

    Games of a pool on boards of other sizes are left out.
    """
    out.mkdir(parents=True, exist_ok=True)
    title = charts.drawable(title)
    sizes = {one.size for one in found}
    pool = replace(pool, game_sets=tuple(game_set for game_set in pool.game_sets if game_set.rules.size in sizes))
    path = write_page(
        out / "report.html",
        "ratings.html",
        title=title,
        what="ratings",
        state=_state(pool),
        sizes=[_size(one, pool.at(one.size), out) for one in found],
        about=_about(pool),
        unfolded=_UNFOLDED,
    )
    largest = max(found, key=lambda one: one.games)
    save_picture(out / "report.png", _picture_title(title, largest), *_picture(largest, pool.at(largest.size)))
    write_games(pool, out / "games.csv")
    return path


def _state(pool: Pool) -> str:
    """The rules of the games, and the matches that are not over."""
    stopped = []
    for game_set in pool.game_sets:
        if (more := game_set.left) and not any(progress.accepted for _, progress, _ in _tests(game_set)):
            bound = "at most " if game_set.match and game_set.match.more.get("within") else ""
            whole = f"{bound}{len(game_set.outcomes) + more}"
            stopped.append(f"{game_set.source.resolve().name} stopped after {len(game_set.outcomes)} of {whole} games")
    rules = "; ".join(dict.fromkeys(str(replace(one, rules=_rules_name(one.rules))) for one in pool.rules))
    return f"{'. '.join([rules, *stopped])}."


def _rules_name(rules: str) -> str:
    """A rule set as people write it, such as `New Zealand`; the parts of one without a name."""
    name = rules if rules in RULE_NAMES else Rules.parse(rules).text
    return _RULES.get(name) or (name.replace("-", " ").capitalize() if name in RULE_NAMES else name)


def _tests(game_set: GameSet) -> list[tuple[Sprt, SprtState, list[float]]]:
    """The sequential test of a match, if it has one, its progress, and the scores of its pairs."""
    if game_set.match is None or not game_set.match.more.get("sprt"):
        return []
    test = Sprt.model_validate(game_set.match.more["sprt"])
    scores = pair_scores(game_set.outcomes, game_set.match.names[0])
    return [(test, test.judge(scores), scores)]


def _size(one: Standings, pool: Pool, out: Path) -> dict[str, Any]:
    """What the template shows of the games on boards of one size."""
    games = pool.outcomes
    outcomes = [outcome for _, outcome in games]
    tests = [(game_set, *test) for game_set in pool.game_sets for test in _tests(game_set)]
    top = one.top(_MAX_ROWS)
    shown, wide = _charts(top, outcomes)
    names = [*one.players, *(str(game_set.source) for game_set in pool.game_sets)]
    return {
        "size": one.size,
        "players": top.players,
        "all_players": len(one.players),
        "warnings": [sentence(note, names) for note in one.warnings],
        "tiles": _tiles(one, pool),
        "chart": [_wide(one)] if 2 < len(one.ratings.players) <= _MAX_ROWS else [],
        "ratings": report_tables.ratings(one, outcomes),
        "advantage": "" if one.ratings.first_move is None else _advantage(one),
        "tests": [
            f"{game_set.match.names[0] if game_set.match else ''}: {progress}." for game_set, _, progress, _ in tests
        ],
        "test_plots": [
            plot(
                f"Log likelihood ratio, {charts.drawable(game_set.source.resolve().name)}",
                "pairs of games",
                partial(charts.sequential_test, test=test, scores=scores),
                left=0.12,
            )
            for game_set, test, _, scores in tests
            if scores
        ],
        "dense": len(one.players) > report_tables.DENSE,
        "matrix": report_tables.matrix(top),
        "pairs": report_tables.pairs(one),
        "charts": shown,
        "wide_charts": wide,
        "failures": report_tables.failures(games, out),
        "disagreements": report_tables.disagreements(games, out),
        "samples": report_tables.sample_games(games, out),
        "games": report_tables.games_by_pairing(games, out),
        "listed": len(games),
    }


def _tiles(one: Standings, pool: Pool) -> list[Tile]:
    outcomes = [outcome for _, outcome in pool.outcomes]
    entered = {name for game_set in pool.game_sets if game_set.match for name in game_set.match.names}
    missing = f" of {len(every)}" if (every := entered.union(one.players)).difference(one.players) else ""
    shown = [Tile("games", f"{one.games:,}", f"{len(one.players)}{missing} players")]
    if len(one.pairs) == 1:
        shown += _duel(one)
    black = one.black.interval()
    shown.append(Tile("Black's winrate", f"{one.black.score:.1%}", f"{black[0]:.0%} to {black[1]:.0%}"))
    advantage = one.ratings.first_move
    if advantage is not None and not (advantage.open_low and advantage.open_high):
        elo, interval = map(with_minus, elo_text(advantage))
        shown.append(Tile(_advantage(one), f"{elo} Elo", interval))
    if outcomes:
        moves = sum(outcome.moves for outcome in outcomes) / len(outcomes)
        failed = sum(charts.is_failure(outcome) for outcome in outcomes)
        shown.append(Tile("moves a game", f"{moves:.0f}"))
        shown.append(Tile("lost by failure", str(failed), "crash, time, illegal move"))
        counted = sum(bool(outcome.counts) for outcome in outcomes)
        apart = sum(outcome.counts_differ for outcome in outcomes)
        disputed = sum(outcome.disputed for outcome in outcomes)
        if counted:
            shown.append(Tile("counts differ", f"{apart} of {counted}", f"{disputed} on the winner"))
    return shown


def _advantage(one: Standings) -> str:
    """What Black has in addition to its strength, as the report names it."""
    return "handicap" if one.has_handicap else "first move"


def _duel(one: Standings) -> list[Tile]:
    """The figures of a match of two players, for the better one."""
    pair = one.pairs[0]
    tally = pair.tally
    low, high = tally.interval()
    elos = tally.elo()
    elo, elo_low, elo_high = ("?" if math.isinf(end) else with_minus(f"{end:+.0f}") for end in elos)
    if elo == "?":  # a score of 0% or 100% bounds it at one side alone
        elo = f"> {elo_low}" if elo_high == "?" else f"< {elo_high}"
    return [
        Tile("score", f"{tally.score:.1%}", f"{pair.first}: {low:.1%} to {high:.1%}"),
        Tile("Elo of the score", elo, f"{elo_low} to {elo_high}"),
        Tile("is stronger", f"{tally.superiority():.1%}", "probability"),
    ]


def _wide(one: Standings) -> Markup:
    names = [rating.player for rating in one.ratings.players]
    title = f"Elo with 95% intervals; {_anchor(one)}"
    return _plot(title, partial(charts.ratings, standings=one), names, width=_WIDE)


def _anchor(one: Standings) -> str:
    return f"{charts.shortened(one.ratings.anchor)} is {one.ratings.anchor_elo:g}"


def _charts(one: Standings, outcomes: Sequence[Outcome]) -> tuple[list[Markup], list[Markup]]:
    """The charts, two in a row, and those that have a row of their own."""
    names = one.players
    shown = [_plot("Score by color", partial(charts.by_color, standings=one), names, below=charts.LEGEND)]
    if not outcomes:
        return shown, []
    draw = partial(charts.endings, outcomes=outcomes, names=names)
    shown.append(_plot("Games won (right) and lost (left)", draw, names, below=charts.LEGEND))
    seconds = charts.seconds_a_move(outcomes, WHITE if one.has_handicap else BLACK)
    unit, _, number = charts.time_unit(max((max(times) for times in seconds.values()), default=1.0))
    times = {name: [number * value for value in values] for name, values in seconds.items()}
    for title, found, are_counts in ((unit, times, False), ("Visits", charts.visits_a_move(outcomes), True)):
        if known := [name for name in names if name in found]:
            draw = partial(charts.spread, figures=found, names=known, are_counts=are_counts)
            shown.append(_plot(f"{title} a move, median and 80% of the games", draw, known))
    if len(shown) % 2 == 0:
        return shown, [_lengths(outcomes, _WIDE, _MIN_HEIGHT)]
    return [*shown, _lengths(outcomes, _WIDTH, min(_height(names), _MAX_HEIGHT))], []


def _lengths(outcomes: Sequence[Outcome], width: float, height: float) -> Markup:
    draw = partial(charts.lengths, outcomes=outcomes)
    return plot("Length of games", "moves", draw, size=(width, height), left=0.65 / width, bottom=0.45 / height)


def _plot(title: str, draw: Draw, names: Sequence[str], *, width: float = _WIDTH, below: float = 0.0) -> Markup:
    """A chart with a row a player: as high as they need, with room for their names and `below` inches for a legend."""
    height = _height(names) + below
    longest = max((len(charts.shortened(name)) for name in names), default=0)
    left = min(_MAX_NAMES, (charts.BESIDE + charts.LETTER * longest) / width)
    return plot(title, "", draw, size=(width, height), left=left, bottom=(0.3 + below) / height)


def _height(names: Sequence[str]) -> float:
    return max(_MIN_HEIGHT, _ROW * len(names) + 0.7)


def _picture_title(title: str, one: Standings) -> str:
    return f"{title}   ·   {one.size}x{one.size}, {one.games:,} games"


def _picture(one: Standings, pool: Pool) -> tuple[list[Plot], float]:
    """The charts of report.png, and how high each is."""
    outcomes = [outcome for _, outcome in pool.outcomes]
    one = one.top(_MAX_ROWS)
    names = one.players
    shown: list[Plot] = [
        (f"Elo; {_anchor(one)}", "", partial(charts.ratings, standings=one)),
        ("Score against the column, %", "", partial(charts.matrix, standings=one)),
        ("Score by color", "", partial(charts.by_color, standings=one)),
    ]
    if outcomes:
        shown.append(("Games won and lost", "", partial(charts.endings, outcomes=outcomes, names=names)))
    return shown, max(2.4, _ROW * len(names) + 0.8)


def _about(pool: Pool) -> list[tuple[str, str]]:
    """The specification of every player and the conditions of every match."""
    rows: dict[str, str] = {}
    matches = [(game_set, game_set.match) for game_set in pool.game_sets if game_set.match is not None]
    for _, match in matches:
        for player in match.players:
            taken = {name: player[name] for name in player if name in fields_taken(player["player"])}
            rows[player["name"]] = ", ".join(filter(None, [player["player"], _words(taken, PlayerSpec)]))
    for game_set, match in matches:
        conditions = {**match.conditions, "rules": _rules_name(match.conditions["rules"])}
        rows[game_set.source.resolve().name] = _words(conditions, Conditions)
    return list(rows.items())


def _words(fields: Mapping[str, Any], model: type[BaseModel]) -> str:
    """The values of fields of a model, without the defaults of those that do not decide a match."""
    known = model.model_fields
    shown = {
        key: value for key, value in fields.items() if key in _ALWAYS or key not in known or value != known[key].default
    }
    words = {key: f"{key.replace('_', ' ')} {_value_text(value)}" for key, value in shown.items()}
    return ", ".join(f"{word} s" if key == "lag" else word for key, word in words.items())


def _value_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return f"({', '.join(f'{key} {_value_text(one)}' for key, one in value.items())})"
    return f"{value:g}" if isinstance(value, float) else str(value)


def write_games(pool: Pool, path: Path) -> None:
    """Write games.csv: a row for each game with a known outcome, with its rules, komi and size."""
    rows = [_row(game_set, outcome) for game_set, outcome in pool.outcomes]
    with (
        write_whole(path, shared=True) as temporary,
        temporary.open("w", newline="", encoding="utf-8", errors="backslashreplace") as file,
    ):
        writer = csv.DictWriter(file, list(rows[0]) if rows else ["game"])
        writer.writeheader()
        writer.writerows(rows)


def _row(game_set: GameSet, outcome: Outcome) -> dict[str, Any]:
    return {
        "match": str(game_set.source),
        "game": outcome.index,
        "round": outcome.round,
        "pair": outcome.pair,
        **asdict(game_set.rules),
        **dict(_facts(outcome)),
        "disputed": outcome.disputed,
        "counts": json.dumps(outcome.counts, ensure_ascii=False) if outcome.counts else "",
        "detail": outcome.detail,
    }


def _facts(outcome: Outcome) -> Iterator[tuple[str, Any]]:
    for name in ("black", "white", "winner", "result", "reason", "moves", "score"):
        yield name, getattr(outcome, name)
    for what in ("seconds", "visits"):
        for color in ("black", "white"):
            yield f"{color}_{what}", getattr(outcome, what).get(getattr(outcome, color))

"""Tables of a tournament's page: ratings, who beat whom, what went wrong, and every game with its record."""

from __future__ import annotations

import html
import os
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import median
from urllib.parse import quote

from tengen.match.game import Outcome
from tengen.ratings.charts import ending, is_failure, seconds_a_move, visits_a_move
from tengen.ratings.pool import Lot
from tengen.ratings.standings import Standings, elo_text
from tengen.statistics import Tally

STYLE = """
.wide{overflow-x:auto}table.figures td,table.figures th{white-space:nowrap;text-align:right;opacity:1;width:auto}
table.figures th{font-weight:500;font-size:.85rem;opacity:.7;padding:.35rem .6rem;
vertical-align:bottom}
table.figures td.name,table.figures th.name{text-align:left;white-space:normal;min-width:9rem;width:auto}
table.figures td b{font-weight:600}table.figures small{opacity:.7}
.matrix td{text-align:center!important;min-width:3.4rem}
.matrix td.name{text-align:left!important}.matrix td.self{background:var(--line)}
table.matrix{width:auto;margin-bottom:1.5rem}
.dense td,.dense th{min-width:1.9rem!important;padding:.3rem .1rem!important;font-size:.85rem}
.dense td.name{white-space:nowrap!important;padding-right:.6rem!important}
details.games summary{font-size:1rem;font-weight:500;margin:.6rem 0}details.games{border-top:1px solid var(--line)}
td details summary{font-size:.85rem;font-weight:400;margin:.2rem 0}
a{color:var(--plot0)}pre.words{margin:.3rem 0;padding:.5rem .7rem;font-size:.8rem;max-height:12rem;overflow:auto}
"""

Game = tuple[Lot, Outcome]

_BLUE, _RED = "95,179,209", "238,138,112"
_FULL = 0.75  # opacity of a cell whose player won everything or nothing
_UNFOLDED = 24  # rows up to which a list is unfolded
_DENSE = 12  # players above which a matrix shows the score alone


def ratings(standings: Standings, outcomes: Sequence[Outcome]) -> str:
    """All players, best first."""
    seconds, visits = seconds_a_move(outcomes), visits_a_move(outcomes)
    rows = []
    for rank, name in enumerate(standings.players, 1):
        elo, interval = elo_text(standings.ratings.get(name))
        black, white = standings.by_color[name]
        whole = standings.whole(name)
        cells = [
            f"<b>{html.escape(elo)}</b>",
            f"<small>{interval}</small>",
            f"{whole.games:,}",
            f"{whole.wins} &ndash; {whole.draws} &ndash; {whole.losses}",
            *(f"{tally.score:.1%}" if tally.games else "" for tally in (whole, black, white)),
            f"{median(seconds[name]):.2g} s" if name in seconds else "",
            f"{median(visits[name]):,.0f}" if name in visits else "",
        ]
        rows.append([str(rank), _name(name), *cells])
    heads = [
        "", "player", "Elo", "95% interval", "games", "won, drawn, lost", "score", "as Black", "as White",
        "time a move", "visits a move",
    ]  # fmt: skip
    return _table(heads, rows, names={1})


def matrix(standings: Standings) -> str:
    """The score of each row's player against each column's, the deeper the blue the better, red below a half."""
    names = standings.players
    dense = len(names) > _DENSE
    rows = []
    for rank, one in enumerate(names, 1):
        cells = [_cell(standings.pair(one, other), one, other, dense) for other in names]
        rows.append(f'<tr><td class="name">{rank} &nbsp;{html.escape(one)}</td>{"".join(cells)}</tr>')
    heads = "".join(f'<th style="text-align:center" title="{_name(name)}">{i}</th>' for i, name in enumerate(names, 1))
    head = f'<tr><th class="name">score in percent{"" if dense else ", and games"}</th>{heads}</tr>'
    kind = "figures matrix dense" if dense else "figures matrix"
    return f'<div class="wide"><table class="{kind}">{head}{"".join(rows)}</table></div>'


def pairs(standings: Standings) -> str:
    """Every pairing with its interval, what the ratings expect, and how sure it is who is stronger."""
    rows = []
    for pair in standings.pairs:
        tally = pair.tally
        low, high = tally.interval()
        rows.append(
            [
                _name(pair.first),
                _name(pair.second),
                f"{tally.games:,}",
                f"{tally.wins} &ndash; {tally.draws} &ndash; {tally.losses}",
                f"<b>{tally.score:.1%}</b>",
                f"<small>{low:.1%} to {high:.1%}</small>",
                "" if pair.expected is None else f"{pair.expected:.1%}",
                f"{tally.superiority():.1%}",
            ]
        )
    heads = ["player", "against", "games", "won, drawn, lost", "score", "95% interval", "expected", "is stronger"]
    table = _table(heads, rows, names={0, 1})
    if len(rows) == 1:
        return table
    unfolded = " open" if len(rows) <= _UNFOLDED else ""
    return f'<details class="games"{unfolded}><summary>{len(rows)} pairings</summary>{table}</details>'


def failures(games: Sequence[Game], out: Path) -> str:
    """Games that were lost by a crash, on time or by an illegal move, with the program's last words."""
    rows = []
    for lot, outcome in games:
        if not is_failure(outcome):
            continue
        words = html.escape("\n".join(outcome.last_words))
        told = f"<details><summary>last words</summary><pre class='words'>{words}</pre></details>" if words else ""
        detail = f"{html.escape(outcome.detail)}{told}"
        rows.append([_link(lot, outcome, out), _name(outcome.loser or "nobody"), ending(outcome), detail])
    return _table(["game", "loser", "by", "what happened"], rows, names={1, 2, 3}) if rows else ""


def disagreements(games: Sequence[Game], out: Path) -> str:
    """Games in which the players' dead stones led to different scores."""
    rows = []
    for lot, outcome in games:
        if outcome.counts_differ:
            counts = "; ".join(f"{_name(who)}: {_margin(score)}" for who, score in outcome.counts.items())
            winners = "different winners" if outcome.disputed else ""
            players = f"{_name(outcome.black)} &ndash; {_name(outcome.white)}"
            rows.append([_link(lot, outcome, out), players, outcome.result, counts, winners])
    return _table(["game", "Black &ndash; White", "result", "counts", ""], rows, names={1, 3, 4}) if rows else ""


def list_of_games(games: Sequence[Game], out: Path) -> str:
    """All games by pairing, each with a link to its record."""
    met: dict[tuple[str, str], list[Game]] = defaultdict(list)
    for lot, outcome in games:
        one, other = sorted((outcome.black, outcome.white))
        met[one, other].append((lot, outcome))
    unfolded = " open" if len(games) <= _UNFOLDED else ""
    parts = []
    for (one, other), played in sorted(met.items()):
        tally = Tally(*(sum(o.winner == who for _, o in played) for who in (one, None, other)))
        title = f"{_name(one)} {tally.points:g} : {tally.games - tally.points:g} {_name(other)}"
        rows = [_game_row(lot, outcome, out) for lot, outcome in played]
        heads = ["game", "Black", "White", "result", "ended by", "moves", "time of Black", "of White"]
        table = _table(heads, rows, names={1, 2})
        parts.append(f'<details class="games"{unfolded}><summary>{title}</summary>{table}</details>')
    return "".join(parts)


def record_link(lot: Lot, outcome: Outcome, out: Path) -> str:
    """Where a game's SGF is, seen from the folder `out`, as part of an address."""
    return quote(os.path.relpath(lot.source.resolve() / "games" / f"{outcome.index:05d}.sgf", out.resolve()))


def _game_row(lot: Lot, outcome: Outcome, out: Path) -> list[str]:
    names = [
        f"<b>{_name(name)}</b>" if name == outcome.winner else _name(name) for name in (outcome.black, outcome.white)
    ]
    times = [
        f"{outcome.seconds[name]:,.1f} s" if name in outcome.seconds else "" for name in (outcome.black, outcome.white)
    ]
    kind = "too long" if outcome.reason == "limit" else ending(outcome)
    return [_link(lot, outcome, out), *names, outcome.result, kind, f"{outcome.moves}", *times]


def _link(lot: Lot, outcome: Outcome, out: Path) -> str:
    return f'<a href="{record_link(lot, outcome, out)}">{outcome.index}</a>'


def _cell(tally: Tally | None, one: str, other: str, dense: bool) -> str:
    if one == other:
        return '<td class="self"></td>'
    if tally is None:
        return "<td></td>"
    low, high = tally.interval()
    strength = _FULL * abs(2 * tally.score - 1)
    told = html.escape(
        f"{one} against {other}: {tally.points:g} of {tally.games}, {tally.score:.1%} [{low:.1%} to {high:.1%}]"
    )
    color = f"rgba({_BLUE if tally.score >= 0.5 else _RED},{strength:.2f})"
    games = "" if dense else f"<br><small>{tally.games}</small>"
    return f'<td style="background:{color}" title="{told}">{100 * tally.score:.0f}{games}</td>'


def _margin(score: float) -> str:
    return "draw" if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


def _name(name: str) -> str:
    return html.escape(name)


def _table(heads: Sequence[str], rows: Iterable[Sequence[str]], names: set[int]) -> str:
    """Cells are HTML; those in the columns `names` may break and stand left."""

    def line(tag: str, cells: Sequence[str]) -> str:
        kinds = (' class="name"' if i in names else "" for i in range(len(cells)))
        return "".join(f"<{tag}{kind}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True))

    body = "".join(f"<tr>{line('td', row)}</tr>" for row in rows)
    return f'<div class="wide"><table class="figures"><tr>{line("th", heads)}</tr>{body}</table></div>'

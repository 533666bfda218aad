"""Measures the ladder of opponents (`tengen.engine.levels`) and writes its file.

    python benchmarks/long/levels.py                        # all sizes: plays what is missing, then writes the file
    python benchmarks/long/levels.py 9 13 --games 40        # more games of a pairing; those played count
    python benchmarks/long/levels.py --games 0              # rates what was played and writes the file

Two matches a size, in folders that `tengen rate` reads too: a ladder, in which each candidate meets the two before it,
and one in which some of them meet GNU Go 3.8 levels 1 and 10. All games are rated together, with GNU Go level 10 as 0,
and with a prior: candidates beside each other in the list have played two games more, of which the stronger one has
70%. Games of EARLIER count too, as do matches in further folders `NAME-SIZE`.
Of the candidates those 12 become levels whose steps in Elo are the most even.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import combinations, pairwise
from pathlib import Path
from statistics import pvariance
from typing import Any

from filelock import FileLock

import tengen.engine
from tengen.disk import json_text
from tengen.engine.levels import FILE, SIZES, rank_text
from tengen.errors import TengenError
from tengen.match.folder import read_folder
from tengen.match.runner import InWorkers, play_match
from tengen.match.settings import MatchSettings
from tengen.ratings.elo import fit
from tengen.ratings.pool import Pool, match_games
from tengen.ratings.score import Score
from tengen.ratings.standings import ANCHOR

Candidate = Mapping[str, Any]
PROGRAMS = [f"gtp:gnugo --mode gtp --level {level} --chinese-rules" for level in (1, 10)]
KOMI = {9: 7.0, 13: 7.5, 19: 7.5}
LEVELS = 12
# What a rank is worth, in Elo: assumed. Short games decide less, so that a rank is worth less on a small board.
ELO_PER_RANK: Mapping[int, float] = {9: 70.0, 13: 85.0, 19: 100.0}
RANK_OF_ANCHOR = -7.0  # GNU Go level 10 is held to be 8 kyu; a rank is 1 for 1 dan, 0 for 1 kyu, -7 for 8 kyu
ANCHOR_ERROR = 2.0  # ranks by which the anchor may be another
SCALE_ERROR = 0.4  # share by which ELO_PER_RANK may be wrong
WEAKEST, STRONGEST = -29.0, 9.0  # 30 kyu and 9 dan: no estimate goes beyond
BEGINNER = -26.0  # 27 kyu: of the candidates below it one is enough


def loss(points: float, floor: float = 0.01, temperature: float = 1.0) -> Candidate:
    """Moves of the network that give away so many points on average."""
    style = {"mean_loss": points, "policy_floor": floor, "policy_temperature": temperature}
    return {"name": f"loss {points:g}", "visits": 1, "style": style}


def drawn(temperature: float) -> Candidate:
    """Moves drawn from the policy."""
    return {"name": f"temperature {temperature:g}", "visits": 1, "style": {"policy_temperature": temperature}}


def best(visits: int) -> Candidate:
    """The best move of a search, of the policy alone with one visit."""
    return {"name": "raw policy" if visits == 1 else f"{visits} visits", "visits": visits, "style": {}}


CANDIDATES: dict[int, list[Candidate]] = {
    9: [loss(32, 0.0003, 2), loss(22, 0.0005, 1.5), loss(16, 0.001), loss(12, 0.001), loss(9, 0.003), loss(7, 0.003),
        loss(5), loss(3.5), loss(2.5), loss(1.7), loss(1), drawn(0.5), best(1), best(4), best(8), best(16), best(40),
        best(100), best(400)],
    13: [loss(32, 0.0003, 2), loss(22, 0.0005, 1.5), loss(15, 0.001), loss(11, 0.001), loss(8, 0.003), loss(6, 0.003),
         loss(4.5), loss(3.2), loss(2.3), loss(1.5), loss(0.8), best(1), best(4), best(12), best(40)],
    19: [loss(32, 0.0003, 2), loss(22, 0.0005, 1.5), loss(15, 0.001), loss(11, 0.001), loss(8, 0.003), loss(6, 0.003),
         loss(4.5), loss(3.2), loss(2.3), loss(1.5), loss(0.8), best(1), best(4), best(12), best(40), best(100),
         best(400)],
}  # fmt: skip
# By name, since `default` may become another one. For a new network, begin new folders, without EARLIER.
NETWORKS = {9: "zero-9x9", 13: "tygem-b8c64", 19: "tygem-b8c64"}
MAX_VISITS = {9: 400, 13: 40, 19: 40}  # of candidates that play here; stronger ones have games of EARLIER alone
GAMES = {9: 24, 13: 12, 19: 8}  # of a pairing
ANCHOR_GAMES = {9: 24, 13: 4, 19: 2}  # of a pairing with GNU Go, which takes minutes for a game on large boards
# Won, drawn and lost by these networks against GNU Go level 10 before, under the same conditions: docs/results.md,
# Ratings.
EARLIER = {
    9: [("raw policy", 73, 8, 19), ("GNU Go level 1", 102, 36, 194)],
    19: [("raw policy", 14, 0, 4), ("100 visits", 16, 0, 2), ("400 visits", 74, 0, 2), ("GNU Go level 1", 1, 0, 15)],
}
PRIOR_GAMES, PRIOR_SHARE = 2.0, 0.7  # between neighbours of a list
MIN_GAMES = 2  # of a level
ROUND = 2  # games of a pairing after which the file is written
ANCHORED: dict[int, list[str]] = {
    9: ["loss 5", "loss 2.5", "raw policy", "8 visits"],
    13: ["loss 3.2", "loss 1.5", "raw policy", "4 visits"],
    19: ["loss 3.2", "loss 1.5", "raw policy"],
}


def player(candidate: Candidate, network: str) -> dict[str, Any]:
    fields = {name: candidate[name] for name in ("name", "style")}
    if candidate["visits"] == 1:
        return {"player": f"policy:{network}", **fields}
    return {"player": network, "visits": candidate["visits"], **fields}


def matches(size: int, games: int) -> dict[str, MatchSettings]:
    """The settings of the two matches by the names of their folders."""
    network = NETWORKS[size]
    conditions = {"size": size, "komi": KOMI[size], "openings": f"policy:{network}", "opening": 4, "seed": 1}
    players = {one["name"]: player(one, network) for one in CANDIDATES[size] if one["visits"] <= MAX_VISITS[size]}
    anchored = [players[name] for name in ANCHORED[size]]
    return {
        f"ladder-{size}": MatchSettings.of(
            *players.values(), schedule={"kind": "ladder", "back": 2}, games=games, conditions=conditions
        ),
        f"anchors-{size}": MatchSettings.of(
            *anchored,
            *PROGRAMS,
            schedule={"kind": "gauntlet", "anchors": 2},
            games=min(games, ANCHOR_GAMES[size]),
            conditions=conditions,
        ),
    }


def chosen(elos: Sequence[float], weakest: float) -> list[int]:
    """The places of 12 candidates whose Elo rises in the most even steps.

    They begin with the last one below `weakest`, if 12 are left, and end with the last of all.
    """
    found: tuple[float, list[int]] | None = None
    ends = len(elos) - 1
    first = max((i for i, elo in enumerate(elos[: -LEVELS + 1]) if elo < weakest), default=0)
    for inner in combinations(range(first + 1, ends), LEVELS - 2):
        places = [first, *inner, ends]
        steps = [elos[b] - elos[a] for a, b in pairwise(places)]
        if min(steps) > 0 and (found is None or pvariance(steps) < found[0]):
            found = pvariance(steps), places
    if found is None:
        raise TengenError(f"no {LEVELS} candidates rise in Elo: {[round(elo) for elo in elos]}; play more games")
    return found[1]


def earlier(size: int) -> list[Score]:
    """The games of EARLIER, half of them with each color."""
    return [
        score
        for name, wins, draws, losses in EARLIER.get(size, [])
        for score in (
            Score(name, ANCHOR, wins / 2, draws / 2, losses / 2),
            Score(ANCHOR, name, losses / 2, draws / 2, wins / 2),
        )
    ]


def prior(size: int) -> list[Score]:
    """The games that neighbours of the list have played by assumption, half of them with each color."""
    names = [candidate["name"] for candidate in CANDIDATES[size]]
    weight, share = PRIOR_GAMES / 2, PRIOR_SHARE
    return [
        score
        for weak, strong in pairwise(names)
        for score in (
            Score(strong, weak, wins=weight * share, losses=weight * (1 - share)),
            Score(weak, strong, wins=weight * (1 - share), losses=weight * share),
        )
    ]


def network_of(size: int, out: Path) -> str:
    """The network of all games of a size. Raises TengenError for games of several ones and of another one."""
    found: set[tuple[str, str]] = set()
    for path in out.glob(f"*-{size}/match.json"):
        about, _ = read_folder(path.parent)
        found.update(file for file in about.more.get("files", {}).items() if file[0] != about.conditions["openings"])
    if {name for name, _ in found} != {NETWORKS[size]} or len(found) > 1:
        words = ", ".join(f"{name} ({digest})" for name, digest in sorted(found))
        raise TengenError(f"{out} has games on {size}x{size} of {words}; only those of one {NETWORKS[size]} are rated")
    return NETWORKS[size]


def rated(size: int, out: Path) -> tuple[int, dict[str, dict[str, Any]]]:
    """The number of games of a size, and the figures of each player by name, best first."""
    pool = Pool.of(match_games(path.parent) for path in sorted(out.glob(f"*-{size}/match.json")))
    if not pool.scores:
        raise TengenError(f"{out} has no games on {size}x{size}")
    games: Counter[str] = Counter()
    scores = [*pool.scores, *earlier(size)]
    for score in scores:
        games.update({score.black: int(score.games), score.white: int(score.games)})
    ratings = fit([*scores, *prior(size)], ANCHOR, first_move=True)
    rows = {
        one.player: {"elo": round(one.elo, 1), "low": round(one.low, 1), "high": round(one.high, 1),
                     "games": games[one.player]}
        for one in ratings.players
    }  # fmt: skip
    return sum(games.values()) // 2, rows


def ladder(size: int, network: str, games: int, rows: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The part of the file for one size."""
    played = [candidate for candidate in CANDIDATES[size] if rows[candidate["name"]]["games"] >= MIN_GAMES]
    elos = [rows[candidate["name"]]["elo"] for candidate in played]
    beginner = (BEGINNER - RANK_OF_ANCHOR) * ELO_PER_RANK[size]
    levels = [played[place] for place in chosen(elos, beginner)]

    return {
        "network": network,
        "komi": KOMI[size],
        "games": games,
        "elo_per_rank": ELO_PER_RANK[size],
        "anchors": [{"player": name, **row} for name, row in rows.items() if name.startswith("GNU Go")],
        "levels": [
            {
                "visits": one["visits"],
                "style": one["style"],
                **rows[one["name"]],
                **rank_estimate(size, *(rows[one["name"]][key] for key in ("elo", "low", "high"))),
            }
            for one in levels
        ],
    }


def rank_estimate(size: int, elo: float, low: float | None, high: float | None) -> dict[str, float]:
    """The fields `rank`, `rank_low` and `rank_high` of a Level, from its Elo and the interval of that.

    The bounds join three errors, as independent ones: of the measurement, of the anchor's rank and of the scale.
    """
    scale = ELO_PER_RANK[size]

    def error(end: float | None) -> float:
        measured = 400.0 if end is None else abs(end - elo)
        return math.hypot(measured / scale, ANCHOR_ERROR, SCALE_ERROR * elo / scale)

    rank = RANK_OF_ANCHOR + elo / scale
    found = {"rank": rank, "rank_low": rank - error(low), "rank_high": rank + error(high)}
    return {name: round(min(max(value, WEAKEST), STRONGEST), 1) for name, value in found.items()}


def table(size: int, part: Mapping[str, Any]) -> str:
    """The levels and the anchors of a size for docs/results.md."""

    def elo(row: Mapping[str, Any]) -> str:
        low, high = ("?" if row[end] is None else f"{row[end]:+.0f}" for end in ("low", "high"))
        return f"{row['elo']:+.0f} ({low} to {high})"

    lines = [f"| {size}x{size} | plays | Elo | games | rank |", "|---|---|---|---|---|"]
    for number, row in enumerate(part["levels"], 1):
        style = ", ".join(f"{name.replace('_', ' ')} {value:g}" for name, value in row["style"].items())
        ranks = [rank_text(row[name]) for name in ("rank", "rank_low", "rank_high")]
        plays = style or ("best move of the policy" if row["visits"] == 1 else f"{row['visits']} visits")
        lines.append(
            f"| level {number} | {plays} | {elo(row)} | {row['games']} | {ranks[0]} ({ranks[1]} to {ranks[2]}) |"
        )
    lines += [f"| | {row['player']} | {elo(row)} | {row['games']} | |" for row in part["anchors"]]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sizes", nargs="*", type=int, metavar="SIZE", help="9, 13 or 19; all of them unless given")
    parser.add_argument("--games", type=int, help="of a pairing; 0 plays none")
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--out", type=Path, default=Path("matches/levels"))
    given = parser.parse_args()
    if not set(given.sizes) <= set(SIZES):
        parser.error(f"sizes are 9, 13 and 19, not {given.sizes}")
    for size in given.sizes or SIZES:
        games = GAMES[size] if given.games is None else given.games
        for round_ in range(ROUND, games + ROUND, ROUND):
            for name, settings in matches(size, min(round_, games)).items():
                print(f"{name}: {settings.games} games of each of {len(settings.pairings)} pairings", flush=True)
                play_match(settings, given.out / name, InWorkers(given.workers))
            try:
                write(size, given.out)
            except TengenError as error:
                print(error, flush=True)
        if games == 0:
            write(size, given.out)


def write(size: int, out: Path) -> None:
    """Rate the games of this size and replace its part of the file."""
    games, rows = rated(size, out)
    network = network_of(size, out)
    for name, row in rows.items():
        print(f"{name:20} {row['elo']} ({row['low']} to {row['high']}), {row['games']} games")
    file = Path(tengen.engine.__file__).with_name(FILE)
    with FileLock(out / ".lock"):
        written = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
        written[str(size)] = ladder(size, network, games, rows)
        print(table(size, written[str(size)]), flush=True)
        file.write_text(json_text(dict(sorted(written.items(), key=lambda item: int(item[0]))), indent=1) + "\n")


if __name__ == "__main__":
    try:
        main()
    except TengenError as error:
        sys.exit(f"error: {error}")

"""How strong a network is: games against other players at fair komi, a table with Wilson intervals, one line of JSON.

    python benchmarks/zero_strength.py NETWORK --size 9 --komi 7 --games 100 --visits 200 \\
        --against random playouts@1000 "gtp:gnugo --mode gtp --level 10 --chinese-rules"

NETWORK is a name or a file; `--visits 1` is its raw policy. Players are named as the anchors of a self-play recipe are
(docs/guides/self-play.md); half of the games are played with each color, and the first `--opening` moves are drawn
from the network's policy. With `--seconds` network and playouts think for so long a move instead, one thread each, one
game at a time. `--out` keeps the games. Without NETWORK a short run with `default`.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tengen.errors import TengenError
from tengen.evaluators.installed_networks import find_network_on
from tengen.evaluators.load import load_evaluator
from tengen.match.batch import never_stop
from tengen.match.conditions import Conditions
from tengen.match.runner import InWorkers, play_match
from tengen.match.settings import MatchSettings
from tengen.selfplay.anchors import Anchor, RunPlayers
from tengen.selfplay.matches import PlayerOpener
from tengen.selfplay.rate import RatingMatch, play_anchor, program_rules
from tengen.statistics import Tally

_COLUMNS = "{:<34} {:>6} {:>8} {:>18} {:>9} {:>9} {:>9}"


def at_visits(settings: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """The games of the network, at a number of visits, against each opponent."""
    conditions = Conditions(
        size=settings.size,
        rules=settings.rules,
        komi=settings.komi,
        dead_stones="pass-alive",
        opening=settings.opening,
    )
    players = RunPlayers(settings.visits)
    match = RatingMatch(conditions, players, settings.games)
    network = Path("uniform") if settings.network == "uniform" else find_network_on(settings.network, settings.size)
    opener = PlayerOpener(
        {"network 0": network},
        lambda path: load_evaluator(str(path), threads=settings.threads),
        never_stop,
    )
    rows = []
    for word in settings.against:
        anchor = Anchor(word, players.parse(word))
        games = play_anchor(folder, anchor, 0, match, settings.seed, opener)
        rows.append(_row(anchor.name, Tally(*games.black), Tally(*games.white), games.seconds))
        rows[-1] |= {"distinct": games.distinct, "trouble": games.trouble}
    return rows


def at_time(settings: argparse.Namespace, folder: Path) -> list[dict[str, Any]]:
    """The games at equal time."""
    conditions = Conditions(
        size=settings.size,
        komi=settings.komi,
        rules=program_rules(settings.rules),
        opening=settings.opening,
        seed=settings.seed,
    )
    rows = []
    for i, word in enumerate(settings.against):
        match = MatchSettings.of(
            settings.network,
            word,
            defaults={"seconds": settings.seconds},
            games=settings.games,
            conditions=conditions,
        )
        figures = play_match(match, folder / f"{i:02d}", InWorkers(1))
        (pairing,) = figures["pairings"]
        parts = (pairing["a_as_black"], pairing["a_as_white"])
        black, white = (Tally(part["wins"], part["draws"], part["losses"]) for part in parts)
        rows.append(_row(pairing["b"], black, white, sum(player["seconds"] for player in figures["players"])))
        rows[-1] |= {"mean_visits": {player["name"]: player["mean_visits"] for player in figures["players"]}}
    return rows


def _row(name: str, black: Tally, white: Tally, seconds: float) -> dict[str, Any]:
    """What a network scored with both colors."""
    both = black + white
    return {
        "against": name,
        "games": both.games,
        "score": round(both.score, 4),
        "interval_95": [round(end, 4) for end in both.interval()],
        "as_black": round(black.score, 4),
        "as_white": round(white.score, 4),
        "seconds": round(seconds, 1),
    }


def show(rows: Sequence[dict[str, Any]]) -> None:
    """The rows as a table for people."""
    print(_COLUMNS.format("against", "games", "score", "95%", "as Black", "as White", "seconds"))
    for row in rows:
        low, high = row["interval_95"]
        shares = [f"{row[key]:.1%}" for key in ("as_black", "as_white")]
        print(
            _COLUMNS.format(
                row["against"], row["games"], f"{row['score']:.1%}", f"{low:.1%} to {high:.1%}", *shares, row["seconds"]
            )
        )
        if row.get("trouble"):
            print(f"    {row['trouble']}")


def main(words: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("network", nargs="?", help="without it a quick look at the network of the package")
    parser.add_argument("--against", nargs="+", default=["random", "playouts"], metavar="PLAYER")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--komi", type=float, default=7.0)
    parser.add_argument("--rules", default="tromp-taylor")
    parser.add_argument("--games", type=int, default=100)
    parser.add_argument("--visits", type=int, default=200)
    parser.add_argument("--seconds", type=float)
    parser.add_argument("--opening", type=int, default=4)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path, help="folder of the games; a rerun goes on there")
    settings = parser.parse_args(words)
    if settings.network is None:
        settings.network, settings.games, settings.visits = "default", 10, 16
    try:
        with tempfile.TemporaryDirectory() as temporary:
            measure = at_visits if settings.seconds is None else at_time
            rows = measure(settings, settings.out or Path(temporary))
    except TengenError as error:
        parser.exit(2, f"error: {error}\n")
    show(rows)
    about = {key: value for key, value in vars(settings).items() if key not in ("against", "out", "threads")}
    print(json.dumps({"benchmark": "zero_strength", **about, "results": rows}))


if __name__ == "__main__":
    main()

"""What a 7x7 network of self-play is worth, under published and under fair conditions: a table and a line of JSON.

    python benchmarks/zero_7x7.py NETWORK [--quick] [--games 50] [--visits 100] [--parts self fair] [--out FOLDER]

`published`: the conditions of the AlphaGo-Zero-like 7x7 system (cody2007). Raw policy without search, its first move
drawn from the policy, then its best legal move, which may be a pass where a network knows it (the published one does
not); GNU Go level 1 with that system's options and seeds 1 to 128, a game with each color for each seed; komi 0, 32
turns a side whatever happens, then the board as it stands. It won 119 of 128 as Black and 12 of 128 as White.

`fair`: komi 9, which is what perfect play is said to give Black, 8.5 and 9.5; GNU Go levels 1 and 10; Chinese rules,
passes and resignation as ever, `--games` with each color. `policy` is the best move of the network, `search` has
`--visits`; it sees its positions under symmetries drawn by the seed of the game, without which most games would be
alike (GNU Go's seeds change little on so small a board).

`self`: games of the network against itself with `--visits`, both sides by the best move. Black should win all at komi
8.5 and White at 9.5. Games differ by the symmetries under which each position is seen. They end by two passes; stones
in the opponent's pass-alive territory are dead then, as the searches that pass count them.

A share counts draws half and stands with its 95% Wilson interval; `distinct` counts games that differ in a move. What
was played lies in the folder: the same command goes on there after an interruption. Without NETWORK a quick look at
`default`.
"""

import argparse
import json
import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import product
from pathlib import Path

from tengen import coords
from tengen.engine.params import SearchParams
from tengen.engine.pool import SearchPool
from tengen.errors import TengenError
from tengen.evaluators import Evaluator, load_evaluator
from tengen.game import Game
from tengen.match.conditions import Conditions
from tengen.match.folder import read_folder, record_path
from tengen.match.outcome import Outcome
from tengen.match.runner import InWorkers, play_match
from tengen.match.settings import MatchSettings
from tengen.match.summary import tally
from tengen.sgf import read_game
from tengen.statistics import Tally

SIZE = 7
TURNS = 32
KOMIS = (9.0, 8.5, 9.5)
LEVELS = (1, 10)
PARTS = ("published", "fair", "self")
PUBLISHED_GAMES = 128  # a color
_PUBLISHED_OPTIONS = "--chinese-rules --capture-all-dead --play-out-aftermath --no-ko --never-resign"
_GROUP = 64  # games of a network with itself that are played side by side
_MOST_MOVES = 3 * SIZE**2


@dataclass(frozen=True)
class Options:
    network: str
    games: int
    published: int
    visits: int
    workers: int
    folder: Path
    parts: Sequence[str] = PARTS


def gnugo(level: int, options: str = "--chinese-rules") -> str:
    return f"gtp:gnugo --mode gtp --level {level} {options}"


def published(options: Options) -> dict[str, object]:
    conditions = Conditions(size=SIZE, komi=0.0, opening=0, turns=TURNS, numbered=True)
    players = (f"raw:{options.network}", gnugo(1, _PUBLISHED_OPTIONS))
    settings = MatchSettings.of(*players, games=2 * options.published, conditions=conditions)
    return match("published", settings, options)


def fair(options: Options, komi: float, level: int, search: bool) -> dict[str, object]:
    player = options.network if search else f"policy:{options.network}"
    name = f"komi {komi:g}, level {level}, " + (f"{options.visits} visits" if search else "policy")
    conditions = Conditions(size=SIZE, komi=komi, opening=0, numbered=True)
    settings = MatchSettings.of(
        player,
        gnugo(level),
        defaults={"visits": options.visits, "symmetries": True},
        games=2 * options.games,
        conditions=conditions,
    )
    return match(name, settings, options)


def match(name: str, settings: MatchSettings, options: Options) -> dict[str, object]:
    """The figures of a match that lies in a folder of its own, by color, from the network's side."""
    folder = options.folder / name.replace(", ", "-").replace(" ", "-")
    play_match(settings, folder, InWorkers(options.workers))
    about, outcomes = read_folder(folder)
    network, games = about.names[0], outcomes[: settings.games]
    return {
        "conditions": name,
        "all": share(games, network),
        "black": share([game for game in games if game.black == network], network),
        "white": share([game for game in games if game.white == network], network),
        "endings": dict(Counter(game.reason for game in games)),
        "distinct": len({moves(folder, game) for game in games}),
    }


def moves(folder: Path, game: Outcome) -> tuple[object, ...]:
    record = record_path(folder, game.index).read_bytes()
    return (game.black, *read_game(record)[0].moves)


def share(games: list[Outcome], player: str) -> dict[str, object]:
    return figures(tally(games, player))


def figures(whole: Tally) -> dict[str, object]:
    return {
        "wins": whole.wins,
        "draws": whole.draws,
        "losses": whole.losses,
        "share": round(whole.score, 4),
        "interval_95": [round(end, 4) for end in whole.interval()],
    }


def against_itself(options: Options, komi: float) -> dict[str, object]:
    """Black's figures, and where the games began."""
    path = options.folder / f"self-{komi:g}.jsonl"
    asked = {"network": options.network, "visits": options.visits}
    played = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    if any(game["asked"] != asked for game in played):
        raise TengenError(f"{path} holds games of another network or other visits; choose another folder with --out")
    evaluator = load_evaluator(options.network, threads=options.workers)
    while len(played) < options.games:
        count = min(_GROUP, options.games - len(played))
        games = self_play(evaluator, komi, count, options.visits, seed=len(played))
        lines = [
            {"asked": asked, "score": score_of(game), "moves": [point for _, point in game.moves]} for game in games
        ]
        with path.open("a") as file:
            file.writelines(json.dumps(line) + "\n" for line in lines)
        played += lines
    played = played[: options.games]
    signs = [(game["score"] > 0) - (game["score"] < 0) for game in played]
    return {
        "conditions": f"itself, komi {komi:g}, {options.visits} visits",
        "black": figures(Tally(signs.count(1), signs.count(0), signs.count(-1))),
        "first_moves": dict(Counter(place(game["moves"][0]) for game in played).most_common()),
        "distinct": len({tuple(game["moves"]) for game in played}),
    }


def score_of(game: Game) -> float:
    """As the searches counted when they passed: stones in the opponent's pass-alive territory are dead."""
    return float(game.score(game.pass_dead()))


def self_play(evaluator: Evaluator, komi: float, count: int, visits: int, seed: int) -> list[Game]:
    """Finished games, by two passes, for `score_of`."""
    params = SearchParams(leaf_symmetry="random", prune_pass_alive=True, memory=1 << 24)
    params = params.advised(evaluator.on(SIZE).advice)
    games = [Game(SIZE, "tromp-taylor", komi).limit_moves(_MOST_MOVES) for _ in range(count)]
    pool = SearchPool(evaluator, params, count, batch_per_game=4, seed=1000 * seed)
    while going := [i for i, game in enumerate(games) if not game.is_over]:
        for i in going:
            pool.set_root(i, games[i])
        pool.run([visits if i in going else 0 for i in range(count)])
        for i in going:
            games[i].play(pool[i].choose())
    return games


def place(point: int) -> str:
    """A point, the same name for all that a symmetry of the board exchanges."""
    if point == SIZE**2:
        return "pass"
    near, far = sorted(min(line, SIZE - 1 - line) for line in divmod(point, SIZE))
    return coords.to_gtp((SIZE - 1 - near) * SIZE + far, SIZE)


def line_of(result: dict[str, object]) -> str:
    cells = [f"{result['conditions']!s:36}"]
    for side in ("all", "black", "white"):
        found = result.get(side)
        if isinstance(found, dict):
            low, high = found["interval_95"]
            score = f"{found['wins']}-{found['draws']}-{found['losses']}"
            cells.append(f"{side} {score:>9} {found['share']:6.1%} [{low:.1%} to {high:.1%}]")
    cells.append(f"distinct {result['distinct']}")
    if "first_moves" in result:
        cells.append(f"first moves {result['first_moves']}")
    return "  ".join(cells)


def measure(options: Options) -> list[dict[str, object]]:
    started = time.monotonic()
    jobs: dict[str, list[Callable[[], dict[str, object]]]] = {
        "published": [partial(published, options)],
        "fair": [partial(fair, options, *case) for case in product(KOMIS, LEVELS, (False, True))],
        "self": [partial(against_itself, options, komi) for komi in (8.5, 9.5)],
    }
    results = []
    for job in [job for part in options.parts for job in jobs[part]]:
        results.append(job())
        print(f"{line_of(results[-1])}  ({time.monotonic() - started:.0f} s)", flush=True)
    return results


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("network", nargs="?", help="name or file; without it a quick look at the default network")
    parser.add_argument("--quick", action="store_true", help="8 games a color instead of 50 and 128")
    parser.add_argument("--games", type=int, default=50, help="under each of the fair conditions, a color")
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", nargs="+", choices=PARTS, default=PARTS, help="all unless told")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    network, quick = given.network or "default", given.quick or given.network is None
    folder = given.out or Path("matches") / f"zero-7x7-{Path(network).stem}{'-quick' if quick else ''}"
    folder.mkdir(parents=True, exist_ok=True)
    games, most = (8, 8) if quick else (given.games, PUBLISHED_GAMES)
    try:
        results = measure(Options(network, games, most, given.visits, given.workers, folder, given.parts))
    except TengenError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(json.dumps({"benchmark": "zero_7x7", "network": network, "visits": given.visits, "results": results}))
    return 0


if __name__ == "__main__":
    sys.exit(main())

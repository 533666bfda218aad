"""Games that are copies of each other. They add no information and make every interval too narrow."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path

from tengen.errors import SgfError
from tengen.match.folder import record_path
from tengen.match.outcome import Outcome
from tengen.ratings.pool import GameSet, Pool, digest
from tengen.sgf.main_line import read_record

_MAX_READ = 5000  # games of matches that are compared
_ALIKE = 0.95  # share of different games below which there is a warning
_MAX_WARNINGS = 5  # pairings

_MOVE = re.compile(rb";([BW]\[[a-z]{0,2})\]")
_OF_MATCHES = "a longer opening makes games differ"
_OF_RECORDS = "the same record in several files counts each time"


def duplicate_games(pool: Pool) -> list[str]:
    """A warning for each pairing in which many games are copies, the worst first; one for all after the fifth.

    Copies are games of the same two players with the same moves and, of records, the same result.
    """
    met: dict[tuple[str, str], list[bytes]] = defaultdict(list)
    recorded: set[tuple[str, str]] = set()
    for game_set, black, white, moves in _games(pool):
        pair = (min(black, white), max(black, white))
        met[pair].append(moves)
        if game_set.match is None:
            recorded.add(pair)
    copied = {pair: found for pair, found in met.items() if len(set(found)) < _ALIKE * len(found)}
    worst = sorted(copied, key=lambda pair: len(set(copied[pair])) - len(copied[pair]))
    warnings = [
        f"only {len(set(copied[pair]))} of {len(copied[pair])} games between {pair[0]} and {pair[1]} differ: "
        f"their interval is too narrow ({_OF_RECORDS if pair in recorded else _OF_MATCHES})"
        for pair in worst[:_MAX_WARNINGS]
    ]
    if (rest := len(worst) - _MAX_WARNINGS) > 0:
        warnings.append(f"{rest} more {'pairing has' if rest == 1 else 'pairings have'} duplicate games")
    return warnings


def distinct_games(folder: Path, outcomes: Iterable[Outcome]) -> int:
    """The number of different games, by their moves, of these games of a match folder."""
    # A pattern instead of an SGF reader, which takes ten times as long. A `]` in a comment has a backslash before it.
    records = (record_path(folder, outcome.index).read_bytes() for outcome in outcomes)
    return len({b"".join(_MOVE.findall(record)) for record in records})


def _games(pool: Pool) -> Iterator[tuple[GameSet, str, str, bytes]]:
    """Black, White and the digest of the moves of every game whose record is known."""
    for game_set in pool.game_sets:
        for score, moves in zip(game_set.scores, game_set.moves, strict=False):
            if moves:
                yield game_set, score.black, score.white, moves + bytes((score.tally.wins, score.tally.losses))
    for game_set, outcome in pool.outcomes[:_MAX_READ]:
        try:
            record = read_record(record_path(game_set.source, outcome.index).read_bytes())
        except (OSError, SgfError):
            continue
        yield game_set, outcome.black, outcome.white, digest(record.moves)

"""Games of other programs to be rated: SGF files with the players' names and a result."""

from __future__ import annotations

from collections import Counter, defaultdict
from pathlib import Path

from tengen.data.sources import SourceProblem, Sources
from tengen.errors import SgfError
from tengen.ratings.duplicate_games import digest
from tengen.ratings.elo import Score
from tengen.ratings.pool import GameSet, Terms
from tengen.sgf import SgfInfo
from tengen.sgf.grammar import first_tree
from tengen.sgf.main_line import read_record


def sgf_games(path: Path) -> tuple[list[GameSet], list[str]]:
    """The even games with a result under this path (files, folders, archives) by their terms, and notes.

    Players are who PB and PW say. The notes count what was left out and why. Raises SgfError when there are no files.
    """
    games: dict[Terms, list[tuple[Score, bytes]]] = defaultdict(list)
    left_out: Counter[str] = Counter()
    for tree in Sources([path]).trees():
        try:
            if isinstance(tree, SourceProblem):
                raise SgfError(tree.reason)
            record = read_record(first_tree(tree.data))
            score = _score(record.info, bool(record.stones))
            terms = Terms(record.size, record.info.rules_or_guess, record.info.komi_or_guess)
            games[terms].append((score, digest(record.moves)))
        except SgfError as error:
            left_out[str(error).split(":")[0]] += 1
    game_sets = [
        GameSet(path, terms, tuple(score for score, _ in found), moves=tuple(moves for _, moves in found))
        for terms, found in sorted(games.items())
    ]
    return game_sets, [f"{path}: {count} left out, {reason}" for reason, count in sorted(left_out.items())]


def _score(info: SgfInfo, stones: bool) -> Score:
    """Raises SgfError for a game that says nothing about strength."""
    if info.handicap or stones:
        raise SgfError("games with handicap or set up stones")
    if not info.black or not info.white or info.black == info.white:
        raise SgfError("games without two players' names")
    if info.result.winner is None:
        raise SgfError("games without a result")
    wins, losses, draws = (float(info.result.winner == winner) for winner in (0, 1, 2))
    return Score(info.black, info.white, wins, draws, losses)

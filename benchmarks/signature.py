"""One number for what the search does: it changes when, and only when, the search chooses differently.

    python benchmarks/signature.py

Fixed positions, a fixed seed and the uniform evaluator; the number is a checksum of every move's visits in the trees.
A change of the search states the new number, or that it is the same. tests/search/test_golden.py holds the current one.
"""

import json
import zlib

from tengen.engine.params import SearchParams
from tengen.engine.search import TreeSearch
from tengen.evaluators import UniformEvaluator
from tengen.game import Game

POSITIONS = (
    ("5x5 opening", 5, "chinese", 0.5, ""),
    ("5x5 contact", 5, "tromp-taylor", 0.5, "C3 C2 D2 C4 B2 D3 E3 B3 D4 A2 C1"),
    ("7x7 fight", 7, "japanese", 4.5, "D4 D3 E3 D5 C5 C4 D6 E4 F4 E5 C3 B4 B5 D2 E2"),
    ("9x9 opening", 9, "chinese", 7.0, "E5 C3 G7 G3 C7"),
    ("19x19 handicap", 19, "aga", 0.5, "D4 Q16 Q4 D16"),
)
SETTINGS = (
    SearchParams(),
    SearchParams(noise_weight=0.25, root_temperature=1.2, lcb=False),
    SearchParams(score_weight=0.2, fpu_reduction=0.0, virtual_loss=3.0),
)


def position(size: int, rules: str, komi: float, moves: str) -> Game:
    game = Game(size, rules, komi)
    for vertex in moves.split():
        game.play(vertex)
    return game


def visits(search: TreeSearch) -> str:
    """Every move of the tree with its visits, without the figures that rounding may change."""
    return "\n".join(" ".join(line.split()[:2]) for line in search.text(depth=100).splitlines())


def signature(visits_each: int = 1500) -> int:
    """The checksum over all positions and settings."""
    total = 0
    for _, size, rules, komi, moves in POSITIONS:
        for params in SETTINGS:
            search = TreeSearch(UniformEvaluator(), params, batch=8, seed=7)
            search.set_root(position(size, rules, komi, moves))
            search.run(visits_each)
            total = zlib.crc32(f"{visits(search)}\nplay {search.choose()}".encode(), total)
    return total


if __name__ == "__main__":
    print(json.dumps({"benchmark": "signature", "signature": signature()}))

"""The same game twice, native and plain; every check asserts that both agree and counts what it compared."""

from __future__ import annotations

import itertools
import random
from collections import Counter
from collections.abc import Iterable
from typing import Any, cast

from plain_game import PlainGame
from plain_go import Board
from plain_reading import TooLong, slow_ladders, slow_pass_alive

from tengen.game import Game, Ladders
from tengen.rules import Rules

ALL_RULES = [
    Rules(*cast(Any, parts))
    for parts in itertools.product(
        ("simple", "positional", "situational"),
        ("area", "territory"),
        (False, True),
        ("none", "n", "n-1"),
        ("none", "seki", "all"),
        (False, True),
    )
]
LADDER_LIMIT = 500  # positions of the slow reader; where it gives up, nothing is compared


class Pair:
    """A game that starts from a board, and the numbers of what was compared in `tally`."""

    def __init__(
        self,
        size: int,
        rules: Rules,
        komi: float = 6.5,
        board: Board | None = None,
        to_play: int = 0,
        plain: type[PlainGame] = PlainGame,
    ) -> None:
        self.plain = plain(size, rules, komi, board, to_play)
        self.game = Game(size, rules, komi)
        self.game.setup(*([p for p, c in enumerate(self.plain.board) if c == color] for color in (0, 1)), to_play)
        self.tally = Counter(games=1)

    def agree(self, what: str, native: object, plain: object) -> None:
        __tracebackhide__ = True
        assert native == plain, f"{what}: native {native}, plain {plain}\n{self.game.rules}, {self.game}"

    def play(self, p: int, color: int) -> None:
        self.plain.play(p, color)
        self.game.play(p, color)
        self.check_state()

    def check_state(self) -> None:
        plain, game = self.plain, self.game
        self.agree("board", tuple(game.board.ravel().tolist()), plain.board)
        self.agree("captures", game.captures, tuple(plain.captures))
        self.agree("to play, passes", (game.to_play, game.passes), (plain.to_play, plain.passes))
        self.agree("no result", game.is_no_result, plain.is_no_result)
        self.agree("over, button", (game.is_over, game.button), (plain.is_over, plain.button))
        ends = not plain.button_left and (plain.passes > 0 or plain.passed_here(plain.to_play))
        self.agree("pass ends", game.native().pass_ends, ends)
        self.agree("handicap", (game.handicap, game.white_bonus), (plain.handicap, plain.bonus))
        self.tally["positions"] += 1
        self.tally["no results"] += plain.is_no_result
        self.tally["repeated passes"] += plain.repeated_pass and plain.passes < 2

    def check_legality(self, color: int) -> list[str]:
        """Why each point is forbidden to a color."""
        game, reasons = self.game, self.plain.reasons(color)
        self.agree(f"legality for {color}", [game.native().legality(p, color) for p in range(len(reasons))], reasons)
        self.agree("legal points", game.legal_points(color), [p for p, reason in enumerate(reasons) if not reason])
        if color == game.to_play:
            self.agree("superko", game.superko_bans(), [p for p, why in enumerate(reasons) if why == "superko"])
            self.agree(
                "ko", [game.ko] if game.ko is not None else [], [p for p, why in enumerate(reasons) if why == "ko"]
            )
        found = Counter(reasons)
        self.tally.update({"points": len(reasons), "legal": found[""]})
        self.tally.update({f"{why} bans": found[why] for why in ("ko", "superko", "suicide")})
        return reasons

    def check_ladders(self, limit: int = LADDER_LIMIT) -> Ladders | None:
        """All ladders of the side to play, or None where the slow reader gave up."""
        try:
            found = slow_ladders(self.plain.board, self.plain.to_play, self.game.ko, limit)
        except (TooLong, RecursionError):
            self.tally["ladder positions given up"] += 1
            return None
        self.agree("ladders", self.game.ladders(), found)
        self.tally.update({"ladder positions": 1, "laddered stones": len(found.black) + len(found.white)})
        self.tally.update({"ladder captures": len(found.captures), "ladder escapes": len(found.escapes)})
        return found

    def check_pass_alive(self) -> None:
        owners = [2] * self.plain.passing
        for color in (0, 1):
            for p in slow_pass_alive(self.plain.board, color, self.plain.rules.suicide):
                owners[p] = color
        self.agree("pass-alive areas", self.game.pass_alive().ravel().tolist(), owners)
        self.tally.update({"pass-alive positions": 1, "pass-alive points": len(owners) - owners.count(2)})

    def check_count(self, dead: Iterable[int]) -> None:
        """The count, given which stones are in seki; those are tested on diagrams."""
        dead = list(dead)
        seki, owners = self.game.seki_stones(dead), tuple(self.game.owners(dead).ravel().tolist())
        self.agree(f"owners without {dead}", owners, self.plain.owners(dead, seki))
        self.agree(f"score without {dead}", self.game.score(dead), self.plain.score(dead, seki))
        self.tally["stones in seki"] += len(seki)
        self.tally["counts"] += 1

    def check_undo(self, moves: int) -> None:
        """The board of some moves ago is there again, and the moves can be played once more."""
        game = self.game.copy()
        for _ in range(moves):
            assert game.undo()
        before, to_play = self.plain.history[-1 - moves]
        self.agree(f"board {moves} moves ago", (tuple(game.board.ravel().tolist()), game.to_play), (before, to_play))
        for color, p in self.plain.moves[len(self.plain.moves) - moves :]:
            game.play(p, color)
        self.agree("replayed", (game.captures, game.native().hash), (self.game.captures, self.game.native().hash))
        self.tally["undos"] += 1

    def check_everything(self, rng: random.Random) -> None:
        """What can be asked of a position."""
        for color in (0, 1):
            self.check_legality(color)
        self.check_ladders()
        self.check_pass_alive()
        stones = [p for p, color in enumerate(self.plain.board) if color != 2]
        self.check_count([])
        self.check_count(rng.sample(stones, min(len(stones), rng.randrange(1, 5))))
        self.check_undo(rng.randrange(min(len(self.plain.moves), 8) + 1))

"""Chains, liberties and eyes of one position, in Python: used once a move, where speed does not matter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tengen.coords import neighbors
from tengen.game import EMPTY, Game


@dataclass(frozen=True)
class Chain:
    """Connected stones of one color with the empty points beside them."""

    color: int
    stones: frozenset[int]
    liberties: frozenset[int]


class Shapes:
    """The stones of a game at one moment; points are row-major, colors 0 and 1, 2 for empty."""

    def __init__(self, game: Game) -> None:
        self.size = game.size
        self.colors: list[int] = [int(c) for c in game.board.ravel()]
        self._eyes = [frozenset(game.true_eyes(color)) for color in (0, 1)]

    def neighbors(self, point: int) -> Iterator[int]:
        return neighbors(point, self.size)

    @cached_property
    def chains(self) -> list[Chain]:
        """All chains, in the order of their first point."""
        found: list[Chain] = []
        seen: set[int] = set()
        for point, color in enumerate(self.colors):
            if color != EMPTY and point not in seen:
                found.append(self._chain(point))
                seen |= found[-1].stones
        return found

    def chain_at(self, point: int) -> Chain:
        """The chain of a stone; KeyError on an empty point."""
        return self._by_point[point]

    def captured_by(self, point: int, color: int) -> list[Chain]:
        """The chains of the other side whose last liberty this point is."""
        beside = {self.chain_at(n) for n in self.neighbors(point) if self.colors[n] == 1 - color}
        return [chain for chain in beside if chain.liberties == {point}]

    def liberties_after(self, point: int, color: int) -> int:
        """Liberties of the mover's chain once this empty point is played and what it captures is gone."""
        captured = set[int]().union(*(chain.stones for chain in self.captured_by(point, color)))
        friends = [self.chain_at(n) for n in self.neighbors(point) if self.colors[n] == color]
        stones = {point}.union(*(chain.stones for chain in friends))
        near = {n for n in self.neighbors(point) if self.colors[n] == EMPTY}
        free = near.union(*(chain.liberties for chain in friends)) - {point}
        return len(free | {n for stone in stones for n in self.neighbors(stone) if n in captured})

    def fills_own_eye(self, point: int, color: int) -> bool:
        """Whether an empty point is a true eye of this color, which a move there would give away."""
        return point in self._eyes[color]

    def is_self_atari(self, point: int, color: int) -> bool:
        """Whether the move leaves its own chain a single liberty, or none, and captures nothing."""
        return not self.captured_by(point, color) and self.liberties_after(point, color) <= 1

    @cached_property
    def _by_point(self) -> dict[int, Chain]:
        return {point: chain for chain in self.chains for point in chain.stones}

    def _chain(self, start: int) -> Chain:
        color, stones, liberties, todo = self.colors[start], {start}, set[int](), [start]
        while todo:
            for n in self.neighbors(todo.pop()):
                if self.colors[n] == EMPTY:
                    liberties.add(n)
                elif self.colors[n] == color and n not in stones:
                    stones.add(n)
                    todo.append(n)
        return Chain(color, frozenset(stones), frozenset(liberties))

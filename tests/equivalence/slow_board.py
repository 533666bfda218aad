"""The rules of Go once more, slow and obvious: a dictionary of stones, flood fill, and every position ever seen.

Points are (row, column), colours 0 black and 1 white. Nothing here is shared with the native code, not even ideas: the
ko is "the answer that restores the position before the last move", superko compares whole boards.
"""

from __future__ import annotations

Place = tuple[int, int]
Stones = dict[Place, int]


class SlowGame:
    """A game by the parts of a rule set; `play` trusts that `reason` found nothing."""

    def __init__(self, size: int, ko: str, scoring: str, suicide: bool, bonus: str, komi: float = 0.0) -> None:
        self.size, self.ko_rule, self.scoring, self.suicide, self.bonus, self.komi = (
            size,
            ko,
            scoring,
            suicide,
            bonus,
            komi,
        )
        self.places = [(row, column) for row in range(size) for column in range(size)]
        self.stones: Stones = {}
        self.to_play = 0
        self.captures = [0, 0]
        self.passes = 0
        self.moves: list[tuple[int, Place | None]] = []
        self.setup_counts = [0, 0]
        self.before_last: Stones | None = None  # the board before the last move, if that was a stone
        self.last_color = 1
        self.seen: list[tuple[frozenset[tuple[Place, int]], int]] = []
        self.first_since_pass = 0

    def start(self, stones: Stones, to_play: int) -> None:
        self.stones, self.to_play = dict(stones), to_play
        self.setup_counts = [list(stones.values()).count(color) for color in (0, 1)]
        self.seen = [(frozenset(stones.items()), to_play)]

    def neighbors(self, place: Place) -> list[Place]:
        row, column = place
        around = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
        return [(r, c) for r, c in around if 0 <= r < self.size and 0 <= c < self.size]

    def region(self, stones: Stones, start: Place) -> set[Place]:
        """The chain, or the empty region, around a place."""
        found, waiting = {start}, [start]
        while waiting:
            for place in self.neighbors(waiting.pop()):
                if place not in found and stones.get(place) == stones.get(start):
                    found.add(place)
                    waiting.append(place)
        return found

    def has_liberty(self, stones: Stones, chain: set[Place]) -> bool:
        return any(n not in stones for place in chain for n in self.neighbors(place))

    def after(self, place: Place, color: int) -> tuple[Stones, int, int]:
        """The board after a stone, how many of the other colour it took, and how many own ones it lost."""
        stones = {**self.stones, place: color}
        taken = 0
        for n in self.neighbors(place):
            if stones.get(n) == 1 - color and not self.has_liberty(stones, chain := self.region(stones, n)):
                taken += len(chain)
                for stone in chain:
                    del stones[stone]
        lost = 0
        if not self.has_liberty(stones, chain := self.region(stones, place)):
            lost = len(chain)
            for stone in chain:
                del stones[stone]
        return stones, taken, lost

    def reason(self, place: Place, color: int) -> str:
        """Why the move is illegal, or the empty text."""
        if place in self.stones:
            return "occupied"
        stones, _, lost = self.after(place, color)
        if color != self.last_color and stones == self.before_last:
            return "ko"
        if lost and not (self.suicide and lost > 1):
            return "suicide"
        key = frozenset(stones.items())
        if self.ko_rule == "positional" and any(key == position for position, _ in self.seen):
            return "superko"
        if self.ko_rule == "situational" and (key, 1 - color) in self.seen:
            return "superko"
        return ""

    def play(self, place: Place | None, color: int) -> None:
        self.moves.append((color, place))
        self.to_play = 1 - color
        self.last_color = color
        if place is None:
            self.passes += 1
            self.before_last = None
            self.first_since_pass = len(self.seen)
        else:
            self.passes = 0
            self.before_last = self.stones
            self.stones, taken, lost = self.after(place, color)
            self.captures[color] += taken
            self.captures[1 - color] += lost
        self.seen.append((frozenset(self.stones.items()), self.to_play))

    @property
    def is_over(self) -> bool:
        cycle = (
            self.passes == 0
            and self.ko_rule == "simple"
            and self.seen[self.first_since_pass :].count(self.seen[-1]) >= 3
        )
        return self.passes >= 2 or cycle

    def handicap(self) -> int:
        if self.setup_counts[1]:
            return 0
        stones = self.setup_counts[0]
        for color, place in self.moves:
            if color == 1 or place is None:
                break
            stones += 1
        return stones if stones >= 2 else 0

    def score(self, dead: set[Place]) -> float:
        """Black minus White; `dead` holds one or more stones of each dead chain."""
        gone = {place for stone in dead for place in self.region(self.stones, stone)}
        stones = {place: color for place, color in self.stones.items() if place not in gone}
        points = [0, 0]
        if self.scoring == "area":
            points = [list(stones.values()).count(color) for color in (0, 1)]
        empty = set(self.places) - set(stones)
        while empty:
            region = self.region(stones, next(iter(empty)))
            empty -= region
            colors = {stones[n] for place in region for n in self.neighbors(place) if n in stones}
            if len(colors) == 1:
                points[colors.pop()] += len(region)
        if self.scoring == "territory":
            for color in (0, 1):
                points[color] += self.captures[color] + sum(self.stones[place] == 1 - color for place in gone)
        handicap = self.handicap()
        bonus = {"none": 0, "n": handicap, "n-1": max(handicap - 1, 0)}[self.bonus]
        return points[0] - points[1] - self.komi - bonus

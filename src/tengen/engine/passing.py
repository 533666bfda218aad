"""When to pass, and the final choice of the move.

A search knows the value of a pass from the network alone. This module judges by the rules: the count if the game ends
here, the points that are still worth a move, and the moves that only fill own eyes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tengen.engine.result import Candidate, Count
from tengen.engine.shapes import Shapes
from tengen.game import EMPTY, Game

# A game of this many times the board's points is passed to its end, whatever is left.
LONGEST = 3
# Below this share of points with stones no game is over.
_EARLIEST = 0.3
# A point is settled when its ownership is at least this sure; one of the mover's own may still be lost below _RISKY.
_SURE = 0.7
_RISKY = 0.4
# A move that wins this often, or this much more often than a pass, is not given up for a count.
_PROMISING = 0.2
_BETTER = 0.1
_KNOWN_VISITS = 8


def choose_move(
    game: Game,
    ranked: Sequence[Candidate],
    count: Callable[[], Count],
    pass_winrate: Callable[[], float],
    *,
    cleanup: bool = False,
) -> int:
    """The point to play, from the legal moves in the search's order of preference; pass included.

    Fills an own eye only if nothing else is left. `count` is called only where a pass is possible, and `pass_winrate`,
    the winrate of a pass by search as if the opponent moved next, only where the count advises one. With `cleanup` dead
    stones are captured before passing.
    """
    pass_ = game.pass_point
    if len(game.moves) >= LONGEST * game.size**2:
        return pass_
    shapes = Shapes(game)
    order = dict.fromkeys([c.point for c in ranked] + game.legal_points() + [pass_])
    sensible = [p for p in order if p == pass_ or not shapes.fills_own_eye(p, game.to_play)]
    if not cleanup and is_early(game, shapes):
        points = [p for p in sensible if p != pass_]
        if points and (sensible[0] != pass_ or not game.last_was_pass):
            return points[0]
    best = next((c for c in ranked if c.point == sensible[0]), None)
    return _Ending(game, shapes, sensible, best, count(), pass_winrate, cleanup).move()


def is_early(game: Game, shapes: Shapes) -> bool:
    """Whether the board has so few stones that no game is over, not even one with a large handicap."""
    return sum(color != EMPTY for color in shapes.colors) < _EARLIEST * game.size**2


class _Ending:
    """One position in which a pass is possible."""

    def __init__(
        self,
        game: Game,
        shapes: Shapes,
        sensible: Sequence[int],
        favourite: Candidate | None,
        count: Count,
        pass_winrate: Callable[[], float],
        cleanup: bool,
    ) -> None:
        self.game, self.shapes, self.count = game, shapes, count
        self.favourite, self.pass_winrate = favourite, pass_winrate
        self.me = game.to_play
        self.pass_ = game.pass_point
        self.best = sensible[0]
        self.moves = [p for p in sensible if p != self.pass_]
        self.territory = count.territory.ravel()
        self.ownership = (count.ownership if self.me == 0 else -count.ownership).ravel()
        self.alive = game.pass_alive().ravel()
        self.dead = set(count.dead)
        self.opponent_passed = game.last_was_pass
        self.margin = self._margin()
        self.cleanup = cleanup or self._needs_cleanup()

    def move(self) -> int:
        if self.cleanup and (captures := [p for p in self.moves if self._attacks_dead(p)]):
            return captures[0]
        if self.opponent_passed and self.margin > 0 and (self.best == self.pass_ or self.margin > self._at_risk()):
            return self.pass_
        if self.best != self.pass_ and (self._is_useful(self.best) or self._is_promising()):
            return self.best
        useful = [p for p in self.moves if self._is_useful(p)]
        if not useful:
            return self.pass_
        return useful[0] if self.best == self.pass_ or self.opponent_passed else self.best

    def _margin(self) -> float:
        """Points by which the mover leads if the game ends with this position."""
        score = self.count.score if self.game.rules.dead_are_agreed else self.game.score()
        return score if self.me == 0 else -score

    def _needs_cleanup(self) -> bool:
        """Whether dead stones of the opponent must be captured because the rules count them as alive."""
        return not self.game.rules.dead_are_agreed and self.margin <= 0 < self.count.margin(self.me)

    def _at_risk(self) -> float:
        """Points that the margin would lose if all that is not surely the mover's fell to the opponent."""
        unsure = (self.territory == self.me) & (self.ownership < _RISKY)
        return 2.0 * int(unsure.sum())

    def _is_useful(self, point: int) -> bool:
        """Whether a move can still change the count: an unsettled point, a dame, a stone that could be captured."""
        if self.shapes.is_self_atari(point, self.me):
            return False
        area = self.game.rules.scoring == "area"
        if self.territory[point] == EMPTY and area:
            return True
        if self._settles_atari(point):
            return True
        if abs(self.ownership[point]) >= _SURE or self.alive[point] != EMPTY:
            return False
        return area or not (self.territory[point] == self.me or self._is_dame(point))

    def _is_dame(self, point: int) -> bool:
        """Whether this neutral point lies between settled stones of both sides."""
        stones = [n for n in self.shapes.neighbors(point) if self.shapes.colors[n] != EMPTY]
        both = len({self.shapes.colors[n] for n in stones}) == 2
        return both and all(abs(self.ownership[n]) >= _SURE for n in stones)

    def _settles_atari(self, point: int) -> bool:
        """Whether this is the last liberty of a chain, of either side, that the count takes to be alive."""
        beside = {self.shapes.chain_at(n) for n in self.shapes.neighbors(point) if self.shapes.colors[n] != EMPTY}
        return any(chain.liberties == {point} and not chain.stones & self.dead for chain in beside)

    def _attacks_dead(self, point: int) -> bool:
        beside = (n for n in self.shapes.neighbors(point) if self.shapes.colors[n] == 1 - self.me)
        return any(n in self.dead for n in beside) and not self.shapes.is_self_atari(point, self.me)

    def _is_promising(self) -> bool:
        """Whether the search has found a move that is better than a pass, whatever the count says."""
        if self.favourite is None:
            return False
        if self.game.rules.scoring == "territory":  # such as a defence in own territory, which the count takes for sure
            return self.favourite.visits >= _KNOWN_VISITS and self.favourite.winrate > self.pass_winrate() + _BETTER
        if self.margin <= 0:
            return self.favourite.visits >= _KNOWN_VISITS and self.favourite.winrate >= _PROMISING
        return not self.opponent_passed and self.favourite.winrate > self.pass_winrate() + _BETTER

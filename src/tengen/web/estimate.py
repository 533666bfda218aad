"""The score estimate of a position that is still being played, with what it is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tengen.engine import Count
from tengen.game import EMPTY, WHITE, Game
from tengen.web.counting import Points, sum_text
from tengen.web.language import _, ngettext
from tengen.web.words import leader

CERTAIN = 0.4
"""The ownership in 0..1 from which a point counts as somebody's; below it is open."""


@dataclass(frozen=True)
class ScoreEstimate:
    """Points by color, Black's first: `stones` (under area scoring), `territory`, `prisoners` (under territory
    scoring: captured stones and those that are lost on the board). `bonus` has the points that the rules give White
    in addition to komi: for a handicap, and half of one for the button. `open` are points that count for nobody yet.
    `owners` has a letter a point, row-major: `b` or `w` for who has the empty point or the lost stone, else `.`.
    """

    komi: float
    bonus: float
    scoring: str
    stones: tuple[int, int]
    territory: tuple[int, int]
    prisoners: tuple[int, int]
    open: int
    owners: str

    @classmethod
    def of(cls, game: Game, count: Count) -> ScoreEstimate:
        """From the ownership of a count."""
        board, ownership = game.board.ravel(), count.ownership.ravel()
        owner = np.where(ownership >= CERTAIN, 0, np.where(ownership <= -CERTAIN, 1, EMPTY))
        # A stone lives unless the other side surely owns its point.
        lost = tuple(int(((board == color) & (owner == 1 - color)).sum()) for color in (0, 1))
        empty = tuple(int(((board != color) & (owner == color)).sum()) for color in (0, 1))
        stones = tuple(int((board == color).sum()) - lost[color] for color in (0, 1))
        is_area = game.rules.scoring == "area"
        return cls(
            komi=game.komi,
            bonus=game.white_bonus,
            scoring=game.rules.scoring,
            stones=(stones[0], stones[1]) if is_area else (0, 0),
            territory=(empty[0], empty[1]),
            prisoners=(0, 0) if is_area else (game.captures[0] + lost[1], game.captures[1] + lost[0]),
            open=int(((board == EMPTY) & (owner == EMPTY)).sum()),
            owners="".join("bw."[color] for color in np.where(board == owner, EMPTY, owner)),
        )

    @property
    def points(self) -> tuple[Points, Points]:
        """The points of each color by the part, White's with komi and bonus."""
        both: tuple[Points, Points] = {}, {}
        for color, points in enumerate(both):
            if self.scoring == "area":
                points["stones"] = self.stones[color]
            points["territory"] = self.territory[color]
            if self.scoring != "area":
                points["prisoners"] = self.prisoners[color]
        both[WHITE].update({"komi": self.komi, "bonus": self.bonus})
        return both

    @property
    def score(self) -> float:
        """Black's points minus White's."""
        black, white = self.points
        return sum(black.values()) - sum(white.values())

    def lines(self, lead: float | None = None) -> list[str]:
        """The estimate for people: the network's score lead (for Black), what is certain, and each color's points."""
        shown = [] if lead is None else [_("Expected: {leader}", leader=leader(lead))]
        shown.append(_("Certain: {leader}", leader=leader(self.score)))
        shown += [sum_text(color, points) for color, points in enumerate(self.points)]
        if self.open:
            shown.append(ngettext("Open: {n} point", "Open: {n} points", self.open))
        return shown

"""Rule sets: by name, or by the parts that they are made of."""

from dataclasses import dataclass
from typing import Literal, cast

from tengen import _native
from tengen.errors import RecipeError

KoRule = Literal["simple", "positional", "situational"]
ScoringRule = Literal["area", "territory"]
HandicapBonus = Literal["none", "n", "n-1"]

RULE_NAMES: tuple[str, ...] = tuple(_native.rule_names())


@dataclass(frozen=True)
class Rules:
    """The parts of a rule set.

    ko: what may not be repeated besides the simple ko, which always holds: nothing, the stones on the board
        (positional), or the stones with the same side to play (situational).
    scoring: area (stones and surrounded points) or territory (surrounded points and prisoners).
    suicide: whether two or more own stones may be given up at once; one stone never.
    bonus: points for White in a handicap game of n stones.
    """

    ko: KoRule = "positional"
    scoring: ScoringRule = "area"
    suicide: bool = True
    bonus: HandicapBonus = "none"

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Read a name (`chinese`), parts (`ko=simple,scoring=area,suicide=false,bonus=n`) or a name and then parts.

        Parts that are not given are those of `tromp-taylor`. Raises RecipeError that names the word it does not know.
        """
        try:
            ko, scoring, suicide, bonus = _native.rule_parts(text)
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return cls(cast(KoRule, ko), cast(ScoringRule, scoring), suicide, cast(HandicapBonus, bonus))

    @property
    def text(self) -> str:
        """The name of the rule set if it has one, else its parts; `parse` reads it back. Raises RecipeError."""
        suicide = "true" if self.suicide else "false"
        parts = f"ko={self.ko},scoring={self.scoring},suicide={suicide},bonus={self.bonus}"
        try:
            return _native.rules_text(parts)
        except ValueError as error:
            raise RecipeError(str(error)) from None

    def __str__(self) -> str:
        return self.text

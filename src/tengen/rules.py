"""Rule sets, by name or by their parts."""

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
    """A rule set. The simple ko rule always applies, and suicide of a single stone is always illegal.

    Args:
        ko: What may not repeat besides the simple ko: `simple` (nothing), `positional` (the stones on the board) or
            `situational` (the stones with the same side to play).
        scoring: `area` (stones and surrounded points) or `territory` (surrounded points and prisoners).
        suicide: Whether suicide of two or more stones is legal.
        bonus: Points for White in a game with n handicap stones: `none`, `n` or `n-1`.
    """

    ko: KoRule = "positional"
    scoring: ScoringRule = "area"
    suicide: bool = True
    bonus: HandicapBonus = "none"

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Read a name (`chinese`), parts (`ko=simple,scoring=area,suicide=false,bonus=n`) or a name and then parts.

        Missing parts are those of `tromp-taylor`. Raises RecipeError with the unknown word.
        """
        try:
            ko, scoring, suicide, bonus = _native.rule_parts(text)
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return cls(cast(KoRule, ko), cast(ScoringRule, scoring), suicide, cast(HandicapBonus, bonus))

    @property
    def text(self) -> str:
        """The name of the rule set if it has one, else its parts; `parse` reads it back.

        Raises RecipeError for parts that do not exist.
        """
        suicide = "true" if self.suicide else "false"
        parts = f"ko={self.ko},scoring={self.scoring},suicide={suicide},bonus={self.bonus}"
        try:
            return _native.rules_text(parts)
        except ValueError as error:
            raise RecipeError(str(error)) from None

    def __str__(self) -> str:
        return self.text

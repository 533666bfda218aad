"""Rule sets, by name, by their parts, and in KataGo's forms."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from tengen import _native
from tengen.errors import RecipeError

KoRule = Literal["simple", "positional", "situational"]
ScoringRule = Literal["area", "territory"]
HandicapBonus = Literal["none", "n", "n-1"]
TaxRule = Literal["none", "seki", "all"]

RULE_NAMES: tuple[str, ...] = tuple(_native.rule_names())
"""One name of each named rule set, and `korean`, which is `japanese`."""

KATAGO_BONUSES: dict[HandicapBonus, str] = {"none": "0", "n": "N", "n-1": "N-1"}
"""KataGo's words for White's handicap bonus."""

_BY_SCORING = cast(TaxRule, "")
_KATAGO_PARTS = {
    "friendlyPassOk": "friendly_pass_ok",
    "hasButton": "button",
    "ko": "ko",
    "scoring": "scoring",
    "suicide": "suicide",
    "tax": "tax",
    "whiteHandicapBonus": "bonus",
}


@dataclass(frozen=True)
class Rules:
    """A rule set. The simple ko rule always applies, and suicide of a single stone is always illegal.

    Args:
        ko: What may not repeat besides the simple ko: `simple` (nothing), `positional` (the stones on the board) or
            `situational` (the stones with the same side to play).
        scoring: `area` (stones and surrounded points) or `territory` (surrounded points and prisoners).
        suicide: Whether suicide of two or more stones is legal.
        bonus: Points for White in a game with n handicap stones: `none`, `n` or `n-1`.
        tax: Surrounded points that do not count: `none`, `seki` (those in seki) or `all` (those in seki and two points
            of each group). Left out, it is `seki` for territory scoring and `none` for area scoring.
        button: Whether the first pass takes the button: half a point, and not a pass that ends the game.
        friendly_pass_ok: Under area scoring, whether players may pass while dead stones are on the board, and agree on
            them (`dead_are_agreed`).
    """

    ko: KoRule = "positional"
    scoring: ScoringRule = "area"
    suicide: bool = True
    bonus: HandicapBonus = "none"
    tax: TaxRule = _BY_SCORING
    button: bool = False
    friendly_pass_ok: bool = False

    def __post_init__(self) -> None:
        if not self.tax:
            object.__setattr__(self, "tax", "seki" if self.scoring == "territory" else "none")

    @classmethod
    def parse(cls, text: str) -> "Rules":
        """Read a name (`chinese`), parts (`ko=simple,scoring=area,suicide=false,bonus=n`) or a name and then parts.

        Also reads KataGo's compact form (`koSIMPLEscoreAREAtaxNONEsui0whbN`) and its JSON. Missing parts are those of
        `tromp-taylor`, but a missing tax follows the scoring. Raises RecipeError with the unknown word.
        """
        if text.lstrip().startswith("{"):
            try:
                fields = json.loads(text)
            except (ValueError, RecursionError) as error:  # also a number of 5,000 digits, and 100,000 brackets
                raise RecipeError(f"rules: invalid JSON: {error}") from None
            return cls.from_katago(fields)
        try:
            # Bytes of GTP that are not UTF-8, and halves of JSON's surrogates, are no text for native code.
            parts = _native.rule_parts(text.encode(errors="backslashreplace").decode())
        except ValueError as error:
            raise RecipeError(str(error)) from None
        return cls(*parts)  # type: ignore[arg-type]  # native code gives the words of the literals

    @classmethod
    def from_katago(cls, fields: Mapping[str, object]) -> "Rules":
        """Read KataGo's JSON fields, as `katago` gives them; `score` also stands for `scoring`.

        Missing fields are those of `tromp-taylor`, but a missing tax follows the scoring. Raises RecipeError for an
        unknown field or value.
        """
        parts = []
        for key, value in fields.items():
            part = _KATAGO_PARTS.get("scoring" if key == "score" else key)
            if part is None:
                raise RecipeError(f"unknown field {key} of rules: one of {', '.join(_KATAGO_PARTS)} expected")
            is_flag = part in ("button", "friendly_pass_ok", "suicide")
            if not isinstance(value, bool if is_flag else str):
                raise RecipeError(f"field {key} of rules is {'true or false' if is_flag else 'a text'}, not {value!r}")
            word = str(value).lower()
            if {",", "="} & set(word):  # it would become another part
                raise RecipeError(f"field {key} of rules is one word, not {value!r}")
            if part == "bonus":
                word = {text.lower(): name for name, text in KATAGO_BONUSES.items()}.get(word, word)
            parts.append(f"{part}={word}")
        return cls.parse(",".join(parts)) if parts else cls()

    @property
    def katago(self) -> dict[str, str | bool]:
        """The rules as the fields of KataGo's JSON, without komi."""
        fields: dict[str, str | bool] = {}
        for key, part in _KATAGO_PARTS.items():
            value = getattr(self, part)
            if part == "bonus":
                value = KATAGO_BONUSES[value]
            fields[key] = value.upper() if isinstance(value, str) else value
        return fields

    @property
    def compact(self) -> str:
        """The rules in KataGo's compact form, without komi, as KataGo writes it into records; `parse` reads it."""
        text = f"ko{self.ko.upper()}score{self.scoring.upper()}tax{self.tax.upper()}sui{self.suicide:d}"
        bonus = "" if self.bonus == "none" else f"whb{KATAGO_BONUSES[self.bonus]}"
        return f"{text}{'button1' * self.button}{bonus}{'fpok1' * self.friendly_pass_ok}"

    @property
    def dead_are_agreed(self) -> bool:
        """Whether dead stones may stay on the board at the end; else they count as alive until they are captured."""
        return self.scoring == "territory" or self.friendly_pass_ok

    @property
    def usual_komi(self) -> float:
        """The komi where none is given: 6.5 by territory, 7 with a button or for New Zealand, else 7.5 (as KataGo)."""
        if self.scoring == "territory":
            return 6.5
        return 7.0 if self.button or self.text == "new-zealand" else 7.5

    @property
    def text(self) -> str:
        """The name of the rule set if it has one, else its parts; `parse` reads it back.

        Raises RecipeError for parts that do not exist.
        """
        words = {"ko": self.ko, "scoring": self.scoring, "bonus": self.bonus, "tax": self.tax}
        flags = {"suicide": self.suicide, "button": self.button, "friendly_pass_ok": self.friendly_pass_ok}
        parts = words | {key: str(value).lower() for key, value in flags.items()}
        try:
            return _native.rules_text(",".join(f"{key}={value}" for key, value in parts.items()))
        except ValueError as error:
            raise RecipeError(str(error)) from None

    def __str__(self) -> str:
        return self.text

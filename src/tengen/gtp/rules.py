"""Commands about the rules: names as KGS has them, and the parts that KataGo's users know."""

from __future__ import annotations

import json

from tengen.errors import GtpError, TengenError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session
from tengen.gtp.setup import replayed
from tengen.rules import Rules

KGS_NAMES = ("chinese", "aga", "japanese", "new_zealand")
_BONUSES = {"none": "0", "n": "N", "n-1": "N-1"}
_ALIASES = {
    "tromp_taylor": "tromp-taylor",
    "chinese-ogs": "chinese,ko=positional",
    "chinese-kgs": "chinese,ko=positional",
}


def kgs_rules(session: Session, args: Arguments) -> str:
    """chinese | aga | japanese | new_zealand."""
    args.expect(1)
    if args.text(0).lower() not in KGS_NAMES:
        raise GtpError(f"unknown rules {args.text(0)}: one of {', '.join(KGS_NAMES)} expected")
    _use(session, parse_rules(args.text(0)))
    return ""


def get_rules(session: Session, args: Arguments) -> str:
    args.expect(0)
    return json.dumps(to_json(session.game.rules))


def set_rules(session: Session, args: Arguments) -> str:
    """A name, or an object of JSON with the fields that `kata-get-rules` answers."""
    args.expect(1, 1000)
    text = " ".join(args.words)
    _use(session, from_json(_object(text)) if text.startswith("{") else parse_rules(text))
    return ""


def set_rule(session: Session, args: Arguments) -> str:
    """FIELD VALUE: change one field of the rules."""
    args.expect(2)
    fields = to_json(session.game.rules)
    if args.text(0) not in fields:
        raise GtpError(f"unknown field {args.text(0)}: one of {', '.join(fields)} expected")
    word = args.text(1)
    fields[args.text(0)] = args.boolean(1) if isinstance(fields[args.text(0)], bool) else word
    _use(session, from_json(fields))
    return ""


def parse_rules(text: str) -> Rules:
    try:
        return Rules.parse(_ALIASES.get(text.lower(), text))
    except TengenError as error:
        raise GtpError(str(error)) from error


def to_json(rules: Rules) -> dict[str, object]:
    """The rules as KataGo's fields; what Tengen's rules do not have stands at the value that they play by."""
    return {
        "friendlyPassOk": rules.text != "tromp-taylor",
        "hasButton": False,
        "ko": rules.ko.upper(),
        "scoring": rules.scoring.upper(),
        "suicide": rules.suicide,
        "tax": "NONE",
        "whiteHandicapBonus": _BONUSES[rules.bonus],
    }


def from_json(fields: dict[str, object]) -> Rules:
    """The rules of such fields, those of tromp-taylor where one is missing. Raises GtpError for others."""
    known = to_json(Rules.parse("tromp-taylor"))
    for key, value in fields.items():
        if key not in known:
            raise GtpError(f"unknown field {key}: one of {', '.join(known)} expected")
        if key in ("hasButton", "tax") and str(value).upper() not in ("FALSE", "NONE"):
            raise GtpError(f"{key} {value} is not supported")
    parts = {**known, **fields}
    bonus = {text: name for name, text in _BONUSES.items()}.get(str(parts["whiteHandicapBonus"]).upper())
    if bonus is None or not isinstance(parts["suicide"], bool):
        raise GtpError("whiteHandicapBonus is one of 0, N, N-1; suicide is true or false")
    ko, scoring = str(parts["ko"]).lower(), str(parts["scoring"]).lower()
    return parse_rules(f"ko={ko},scoring={scoring},suicide={str(parts['suicide']).lower()},bonus={bonus}")


def _object(text: str) -> dict[str, object]:
    try:
        value = json.loads(text)
    except ValueError as error:
        raise GtpError(f"no valid JSON: {error}") from error
    assert isinstance(value, dict)
    return value


def _use(session: Session, rules: Rules) -> None:
    session.game = replayed(session.game, rules)

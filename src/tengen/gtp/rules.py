"""Commands about the rules of the game."""

from __future__ import annotations

import json

from tengen.engine.positions import replayed
from tengen.errors import GtpError, TengenError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import GtpSession
from tengen.rules import Rules

KGS_NAMES = ("chinese", "aga", "japanese", "new_zealand")
_KGS_MEANING = {"chinese": "chinese-kgs"}  # KGS has positional superko


def kgs_rules(session: GtpSession, args: Arguments) -> str:
    """chinese | aga | japanese | new_zealand."""
    args.expect(1)
    if args.text(0).lower() not in KGS_NAMES:
        raise GtpError(f"unknown rules {args.text(0)}: one of {', '.join(KGS_NAMES)} expected")
    name = args.text(0).lower()
    _use(session, parse_rules(_KGS_MEANING.get(name, name)))
    return ""


def get_rules(session: GtpSession, args: Arguments) -> str:
    args.expect(0)
    return json.dumps(session.game.rules.katago)


def set_rules(session: GtpSession, args: Arguments) -> str:
    """A name, or a JSON object with the fields of `kata-get-rules`."""
    args.expect(1, 1000)
    _use(session, parse_rules(" ".join(args.words)))
    return ""


def set_rule(session: GtpSession, args: Arguments) -> str:
    """FIELD VALUE: change one field of the rules."""
    args.expect(2)
    fields = session.game.rules.katago
    key = "scoring" if args.text(0) == "score" else args.text(0)
    if key not in fields:
        raise GtpError(f"unknown field {key}: one of {', '.join(fields)} expected")
    fields[key] = args.boolean(1) if isinstance(fields[key], bool) else args.text(1)
    _use(session, parse_rules(json.dumps(fields)))
    return ""


def parse_rules(text: str) -> Rules:
    try:
        return Rules.parse(text)
    except TengenError as error:
        raise GtpError(str(error)) from error


def _use(session: GtpSession, rules: Rules) -> None:
    session.game = replayed(session.game, rules)

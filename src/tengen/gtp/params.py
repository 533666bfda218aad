"""Commands that read and change the settings of the search."""

from __future__ import annotations

from tengen.engine.params import SearchParams, set_params
from tengen.errors import GtpError
from tengen.gtp.parse import Arguments
from tengen.gtp.session import Session


def list_params(session: Session, args: Arguments) -> str:
    """The names of the settings, on one line."""
    args.expect(0)
    return " ".join(SearchParams.model_fields)


def get_param(session: Session, args: Arguments) -> str:
    """NAME: the value of one setting on the board of the game, where a network's card may advise its own."""
    args.expect(1)
    name = args.text(0)
    if name not in SearchParams.model_fields:
        raise GtpError(f"unknown search setting {name}: kata-list-params tells which there are")
    return _text(getattr(session.engine.params_on(session.game.size), name))


def set_param(session: Session, args: Arguments) -> str:
    """NAME VALUE: change one setting; the tree is searched anew."""
    args.expect(2)
    session.engine.params = set_params(session.engine.asked_params, {args.text(0): args.text(1)})
    return ""


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)

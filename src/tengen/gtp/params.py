"""Commands about the settings: those of the search by Tengen's and by KataGo's names, and the cache."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from tengen.engine.katago_params import (
    KATAGO_PARAMS,
    RULE_PARAMS,
    KatagoChanges,
    is_ignored,
    katago_values,
    read_katago_params,
)
from tengen.engine.params import SearchParams, set_beside
from tengen.engine.style import Style
from tengen.errors import GtpError, unknown_name
from tengen.evaluators.human import NO_HUMAN_NETWORK
from tengen.gtp.parse import Arguments, json_object
from tengen.gtp.session import SESSION_SETTINGS, GtpSession

_logger = logging.getLogger(__name__)

WEAKENING = ("mean_loss", "policy_floor")
"""Fields of `Style` that are settings here under their own names; `mean_loss` is empty for none."""

# What KataGo sets at any time too, and what has no effect here once the program runs.
_WITHOUT_EFFECT = ("numSearchThreads", "ignorePreRootHistory")
_COMMANDS = {"komi": "komi", "rules": "kata-set-rules", **dict.fromkeys(RULE_PARAMS, "kata-set-rule")}
"""What KataGo's configuration sets as well, and the command that changes it here."""


def list_params(session: GtpSession, args: Arguments) -> str:
    """The names of the settings on one line: KataGo's, then Tengen's own."""
    args.expect(0)
    return " ".join(_values(session))


def get_param(session: GtpSession, args: Arguments) -> str:
    """NAME: the value of one setting on this board size; the card of a network may give its own."""
    args.expect(1)
    name, values = args.text(0), _values(session)
    if name not in values and (name in _WITHOUT_EFFECT or is_ignored(name)):
        raise GtpError(f"KataGo's {name} has no effect in Tengen, and no value")
    if name in _COMMANDS:
        raise GtpError(_no_setting(name))
    if name not in values:
        raise GtpError(unknown_name("search setting", name, values, "kata-list-params"))
    return _text(values[name])


def get_params(session: GtpSession, args: Arguments) -> str:
    """All settings with their values, as a JSON object."""
    args.expect(0)
    return json.dumps(_values(session))


def set_param(session: GtpSession, args: Arguments) -> str:
    """NAME [VALUE]: change one setting. The next search starts a new tree."""
    args.expect(1, 2)
    _change(session, {args.text(0): args.text(1) if len(args) > 1 else ""})
    return ""


def set_params_by_json(session: GtpSession, args: Arguments) -> str:
    """A JSON object of names and values: change all of these settings, or with an error none."""
    args.expect(1, 1000)
    _change(session, json_object(" ".join(args.words)))
    return ""


def clear_cache(session: GtpSession, args: Arguments) -> str:
    """Forget what the searches so far have found."""
    args.expect(0)
    session.engine.forget()
    return ""


def _values(session: GtpSession) -> dict[str, object]:
    """All settings that have an effect: under KataGo's names, then under Tengen's own."""
    params = session.engine.params_on(session.game.size)
    front = {name: getattr(session.settings, field) for name, field in SESSION_SETTINGS.items()}
    theirs = dict(katago_values(params, session.engine.style, session.options.limits, front)) | front
    return {**theirs, **params.model_dump(), **{name: getattr(session.engine.style, name) for name in WEAKENING}}


def _change(session: GtpSession, settings: Mapping[str, object]) -> None:
    """Change settings by a command. A configuration may name a profile without its network, a command may not."""
    if settings.get("humanSLProfile") and session.human is None:
        raise GtpError(NO_HUMAN_NETWORK)
    change_settings(session, settings)


def change_settings(session: GtpSession, settings: Mapping[str, object]) -> None:
    """Change settings under both kinds of names; all values are checked before the first is changed."""
    engine, own = session.engine, {*SearchParams.model_fields, *WEAKENING}
    changes = _of_analysis(read_katago_params({name: value for name, value in settings.items() if name not in own}))
    if changes.unknown:
        raise GtpError(unknown_name("search setting", min(changes.unknown), [*own, *KATAGO_PARAMS], "kata-list-params"))
    if of_the_start := set(changes.front) - set(SESSION_SETTINGS) - set(_WITHOUT_EFFECT):
        raise GtpError(_no_setting(min(of_the_start)))
    ours = {name: _text(value) for name, value in settings.items() if name in SearchParams.model_fields}
    params = set_beside(changes.new_params(engine.asked_params), ours, engine.advice_on(session.game.size))
    engine.params_on(session.game.size, params)  # raises where they contradict what the network advises
    if session.human is not None and (profile := changes.front.get("humanSLProfile")):
        session.human.evaluator(profile)
    style = _weakened(changes.new_style(engine.style), settings)
    limits = changes.new_limits(session.options.limits)
    if without_effect := changes.without_effect(SESSION_SETTINGS):
        _logger.warning("without effect in Tengen: %s", ", ".join(without_effect))
    if params != engine.asked_params or params.model_fields_set != engine.asked_params.model_fields_set:
        engine.params = params
    engine.style = style
    session.options = replace(session.options, limits=limits)
    changed = {SESSION_SETTINGS[name]: value for name, value in changes.front.items() if name in SESSION_SETTINGS}
    session.settings = replace(session.settings, **changed)


def _of_analysis(changes: KatagoChanges) -> KatagoChanges:
    """The changes with conservativePass as a setting of analyses: the engine's own moves pass by `engine.passing`."""
    search = dict(changes.search)
    if (value := search.pop("conservative_pass", None)) is None:
        return changes
    return replace(changes, search=search, front={**changes.front, "conservativePass": value})


def _no_setting(name: str) -> str:
    """Why KataGo's parameter cannot be asked for or changed as a setting of the search."""
    command = _COMMANDS.get(name)
    way = f"the command {command} changes it" if command else "it is read when the program starts"
    return f"{name} is no search setting: {way}"


def _weakened(style: Style, settings: Mapping[str, object]) -> Style:
    """The style with the settings of WEAKENING. Raises GtpError for a value that is not a number."""
    found: dict[str, Any] = {}
    for name in set(WEAKENING) & settings.keys():
        try:
            found[name] = None if name == "mean_loss" and settings[name] in ("", None) else float(str(settings[name]))
        except ValueError:
            raise GtpError(f"{name} must be a number, not {settings[name]}") from None
    return replace(style, **found)


def _text(value: object) -> str:
    return "" if value is None else str(value).lower() if isinstance(value, bool) else str(value)

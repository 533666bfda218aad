"""How a GTP program is told of rules and time, by the commands that it has."""

from __future__ import annotations

from collections.abc import Callable

from tengen.engine.clock import Clock, Overtime, TimeControl
from tengen.rules import RULE_NAMES, Rules

Knows = Callable[[str], bool]

_KGS_RULES = {"chinese": "chinese", "aga": "aga", "japanese": "japanese", "new-zealand": "new_zealand"}


def rules_command(rules: Rules, knows: Knows) -> str | None:
    """The command that tells a program of these rules; None where it has none that can name them."""
    name = rules.text
    if knows("kata-set-rules") and name in RULE_NAMES:
        return f"kata-set-rules {name}"
    if knows("kgs-rules") and name in _KGS_RULES:
        return f"kgs-rules {_KGS_RULES[name]}"
    return None


def time_commands(control: TimeControl | None, knows: Knows) -> list[str]:
    """The commands that tell a program of a time control; none where there is none, or it does not know any.

    A program without a command for byo-yomi or Fischer time is told of Canadian time with one stone in a period or an
    increment: it may then think as long as it really can, but for the further periods. An increment of less than a
    second is left to `time_left`.
    """
    if control is None:
        return []
    main, period = _whole(control.main), _whole(control.period)
    match control.overtime:
        case Overtime.BYOYOMI if knows("kgs-time_settings"):
            return [f"kgs-time_settings byoyomi {main} {period} {control.count}"]
        case Overtime.FISCHER if knows("kata-time_settings"):
            return [f"kata-time_settings fischer {control.main:g} {control.increment:g}"]
    if not knows("time_settings"):
        return []
    match control.overtime:
        case Overtime.BYOYOMI:
            return [f"time_settings {main} {period} 1"]
        case Overtime.CANADIAN:
            return [f"time_settings {main} {period} {control.count}"]
        case Overtime.FISCHER if control.increment >= 1:
            return [f"time_settings {main} {_whole(control.increment)} 1"]
    return [f"time_settings {main} 0 0"]


def time_left(clock: Clock, color: str, knows: Knows) -> str:
    """The command that tells a program what this colour has left, as it understands the control."""
    if not clock.in_overtime:
        return f"time_left {color} {_whole(clock.main)} 0"
    periods = clock.control.overtime is Overtime.BYOYOMI and not knows("kgs-time_settings")
    return f"time_left {color} {_whole(clock.period)} {1 if periods else clock.count}"


def _whole(seconds: float) -> int:
    """Whole seconds, which is all that GTP knows (GNU Go refuses fractions), rounded down; 1 where there is less."""
    return max(int(seconds), 1) if seconds > 0 else 0

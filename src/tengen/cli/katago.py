"""`tengen-katago`: takes the place of KataGo's program in front ends, with the arguments that they give to it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import tengen
from tengen.cli import app
from tengen.errors import RecipeError, TengenError, unknown_name

_INSTEAD = {
    "benchmark": "tengen bench measures the speed of this machine; threads and batches need no tuning",
    "genconfig": "a configuration file is not needed; tengen analysis --help and tengen gtp --help list the options",
    "tuner": "nothing needs tuning",
    "contribute": "Tengen does not take part in KataGo's distributed training; tengen zero trains by self-play",
    "match": "tengen match plays games between networks and programs",
    "selfplay": "tengen zero trains by self-play",
    "gatekeeper": "tengen zero has a gate",
    **dict.fromkeys(("genbook", "writebook", "checkbook"), "Tengen makes no opening books"),
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tengen-katago` with these arguments (by default those of the process) and return its exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    return app.guarded(lambda: _dispatch(given), debug=False)


def _dispatch(given: list[str]) -> int:
    name, args = (given[0].lower(), given[1:]) if given else ("help", [])
    if name == "analysis":
        return app.main(["analysis", *args])
    if name == "gtp":
        words = ["gtp", *gtp_arguments(args)]
        try:
            app.check_command(words)
        except TengenError as error:  # the options of KataGo are in the help of this program alone
            raise TengenError(str(error).replace("tengen gtp --help", "tengen-katago gtp -h")) from error
        return app.main(words)
    if name in ("version", "--version", "-version"):
        from tengen.engine.katago_params import RELEASE

        print(f"Tengen {tengen.__version__}, with the command line and the protocols of KataGo v{RELEASE}")
        return 0
    if name in ("help", "--help", "-help", "-h"):
        print(
            "usage: tengen-katago analysis|gtp [-model FILE] [-config FILE] [-override-config NAME=VALUE,...]\n"
            "       tengen-katago version\n\n"
            "Tengen in the place of KataGo's program, for front ends that run `katago analysis` or `katago gtp`."
        )
        return 0
    if name in _INSTEAD:
        raise TengenError(f"tengen-katago has no {name}: {_INSTEAD[name]}")
    raise TengenError(unknown_name("command", name, ["analysis", "gtp", "version", *_INSTEAD]))


def gtp_arguments(args: Sequence[str]) -> list[str]:
    """The arguments of `tengen gtp` for those of `katago gtp`.

    Raises RecipeError for a value that is out of range, and for an unknown argument.
    """
    from tengen.engine.katago_config import read_config, read_overrides, warn_of_unused
    from tengen.engine.katago_params import KATAGO_PARAMS, RULE_PARAMS, read_katago_params
    from tengen.gtp.session import SESSION_SETTINGS
    from tengen.rules import Rules

    parser = argparse.ArgumentParser(prog="tengen-katago gtp", allow_abbrev=False, exit_on_error=False)
    parser.add_argument("-model", "--model", default="default")
    parser.add_argument("-config", "--config", action="append", default=[], type=Path)
    parser.add_argument("-override-config", "--override-config", action="append", default=[])
    parser.add_argument("-human-model", "--human-model")
    parser.add_argument("-override-version", "--override-version")
    try:
        known, rest = parser.parse_known_args(list(args))
    except argparse.ArgumentError as error:
        raise RecipeError(str(error)) from error
    given: dict[str, str] = {}
    for path in known.config:
        given |= read_config(path)
    overrides = read_overrides(known.override_config)
    if "rules" in overrides:
        given = {name: value for name, value in given.items() if name not in RULE_PARAMS}
    if RULE_PARAMS.keys() & overrides.keys():
        given.pop("rules", None)
    given |= overrides
    parts = sorted(RULE_PARAMS.keys() & given.keys())
    if parts and "rules" in given:
        raise RecipeError(f"rules and {parts[0]} cannot both be set: give rules, or its parts alone")
    changes = read_katago_params(given)
    options = ["--net", known.model, "--name", "KataGo"]  # front ends choose their commands by this name
    front: dict[str, Callable[[object], list[str]]] = {
        "ponderingEnabled": lambda on: ["--ponder" if on else "--no-ponder"],
        "rules": lambda rules: ["--rules", str(rules)],
        "defaultBoardSize": lambda size: ["--size", str(size)],
        "komi": lambda komi: ["--komi", str(komi)],
        "ignoreGTPAndForceKomi": lambda komi: ["--komi", str(komi), "--force-komi"],
        "logFile": lambda file: ["--log", str(file)],
    }
    for name, value in given.items():
        is_set = name in SESSION_SETTINGS and name not in front
        if is_set or (name in KATAGO_PARAMS and KATAGO_PARAMS[name].group != "front"):
            options += ["--set", f"{name}={value}"]
    warn_of_unused(changes, {*SESSION_SETTINGS, *front, *RULE_PARAMS})
    for name, make in front.items():
        if name in changes.front:
            options += make(changes.front[name])
    if parts:
        options += ["--rules", Rules.from_katago({RULE_PARAMS[name]: changes.front[name] for name in parts}).text]
    if known.human_model:
        options += ["--human-net", known.human_model]
    if known.override_version:
        options += ["--answer-version", known.override_version]
    return [*options, *rest]


if __name__ == "__main__":
    sys.exit(main())

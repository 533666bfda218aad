"""The program `tengen`: runs the module of a command and prints an error as one line.

A command is a module of this folder with a function `command`, whose signature Typer reads. It is imported only when it
runs, so that `tengen --help` and `tengen gtp` start fast. A module may have `SUBCOMMANDS`, further such functions by
the word that follows the command.
"""

from __future__ import annotations

import errno
import functools
import importlib
import io
import logging
import os
import re
import sys
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tengen
from tengen.errors import MissingExtra, NetworkError, TengenError, Terminated, os_reason, unknown_name, without_parsing

EXIT_USER_ERROR = 2
EXIT_INTERRUPTED = 130
EXIT_TERMINATED = 143
_COMPLETE = "_TENGEN_COMPLETE"  # a variable that the completion script of a shell sets
_HELP_WIDTH = 100  # columns at most; wider lines read badly


@dataclass(frozen=True)
class Verb:
    """One command: its module, a line of help, and the extra to name where a package of another is missed first."""

    module: str
    help: str
    extra: str = ""


VERBS = {
    "play": Verb("tengen.cli.play", "play and analyze in the browser"),
    "gtp": Verb("tengen.cli.gtp", "run the engine for Sabaki, GoGui, Lizzie and other Go programs (GTP)"),
    "analysis": Verb("tengen.cli.analysis", "analyze many positions for KaTrain and other programs (KataGo's JSON)"),
    "review": Verb("tengen.cli.review", "review games: what each move lost, and the better moves"),
    "import": Verb("tengen.cli.import_", "import game records into a store"),
    "stats": Verb("tengen.cli.stats", "print statistics of a store"),
    "label": Verb("tengen.cli.label", "label positions of a store by a teacher: a network or a search"),
    "train": Verb("tengen.cli.train", "train a network on game records, by a recipe"),
    "zero": Verb("tengen.cli.zero", "train a network by self-play, by a recipe", "train"),
    "recipes": Verb("tengen.cli.recipes", "list the recipes with their papers, sizes and hours"),
    "study": Verb("tengen.cli.study", "rerun a published experiment and write its page", "train"),
    "evaluate": Verb("tengen.cli.evaluate", "measure how well a network predicts the games of a store"),
    "nets": Verb(
        "tengen.cli.nets",
        "list, describe, add, remove, join, export and quantize networks, and print what one says of a position",
    ),
    "match": Verb("tengen.cli.match", "play games between networks and GTP programs"),
    "rate": Verb("tengen.cli.rate", "compute Elo ratings from matches, self-play runs and SGF files"),
    "verify": Verb("tengen.cli.verify", "compare stores, runs, matches and networks with their checksums"),
    "bench": Verb("tengen.cli.bench", "measure the speed of this machine and estimate the time of a recipe"),
}

# Packages beyond a player's install, and the extras that bring them.
_EXTRAS = {"torch": "train", "lightning_fabric": "train", "tensorboard": "train", "pyarrow": "data"}


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tengen` with these arguments (by default those of the process) and return its exit status.

    0: success. 2: an error that the user can correct, one line on stderr. 130: an interruption by Ctrl-C, 143: by
    SIGTERM. With `--debug` anywhere an error prints its traceback.
    """
    given = list(sys.argv[1:] if argv is None else argv)
    return guarded(lambda: _dispatch([arg for arg in given if arg != "--debug"]), debug="--debug" in given)


def guarded(work: Callable[[], int], *, debug: bool) -> int:
    """Do the work of a program and return its exit status, as `main`; with `debug` an error prints its traceback."""
    _open_streams()
    # It complains of a home that cannot be written, and goes on without.
    logging.getLogger("matplotlib").setLevel(logging.ERROR)
    try:
        status = work()
        sys.stdout.flush()
    except BrokenPipeError:
        _silence_stdout()
        return 0
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # by Rich
            return 0
        raise
    except KeyboardInterrupt as interruption:
        return EXIT_TERMINATED if isinstance(interruption, Terminated) else EXIT_INTERRUPTED
    except Exception as error:
        if debug:
            traceback.print_exc()
            return EXIT_USER_ERROR
        return _report(error)
    return status


def check_command(argv: Sequence[str]) -> None:
    """Read the words of a command of `tengen` without running it.

    Raises TengenError for an unknown command or option, a value of another type and a missing or further argument.
    """
    _dispatch([arg for arg in argv if arg != "--debug"], run=False)


def _dispatch(args: list[str], run: bool = True) -> int:
    if _COMPLETE in os.environ or args[:1] in (["--install-completion"], ["--show-completion"]):
        return _complete(args)
    if len(args) > 1 and args[0] == "help":
        args = [*args[1:], "--help"]
    if not args or args[0] in ("--help", "-h", "help"):
        print(_help())
        return 0
    if args[0] == "--version":
        print(f"tengen {tengen.__version__}")
        return 0
    verb = VERBS.get(args[0])
    if verb is None:
        raise TengenError(_unknown(args[0]))
    try:
        return _run(args[0], verb, args[1:], run)
    except ModuleNotFoundError as error:
        if verb.extra and _missing_extra(error):
            raise MissingExtra("this command", verb.extra) from error
        raise


def _complete(args: list[str]) -> int:
    """Complete a command line for the shell, or install the script with which the shell asks for it."""
    import typer

    line = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS") or ""
    program = typer.Typer(rich_markup_mode=None)
    _, *words = line.split() or [""]
    for name, verb in VERBS.items():  # only the command that is typed is imported
        module = importlib.import_module(verb.module) if words[:1] == [name] else None
        further: Mapping[str, Callable[..., object]] = getattr(module, "SUBCOMMANDS", {})
        if words[1:] and any(each.startswith(words[1]) for each in further):
            group = typer.Typer(rich_markup_mode=None)
            for each, command in further.items():
                group.command(each)(command)
            program.add_typer(group, name=name, help=verb.help)
        else:
            program.command(name, help=verb.help)(module.command if module else lambda: None)
    program(args=args, prog_name="tengen")
    return 0


def _run(name: str, verb: Verb, args: list[str], run: bool) -> int:
    """Read the words of a command and, with `run`, carry it out; return its exit status."""
    import typer

    from tengen.disk import expand_home

    args = [expand_home(arg) for arg in args]
    # Typer carries a copy of Click or uses Click itself, by its version; either way this is the base of usage errors.
    usage_error: type[BaseException] = typer.BadParameter.__mro__[2]
    module = importlib.import_module(verb.module)
    command: Callable[..., object] = module.command
    if args and args[0] in (further := getattr(module, "SUBCOMMANDS", {})):
        command, name, args = further[args[0]], f"{name} {args[0]}", args[1:]
    ended: list[BaseException] = []  # Typer would make another exception, or a status, of these

    @functools.wraps(command)
    def noted(*values: object, **options: object) -> object:
        try:
            return command(*values, **options)
        except (KeyboardInterrupt, EOFError, BrokenPipeError) as error:
            ended.append(error)
            return None

    # Without Rich's boxes, whose columns cut off the names of options in 80 columns, and its markup, which eats [word].
    program = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)
    settings = {"help_option_names": ["-h", "--help"], "max_content_width": _HELP_WIDTH}
    program.command(help=_paragraphs(command.__doc__ or ""), context_settings=settings)(noted)
    try:
        if not run:
            typer.main.get_command(program).make_context(f"tengen {name}", list(args)).close()  # it takes them out
            return 0
        status = program(args=args, prog_name=f"tengen {name}", standalone_mode=False)
    except usage_error as error:
        words = f"; its commands: {', '.join(further)}" if args and further and "unexpected" in str(error) else ""
        message = f"{_usage_message(error, args)}{words}"
        raise TengenError(f"{message}{' See' if message.endswith('?') else '; see'} tengen {name} --help") from error
    except typer.Abort:
        raise (ended or [KeyboardInterrupt()])[0] from None
    if ended:
        raise ended[0]
    return status if isinstance(status, int) else 0


def _paragraphs(doc: str) -> str:
    """A docstring without the line breaks inside its paragraphs, which Typer would keep."""
    return "\n\n".join(" ".join(part.split()) for part in doc.split("\n\n"))


def _usage_message(error: BaseException, args: Sequence[str]) -> str:
    """Typer's message in our form, with the value: `unknown option --prot; did you mean --host, --port?`."""
    message: str = getattr(error, "format_message", error.__str__)()
    message = message.rstrip(".").replace("Value error, ", "").removeprefix("Invalid value: ")
    message = re.sub(r"Got unexpected extra argument\(s\) \((.*)\)", r"unexpected argument: \1", message)
    message = message.replace("does not match the formats '%Y-%m-%d'", "is no date such as 2024-12-31")
    message = without_parsing(message)
    if (found := getattr(error.__cause__, "errors", None)) and (value := repr(found()[0]["input"])) not in message:
        message += f" (found {value})"
    message = re.sub(r"No such option: (\S+)", lambda found: f"unknown option {_as_given(found[1], args)}", message)
    message = re.sub(r" \(Possible options: (.*)\)", r"; did you mean \1?", message)
    return message[:1].lower() + message[1:]


def _as_given(option: str, args: Sequence[str]) -> str:
    """An option as it was typed: of `-foo` Typer names the first letter alone."""
    if option.startswith("--"):
        return option
    return next((arg.partition("=")[0] for arg in args if arg.startswith(option)), option)


def _report(error: Exception) -> int:
    """Print an error that the user can correct as one line; raise any other again."""
    if isinstance(error, TengenError):
        message = f"{error}{_recipe_of(error)}"
    elif isinstance(error, ModuleNotFoundError) and (extra := _missing_extra(error)):
        message = str(MissingExtra("this command", extra))
    elif isinstance(error, OSError):
        message = _os_message(error)
    else:
        raise error
    print("error: " + " ".join(message.split()), file=sys.stderr)
    return EXIT_USER_ERROR


def _missing_extra(error: ModuleNotFoundError) -> str:
    """The extra that brings the missing package; "" where none does."""
    return _EXTRAS.get((error.name or "").split(".")[0], "")


def _recipe_of(error: TengenError) -> str:
    """How a network that is not there is made, if its name is that of a recipe; "" for any other error."""
    if not isinstance(error, NetworkError):
        return ""
    from tengen.evaluators.installed_networks import UnknownNetwork
    from tengen.recipes.loader import KINDS, recipe_kind, recipe_names
    from tengen.runs.folder import RunFolder

    if not isinstance(error, UnknownNetwork) or error.name not in recipe_names():
        return ""
    kind = recipe_kind(error.name)
    if kind == "linear-playout":
        return ""
    path = RunFolder(Path("runs") / error.name, kind).network(error.name)
    if path.exists():
        return f"; the network of this recipe is {path}"
    return f"; it is a recipe: 'tengen {KINDS[kind].command} {error.name}' makes {path}"


def _os_message(error: OSError) -> str:
    from tengen.disk import DISK_FULL

    where = f": {error.filename}" if error.filename else ""
    if error.errno in DISK_FULL:
        return f"the disk is full{where}; free some space and run the command again"
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        return f"a folder is needed, but there is a file{where}; name another folder"
    return f"{os_reason(error).lower()}{where}"


def _unknown(word: str) -> str:
    if word.startswith("-"):
        return f"unknown option {word!r}; tengen --help lists the options"
    return unknown_name("command", word, VERBS)


def _help() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {name:<{width}}  {verb.help}" for name, verb in VERBS.items()]
    return "\n".join(
        [
            "Tengen: train Go engines from game records or by self-play, play against them, and analyze games.",
            "",
            "usage: tengen COMMAND [ARGUMENTS]",
            "",
            *lines,
            "",
            "tengen COMMAND --help describes a command.",
            "--version prints the version, --debug the traceback of an error.",
            "--install-completion makes the Tab key of this shell complete commands and options.",
        ]
    )


class _Messages(io.RawIOBase):
    """The bytes of standard error. What a full disk or a closed pipe cannot take is lost and ends no work."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        self._stream = stream  # which would close the descriptor with its last reference
        self._raw: Any = getattr(stream.buffer, "raw", stream.buffer)

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._stream.isatty()

    def fileno(self) -> int:
        return self._stream.fileno()

    def write(self, data: Any, /) -> int:
        count: int | None = None
        with suppress(OSError):
            count = self._raw.write(data)
        return len(data) if count is None else count


def _open_streams() -> None:
    """Make the standard streams usable, whatever the program was started with.

    Letters that the output cannot have are escaped, as Python does on stderr. The null device takes the place of a
    closed stream, whose descriptor the first file that is opened would have. Errors of stderr are ignored.
    """
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        stream = getattr(sys, name)
        if stream is None:
            null = os.open(os.devnull, os.O_RDWR)
            if null != descriptor:
                os.dup2(null, descriptor)
                os.close(null)
            os.set_inheritable(descriptor, True)
            mode = "w" if descriptor else "r"
            setattr(sys, name, open(descriptor, mode, encoding="utf-8", errors="backslashreplace"))  # noqa: SIM115
        elif descriptor and isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    errors = sys.stderr
    if isinstance(errors, io.TextIOWrapper) and not isinstance(getattr(errors.buffer, "raw", None), _Messages):
        safe = io.BufferedWriter(_Messages(errors))
        sys.stderr = io.TextIOWrapper(safe, errors.encoding, "backslashreplace", line_buffering=True)


def _silence_stdout() -> None:
    """The reader has closed the pipe: discard the rest of the output, so that the interpreter's last flush succeeds."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())

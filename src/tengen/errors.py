"""The errors that Tengen raises where its input is to blame.

Each message names the offending value and says what would be right; commands print it in one line.
"""

import copyreg
import re
import sys
import unicodedata
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any


class Terminated(KeyboardInterrupt):
    """SIGTERM or SIGHUP (the terminal is gone), after which programs do what they do after Ctrl-C and end with status
    143 instead of 130."""


class TengenError(Exception):
    """Base of all errors that a user of Tengen can cause and mend. They can be pickled, as between processes."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Python's own would call `__init__` with `args`, the message, though many subclasses take other arguments.
        return copyreg.__newobj__, (type(self), *self.args), vars(self)  # type: ignore[attr-defined]


class SgfError(TengenError, ValueError):
    """A game record cannot be read as SGF, or says something impossible."""


class IllegalMove(TengenError, ValueError):
    """A move that the rules forbid, with the reason."""


class RecipeError(TengenError, ValueError):
    """A recipe or a setting that cannot work."""


class StoreError(TengenError, ValueError):
    """A game store that is missing, damaged or of another format version."""


class NetworkError(TengenError, ValueError):
    """A file that is no network of ours, or a network that does not fit the task."""


class NoHomeFolder(TengenError, OSError):
    """The system does not say where the files of this user are."""


class GtpError(TengenError, ValueError):
    """A GTP command that cannot be carried out; its text follows the question mark."""


class ClusterError(TengenError):
    """The machines of a cluster cannot work, whatever the work: none holds a worker, workers die, versions differ."""


class TrainingDiverged(TengenError, ArithmeticError):
    """The loss or a weight of a network in training is infinite or no number."""


class MissingExtra(TengenError, ImportError):
    """A feature needs an optional extra that is not installed."""

    def __init__(self, feature: str, extra: str) -> None:
        how = f"pip install 'tengen[{extra}]', in a clone make .venv/developer"
        super().__init__(f"{feature} needs the extra [{extra}]: {how}")


def import_error(why: str) -> ImportError:
    """Why the package cannot be imported, as an exception for Python programs. A command, whose program imports the
    package before anything else, ends here with the message in one line, as all errors of commands are."""
    # `python -m` puts the path into `sys.argv` later.
    as_module = sys.argv[0] == "-m" and not {"tengen", "-mtengen"}.isdisjoint(sys.orig_argv)
    if as_module or PurePath(sys.argv[0]).stem in ("tengen", "tengen-katago"):
        print(f"error: {why}", file=sys.stderr)
        sys.exit(2)
    return ImportError(why)


def os_reason(error: OSError) -> str:
    """Why the system refused; errors without a number, such as those of a pipe that cannot be searched, have a message
    alone."""
    return error.strerror or str(error)


def printable(text: str) -> str:
    """A text from a file, such as a name, as one line: undecodable bytes and what a terminal would obey are escaped."""
    return text if text.isprintable() else "".join(map(_printable_letter, text))


def _printable_letter(letter: str) -> str:
    obeyed = unicodedata.category(letter) in ("Cc", "Cs", "Zl", "Zp")  # controls, bytes, breaks of lines and paragraphs
    return letter.encode("unicode_escape").decode() if obeyed else letter


def unknown_name(kind: str, name: str, known: Iterable[str], listed_by: str = "") -> str:
    """The message for a name that does not exist: the nearest known name if one is near, else all of them, or what
    lists them.

    Of a dotted name (`learn.window.size`) the last part is compared.
    """
    return f"unknown {kind} {name!r}; {suggestion(name, known, listed_by)}"


def suggestion(name: str, known: Iterable[str], listed_by: str = "") -> str:
    """The part of that message that helps: `did you mean X?`, `there are: X, Y` or `COMMAND lists them`."""
    names = list(known)
    near = get_close_matches(name.rsplit(".", 1)[-1], names, n=1, cutoff=0.6)
    if near:
        return f"did you mean {near[0]}?"
    return f"{listed_by} lists them" if listed_by else f"there are: {', '.join(names) or 'none'}"


def without_parsing(message: str) -> str:
    """A message of pydantic without its tail `, unable to parse string as an integer`, which says nothing more."""
    return re.sub(r", unable to parse string as an? \w+$", "", message)


def refused_value(error: Mapping[str, Any], where: str = "") -> str:
    """One line about a value that pydantic refused: where it stands, what is wrong and what was found.

    error: an entry of `ValidationError.errors()`. The message of a TengenError names the value already.
    """
    reason = without_parsing(error["msg"].removeprefix("Value error, "))
    if error["type"] in ("model_type", "dict_type"):
        reason = "Input should be keys with values, as in {key: value}"
    found = repr(error["input"])
    found = found if len(found) <= 100 else f"{found[:97]}..."
    is_named = isinstance(error.get("ctx", {}).get("error"), TengenError) or found in reason
    # Of a table of settings most are right.
    is_whole = isinstance(error["input"], Mapping) and (not error["loc"] or error["type"] == "value_error")
    if not is_named and not is_whole and error["type"] != "json_invalid":
        reason = f"{reason} (found {found})"
    return f"{where}: {reason}" if where else reason

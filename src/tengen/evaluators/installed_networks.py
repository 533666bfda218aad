"""Networks by name: those that come with Tengen, those that the user has added, and files at a path."""

import logging
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tengen.disk import data_folder, write_whole
from tengen.errors import NetworkError, NoHomeFolder, suggestion
from tengen.evaluators.foreign_networks import convert, converted_network, is_foreign, no_people
from tengen.evaluators.network_file import INT8_SUFFIX, SUFFIX, Card, int8_path, load_onnx, read_card
from tengen.formats import KATAGO_SUFFIXES

_logger = logging.getLogger(__name__)

SHIPPED = Path(__file__).parent.parent / "nets"
"""The folder of the shipped networks."""
PLAYOUT_SUFFIX = ".playout"
"""That of a playout policy, which stands beside the networks."""
DEFAULT_NAME = SHIPPED / "default"
"""A text file that defines `default`: a network's name, then lines of a board size and the network for that size."""

_OF_KATAGO = "KataGo's networks are at https://katagotraining.org/networks/"


class UnknownNetwork(NetworkError):
    """There is neither an installed file of this `name` nor a file at this path."""

    def __init__(self, message: str, name: str = "") -> None:
        super().__init__(message)
        self.name = name


def find_network(name_or_path: str | Path) -> Path:
    """The file of an installed network by name, of `default`, or of a path; NetworkError when there is none.

    A file of KataGo, `NET.bin.gz` or `NET.bin.gz@PROFILE`, or of Leela Zero, `.txt`, `.txt.gz` or `.gz`, is converted
    (see converted_network).
    """
    text = str(name_or_path)
    if text == "default":
        return _default()
    if text == "none":
        raise UnknownNetwork("this command needs a network: none is for tengen play and gtp alone")
    if is_playout(text):
        raise UnknownNetwork(f"{text} is a playout policy: give a network")
    path, _, profile = text.rpartition("@") if is_foreign(text.rpartition("@")[0]) else (text, "", "")
    if is_foreign(path):
        return converted_network(find_installed(path, "", "network"), profile)
    return find_installed(text, SUFFIX, "network")


def is_playout(name_or_path: str) -> bool:
    """Whether a name stands for a playout policy and not for a network."""
    return (
        name_or_path == "linear"
        or name_or_path.endswith(PLAYOUT_SUFFIX)
        or is_file(SHIPPED / f"{name_or_path}{PLAYOUT_SUFFIX}")
    )


def find_network_of(key: str, name_or_path: str | Path) -> Path:
    """As `find_network`, for a key of a recipe, which the error of a network that is not there names."""
    try:
        return find_network(name_or_path)
    except UnknownNetwork as error:
        raise UnknownNetwork(f"{key}: {error}", error.name) from error


def find_network_on(name_or_path: str | Path, size: int) -> Path:
    """The path that `find_network` finds; of `default` that of the network for boards of this size."""
    return default_by_size(name_or_path).get(size) or find_network(name_or_path)


def _default() -> Path:
    files = sorted(SHIPPED.glob(f"*{SUFFIX}"))
    if not files:
        raise NetworkError("no network is installed; give the path of an .onnx file that tengen train made")
    lines = _default_lines()
    return SHIPPED / f"{lines[0]}{SUFFIX}" if lines else files[0]


def default_by_size(name_or_path: str | Path = "default") -> dict[int, Path]:
    """The shipped networks that `default` asks on boards of their own size, by size; no other network has some."""
    if str(name_or_path) != "default":
        return {}
    pairs = (line.split() for line in _default_lines()[1:])
    return {int(size): SHIPPED / f"{name}{SUFFIX}" for size, name in pairs}


def _default_lines() -> list[str]:
    if not DEFAULT_NAME.is_file():
        return []
    return [line.strip() for line in DEFAULT_NAME.read_text(encoding="utf-8").splitlines() if line.strip()]


def find_installed(name_or_path: str, suffix: str, kind: str) -> Path:
    """The installed file with this name and suffix, shipped or added by the user, else the file at a path.

    Raises UnknownNetwork, which names `kind` and the nearest installed name, when there is neither.
    """
    if suffix and Path(name_or_path).name == name_or_path:
        for folder in _folders():
            if is_file(folder / f"{name_or_path}{suffix}"):
                return folder / f"{name_or_path}{suffix}"
    path = Path(name_or_path)
    if is_file(path):
        return path
    refuse_folder(path, kind)
    names = [file.stem for file in installed_files(suffix or SUFFIX)]
    hint = _OF_KATAGO if name_or_path.lower().endswith(".bin.gz") else suggestion(name_or_path, names)
    raise UnknownNetwork(f"no {kind} {name_or_path!r}: neither an installed one nor a file; {hint}", name_or_path)


def refuse_folder(path: Path, kind: str) -> None:
    """Raise UnknownNetwork for a folder, which is none of this kind, with the network of a run in it."""
    with suppress(OSError):  # no folder has such a name, or it may not be read
        if path.is_dir():
            inside = next(iter(sorted(path.glob("nets/*.onnx"))), None)
            raise UnknownNetwork(f"{path} is a folder, no {kind}" + (f"; its network is {inside}" if inside else ""))


def is_file(path: Path) -> bool:
    """Whether there is a file; False for a name that no file can have, and in a folder that may not be read."""
    try:
        return path.is_file()
    except OSError:
        return False


def user_folder() -> Path:
    """Where `tengen nets add` puts networks: `tengen/networks` in the user's data folder."""
    return data_folder("networks")


def _folders() -> list[Path]:
    """The folders of installed files; those of a user without a home folder are the shipped ones."""
    try:
        return [SHIPPED, user_folder()]
    except NoHomeFolder:
        return [SHIPPED]


def installed_files(suffix: str) -> list[Path]:
    """The shipped files with this suffix, by name, then those that the user added; int8 files belong to others."""
    found = [path for folder in _folders() for path in sorted(folder.glob(f"*{suffix}"))]
    return [path for path in found if not path.name.endswith(INT8_SUFFIX)]


def installed(suffix: str = SUFFIX, read: Callable[[Path], Card] = read_card) -> list[tuple[Path, Card]]:
    """The files and cards of the shipped networks, by name, then of those that the user added; `suffix` and `read` are
    those of networks or of other files.

    Files that cannot be read are left out with a warning in the log.
    """
    found = []
    for path in installed_files(suffix):
        try:
            found.append((path, read(path)))
        except NetworkError as error:
            _logger.warning("%s", error)
    return found


_OTHER_MEANINGS = (
    *("default", "uniform", "none", "linear", "random", "playouts"),
    *("add", "remove", "join", "export", "quantize"),  # of tengen nets
)
"""What stands where a network is named, and is none that a user adds."""
_FILE_ENDS = (*KATAGO_SUFFIXES, ".gz", ".playout", SUFFIX, INT8_SUFFIX.removesuffix(SUFFIX))


def add_network(source: Path, name: str = "", profile: str = "") -> Path:
    """Install a network file of Tengen, KataGo or Leela Zero for this user under `name`, its own name unless given.

    Raises NetworkError for a file that is no network, for a name that is taken or cannot name a file, and for a profile
    that is unknown or of no use to it.
    """
    name = name or (source.name.split(".")[0] if is_foreign(source) else read_card(source).name)
    target = user_folder() / f"{name}{SUFFIX}"
    if not re.fullmatch(r"[\w+][\w.@+-]{0,95}", name) or re.search(r"@\d", name):
        raise NetworkError(
            f"{name!r} cannot be the name of a network: give another with --name, of letters, digits, '-', '_', '.', "
            "'+' and '@', which no digit may follow, not beginning with '-' or '.'"
        )
    ends = next((end for end in _FILE_ENDS if re.search(rf"{re.escape(end)}(@|$)", name.lower())), "")
    if name.lower() in _OTHER_MEANINGS or ends:
        why = f"it ends with {ends}, as a file does" if ends else "it has another meaning"
        raise NetworkError(f"{name!r} cannot be the name of a network: {why}; choose another name with --name")
    # Other capitals would make two names of one, or one file on some systems.
    taken = [file.stem for file in (*installed_files(SUFFIX), *SHIPPED.iterdir()) if file.stem.lower() == name.lower()]
    if taken:
        raise NetworkError(f"a network {taken[0]!r} is installed already: choose another name with --name")
    if is_foreign(source):
        convert(source, target, profile, name)
        return target
    if profile:
        raise no_people(source, profile)
    import onnx

    card, model = read_card(source).model_copy(update={"name": name}), load_onnx(source)
    onnx.helper.set_model_props(model, card.metadata())
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(target, checksum=True) as temporary:
        onnx.save(model, temporary)
    return target


def remove_network(name: str) -> list[Path]:
    """Remove a network that `add_network` installed, and its int8 file; returns the files that were removed.

    Raises NetworkError for a name that is none of these.
    """
    path = user_folder() / f"{name}{SUFFIX}"
    if not re.fullmatch(r"[\w+-][\w.@+-]*", name) or not path.is_file():
        added = [file.stem for file in sorted(user_folder().glob(f"*{SUFFIX}")) if not file.name.endswith(INT8_SUFFIX)]
        there = f"there are: {', '.join(added)}" if added else "there are none"
        raise NetworkError(f"no network {name!r} was added by tengen nets add; {there}")
    files = [file for file in (path, int8_path(path)) if file.is_file()]
    for file in files:
        file.unlink()
    return files

"""Network files: their location and their cards.

The card is read from the bytes of the file, so that a list of networks needs neither OpenVINO nor ONNX.
"""

import atexit
import functools
import io
import json
import logging
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO
from unicodedata import category

from filelock import FileLock
from pydantic import BaseModel, ConfigDict, model_validator

from tengen.checksums import Integrity, check_seal, file_digest, sealed
from tengen.disk import cache_folder, data_folder, write_whole
from tengen.errors import NetworkError, suggestion
from tengen.formats import DEFAULT_PROFILE, KATAGO_SUFFIXES, is_katago_file
from tengen.protocol_buffer import message_fields

logger = logging.getLogger(__name__)

CARD_KEY = "tengen"
SUFFIX = ".onnx"
INT8_SUFFIX = ".int8.onnx"
INT8_OF = "int8_of"
"""In the provenance of an int8 file: the SHA-256 of the network file that it was made of."""
EMBEDDED = Path(__file__).parent.parent / "nets"
"""The folder of the shipped networks."""
DEFAULT_NAME = EMBEDDED / "default"
"""A text file that defines `default`: a network's name, then lines of a board size and the network for that size."""

KATAGO_SIZES = range(5, 20)
"""The board sizes of networks of KataGo."""

# Field numbers of onnx.ModelProto and of its StringStringEntryProto.
_METADATA, _KEY, _VALUE = 14, 1, 2
_GRAPH = 7


class UnknownNetwork(NetworkError):
    """There is neither an installed file of this name nor a file at this path."""


class Card(BaseModel):
    """The description of a network.

    `config` rebuilds it, `search` are the search settings that suit it, `metrics` holds
    figures by name, `reproduce` is the command. `positions` counts training
    samples drawn, `hours` the wall-clock hours of training, `created` is an ISO date and `version` that of Tengen.
    `provenance` says what the network was made of, see `tengen.training.card.provenance`; that of an int8 file has the
    SHA-256 of its network file as `int8_of`.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

    name: str
    family: str
    config: dict[str, Any]
    plane_set: str
    board_sizes: list[int]
    rules: str = ""
    data: str = ""
    games: int = 0
    positions: int = 0
    hours: float = 0.0
    hardware: str = ""
    search: dict[str, Any] = {}
    metrics: dict[str, Any] = {}
    licence: str = ""
    reproduce: str = ""
    created: str = ""
    version: str = ""
    provenance: dict[str, Any] = {}

    @model_validator(mode="before")
    @classmethod
    def _printed(cls, fields: Any) -> Any:
        """Without control characters, which would reach the terminal that prints the card."""
        return _printable(fields)

    def texts(self) -> dict[str, str]:
        """All but name, metrics and provenance as text for people, by field."""
        fields = self.model_dump(exclude={"name", "metrics", "provenance"})
        return {field: _text(value) for field, value in fields.items()}

    def metadata(self) -> dict[str, str]:
        """The card as the properties of a network file."""
        return {CARD_KEY: self.model_dump_json()}


def read_card(path: str | Path) -> Card:
    """Read the card of a network file. Raises NetworkError for a file that is missing, no ONNX file, or has no card."""
    path = Path(path)
    try:
        with path.open("rb") as file:
            text = dict(_metadata(file)).get(CARD_KEY)
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror}") from error
    except (EOFError, UnicodeDecodeError) as error:
        raise NetworkError(f"{path} is no network file: it is not ONNX, or was cut short") from error
    if text is None:
        raise NetworkError(
            f"{path} is no network that can be read: give an .onnx file of Tengen, a .bin.gz or .txt.gz of "
            "KataGo, or a .txt.gz of Leela Zero"
        )
    return parse_card(text, path)


def int8_path(path: Path) -> Path:
    """Where the int8 file of a network file lies: beside it, `NET.int8.onnx`."""
    return path.with_suffix(INT8_SUFFIX)


def read_int8_card(path: Path) -> Card:
    """The card of the int8 file of a network file.

    Raises NetworkError where there is none, where it is altered, and where it was made of another network file.
    """
    found = int8_path(path)
    if not found.is_file():
        raise NetworkError(f"{path} has no int8 file {found.name} beside it: tengen nets quantize makes it")
    card = read_card(found)
    check_seal(found, NetworkError)
    if card.provenance.get(INT8_OF) != file_digest(path):
        raise NetworkError(f"{found} was not made of {path} as it is now: tengen nets quantize makes it anew")
    return card


def parse_card(text: str | bytes, path: str | Path) -> Card:
    """The card in the JSON that the file at `path` carries. Raises NetworkError, which names the file."""
    try:
        return Card.model_validate(json.loads(text))
    except (ValueError, RecursionError) as error:  # such as a number of more digits than Python reads
        raise NetworkError(f"{path} carries a card that cannot be read: {str(error).splitlines()[0]}") from error


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
    path, _, profile = text.rpartition("@") if is_foreign(text.rpartition("@")[0]) else (text, "", "")
    if is_foreign(path):
        return converted_network(find_embedded(path, "", "network"), profile)
    return find_embedded(text, SUFFIX, "network")


def find_network_on(name_or_path: str | Path, size: int) -> Path:
    """As `find_network`; of `default` the network for boards of this size."""
    by_size = default_by_size() if str(name_or_path) == "default" else {}
    return by_size.get(size) or find_network(name_or_path)


@dataclass(frozen=True)
class PortableNetwork:
    """A network for another machine: its name where it comes with Tengen, or the content of its files by their names,
    the int8 file after the network.
    """

    name: str
    files: dict[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, name: str, path: Path) -> "PortableNetwork":
        """The network of this name, whose file here is `path`."""
        paths = [] if is_shipped(name, path) else [path, int8_path(path)]
        return cls(name, {each.name: each.read_bytes() for each in paths if each.exists()})

    def unpack(self, folder: Path) -> str:
        """What loads the network; its files, if there are some, are written into `folder`."""
        folder.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            (folder / name).write_bytes(data)
        return str(folder / next(iter(self.files))) if self.files else self.name


def is_shipped(name: str, path: Path) -> bool:
    """Whether every machine with Tengen has the network of this name, whose file here is `path`.

    The path of a shipped network is that of one machine.
    """
    return path.parent == EMBEDDED and Path(name).name == name


def is_foreign(path: str | Path) -> bool:
    """Whether the name ends like that of a network of KataGo or Leela Zero."""
    return is_katago_file(path) or str(path).lower().endswith(".gz")


def converted_network(path: Path, profile: str = "") -> Path:
    """The network file that a file of KataGo or Leela Zero becomes, converted once and kept in the user's cache folder.

    `profile` describes the players that a human-style network imitates, such as `rank_5k`; see katago_metadata. Raises
    NetworkError for a file that is no such network, and for a profile that is unknown or of no use to it.
    """
    from tengen.formats.katago_graph import GRAPH_VERSION

    try:
        digest = file_digest(path)
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {error.strerror}") from error
    if not re.fullmatch(r"\w*", profile):
        raise NetworkError(f"no profile {profile!r}: it is made of letters, digits and '_', such as rank_5k")
    folder = cache_folder("networks") or _own_folder()
    stem = f"{digest[:32]}{profile and '-'}{profile}"
    converted = folder / f"{stem}-{GRAPH_VERSION}{SUFFIX}"
    if sealed(converted) is not Integrity.INTACT:
        with FileLock(converted.with_suffix(".lock")):  # of the processes of a match one converts
            if sealed(converted) is not Integrity.INTACT:  # missing, or damaged since
                convert(path, converted, profile)
                _remove_older(folder, stem, GRAPH_VERSION)
    return converted


def _remove_older(folder: Path, stem: str, version: int) -> None:
    """Remove what earlier versions of Tengen made of a network; what another process has open may stay."""
    for path in folder.glob(f"{stem}-*"):
        found = re.fullmatch(rf"{re.escape(stem)}-(\d+)\..+", path.name)
        if found and int(found[1]) < version:
            with suppress(OSError):
                path.unlink()


def convert(path: Path, target: Path, profile: str = "", name: str = "") -> Card:
    """Write a network of KataGo or Leela Zero as the network file `target` with a card, by `name` or its own name; see
    converted_network."""
    import onnx

    from tengen.formats.leela_zero import is_leela_zero

    if is_leela_zero(path):
        if profile:
            raise _no_people(path, profile)
        graph, card = _from_leela_zero(path, name)
    elif not is_katago_file(path):
        raise NetworkError(f"{path} is no network of KataGo or Leela Zero, nor a network file of Tengen ({SUFFIX})")
    else:
        graph, card = _from_katago(path, profile, name)
    onnx.helper.set_model_props(graph, card.metadata())
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(target, durable=False, checksum=True) as temporary:
        onnx.save(graph, temporary)
    return card


def _from_leela_zero(path: Path, name: str) -> tuple[Any, Card]:
    from tengen.formats.leela_zero import SIZE, leela_zero_graph, read_leela_zero

    model = read_leela_zero(path)
    card = Card(
        name=name or path.name.split(".")[0],
        family=model.config()["family"],
        config=model.config(),
        plane_set="leela18",
        board_sizes=[SIZE],
        rules="Tromp-Taylor, komi 7.5",
        data=f"converted from {path.name}",
    )
    return leela_zero_graph(model), card


def _from_katago(path: Path, profile: str, name: str) -> tuple[Any, Card]:
    from tengen.formats.katago_graph import katago_graph
    from tengen.formats.katago_metadata import katago_metadata
    from tengen.formats.katago_reader import read_katago

    model = read_katago(path)
    human = model.trunk.metadata is not None
    if profile and not human:
        raise _no_people(path, profile)
    profile = (profile or DEFAULT_PROFILE) if human else ""
    graph = katago_graph(model, katago_metadata(profile) if human else None)
    card = Card(
        name=name or model.name + (f"@{profile}" if profile else ""),
        family="katago",
        config={
            "format": model.version,
            "size": f"b{len(model.trunk.blocks)}c{model.trunk.channels}",
            "parameters": model.parameters,
            **({"profile": profile} if profile else {}),
        },
        plane_set=model.plane_set,
        board_sizes=list(KATAGO_SIZES),
        rules="all" if model.version >= 7 else "area scoring with superko",
        data=f"converted from {path.name}",
        search={"preset": "katago"},
    )
    return graph, card


@functools.cache
def _own_folder() -> Path:
    """A folder of this process, where converted networks are kept without a cache folder."""
    folder = tempfile.mkdtemp(prefix="tengen-networks-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder)


def find_embedded(name_or_path: str, suffix: str, kind: str) -> Path:
    """The embedded or installed file with this name and suffix, else the file at a path.

    Raises UnknownNetwork, which names `kind` and the nearest embedded name, when there is neither.
    """
    if suffix and Path(name_or_path).name == name_or_path:
        for folder in (EMBEDDED, user_folder()):
            if is_file(folder / f"{name_or_path}{suffix}"):
                return folder / f"{name_or_path}{suffix}"
    path = Path(name_or_path)
    if is_file(path):
        return path
    refuse_folder(path, kind)
    names = [file.stem for file in embedded_files(suffix or SUFFIX)]
    hint = suggestion(name_or_path, names)
    raise UnknownNetwork(f"no {kind} {name_or_path!r}: neither an installed one nor a file; {hint}")


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


def embedded_files(suffix: str) -> list[Path]:
    """The embedded files with this suffix, by name, then those that the user added; int8 files belong to others."""
    found = [path for folder in (EMBEDDED, user_folder()) for path in sorted(folder.glob(f"*{suffix}"))]
    return [path for path in found if not path.name.endswith(INT8_SUFFIX)]


def installed(suffix: str = SUFFIX, read: Callable[[Path], Card] = read_card) -> list[tuple[Path, Card]]:
    """The files and cards of the embedded networks, by name, then of those that the user added; `suffix` and `read` are
    those of networks or of other files.

    Files that cannot be read are left out with a warning in the log.
    """
    found = []
    for path in embedded_files(suffix):
        try:
            found.append((path, read(path)))
        except NetworkError as error:
            logger.warning("%s", error)
    return found


def load_onnx(path: Path) -> Any:
    """The onnx.ModelProto of a file. Raises NetworkError for a file that cannot be read."""
    import onnx

    try:
        return onnx.load(path)
    except Exception as error:  # protobuf's classes share no base of their own
        raise NetworkError(f"{path} cannot be read as an ONNX network: {error}") from error


_OTHER_MEANINGS = (
    *("default", "uniform", "none", "linear", "random", "playouts"),
    *("add", "remove", "join", "export", "quantize"),  # of tengen nets
)
"""What stands where a network is named, and is none that a user adds."""
_FILE_ENDS = (*KATAGO_SUFFIXES, ".gz", ".playout", INT8_SUFFIX.removesuffix(SUFFIX))


def add_network(source: Path, name: str = "", profile: str = "") -> Path:
    """Install a network file of Tengen, KataGo or Leela Zero for this user under `name`, its own name unless given.

    Raises NetworkError for a file that is no network, for a name that is taken or cannot name a file, and for a profile
    that is unknown or of no use to it.
    """
    name = name or (source.name.split(".")[0] if is_foreign(source) else read_card(source).name)
    target = user_folder() / f"{name}{SUFFIX}"
    if not re.fullmatch(r"[\w+-][\w.@+-]{0,95}", name) or re.search(r"@\d", name):
        raise NetworkError(
            f"{name!r} cannot be the name of a network: give another with --name, of letters, digits, '-', '_', '.', "
            "'+' and '@', which no digit may follow"
        )
    ends = next((end for end in _FILE_ENDS if re.search(rf"{re.escape(end)}(@|$)", name.lower())), "")
    if name in _OTHER_MEANINGS or ends:
        why = f"it ends with {ends}, as a file does" if ends else "it has another meaning"
        raise NetworkError(f"{name!r} cannot be the name of a network: {why}; choose another name with --name")
    if target.exists() or any(EMBEDDED.glob(f"{name}.*")):
        raise NetworkError(f"a network {name!r} is installed already: choose another name with --name")
    if is_foreign(source):
        convert(source, target, profile, name)
        return target
    if profile:
        raise _no_people(source, profile)
    import onnx

    card, model = read_card(source).model_copy(update={"name": name}), load_onnx(source)
    onnx.helper.set_model_props(model, card.metadata())
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(target, checksum=True) as temporary:
        onnx.save(model, temporary)
    return target


def _no_people(path: Path, profile: str) -> NetworkError:
    return NetworkError(f"{path} imitates no people, so that it takes no profile {profile!r}")


def _default() -> Path:
    files = sorted(EMBEDDED.glob(f"*{SUFFIX}"))
    if not files:
        raise NetworkError("no network is installed; give the path of an .onnx file that tengen train made")
    lines = _default_lines()
    return EMBEDDED / f"{lines[0]}{SUFFIX}" if lines else files[0]


def default_by_size() -> dict[int, Path]:
    """The embedded networks that `default` asks on boards of their own size, by size."""
    pairs = (line.split() for line in _default_lines()[1:])
    return {int(size): EMBEDDED / f"{name}{SUFFIX}" for size, name in pairs}


def _default_lines() -> list[str]:
    if not DEFAULT_NAME.is_file():
        return []
    return [line.strip() for line in DEFAULT_NAME.read_text(encoding="utf-8").splitlines() if line.strip()]


def compute_the_same(one: Path, other: Path) -> bool:
    """Whether two network files differ in their cards alone. Raises EOFError for one that was cut short."""
    with one.open("rb") as first, other.open("rb") as second:
        return list(message_fields(first, only=_GRAPH)) == list(message_fields(second, only=_GRAPH))


def _metadata(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """The metadata properties of an ONNX file, skipping the graph. Raises EOFError for what is no protocol buffer."""
    for _, content in message_fields(file, only=_METADATA):
        entry = dict(message_fields(io.BytesIO(content)))
        yield entry.get(_KEY, b"").decode(), entry.get(_VALUE, b"").decode()


def _printable(value: Any) -> Any:
    """The value with U+FFFD for control characters and the like in its texts, line breaks and tabs aside."""
    if isinstance(value, str):
        return "".join("\ufffd" if category(c)[0] == "C" and c not in "\n\t" else c for c in value)
    if isinstance(value, dict):
        return {_printable(key): _printable(inner) for key, inner in value.items()}
    return [_printable(inner) for inner in value] if isinstance(value, list) else value


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)

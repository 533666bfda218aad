"""Network files: their location and their cards.

The card is read from the bytes of the file, so that a list of networks needs neither OpenVINO nor ONNX.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from pydantic import BaseModel, ConfigDict, ValidationError

from tengen.errors import NetworkError, suggestion

CARD_KEY = "tengen"
SUFFIX = ".onnx"
EMBEDDED = Path(__file__).parent.parent / "nets"
"""The folder of the shipped networks."""
DEFAULT_NAME = EMBEDDED / "default"
"""A text file that defines `default`: a network's name, then lines of a board size and the network for that size."""

# Field numbers of onnx.ModelProto and of its StringStringEntryProto.
_METADATA, _KEY, _VALUE = 14, 1, 2
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5


class Card(BaseModel):
    """The description of a network.

    `config` rebuilds it, `search` are the search settings that suit it, `metrics` holds
    figures by name, `reproduce` is the command. `positions` counts training
    samples drawn, `hours` the wall-clock hours of training, `created` is an ISO date and `version` that of Tengen.
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

    def texts(self) -> dict[str, str]:
        """All but name and metrics as text for people, by field."""
        return {field: _text(value) for field, value in self.model_dump(exclude={"name", "metrics"}).items()}

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
        raise NetworkError(f"{path} carries no card of Tengen; networks of other programs need converting first")
    return parse_card(text, path)


def parse_card(text: str | bytes, path: str | Path) -> Card:
    """The card in the JSON that the file at `path` carries. Raises NetworkError, which names the file."""
    try:
        return Card.model_validate(json.loads(text))
    except (UnicodeDecodeError, json.JSONDecodeError, ValidationError) as error:
        raise NetworkError(f"{path} carries a card that cannot be read: {str(error).splitlines()[0]}") from error


def find_network(name_or_path: str | Path) -> Path:
    """The file of an installed network by name, of `default`, or of a path; NetworkError when there is none."""
    text = str(name_or_path)
    return _default() if text == "default" else find_embedded(text, SUFFIX, "network")


def find_embedded(name_or_path: str, suffix: str, kind: str) -> Path:
    """The embedded file with this name and suffix, else the file at a path.

    Raises NetworkError, which names `kind` and the nearest embedded name, when there is neither.
    """
    embedded = EMBEDDED / f"{name_or_path}{suffix}"
    if Path(name_or_path).name == name_or_path and _is_file(embedded):
        return embedded
    path = Path(name_or_path)
    if _is_file(path):
        return path
    names = [file.stem for file in embedded_files(suffix)]
    hint = suggestion(name_or_path, names)
    raise NetworkError(f"no {kind} {name_or_path!r}: neither an installed one nor a file; {hint}")


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:  # a name that is too long, a folder that may not be read
        return False


def embedded_files(suffix: str) -> list[Path]:
    """The embedded files with this suffix, by name."""
    return sorted(EMBEDDED.glob(f"*{suffix}"))


def installed() -> list[Card]:
    """The cards of the embedded networks, by name."""
    return [read_card(path) for path in embedded_files(SUFFIX)]


def _default() -> Path:
    files = embedded_files(SUFFIX)
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


def _metadata(file: BinaryIO) -> Iterator[tuple[str, str]]:
    """The metadata properties of an ONNX file, skipping the graph. Raises EOFError for what is no protocol buffer."""
    for _, content in _fields(file, only=_METADATA):
        entry = dict(_fields(io.BytesIO(content)))
        yield entry.get(_KEY, b"").decode(), entry.get(_VALUE, b"").decode()


def _fields(file: BinaryIO, only: int | None = None) -> Iterator[tuple[int, bytes]]:
    """(number, bytes) of the length-delimited fields of a message; those but `only` are skipped when it is given."""
    end = file.seek(0, 2)
    file.seek(0)
    while file.tell() < end:
        tag = _varint(file)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            _varint(file)
        elif kind in (_FIXED64, _FIXED32):
            file.seek(8 if kind == _FIXED64 else 4, 1)
        elif kind == _BYTES and number:
            length = _varint(file)
            if file.tell() + length > end:
                raise EOFError
            if only is None or number == only:
                yield number, file.read(length)
            else:
                file.seek(length, 1)
        else:
            raise EOFError


def _varint(file: BinaryIO) -> int:
    value = shift = 0
    while True:
        byte = file.read(1)
        if not byte or shift > 63:
            raise EOFError
        value |= (byte[0] & 0x7F) << shift
        if byte[0] < 0x80:
            return value
        shift += 7


def _text(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)

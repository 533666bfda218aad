"""Network files and their cards.

The card is read from the bytes of the file, so that a list of networks needs neither OpenVINO nor ONNX.
"""

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO
from unicodedata import category

from pydantic import BaseModel, ConfigDict, model_validator

from tengen.checksums import check_seal, file_digest
from tengen.errors import NetworkError, os_reason
from tengen.protocol_buffer import message_fields

CARD_KEY = "tengen"
SUFFIX = ".onnx"
INT8_SUFFIX = ".int8.onnx"
INT8_OF = "int8_of"
"""In the provenance of an int8 file: the SHA-256 of the network file that it was made of."""
# Field numbers of onnx.ModelProto and of its StringStringEntryProto.
_METADATA, _KEY, _VALUE = 14, 1, 2
_GRAPH = 7


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

    @property
    def has_policy(self) -> bool:
        """Whether the network has a policy; without one its file gives all moves the same probability."""
        return self.config.get("policy", True) is not None

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
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error
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


def load_onnx(path: Path) -> Any:
    """The onnx.ModelProto of a file. Raises NetworkError for a file that cannot be read, and for an altered one, from
    which others would be written with a checksum of their own."""
    import onnx

    check_seal(path, NetworkError)
    try:
        return onnx.load(path)
    except Exception as error:  # protobuf's classes share no base of their own
        raise NetworkError(f"{path} cannot be read as an ONNX network: {error}") from error


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
    if isinstance(value, bool):
        return str(value).lower()  # as recipes write it
    if isinstance(value, dict):
        return ", ".join(f"{key} {_text(inner) if isinstance(inner, bool) else inner}" for key, inner in value.items())
    if isinstance(value, list):
        return ", ".join(map(str, value))
    return f"{value:,}" if isinstance(value, int) else str(value)

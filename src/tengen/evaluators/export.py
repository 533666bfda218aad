"""Network files as files of other programs: Leela Zero's text weights and KataGo's networks."""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

from tengen.disk import file_name, write_whole
from tengen.errors import NetworkError, unknown_name
from tengen.evaluators.network_file import Card, load_onnx, read_card

EXPORT_SUFFIXES = {"leela-zero": ".txt.gz", "katago": ".bin.gz"}
"""The formats and the suffixes of their files."""


def export_network(path: Path, form: str, out: Path | None = None) -> Path:
    """Write the network file `path` in this format, as `out` or in the working folder under the network's name.

    A network without a name gets that of its file. A file that ends with .gz is compressed. Returns the file. Raises
    NetworkError for an unknown format, for a network that the format cannot express, for an `out` that is the network
    itself or that KataGo could not read by its suffix, and without `out` for a name that cannot name a file.
    """
    if form == "onnx":
        raise NetworkError(f"Tengen keeps networks as ONNX files: copy {path}")
    if form not in EXPORT_SUFFIXES:
        raise NetworkError(unknown_name("format", form, EXPORT_SUFFIXES))
    if form == "katago" and out is not None and not out.name.lower().endswith((".bin", ".bin.gz")):
        raise NetworkError(f"{out}: KataGo knows this form by .bin or .bin.gz: give such a name with --out")
    card = read_card(path)
    if not card.name.strip():  # neither a file nor a network of KataGo goes without a name
        card = card.model_copy(update={"name": path.stem})
    write = _WRITERS[form](load_onnx(path), card)
    target = out or _named(card.name, path, form)
    refuse_inputs(target, path)
    target.parent.mkdir(parents=True, exist_ok=True)
    with write_whole(target) as temporary, temporary.open("wb") as file:
        if target.suffix == ".gz":
            # Without a date and a name, so that the same network gives the same file.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0, compresslevel=6) as packed:
                write(packed)
        else:
            write(file)
    return target


def refuse_inputs(target: Path, *inputs: Path) -> None:
    """Raise NetworkError where a file that is to be written is one of those that it is made of."""
    if target.exists() and any(target.samefile(path) for path in inputs):
        raise NetworkError(f"{target} would be written over itself: give another file with --out")


def _named(name: str, path: Path, form: str) -> Path:
    """The file in the working folder for a network of this name."""
    try:
        return Path(file_name(name) + EXPORT_SUFFIXES[form])
    except ValueError:
        raise NetworkError(
            f"{path} calls its network {name!r}, which cannot name a file: give one with --out"
        ) from None


def _config(card: Card) -> dict[str, Any]:
    """The configuration with the family, which the card of a network that was joined or converted gives alone."""
    return {"family": card.family} | card.config


def _leela_zero(network: Any, card: Card) -> Callable[[IO[bytes]], None]:
    from tengen.formats.leela_zero import leela_zero_of, write_leela_zero

    model = leela_zero_of(network, _config(card), card.plane_set)
    return lambda file: write_leela_zero(model, file)


def _katago(network: Any, card: Card) -> Callable[[IO[bytes]], None]:
    from tengen.formats.katago_writer import katago_of, write_katago

    # KataGo takes names of letters, digits, '-' and '_' up to 96 characters.
    name = re.sub(r"[^A-Za-z0-9_-]", "-", card.name)[:96]
    model = katago_of(network, _config(card), card.plane_set, name)
    return lambda file: write_katago(model, file)


_WRITERS: dict[str, Callable[[Any, Card], Callable[[Any], None]]] = {"leela-zero": _leela_zero, "katago": _katago}

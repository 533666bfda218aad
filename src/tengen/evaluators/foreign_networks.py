"""Networks of KataGo and Leela Zero, which become network files."""

import atexit
import functools
import logging
import os
import re
import shutil
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from filelock import FileLock

from tengen.checksums import Integrity, file_digest, sealed
from tengen.disk import cache_folder, remove_oldest, write_whole
from tengen.errors import NetworkError, os_reason
from tengen.evaluators.network_file import INT8_SUFFIX, SUFFIX, Card, int8_path
from tengen.formats import DEFAULT_PROFILE, is_katago_file, network_format

_logger = logging.getLogger(__name__)

_CACHE_BYTES = 2 << 30  # of the converted networks: a human-style network has one for each profile
KATAGO_SIZES = range(5, 20)
"""The board sizes of networks of KataGo."""


def is_foreign(path: str | Path) -> bool:
    """Whether the name ends like that of a network of KataGo or Leela Zero, or there is such a file by another name."""
    lower = str(path).lower()
    return is_katago_file(path) or lower.endswith(".gz") or (not lower.endswith(SUFFIX) and network_format(path) != "")


def converted_network(path: Path, profile: str) -> Path:
    """The network file that a file of KataGo or Leela Zero becomes, converted once and kept in the user's cache folder.

    `profile` describes the players that a human-style network imitates, such as `rank_5k`, and is empty for other
    networks; see katago_metadata. Raises NetworkError for a file that is no such network, and for a profile that is
    unknown or of no use to it.
    """
    from tengen.formats.katago_graph import GRAPH_VERSION

    try:
        digest = file_digest(path)
    except OSError as error:
        raise NetworkError(f"{path} cannot be read: {os_reason(error)}") from error
    if not re.fullmatch(r"\w*", profile):
        raise NetworkError(f"no profile {profile!r}: it is made of letters, digits and '_', such as rank_5k")
    folder = cache_folder("networks") or _own_folder()
    stem = f"{digest[:32]}{profile and '-'}{profile}"
    converted = folder / f"{stem}-{GRAPH_VERSION}{SUFFIX}"
    if sealed(converted) is not Integrity.INTACT:
        with FileLock(converted.with_suffix(".lock")):  # of the processes of a match one converts
            if sealed(converted) is not Integrity.INTACT:  # missing, or damaged since
                convert(path, converted, profile)
                if _remove_older(folder, stem, GRAPH_VERSION):
                    _logger.warning(
                        "the int8 file of %s was made by an earlier version of Tengen and is removed: tengen nets "
                        "quantize makes it anew",
                        f"{path}{profile and '@'}{profile}",
                    )
                _trim(folder)
    with suppress(OSError):  # a file system may not note by itself that it is used
        os.utime(converted, (time.time(), converted.stat().st_mtime))
    return converted


def _trim(folder: Path) -> None:
    """Remove the conversions that were used longest ago while they take more than `_CACHE_BYTES`. Those with an int8
    file stay: nothing makes that again by itself, and it fits no other file, as a later conversion may be."""
    paths = (path for path in folder.glob(f"*{SUFFIX}") if not path.name.endswith(INT8_SUFFIX))
    remove_oldest((path for path in paths if not int8_path(path).exists()), _CACHE_BYTES)


def _remove_older(folder: Path, stem: str, version: int) -> bool:
    """Remove what earlier versions of Tengen made of a network; what another process has open may stay. Returns whether
    an int8 file was among it."""
    had_int8 = False
    for path in folder.glob(f"{stem}-*"):
        found = re.fullmatch(rf"{re.escape(stem)}-(\d+)\..+", path.name)
        if found and int(found[1]) < version:
            with suppress(OSError):
                path.unlink()
                had_int8 |= path.name.endswith(INT8_SUFFIX)
    return had_int8


def convert(path: Path, target: Path, profile: str = "", name: str = "") -> Card:
    """Write a network of KataGo or Leela Zero as the network file `target` with a card, by `name` or its own name; see
    converted_network."""
    import onnx

    kind = network_format(path)
    if kind == "leela-zero":
        if profile:
            raise no_people(path, profile)
        graph, card = _from_leela_zero(path, name)
    elif kind == "katago" or is_katago_file(path):  # by the name, the reader says what is wrong
        graph, card = _from_katago(path, profile, name)
    else:
        raise NetworkError(f"{path} is no network of KataGo or Leela Zero, nor a network file of Tengen ({SUFFIX})")
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
        raise no_people(path, profile)
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


def no_people(path: Path, profile: str) -> NetworkError:
    """The error of a profile for a network that imitates nobody."""
    return NetworkError(f"{path} imitates no people, so that it takes no profile {profile!r}")

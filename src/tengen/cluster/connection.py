"""The connection of this process to a Ray cluster."""

from __future__ import annotations

import os
import socket
import sys
import uuid
from pathlib import Path
from typing import Any

from tengen.errors import MissingExtra, TengenError

_CONNECT_SECONDS = 5.0


def import_ray() -> Any:
    """The module `ray`. Raises MissingExtra where it is not installed."""
    # As `ray start` does on a machine with a token; ray.init does not, and reads the mode at the import.
    if "ray" not in sys.modules and _token().is_file():
        os.environ.setdefault("RAY_AUTH_MODE", "token")
    try:
        import ray
    except ModuleNotFoundError as error:
        raise MissingExtra("--cluster", "cluster") from error
    return ray


def connect(address: str) -> None:
    """Join the cluster at an address, as `Cluster` takes it. Raises TengenError where none answers."""
    if "://" in address:
        raise TengenError(
            f"--cluster {address}: give HOST:PORT, auto or local; this machine must be part of the cluster"
        )
    ray = import_ray()
    options: dict[str, Any] = {}
    if address == "local":
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options["include_dashboard"] = False
        if not (_token().is_file() or "RAY_AUTH_TOKEN_PATH" in os.environ):
            # Ray would write one into the home folder, by which no cluster that runs without can be joined any more.
            os.environ.setdefault("RAY_AUTH_TOKEN", uuid.uuid4().hex)
    try:
        host, _, port = address.rpartition(":")
        if host:  # Ray itself would try for a minute
            socket.create_connection((host, int(port)), _CONNECT_SECONDS).close()
        ray.init(address=address, log_to_driver=False, logging_level="error", **options)
    except Exception as error:  # Ray's errors here share no base
        raise TengenError(
            f"no Ray cluster answers at {address!r} ({' '.join(str(error).split())}); start one by ray start --head, "
            "and join it with this machine by ray start --address=HOST:PORT"
        ) from error


def _token() -> Path:
    """Where Ray keeps the token that the machines of a cluster share."""
    return Path.home() / ".ray" / "auth_token"

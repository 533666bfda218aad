"""Options that several commands share."""

from __future__ import annotations

import importlib
from typing import get_type_hints

import pytest

from tengen.cli import app


@pytest.mark.parametrize(
    ("verb", "what"),
    [
        ("match", "play on a Ray cluster"),
        ("review", "review on a Ray cluster, a game a worker"),
        ("train", "train on a machine of a Ray cluster"),
        ("zero", "play the games on a Ray cluster"),
    ],
)
def test_each_command_says_what_a_cluster_does_for_it(verb: str, what: str) -> None:
    command = importlib.import_module(app.VERBS[verb].module).command
    (option,) = get_type_hints(command, include_extras=True)["cluster"].__metadata__
    assert option.help == f"{what}: HOST:PORT, auto (the one of this machine), local (a new one)"

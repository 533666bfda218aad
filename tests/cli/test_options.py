"""Options that several commands share."""

from __future__ import annotations

import importlib
import inspect
from typing import get_type_hints

import pytest

from tengen.cli import app, label, nets, review
from tengen.engine.label import LabelPlan
from tengen.evaluators.evaluator import RAW_OPTIMISM
from tengen.evaluators.export import EXPORT_SUFFIXES
from tengen.review.files import FORMATS


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


def test_the_help_of_a_command_says_what_the_library_has() -> None:
    """The commands write it out, since the library takes half a second to import."""
    for function, name, text in (
        (review.command, "formats", f"{', '.join(FORMATS)}, or several"),
        (nets.command, "optimism", f"; {RAW_OPTIMISM} unless given"),
        (nets.export, "form", " or ".join(EXPORT_SUFFIXES)),
    ):
        (option,) = get_type_hints(function, include_extras=True)[name].__metadata__
        assert text in option.help
    given = inspect.signature(label.command).parameters
    assert LabelPlan(**{name: given[name].default for name in vars(LabelPlan())}) == LabelPlan()

"""Where the files that a recipe names lie on this machine."""

from __future__ import annotations

import pickle
from pathlib import Path

from tengen.runs.places import AS_NAMED, LocalFiles


def test_a_copy_goes_before_what_the_recipe_says() -> None:
    local = LocalFiles({"games": Path("/copies/0/games")})
    assert local.path("games") == Path("/copies/0/games") and local.path("others") == Path("others")
    assert AS_NAMED.path("games") == Path("games")
    assert pickle.loads(pickle.dumps(local)) == local, "other ranks of the training get it"


def test_the_name_of_a_network_stays_as_it_is() -> None:
    """`./net.onnx` is a file, `net.onnx` may be an installed network."""
    assert AS_NAMED.name_or_path("./net.onnx") == "./net.onnx"

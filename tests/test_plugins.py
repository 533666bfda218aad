"""Registries find parts of Tengen, of programs and of installed packages, and say what there is."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tengen.errors import RecipeError
from tengen.plugins import Registry


def install(folder: Path, value: str, name: str = "seven", package: str = "tengen_test_plugin") -> None:
    """Write an installed package with one entry point into a folder of the import path."""
    (folder / f"{package}.py").write_text("PART = 7\n")
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[tengen.test]\n{name} = {value}\n")


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "tengen_test_plugin", raising=False)
    return tmp_path


def made() -> Registry[int]:
    return Registry("number", "tengen.test", {"one": 1}, RecipeError)


def test_finds_builtin_registered_and_installed_parts(path: Path) -> None:
    install(path, "tengen_test_plugin:PART")
    numbers = made()
    numbers.register("two", 2)
    assert [numbers[name] for name in numbers] == [1, 2, 7]
    assert "seven" in numbers and "eight" not in numbers


def test_says_which_name_is_near_and_what_cannot_be_loaded(path: Path) -> None:
    install(path, "tengen_test_plugin:ABSENT")
    numbers = made()
    with pytest.raises(RecipeError, match="unknown number 'onne'; did you mean one"):
        numbers["onne"]
    with pytest.raises(RecipeError, match="number 'seven' of tengen_test_plugin:ABSENT cannot be loaded"):
        numbers["seven"]


def test_a_name_is_given_once() -> None:
    numbers = made()
    with pytest.raises(ValueError, match="exists already"):
        numbers.register("one", 3)
    assert numbers["one"] == 1


def test_a_package_takes_no_name_of_another_part(path: Path) -> None:
    """It would be installed and never used."""
    install(path, "tengen_test_plugin:PART", name="one")
    for use in (lambda: made()["one"], lambda: "one" in made(), lambda: list(made())):
        with pytest.raises(RecipeError, match="number 'one' is a part of Tengen and of tengen_test_plugin:PART"):
            use()


def test_two_packages_take_no_name_together(path: Path) -> None:
    install(path, "tengen_test_plugin:PART")
    install(path, "tengen_test_other:PART", package="tengen_test_other")
    with pytest.raises(
        RecipeError, match=r"number 'seven' is a part of tengen_test_\w+:PART and of tengen_test_\w+:PART"
    ):
        made()["seven"]

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
    return Registry("number", "tengen.test", {"one": 1}, RecipeError, part_type=int, reserved=("zero",), forbidden=":/")


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


def test_names_of_tengen_and_of_packages_are_taken(path: Path) -> None:
    install(path, "tengen_test_plugin:PART")
    numbers = made()
    for name in ("one", "zero", "seven"):
        with pytest.raises(ValueError, match=f"number '{name}' exists already"):
            numbers.register(name, 3)
    assert numbers["one"] == 1 and numbers["seven"] == 7
    assert numbers.register("seven", 7) == 7  # the part itself
    with pytest.raises(ValueError, match="number 'a/b': a name cannot contain '/'"):
        numbers.register("a/b", 3)
    assert list(numbers) == ["one", "seven"]


def test_a_cell_that_registers_a_part_may_be_run_twice(path: Path) -> None:
    install(path, "tengen_test_plugin:PART")
    numbers = made()
    assert not numbers.is_registered("two")
    for part in (2, 22):
        assert numbers.register("two", part) == numbers["two"] == part
    assert numbers["seven"] == 7
    assert [name for name in numbers if numbers.is_registered(name)] == ["two"]


def test_a_part_of_another_kind_is_named(path: Path) -> None:
    install(path, "tengen_test_plugin:Path")
    (path / "tengen_test_plugin.py").write_text("from pathlib import Path\n")
    numbers = made()
    with pytest.raises(RecipeError, match="number 'seven' of tengen_test_plugin:Path is the class Path, no int"):
        numbers["seven"]
    with pytest.raises(RecipeError, match="number 'two' is a str, no int"):
        numbers.register("two", "2")  # type: ignore[arg-type]
    assert "two" not in numbers


@pytest.mark.parametrize("name", ["one", "zero"])
def test_a_package_takes_no_name_of_another_part(path: Path, name: str) -> None:
    """It would be installed and never used."""
    install(path, "tengen_test_plugin:PART", name=name)
    for use in (lambda: made()[name], lambda: name in made(), lambda: list(made())):
        with pytest.raises(RecipeError, match=f"number '{name}' is a part of Tengen and of tengen_test_plugin:PART"):
            use()


def test_a_package_takes_no_name_that_could_not_be_written(path: Path) -> None:
    install(path, "tengen_test_plugin:PART", name="a:b")
    with pytest.raises(RecipeError, match=r"number 'a:b' of tengen_test_plugin:PART.*cannot contain ':'"):
        list(made())


def test_two_packages_take_no_name_together(path: Path) -> None:
    install(path, "tengen_test_plugin:PART")
    install(path, "tengen_test_other:PART", package="tengen_test_other")
    with pytest.raises(
        RecipeError, match=r"number 'seven' is a part of tengen_test_\w+:PART and of tengen_test_\w+:PART"
    ):
        made()["seven"]

"""What TENGEN_REQUIRE names and is missing ends the tests before they begin, or fails them, instead of skipping."""

from __future__ import annotations

from pathlib import Path

import other_programs
import pytest
from other_programs import check_required, give_up, missing


@pytest.mark.parametrize(
    ("name", "attribute", "here", "says"),
    [
        ("gnugo", "GNUGO", "/usr/games/gnugo", "install gnugo"),
        ("leela-zero", "LEELA_ZERO", "/usr/games/leelaz", "install leela-zero"),
        ("katago", "KATAGO", "/opt/katago", "set KATAGO"),
        ("katrain", "KATRAIN", Path(__file__), "make katrain"),
        ("shared", "SHARED", Path(__file__).parent, "no .*, the folder of real games and networks"),
    ],
)
def test_a_program_that_is_required_must_be_there(
    name: str, attribute: str, here: object, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TENGEN_REQUIRE", name)
    monkeypatch.setattr(other_programs, attribute, here)
    check_required()
    monkeypatch.setattr(other_programs, attribute, Path("/no/such/file") if isinstance(here, Path) else None)
    with pytest.raises(pytest.UsageError, match=says):
        check_required()
    monkeypatch.setenv("TENGEN_REQUIRE", "")
    check_required()


@pytest.mark.parametrize(("name", "says"), [("xvfb", "install xvfb"), ("sabaki", "Node"), ("browser", "Chromium")])
def test_a_program_that_is_looked_for_in_the_path(name: str, says: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("selenium")
    monkeypatch.setattr("shutil.which", lambda program, path=None: f"/usr/bin/{program}")
    assert not missing(name)
    monkeypatch.setattr("shutil.which", lambda program, path=None: None)
    assert says in missing(name)


def test_a_name_that_is_unknown_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_REQUIRE", "gnugoo")
    with pytest.raises(pytest.UsageError, match="'gnugoo' is none of browser, gnugo"):
        check_required()


def test_what_a_test_finds_missing_itself_fails_it_where_it_is_required(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TENGEN_REQUIRE", "sabaki")
    with pytest.raises(pytest.fail.Exception, match="no answer"):
        give_up("sabaki", "no answer")
    monkeypatch.setenv("TENGEN_REQUIRE", "")
    with pytest.raises(pytest.skip.Exception, match="no answer"):
        give_up("sabaki", "no answer")

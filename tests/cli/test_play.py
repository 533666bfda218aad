"""`tengen play` as a person starts and ends it; what the page does is tested in tests/web."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

import pytest
from web_browser import free_port

from tengen.cli.app import main
from tengen.cli.play import _programs
from tengen.engine import TimeControl
from tengen.errors import NoHomeFolder, RecipeError

ROOT = Path(__file__).parent.parent.parent
Runner = Callable[..., "subprocess.CompletedProcess[str]"]


def start(*args: str) -> subprocess.Popen[str]:
    # NiceGUI serves otherwise where it sees pytest's variables.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [sys.executable, "-m", "tengen", "play", "--net", "none", *args]
    environment["PYTHONPATH"] = str(ROOT / "src")
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)


def fetch(address: str, seconds: float = 100) -> bytes:
    end = time.monotonic() + seconds
    while True:
        try:
            with urllib.request.urlopen(address, timeout=60) as answer:
                return bytes(answer.read())
        except OSError:
            if time.monotonic() > end:
                raise
            time.sleep(0.05)


@pytest.mark.posix
def test_it_prints_its_address_serves_the_page_and_ends_by_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    port = free_port()
    monkeypatch.setenv("WEB_CONCURRENCY", "2")  # as hosting platforms set it
    process = start("--port", str(port), "--language", "ko_KR.UTF-8")
    try:
        assert process.stdout is not None
        address = f"http://127.0.0.1:{port}"
        assert address in process.stdout.readline()
        page = fetch(address)
        assert b"Tengen" in page and b'<html lang="ko-KR"' in page
        assert b"Tengen" not in fetch_missing(address + "/etc/passwd")
        process.send_signal(signal.SIGINT)
        rest, complaints = process.communicate(timeout=100)
    finally:
        process.kill()
    assert (process.returncode, rest) == (0, "")
    assert "Traceback" not in complaints


def fetch_missing(address: str) -> bytes:
    """The body of an answer that must be 404."""
    with pytest.raises(urllib.error.HTTPError) as caught:
        urllib.request.urlopen(address, timeout=60)
    assert caught.value.code == 404
    return bytes(caught.value.read())[:20]


def test_a_port_in_use_is_one_clear_line(tengen: Runner) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        done = tengen("play", "--net", "none", "--port", str(port))
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: port {port} is in use: stop the other program or choose another with --port\n"


@pytest.mark.parametrize(("size", "option", "warns"), [(9, 19, False), (13, 9, True)])
def test_the_board_of_the_record_is_warned_of(
    size: int,
    option: int,
    warns: bool,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr("tengen.web.server.serve", lambda *_, **__: None)
    root = f";SZ[{size}]"  # without its bracket: this file has to stay no game record for another test
    (tmp_path / "a.sgf").write_text(f"({root};B[cc])")
    port = str(free_port())
    assert main(["play", str(tmp_path / "a.sgf"), "--size", str(option), "--net", "zero-9x9", "--port", port]) == 0
    told = capsys.readouterr().err
    assert ("learned 9x9, not 13x13" in told) is warns and ("warning" in told) is warns


MISSING_DEVICE = "coreml" if sys.platform == "win32" else "directml"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (("--net", "no-such-net"), "no-such-net"),
        (("--net", "none", "--size", "1"), "size 1"),
        (("no-such.sgf", "--net", "none"), "no-such.sgf"),
        ((__file__, "--net", "none"), f"{__file__}: no game"),
        (("--net", "none", "--language", "xx"), "no language 'xx'; choose en-US, zh-CN, ja, ko-KR"),
        (("--net", "none", "--host", "203.0.113.7"), "cannot listen on 203.0.113.7"),
        (("--net", "none", "--port", "99999"), "--port"),
        (("--device", MISSING_DEVICE), f"device {MISSING_DEVICE}"),
        (("--net", "none", "--program", "mine=no-such-program --gtp"), "program 'mine': there is no program"),
    ],
)
def test_what_cannot_be_served_is_one_clear_line(
    args: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["play", *args]) == 2
    said, complaint = capsys.readouterr()
    assert said == "" and complaint.startswith("error: ") and told in complaint and complaint.count("\n") == 1


def test_a_program_is_a_player_of_a_match_with_or_without_its_prefix() -> None:
    words = ["gnugo=sh --level=5", "gtp:sh -c x", "sh --level=5", "A b=gtp:sh@2s"]
    found = _programs(words)
    lines = [(one.name, one.command_line) for one in found.values()]
    assert lines[:3] == [("gnugo", "sh --level=5"), ("sh -c x", "sh -c x"), ("sh --level=5", "sh --level=5")]
    assert lines[3] == ("A b", "sh")
    assert found["A b"].control == TimeControl.canadian(0, 2, 1)
    for word, told in (("mine=sh@10m+5x30s", "the clock of a game"), ("mine=", "names no program"), ("", "no program")):
        with pytest.raises(RecipeError, match=told):
            _programs([word])


def test_the_address_for_other_computers_stays_over_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tokens: list[str] = []
    monkeypatch.setattr("tengen.web.guard.data_folder", lambda name: tmp_path / name)
    monkeypatch.setattr("tengen.web.server.serve", lambda *_args, **more: tokens.append(more["token"]))
    for _start in range(2):
        assert main(["play", "--net", "none", "--host", "0.0.0.0"]) == 0
        assert f"/?token={tokens[-1]}" in capsys.readouterr().out
    assert tokens[0] == tokens[1] != ""


def test_it_serves_a_user_without_a_home_folder(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_home() -> Path:
        raise NoHomeFolder("this user has no home folder")

    libraries: list[object] = []
    monkeypatch.setattr("tengen.web.library.games_folder", no_home)
    monkeypatch.setattr("tengen.web.server.serve", lambda *_args, **more: libraries.append(more["library"]))
    assert main(["play", "--net", "none"]) == 0
    assert libraries == [None] and "Games are not kept: this user has no home folder" in capsys.readouterr().out

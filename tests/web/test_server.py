"""What the server serves beside the page, the manifest of the app and its icons, and how it ends."""

from __future__ import annotations

import errno
import http.client
import json
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from hostile import command_line
from offspring import Offspring
from web_browser import Tab, server

from tengen.errors import TengenError
from tengen.web.server import free_port


def test_chromium_can_install_the_page_as_an_app(tab: Tab) -> None:
    found = tab.driver.execute_cdp_cmd("Page.getAppManifest", {})
    assert found["errors"] == [] and found["url"].endswith("/app.webmanifest")
    assert tab.driver.execute_cdp_cmd("Page.getInstallabilityErrors", {})["installabilityErrors"] == []


def test_the_manifest_speaks_the_language_of_the_browser_and_names_icons_of_their_size(site: tuple[str, Path]) -> None:
    request = urllib.request.Request(site[0] + "/app.webmanifest", headers={"Accept-Language": "ja,en;q=0.5"})
    with urllib.request.urlopen(request) as answer:
        manifest = json.load(answer)
    assert manifest["lang"] == "ja" and "囲碁" in manifest["description"]
    assert [icon["purpose"] for icon in manifest["icons"]] == ["any", "any", "maskable", "maskable"]
    for icon in manifest["icons"]:
        with urllib.request.urlopen(site[0] + icon["src"]) as answer:
            head = answer.read(24)
        assert head[:8] == b"\x89PNG\r\n\x1a\n"
        size = int.from_bytes(head[16:20]), int.from_bytes(head[20:24])
        assert "{}x{}".format(*size) == icon["sizes"]


def test_a_port_that_windows_reserves_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = socket.socket.bind

    def refused(probe: socket.socket, address: tuple[str, int]) -> None:
        if address[1] == port:
            raise PermissionError(errno.EACCES, "forbidden")
        bind(probe, address)

    port = 50_000
    monkeypatch.setattr(socket.socket, "bind", refused)
    assert port < free_port("127.0.0.1", port, 20) < port + 20
    with pytest.raises(TengenError, match="port 50000: forbidden"):
        free_port("127.0.0.1", port, 1)


def test_a_busy_browser_has_time_to_answer(site: tuple[str, Path]) -> None:
    socket = site[0] + "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
    with urllib.request.urlopen(socket) as answer:
        opened = json.loads(answer.read()[1:])
    urllib.request.urlopen(f"{socket}&sid={opened['sid']}", data=b"1").close()  # 1 closes it
    assert opened["pingInterval"] + opened["pingTimeout"] > 15_000, "milliseconds"


@pytest.mark.parametrize("tells", [True, False])
def test_an_upload_of_many_megabytes_is_refused(site: tuple[str, Path], tells: bool) -> None:
    """One of 300 MB, which the page itself does not send, filled the disk for temporary files."""
    with urllib.request.urlopen(site[0]) as answer:
        (path,) = set(re.findall(r"/_nicegui/client/[0-9a-f-]+/upload/\d+", answer.read().decode()))
    head = b'--X\r\nContent-Disposition: form-data; name="f"; filename="a.sgf"\r\n\r\n'
    parts = [head, *(bytes(100_000) for _ in range(40)), b"\r\n--X--\r\n"]
    connection = http.client.HTTPConnection(urlsplit(site[0]).netloc, timeout=60)
    body = b"".join(parts) if tells else iter(parts)  # the second in chunks, without Content-Length
    connection.request("POST", path, body, {"Content-Type": "multipart/form-data; boundary=X"})
    assert connection.getresponse().status == 413
    connection.close()


HERE = Path(__file__).parent


def ends_within(seconds: float, process: subprocess.Popen[bytes]) -> bool:
    """Whether a server ends in time; one that does not is killed."""
    try:
        process.wait(seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        return False
    return True


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.usefixtures("no_process_is_left")
def test_a_second_ctrl_c_ends_the_program_too(tmp_path: Path, offspring: Offspring) -> None:
    """It skips what is done on shutdown, and the process stayed until the program had moved."""
    log = tmp_path / "log.txt"
    with server(str(HERE / "web_closing.py"), command_line("hangs", 1), log=log) as (process, _):
        assert offspring.begun(1, "hangs")
        for _ctrl_c in range(2):
            process.send_signal(signal.SIGINT)
            time.sleep(0.05)
        with suppress(subprocess.TimeoutExpired):
            process.wait(10)
        if were_one := process.poll() is None:  # both came while the process did not run
            process.send_signal(signal.SIGINT)
        assert ends_within(20, process)
    assert were_one or (process.returncode == 0 and log.read_text() == "")


@pytest.mark.slow
@pytest.mark.posix
@pytest.mark.usefixtures("no_process_is_left")
def test_sigterm_ends_a_program_that_does_not_end_with_its_input(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    with server(str(HERE / "web_closing.py"), command_line("will-not-quit"), log=log) as (process, _):
        deadline = time.monotonic() + 60
        while "moved" not in log.read_text() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGTERM)
        assert ends_within(20, process)
    assert process.returncode == 143 and log.read_text() == "moved\n"


@pytest.mark.slow
@pytest.mark.posix
def test_a_browser_without_web_sockets_does_not_hold_up_the_end(tmp_path: Path) -> None:
    """Its request waits for the next message, up to 12 s."""
    log = tmp_path / "log.txt"

    def poll() -> None:
        with suppress(OSError), urllib.request.urlopen(f"{polling}&sid={opened['sid']}", timeout=60) as answer:
            answer.read()

    with server(str(HERE / "web_server.py"), log=log) as (process, url):
        polling = url + "/_nicegui_ws/socket.io/?EIO=4&transport=polling"
        with urllib.request.urlopen(polling) as answer:
            opened = json.loads(answer.read()[1:])
        waiting = threading.Thread(target=poll)
        waiting.start()
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert ends_within(6, process)
    waiting.join()
    assert process.returncode == 0 and log.read_text() == ""

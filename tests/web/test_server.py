"""What the server serves beside the page: the manifest of the app and its icons."""

from __future__ import annotations

import errno
import json
import socket
import urllib.request
from pathlib import Path

import pytest
from web_browser import Tab

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

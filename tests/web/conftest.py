"""A server with a fake engine and a browser beside it, for the tests of the page."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from web_browser import Tab, open_browser, server

HERE = Path(__file__).parent


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Path]]:
    """The address of a server with a fake engine, and the file of what it prints."""
    log = tmp_path_factory.mktemp("server") / "log.txt"
    with server(str(HERE / "web_server.py"), log=log) as (_, url):
        yield url, log


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where the browser lives and saves."""
    return tmp_path_factory.mktemp("browser")


@pytest.fixture(scope="session")
def browser(folder: Path) -> Iterator[Tab]:
    with open_browser(folder) as tab:
        yield tab


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The messages that pages show, instead of on the pages."""
    messages: list[str] = []
    monkeypatch.setattr("nicegui.ui.notify", lambda text, **_: messages.append(text))
    return messages


@pytest.fixture
def tab(browser: Tab, site: tuple[str, Path]) -> Iterator[Tab]:
    """A fresh tab with the page in it."""
    driver = browser.driver
    before = driver.current_window_handle
    driver.switch_to.new_window("tab")
    browser.open(site[0])
    yield browser
    assert browser.errors() == []
    driver.close()
    driver.switch_to.window(before)

"""Engines and programs as players of the real page, chosen in its dialog, in a real browser."""

from __future__ import annotations

from pathlib import Path

import pytest
from other_programs import needs
from web_browser import Tab, open_browser, server

COMMAND = ("-m", "tengen", "play", "--net", "none", "--size", "7", "--visits", "4")


def play_to_the_end(tab: Tab) -> None:
    tab.until(lambda: "wins by" in tab.status() or "draw" in tab.status(), 120)
    assert tab.errors() == []


@pytest.mark.slow
def test_two_different_engines_play_to_the_end(tmp_path: Path) -> None:
    """Black searches with playouts, White with a network and visits of its own; a pause, one move, and on."""
    from selenium.webdriver import Keys

    with server(*COMMAND, "--port", log=tmp_path / "log.txt") as (_, url), open_browser(tmp_path) as tab:
        tab.open(url)
        tab.click("new-game")
        tab.press("new-game-dialog", "Watch")
        tab.choose("black", "4 visits a move")
        tab.choose("white", "Other network")
        tab.choose("white-network", "zero-7x7")
        tab.find("white-amount").send_keys(Keys.BACKSPACE, "2")  # instead of 4
        tab.press("new-game-dialog", "Start")
        tab.until(lambda: "zero-7x7\n2 visits a move" in tab.find("player-white").text)
        tab.until(lambda: "4 visits a move" in tab.find("player-black").text)  # not while it thinks
        tab.until(lambda: len(tab.stones()) >= 2)
        tab.click("pause")
        tab.until(lambda: "paused" in tab.find("hint").text)
        stones = len(tab.stones())
        tab.click("one-move")
        tab.until(lambda: len(tab.stones()) != stones and "paused" in tab.find("hint").text)
        tab.click("pause")
        play_to_the_end(tab)


@pytest.mark.slow
@needs("gnugo")
def test_gnugo_is_an_opponent_by_its_name(tmp_path: Path) -> None:
    program = ("--program", "GNU Go=gnugo --mode gtp --level 1 --chinese-rules", "--port")
    with server(*COMMAND, *program, log=tmp_path / "log.txt") as (_, url), open_browser(tmp_path) as tab:
        tab.open(url)
        tab.click("new-game")
        tab.choose("level", "GNU Go")
        tab.press("new-game-dialog", "Start")
        tab.until(lambda: "GNU Go" in tab.find("player-white").text)
        tab.tap(24, 7)
        tab.until(lambda: len(tab.stones()) == 2)
        tab.click("take-back")
        tab.until(lambda: tab.stones() == {})
        tab.tap(16, 7)
        tab.until(lambda: len(tab.stones()) == 2)
        tab.click("analyze-game")
        tab.click("analysis")
        tab.click("play-on")
        tab.press("play-on-dialog", "Engines play both")
        tab.choose("play-on-black", "16 visits a move")
        tab.choose("play-on-white", "GNU Go")
        tab.press("play-on-dialog", "Play")
        tab.until(lambda: len(tab.stones()) > 4)
        assert tab.errors() == []

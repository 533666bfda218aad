"""The page of a run: it is there at every stage, says what the log says, and shows games of the right cycles."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from pathlib import Path
from types import SimpleNamespace

import pytest
from selfplay.run_folder import write_run

from tengen.data.store import Store
from tengen.runs.events import read_events
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.curves import ratings
from tengen.selfplay.rating_book import AnchorResult, RatingBook, RatingEvent, Standing
from tengen.selfplay.report import Reporter, first_row, write_report
from tengen.selfplay.run_clock import RunClock

CYCLES, GAMES = 6, 12


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("run")


@pytest.fixture(scope="module")
def config(folder: Path) -> SelfPlayConfig:
    return write_run(folder, CYCLES, GAMES)


@pytest.fixture(scope="module")
def page(folder: Path, config: SelfPlayConfig) -> str:
    return write_report(folder, config).read_text()


class Balanced(HTMLParser):
    """Fails on a tag that is closed in the wrong place."""

    VOID = ("meta", "br", "img", "link")

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def headings(page: str) -> list[str]:
    return re.findall(r"<h2>(.*?)</h2>", page)


def test_a_finished_run_has_all_sections_and_needs_no_other_file(page: str) -> None:
    assert headings(page) == ["Strength", "Learning", "Games", "Openings", "Sample games", "Health", "Speed"]
    parser = Balanced()
    parser.feed(page)
    assert parser.open == []
    assert "http-equiv" not in page
    assert "The run is over: 6 cycles." in page
    assert not re.findall(r'(?:src|href)="(?!#)', page)
    assert "# &lt;as given&gt;" in page  # the recipe, escaped
    assert '<div class="warning"><b>note</b><p>Playouts is left out: &lt;not here&gt;.</p></div>' in page


def test_its_figures_are_those_of_the_log(page: str, folder: Path) -> None:
    last = read_events(folder)[-1]
    assert f"<b>{CYCLES * GAMES}</b><small>1,300 evaluations each" in page
    assert f"<b>{last['statistics']['black_share']:.0%}</b>" in page
    assert f"<b>{last['agreement']:.0%}</b>" in page
    elo = RatingBook.read(folder).events[-1].elo
    assert elo is not None
    assert elo.high is not None
    assert f"<b>{elo.elo:+,.0f}</b><small>? to {elo.high:+,.0f}, network 4" in page
    assert "95% intervals (random is 0)" in page


@pytest.mark.parametrize(("hours", "unit"), [(0.0022, "seconds"), (0.4, "minutes"), (1.0, "hours"), (30.0, "hours")])
def test_a_rating_is_plotted_over_time_in_a_unit_that_fits(hours: float, unit: str) -> None:
    events = [
        RatingEvent(
            number=number, games=number, hours=hours * number / 3, player=str(number), size=5, komi=7.0,
            elo=Standing(elo=100.0 * number, low=0.0, high=400.0),
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    (shown,) = ratings(SimpleNamespace(events=events, anchor="random"))  # type: ignore[arg-type]
    axis = re.findall(r'<g id="xtick_\d+">', shown)
    assert f">{unit}<" in shown and 2 <= len(axis) <= 5
    labels = [float(text) for text in re.findall(r">([\d.]+)</text>", shown.split('id="matplotlib.axis_2"')[0])]
    assert all(f"{label:g}" == f"{label:.3g}" for label in labels)


def test_points_of_equal_scores_at_the_end_of_the_axis_are_all_seen() -> None:
    """100% against two anchors was half a dot at the edge of the plot."""
    won = (5, 0, 0)
    pairings = tuple(
        AnchorResult(player="1", anchor=anchor, word=anchor, own=False, black=won, white=won, distinct=10)
        for anchor in ("random", "playouts")
    )
    event = RatingEvent(number=1, games=1, hours=1.0, player="1", size=5, komi=7.0, pairings=pairings)
    (shown,) = ratings(SimpleNamespace(events=[event], anchor="random"))  # type: ignore[arg-type]
    clip = re.search(r'<clipPath id="[^"]*">\s*<rect x="[\d.]+" y="([\d.]+)"', shown)
    marks = re.findall(
        r'<g clip-path[^>]*>\s*<use xlink:href="#(\w+)" x="[\d.]+" y="([\d.]+)" style="fill-opacity: 0;', shown
    )
    assert clip and len(marks) == len({shape for shape, _ in marks}) == 2
    assert all(float(y) > float(clip[1]) + 3 for _, y in marks)  # half of a mark


def test_a_sample_is_the_game_of_median_length_of_its_cycle(page: str, folder: Path) -> None:
    store = Store.open(folder / "games")
    shown = re.findall(r"<figcaption>cycle (\d+): (.*?)<br><small>(\d+) moves, komi (.*?)</small>", page)
    assert [int(cycle) for cycle, *_ in shown] == [1, 2, 3, 4, 5, 6]
    for cycle, result, moves, komi in shown:
        rows = range((int(cycle) - 1) * GAMES, int(cycle) * GAMES)
        assert int(moves) == sorted(len(store.row(row).moves) for row in rows)[GAMES // 2]
        assert (result, float(komi)) in [(store.row(row).result, store.row(row).komi) for row in rows]


def test_the_rows_of_a_cycle_are_found_by_their_source(folder: Path, config: SelfPlayConfig) -> None:
    store = Store.open(folder / "games")
    assert [first_row(store, cycle) for cycle in (0, 1, 5, 6)] == [0, GAMES, 5 * GAMES, 6 * GAMES]


def test_the_same_folder_gives_the_same_page(page: str, folder: Path, config: SelfPlayConfig) -> None:
    assert write_report(folder, config).read_text() == page


def test_a_run_that_goes_on_reloads_and_says_when_it_ends(tmp_path: Path) -> None:
    config = write_run(tmp_path, 20, 5, cycles_done=2)
    clock = RunClock(20, 5, range(3, 20, 4), read_events(tmp_path), now=lambda: 0.0)
    page = write_report(tmp_path, config, clock).read_text()
    assert '<meta http-equiv="refresh" content="30">' in page
    assert clock.words() in page
    assert re.search(r'<p class="state">.*\. Written \d{4}-\d\d-\d\d \d\d:\d\d \S+\.</p>', page)
    assert "rating after cycle 4" in page
    assert headings(page)[-1] == "Still to come"
    assert "Strength" not in headings(page)
    stopped = write_report(tmp_path, config).read_text()
    assert "stopped after 2 of 20 cycles" in stopped
    assert "http-equiv" not in stopped


def test_a_run_whose_last_cycle_is_over_does_not_reload(folder: Path, config: SelfPlayConfig, page: str) -> None:
    clock = RunClock(CYCLES, GAMES, (), read_events(folder), now=lambda: 0.0)
    assert write_report(folder, config, clock).read_text() == page


def test_before_anything_is_measured_the_page_promises_nothing(tmp_path: Path) -> None:
    config = write_run(tmp_path, 20, 5, cycles_done=1)
    page = write_report(tmp_path, config, RunClock(20, 5, now=lambda: 0.0)).read_text()
    assert "measuring" in page
    assert "ends in" not in page


def test_a_run_of_no_cycle_or_one_has_a_page_too(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    config = write_run(tmp_path / "one", 3, 4, cycles_done=1)
    assert "0 of 3" in write_report(tmp_path / "empty", config).read_text()
    assert "Games" in headings(write_report(tmp_path / "one", config).read_text())


@pytest.mark.slow
def test_warnings_come_first_and_those_that_are_over_are_named(tmp_path: Path) -> None:
    config = write_run(tmp_path, 5, 4)
    log = tmp_path / "log.jsonl"
    events = read_events(log.parent)
    old = {"kind": "overfit", "text": "t", "remedy": "r"}
    events[1]["warnings"] = events[2]["warnings"] = [old]
    events[4]["warnings"] = [{"kind": "starving window", "text": "Too <small>.", "remedy": "More games."}]
    log.write_text("".join(json.dumps(event) + "\n" for event in events))
    page = write_report(tmp_path, config).read_text()
    assert "<b>starving window</b><p>Too &lt;small&gt;. <i>More games.</i></p>" in page
    assert "Over: overfit (cycle 2 to 3)." in page
    assert "No warnings" not in page


def test_the_reporter_takes_a_fiftieth_of_the_time_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    config = write_run(tmp_path, 2, 4)
    now = [0.0]

    def write(*_: object) -> None:
        now[0] += 2.0

    monkeypatch.setattr("tengen.selfplay.report.write_report", write)
    clock = RunClock(2, 4)
    reporter = Reporter(tmp_path, config, now=lambda: now[0])
    built = 0
    for _ in range(1000):
        built += reporter.update(clock)
        now[0] += 1
    assert 2 * built / now[0] < 0.025
    assert built >= 9

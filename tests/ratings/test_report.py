"""The report of a match: complete, with all failures, and names are never markup."""

from __future__ import annotations

import csv
import json
import os
import re
import struct
import urllib.parse
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, get_args

import pytest
from made_matches import game, series, write_match
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from tengen.errors import TengenError
from tengen.game import WHITE
from tengen.match.conditions import Conditions
from tengen.match.outcome import Reason
from tengen.match.spec import PlayerSpec
from tengen.ratings.charts import ENDINGS, endings, seconds_a_move, spread, time_text
from tengen.ratings.pool import Pool, matches_in
from tengen.ratings.report import write_pool_report, write_report
from tengen.ratings.standings import standings
from tengen.rules import RULE_NAMES, Rules

EVIL = '<b onload=x>&"Pachi"\'</b> $_$'

RULES_IN_WORDS = {
    "tromp-taylor": "Tromp-Taylor",
    "chinese": "Chinese",
    "chinese-ogs": "Chinese (OGS)",
    "japanese": "Japanese",
    "korean": "Korean",
    "aga": "AGA",
    "aga-button": "AGA with button",
    "new-zealand": "New Zealand",
    "ing": "Ing",
    "stone-scoring": "Stone scoring",
    "ancient-territory": "Ancient territory",
}


class Page(HTMLParser):
    """Text and links of a page, and whether its tags are in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.links += [value or "" for name, value in attrs if name == "href" and tag == "a"]
        if tag not in ("meta", "br", "path", "circle", "rect", "stop", "use"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()
        elif tag in self.open:
            raise AssertionError(f"</{tag}> closes {self.open[-3:]}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round robin of three, in which much goes wrong."""
    outcomes = [
        *series("net, 400 visits", EVIL, 9, 3),
        *series("net, 400 visits", "random", 6, 0, start=12),
        *series(EVIL, "random", 3, 1, start=18),
        game(
            22, EVIL, "random", "random", reason="crash", result="W+F", detail="it <died>", last_words=("a & b", "<x>")
        ),
        game(23, "random", EVIL, EVIL, reason="illegal", result="W+F", detail="random: A1 is taken"),
        game(24, "random", EVIL, None, reason="cycle", result="Void"),
        game(
            25, EVIL, "random", EVIL, reason="count", result="B+1.5", score=1.5, disputed=True,
            counts={EVIL: 1.5, "random": -4.5, "playouts": 1.5}, visits={EVIL: 77.0},
        ),
    ]  # fmt: skip
    path = write_match(tmp_path_factory.mktemp("matches") / "a & b", outcomes, games=10)
    assert write_report(path) == path / "report.html"
    return path


@pytest.fixture(scope="module")
def page(folder: Path) -> Page:
    return Page((folder / "report.html").read_text(encoding="utf-8"))


def test_the_page_stands_alone_and_is_well_formed(folder: Path, page: Page) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert not re.search(r"<script|<link|<img|@import|url\((?!#)|href=.https?", text)
    assert page.open == ["html", "body"] or page.open == []
    assert "prefers-color-scheme: dark" in text
    for heading in (
        "Ratings",
        "Results by pairing",
        "Statistics of the games",
        "Lost by failure",
        "Counted differently",
        "Games",
    ):
        assert f"<h2>{heading}</h2>" in text


def test_no_name_becomes_markup(folder: Path, page: Page) -> None:
    assert "<b onload" not in (folder / "report.html").read_text(encoding="utf-8")
    assert EVIL in page.text


def test_every_game_is_linked_to_its_record(folder: Path, page: Page) -> None:
    found = {(folder / urllib.parse.unquote(link)).resolve() for link in page.links}
    assert found == {path.resolve() for path in (folder / "games").glob("*.sgf")}


def test_a_record_on_another_drive_is_linked_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def on_other_drives(path: object, start: object) -> str:
        raise ValueError("path is on mount 'D:', start on mount 'C:'")

    folder = write_match(tmp_path / "m", series("a", "b", 1, 1))
    monkeypatch.setattr(os.path, "relpath", on_other_drives)
    write_report(folder)
    page = Page((folder / "report.html").read_text(encoding="utf-8"))
    assert {urllib.parse.unquote(link) for link in page.links} == {
        f"file://{path}" for path in (folder / "games").glob("*.sgf")
    }


def test_charts_group_all_endings() -> None:
    """A long cycle has no winner."""
    assert set(get_args(Reason)) - {"cycle"} == set().union(*ENDINGS.values())


def test_what_went_wrong_is_listed_with_the_last_words(page: Page) -> None:
    assert "it <died>" in page.text and "a & b <x>" in page.text
    assert "random: A1 is taken" in page.text
    assert "random: W+4.5; playouts: B+1.5" in page.text and "different winners" in page.text
    assert "lost by failure 2" in page.text
    assert "counts differ 1 of 1 1 on the winner" in page.text


def test_the_games_as_csv(folder: Path) -> None:
    rows = list(csv.DictReader((folder / "games.csv").open(encoding="utf-8")))
    assert len(rows) == 26
    last = rows[-1]
    assert (last["black"], last["winner"], last["result"], last["score"]) == (EVIL, EVIL, "B+1.5", "1.5")
    assert json.loads(last["counts"])["random"] == -4.5
    assert (last["black_visits"], last["white_visits"], last["size"], last["komi"]) == ("77.0", "", "5", "0.5")
    assert rows[24]["winner"] == ""


def test_seconds_a_move_are_those_of_the_moves_that_a_player_chose() -> None:
    seconds = {"a": 12.0, "b": 6.0}
    played = [game(0, "a", "b", "a", moves=9, opening=3, seconds=seconds), game(1, "a", "b", "a", moves=4, opening=4)]
    assert seconds_a_move(played) == {"a": [12 / 3], "b": [6 / 3]}
    assert seconds_a_move([game(0, "a", "b", "a", moves=9, opening=2, seconds=seconds)]) == {
        "a": [12 / 4],
        "b": [6 / 3],
    }


def test_seconds_a_move_of_a_handicap_game_begin_with_white() -> None:
    seconds = {"a": 12.0, "b": 6.0}
    played = [game(0, "a", "b", "a", moves=9, opening=2, seconds=seconds)]
    assert seconds_a_move(played, first=WHITE) == {"a": [12 / 3], "b": [6 / 4]}


def test_a_match_with_a_handicap_says_so(tmp_path: Path) -> None:
    folder = write_match(tmp_path / "m", series("a", "b", 5, 4))
    about = json.loads((folder / "match.json").read_text())
    about["conditions"]["handicap"] = 3
    (folder / "match.json").write_text(json.dumps(about))
    write_report(folder)
    text = Page((folder / "report.html").read_text()).text
    assert "5x5, Chinese, komi 0.5, handicap 3." in text and "account for the worth of Black's handicap" in text
    assert {row["handicap"] for row in csv.DictReader((folder / "games.csv").open())} == {"3"}


def test_the_picture_is_a_png(folder: Path) -> None:
    assert (folder / "report.png").read_bytes().startswith(b"\x89PNG")
    assert not list(folder.glob("*.partial"))


def test_long_names_are_shortened_to_the_room_beside_a_chart() -> None:
    """Their beginning, which tells the players apart, was cut off."""
    names = ["distilled-b8c64-2, policy, temperature 0.25", "GNU Go level 10"]
    for left, shown in ((0.48, "distilled-b8c64-2, policy,…"), (0.75, "distilled-b8c64-2, policy, temperature…")):
        figure = Figure(figsize=(5.4, 3))
        FigureCanvasAgg(figure)
        figure.subplots_adjust(left=left)
        axes = figure.subplots()
        spread(axes, {name: [1.0, 2.0] for name in names}, names)
        labels = axes.get_yticklabels()
        assert [label.get_text() for label in labels] == [shown, names[1]]
        assert all(label.get_window_extent().x0 >= 0 for label in labels)


@pytest.mark.parametrize(
    ("figures", "are_counts", "ticks"),
    [
        ([1.0, 1.0], True, ["0", "1"]),
        ([11.2, 14.7], False, ["0", "4", "8", "12"]),  # milliseconds
        ([0.4, 1.3], False, ["0", "0.3", "0.6", "0.9", "1.2"]),
        ([1e6, 2e6], True, ["0", "500,000", "1,000,000", "1,500,000", "2,000,000"]),
        (2 * [3e4, 3e6], True, ["50,000", "100,000", "200,000", "500,000", "1,000,000", "2,000,000"]),
        (2 * [5e-5, 2.0], False, ["0.0001", "0.001", "0.01", "0.1", "1"]),
    ],
)
def test_an_axis_of_figures_has_few_ticks_that_are_read_without_a_factor(
    figures: list[float], are_counts: bool, ticks: list[str]
) -> None:
    figure = Figure(figsize=(5.4, 2))
    FigureCanvasAgg(figure).draw()
    axes = figure.subplots()
    spread(axes, {"a": figures}, ["a"], are_counts=are_counts)
    figure.canvas.draw()
    shown = zip(axes.get_xticks(), axes.get_xticklabels(), strict=True)
    low, high = axes.get_xlim()
    assert [text.get_text() for x, text in shown if low <= x <= high] == ticks


def test_the_axis_of_won_and_lost_games_has_no_exponents() -> None:
    figure = Figure(figsize=(11, 2))
    axes = figure.subplots()
    endings(axes, [game(0, "a", "b", "a")], ["a", "b"])
    formatter = axes.xaxis.get_major_formatter()
    assert [formatter(x, None) for x in (-2e6, 5e5, 0.0)] == ["2,000,000", "500,000", "0"]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        *[(1234.5, "1,234 s"), (123.4, "123 s"), (9.96, "10 s"), (9.94, "9.9 s"), (1.53, "1.5 s"), (2.0, "2.0 s")],
        *[(0.9996, "1.0 s"), (0.9994, "999 ms"), (0.25, "250 ms"), (0.0071, "7.1 ms"), (0.00404, "4.0 ms")],
        *[(0.004, "4 ms"), (0.0009996, "1.0 ms"), (7.1e-5, "71 µs"), (0.0, "0 ms")],
    ],
)
def test_times_have_a_unit_that_fits(seconds: float, text: str) -> None:
    assert time_text(seconds) == text


def test_times_far_below_a_second_are_shown_in_milliseconds(tmp_path: Path) -> None:
    outcomes = [game(i, "a", "b", "a", moves=20, seconds={"a": 0.11, "b": 0.15}) for i in range(2)]
    path = write_report(write_match(tmp_path / "m", outcomes))
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert "Milliseconds a move" in text and "11 ms" in text and "150 ms" in text and "0.0 s" not in text


def test_players_and_conditions_are_told_in_words(tmp_path: Path) -> None:
    folder = write_match(tmp_path / "m", series("a", "gtp:b", 5, 4), rules="new-zealand")
    about = json.loads((folder / "match.json").read_text())
    for player in about["players"]:
        more = {"visits": 8, "threads": 2} if player["player"] == "a" else {}
        player.update(PlayerSpec(player=player["player"], **more).model_dump(exclude={"name"}))
    about["conditions"] = Conditions(rules="new-zealand", lag=0, settle=False, max_moves=90).model_dump()
    (folder / "match.json").write_text(json.dumps(about))
    path = write_report(folder)
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert text.endswith(
        "a a, visits 8, threads 2 gtp:b gtp:b "
        "m size 19, rules New Zealand, komi 7, openings policy, lag 0 s, dead stones agreement, settle no, max moves 90"
    )


def test_all_named_rules_have_words() -> None:
    assert set(RULES_IN_WORDS) == set(RULE_NAMES)


def test_rules_are_named_in_words(tmp_path: Path) -> None:
    """In any spelling; rules without a name by their parts."""
    named = {**RULES_IN_WORDS, "NZ": "New Zealand", "chinese,ko=positional": "Chinese (OGS)"}
    named["chinese,tax=all"] = Rules.parse("chinese,tax=all").text
    for number, rules in enumerate(named):
        write_match(tmp_path / "in" / f"{number:02}", series("a", "b", 1, 1), rules=rules)
    pool = Pool.of(matches_in(tmp_path / "in"))
    path = write_pool_report(pool, [standings(pool, 5)], tmp_path / "out", "all")
    text = Page(path.read_text(encoding="utf-8")).text
    assert "; ".join(f"5x5, {name}, komi 0.5" for name in dict.fromkeys(named.values())) in text
    about = text.rpartition("Players and conditions")[2]
    assert re.findall("komi 0.5, rules (.*?), opening 2", about) == list(named.values())


def test_a_figure_that_no_game_bounds_is_no_number(tmp_path: Path) -> None:
    """A card said that the Elo of the score is +inf, and the first move worth ? Elo."""
    path = write_report(write_match(tmp_path / "m", series("new", "old", 2, 0), games=60))
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert "Elo of the score > \N{MINUS SIGN}113 \N{MINUS SIGN}113 to ?" in text
    assert "inf" not in text.partition("Ratings")[0].rpartition("}")[2] and "? Elo" not in text


def test_players_without_a_finished_game_are_counted(tmp_path: Path) -> None:
    folder = write_match(tmp_path / "m", series("a", "b", 1, 1))
    about = json.loads((folder / "match.json").read_text())
    about["players"].append({"name": "c", "player": "c"})
    (folder / "match.json").write_text(json.dumps(about))
    path = write_report(folder)
    assert path is not None and "games 2 2 of 3 players" in Page(path.read_text(encoding="utf-8")).text


def test_titles_of_the_picture_are_inside_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside: list[str] = []

    class Canvas(FigureCanvasAgg):
        def print_png(self, *given: Any, **more: Any) -> None:
            super().print_png(*given, **more)
            for axes in self.figure.axes:
                title = axes._left_title
                if title.get_window_extent().x1 > self.figure.bbox.width:
                    outside.append(title.get_text())

    monkeypatch.setattr("tengen.runs.plots.FigureCanvasAgg", Canvas)
    one, other = (f"distilled-b8c64-2, policy, temperature 0.{number}" for number in (25, 75))
    assert write_report(write_match(tmp_path / "match", series(one, other, 3, 2)))
    assert not outside


@pytest.mark.slow
def test_a_report_of_many_players_shows_some_of_them_in_its_matrix_and_charts(tmp_path: Path) -> None:
    outcomes = [o for i in range(60) for o in series(f"p{i}", f"p{(i + 1) % 61}", 1, 1, start=2 * i)]
    write_match(tmp_path, outcomes)
    write_report(tmp_path)
    text = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert len(re.findall('class="self"', text)) == 40
    assert "first 40 of 61 players" in Page(text).text and all(f"p{i}" in text for i in range(61))
    width, height = struct.unpack(">II", (tmp_path / "report.png").read_bytes()[16:24])
    assert height < 3 * width


def test_the_same_games_give_the_same_page(folder: Path) -> None:
    before = (folder / "report.html").read_bytes(), (folder / "report.png").read_bytes()
    write_report(folder)
    assert ((folder / "report.html").read_bytes(), (folder / "report.png").read_bytes()) == before


def test_duplicate_games_are_a_warning(tmp_path: Path) -> None:
    outcomes = series("a", "b", 3, 3)
    folder = write_match(tmp_path / "m", outcomes)
    for i in range(4):
        (folder / "games" / f"{i:05d}.sgf").write_bytes((folder / "games" / "00005.sgf").read_bytes())
    path = write_report(folder)
    assert path is not None
    assert "Only 2 of 6 games between a and b differ" in Page(path.read_text(encoding="utf-8")).text


def test_a_match_of_two_shows_the_stronger_player(tmp_path: Path) -> None:
    path = write_report(write_match(tmp_path / "m", series("new", "old", 30, 10), games=100, kind="head-to-head"))
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert "new against old" in text and "40 of 100 games" in text
    assert "score 75.0% new: " in text and "Elo of the score +191" in text and "is stronger 99.9%" in text


def test_a_match_that_black_always_won_shows_no_end_for_the_first_move(tmp_path: Path) -> None:
    outcomes = [
        game(i, *(("new", "old") if i % 2 == 0 else ("old", "new")), "new" if i % 2 == 0 else "old") for i in range(40)
    ]
    path = write_report(write_match(tmp_path / "m", outcomes, kind="head-to-head"))
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert re.search(r"first move > \+\d+ Elo \+\d+ to \?", text) and "Black won every game: no game bounds" in text


def test_a_sequential_test_is_shown_with_its_end(tmp_path: Path) -> None:
    test = {"elo0": 0, "elo1": 100, "alpha": 0.05, "beta": 0.05}
    outcomes = series("new", "old", 60, 0)
    path = write_report(write_match(tmp_path / "m", outcomes, games=1000, kind="head-to-head", sprt=test))
    assert path is not None
    text = Page(path.read_text(encoding="utf-8")).text
    assert "new: SPRT of Elo 0 against 100 accepts 100: LLR" in text and "Log likelihood ratio, m" in text
    assert "stopped after" not in text, "it is over"


def test_a_match_that_ended_by_its_interval_is_over(tmp_path: Path) -> None:
    over = write_report(write_match(tmp_path / "m", series("new", "old", 74, 0), games=1000, within=5))
    going = write_report(write_match(tmp_path / "n", series("new", "old", 40, 0), games=1000, within=5))
    assert over is not None and going is not None
    assert "stopped after" not in over.read_text(encoding="utf-8")
    assert "n stopped after 40 of at most 1000 games" in going.read_text(encoding="utf-8")


def test_a_match_without_a_finished_game_has_no_report_and_a_folder_without_one_is_an_error(tmp_path: Path) -> None:
    assert write_report(write_match(tmp_path / "m", [])) is None
    with pytest.raises(TengenError, match="holds no match"):
        write_report(tmp_path)


def test_a_report_of_several_folders_links_into_each(tmp_path: Path) -> None:
    write_match(tmp_path / "in" / "one", series("a", "b", 3, 1))
    write_match(tmp_path / "in" / "two", series("b", "c", 3, 1), size=7)
    (tmp_path / "in" / "two" / "games" / "00000.sgf").unlink()  # a lost record costs its picture alone
    pool = Pool.of(matches_in(tmp_path / "in"))
    path = write_pool_report(pool, [standings(pool, size) for size in pool.sizes], tmp_path / "out" / "x", "both")
    page = Page(path.read_text(encoding="utf-8"))
    assert "5x5" in page.words and "7x7" in page.words
    found = {(path.parent / urllib.parse.unquote(link)).resolve() for link in page.links}
    assert {file.resolve() for file in (tmp_path / "in").glob("*/games/*.sgf")} < found

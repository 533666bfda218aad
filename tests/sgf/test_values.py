"""The values of properties as servers and editors write them: results, ranks, komi, dates, rules."""

from __future__ import annotations

import datetime
import time

import pytest

from tengen.sgf import Result
from tengen.sgf.values import date, komi, rank, rank_strength, result, rules, rules_name


@pytest.mark.parametrize(
    ("text", "zi", "expected"),
    [
        ("B+R", False, Result(0, None, "resign")),
        ("W+Resign", False, Result(1, None, "resign")),
        ("W+T", False, Result(1, None, "time")),
        ("B+Forfeit", False, Result(0, None, "forfeit")),
        ("W+Forf", False, Result(1, None, "forfeit")),
        ("W+3.5", False, Result(1, -3.5, "count")),
        ("B+12", False, Result(0, 12.0, "count")),
        ("B+0.75", True, Result(0, 1.5, "count")),
        ("B+", False, Result(0, None, "unknown")),
        ("W+0.0", False, Result(1, None, "unknown")),
        ("B+0.02", False, Result(0, None, "unknown")),
        ("0", False, Result(2, 0.0, "draw")),
        ("Draw", False, Result(2, 0.0, "draw")),
        ("Void", False, Result(None, None, "void")),
        ("?", False, Result()),
        ("", False, Result()),
        ("nonsense", False, Result()),
        ("黑中盘胜", False, Result(0, None, "resign")),
        ("白中盤勝", False, Result(1, None, "resign")),
        ("黑超时负", False, Result(1, None, "time")),
        ("白胜3.5目", False, Result(1, -3.5, "count")),
        ("黑胜1又1/4子", False, Result(0, 2.5, "count")),
        ("和棋", False, Result(2, 0.0, "draw")),
        ("Black wins by resignation", False, Result(0, None, "resign")),
        ("White wins by 2.5 points", False, Result(1, -2.5, "count")),
        ("黑胜1又1/0子", False, Result(0, 2.0, "count")),
        ("黑胜3.75子", False, Result(0, 7.5, "count")),
        ("白胜0.25子", False, Result(1, -0.5, "count")),
        ("黒中押し勝ち", False, Result(0, None, "resign")),
        ("黒時間切れ負け", False, Result(1, None, "time")),
        ("白超时负", False, Result(0, None, "time")),
        ("白番3目半勝ち", False, Result(1, -3.5, "count")),
        ("黒半目勝ち", False, Result(0, 0.5, "count")),
        ("백 3집반승", False, Result(1, -3.5, "count")),
        ("흑 반집승", False, Result(0, 0.5, "count")),
        ("黒三目半勝ち", False, Result(0)),
        ("B+.5", False, Result(0, 0.5, "count")),
        ("W+1/2", False, Result(1)),
        ("B+2 3/4", False, Result(0)),
        ("B+2又3/4", False, Result(0)),
        ("B+3½", False, Result(0, 3.5, "count")),
        ("W+½", False, Result(1, -0.5, "count")),
        ("White wins by 3.5 (result confirmed)", False, Result(1, -3.5, "count")),
        ("W+3.5 (overtime)", False, Result(1, -3.5, "count")),
        ("W+R (short of time)", False, Result(1, None, "resign")),
        ("B+R?", False, Result(0, None, "resign")),
        ("W+Res.", False, Result(1, None, "resign")),
        ("257手完, 黒中押し勝ち", False, Result(0, None, "resign")),
        ("180手まで、白3目半勝ち", False, Result(1, -3.5, "count")),
        ("182수 백불계승", False, Result(1, None, "resign")),
        ("91手", False, Result()),
        (f"B+{'9' * 1000}", False, Result(0)),
        (f"黑胜1/{'9' * 5000}子", False, Result(0)),
        (f"黑胜{'9' * 400}/{'9' * 400}子", False, Result(0)),
    ],
)
def test_results(text: str, zi: bool, expected: Result) -> None:
    assert result(text, zi) == expected


def test_results_are_written_as_sgf_has_them() -> None:
    written = [
        Result(0, 3.5, "count"),
        Result(1, None, "resign"),
        Result(2, 0, "draw"),
        Result(None, None, "void"),
        Result(),
    ]
    assert [str(one) for one in written] == ["B+3.5", "W+R", "Draw", "Void", "?"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("9d", "9d"), ("9段", "9d"), ("P2段", "2p"), ("18级", "18k"), ("3p", "3p"), ("5 kyu", "5k"), ("九段", "9d")],
        *[("9 dan pro", "9p"), ("4D?", "4d"), ("", ""), ("strong", ""), ("77d", ""), ("99k", ""), ("0d", "")],
        *[("30k", "30k"), ("31k", ""), ("1k", "1k"), ("0k", ""), ("1d", "1d"), ("10d", ""), ("7", ""), ("5 x", "")],
    ],
)
def test_ranks(text: str, expected: str) -> None:
    assert rank(text) == expected


def test_a_long_value_is_read_in_no_time() -> None:
    """Its beginning alone; the pattern of ranks took seconds for these blanks."""
    start = time.process_time()
    assert rank("p" + 100_000 * " " + "x") == "" and rank("5k" + 100_000 * " ") == "5k"
    assert time.process_time() - start < 1


def test_ranks_have_an_order() -> None:
    order = ["30k", "5k", "1k", "1d", "9d", "1p", "9p"]
    assert sorted(reversed(order), key=rank_strength) == order


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        *[("6.5", (6.5, False)), ("650", (6.5, False)), ("375", (7.5, True)), ("3.75", (7.5, True))],
        *[
            ("325", (6.5, True)),
            ("0", (0.0, False)),
            ("-3", (-3.0, False)),
            ("\N{MINUS SIGN}3", (-3.0, False)),
            ("7,5", (7.5, False)),
        ],
        *[("", (None, False)), ("x", (None, False)), ("6.1", (None, False)), ("99999", (None, False))],
        *[("3 3/4", (None, False)), ("黑贴3又3/4", (None, False)), ("黑贴3又3/4子", (7.5, True))],
        *[("贴3.75子", (7.5, True)), ("7.5子", (None, False)), ("0子", (0.0, True)), ("6.5 (3/4)", (6.5, False))],
        *[("6½", (6.5, False)), ("-5 ½", (-5.5, False)), ("½", (0.5, False))],
        *[("350", (3.5, False)), ("50", (50.0, False))],
        *[(".5", (0.5, False)), ("6目半", (6.5, False)), ("6집반", (6.5, False)), ("半目", (0.5, False))],
    ],
)
def test_komi(text: str, expected: tuple[float | None, bool]) -> None:
    assert komi(text) == expected


@pytest.mark.parametrize(
    ("text", "zi", "expected"),
    [
        *[("50", True, (0.5, False)), ("650", True, (6.5, False)), ("700", True, (7.0, False))],
        *[("350", True, (7.0, True)), ("350", False, (3.5, False)), ("375", True, (7.5, True))],
        *[("275", True, (5.5, True)), ("0", True, (0.0, False)), ("3.5", True, (3.5, False))],
        *[("6.5", True, (6.5, False)), ("12.5", True, (12.5, False)), ("9999", True, (None, False))],
    ],
)
def test_komi_of_the_fox_server(text: str, zi: bool, expected: tuple[float | None, bool]) -> None:
    assert komi(text, fox=True, zi=zi) == expected


@pytest.mark.parametrize("text", ["Korean", " korea ", "\ud55c\uad6d", "KR"])
def test_korean_rules_keep_their_name(text: str) -> None:
    assert (rules(text), rules_name(text)) == ("japanese", "korean")


def test_dates() -> None:
    assert date("2016-07-10,11") == datetime.date(2016, 7, 10)
    assert date("2016年7月") == datetime.date(2016, 7, 1)
    assert date("1970-01-01") is None
    assert date("2016-13-45") is None
    assert date("20160710") == date("20160710T093000") == datetime.date(2016, 7, 10)
    assert date("2016 12:00") == datetime.date(2016, 1, 1)


@pytest.mark.parametrize(
    "text",
    [
        "10.07.2016",
        "10. 7. 2016",
        "July 10, 2016",
        "10 Jul 2016",
        "Sun Jul 10 2016",
        "10th of July 2016",
        "Jul. 10th 2016",
        "Sun Jul 10 12:30:11 2016",
        "July 10-12, 2016",
        "July 10 and 12, 2016",
        "10-12 July 2016",
        "10 July - 12 July 2016",
        "10.-12.07.2016",
        "10.07.-12.07.2016",
        "2016 July 10",
        "2016-Jul-10",
        "2016-07-10 (published May 2017)",
        "2016-07-10, 5.3.2021",
        "2016-07-10 12:30 May 2017",
    ],
)
def test_dates_with_the_day_first_and_with_names_of_months(text: str) -> None:
    assert date(text) == datetime.date(2016, 7, 10)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("July 2016", datetime.date(2016, 7, 1)),
        ("2016-07-10,11.12", datetime.date(2016, 7, 10)),
        ("2016.07.10", datetime.date(2016, 7, 10)),
        ("07/10/2016", datetime.date(2016, 1, 1)),  # the tenth of July or the seventh of October
        ("31.02.2016", datetime.date(2016, 1, 1)),
        ("12.30.2016", datetime.date(2016, 1, 1)),
        ("2016 July", datetime.date(2016, 7, 1)),
        ("Marchand 2016", datetime.date(2016, 1, 1)),
        ("Sept. 2016", datetime.date(2016, 9, 1)),
    ],
)
def test_dates_in_part_and_beside_other_words(text: str, day: datetime.date | None) -> None:
    assert date(text) == day


def test_rules() -> None:
    assert rules("Japanese") == "japanese"
    assert rules("ko=simple,scoring=area,suicide=false,bonus=none") != ""
    assert rules("ko=never") == ""

"""The game information of real records, with the quirks of servers: komi, handicap, result, names, rules."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sgfmill import sgf as sgfmill_sgf

from tengen.errors import SgfError
from tengen.game import Game
from tengen.rules import Rules
from tengen.sgf import Result, SgfInfo, read_game, read_tree, write_game, write_tree
from tengen.sgf.main_line import read_record

GAMES = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("name", "komi", "handicap", "stones", "text"),
    [
        ("fox-handicap-2", 0.0, 2, 2, "W+R"),
        ("fox-handicap-4-komi-450", 4.5, 4, 4, "B+R"),
        ("fox-handicap-3-komi-550", 5.5, 3, 3, None),
        ("fox-handicap-8", 0.0, 8, 8, None),
        ("fox-komi-325", 6.5, 2, 2, None),
        ("fox-komi-650", 6.5, 2, 2, "W+36.5"),
        ("fox-komi-750", 7.5, 0, 0, None),
        ("fox-komi-0-even", None, 0, 0, None),
        ("fox-komi-0-handicap-1", 0.0, 1, 0, None),
        ("fox-no-handicap-stones-3", 0.0, 3, 3, None),
        ("fox-draw", None, 0, 0, "Draw"),
        ("fox-score-zero", 0.0, 4, 4, "W+"),
        ("fox-score-hundredths", None, 0, 0, "B+"),
        ("fox-no-opening-bracket", 7.5, 0, 0, None),
        ("fox-no-opening-bracket-variations", 7.5, 0, 0, "B+R"),
        ("tygem-forfeit", 6.5, 0, 0, "B+F"),
        ("tygem-time", 6.5, 0, 0, "W+T"),
    ],
)
def test_quirks_of_servers(name: str, komi: float | None, handicap: int, stones: int, text: str | None) -> None:
    game, info = read_game(GAMES / f"{name}.sgf")
    assert info.komi == komi
    assert info.handicap == handicap
    assert len(game.setup_stones) == stones
    assert text is None or str(info.result) == text


def test_chinese_counting_by_stones_is_doubled() -> None:
    data = (GAMES / "fox-komi-375.sgf").read_bytes()
    _, info = read_game(data)
    written = next(value for value in data.split(b"RE[")[1].split(b"]")[:1])
    assert info.komi == 7.5
    assert info.result.score is not None
    assert abs(info.result.score) == 2 * float(written[2:])


FOX = "(;GM[1]SZ[19]PB[a]KM[{km}]HA[{ha}]RU[{rules}]AP[GNU Go:3.8]RE[{result}]AP[foxwq]{stones};W[qo];B[qp])"


@pytest.mark.parametrize(
    ("km", "ha", "rules", "result", "komi", "text"),
    [
        ("50", "2", "Japanese", "W+4.50", 0.5, "W+4.5"),
        ("350", "0", "Chinese", "W+2.50", 7.0, "W+5"),
        ("350", "2", "Korean", "W+2.50", 3.5, "W+2.5"),
    ],
)
def test_komi_of_the_fox_server_is_in_hundredths(
    km: str, ha: str, rules: str, result: str, komi: float, text: str
) -> None:
    record = FOX.format(km=km, ha=ha, rules=rules, result=result, stones="AB[pd][dp]").encode()
    _, info = read_game(record)
    assert (info.komi, str(info.result), read_tree(record).komi) == (komi, text, komi)


def test_first_moves_of_black_alone_are_the_handicap_on_the_fox_server() -> None:
    record = FOX.format(km="375", ha="0", rules="Chinese", result="W+R", stones=";B[pd];B[pq];B[dd];B[dp]").encode()
    game, info = read_game(record)
    assert (info.handicap, info.komi, game.komi, len(game.moves)) == (4, None, 0.0, 6)
    tree = read_tree(record)
    assert (tree.info, tree.komi, len(tree)) == (info, 0.0, 7)
    assert tree.problems == ["KM[375] is wrong for a handicap game: read as komi 0"]
    tree.info = replace(tree.info, black="Ann")
    tree.read_rules()
    assert tree.komi == 0 and b"KM[375]" in write_tree(tree), "what is not edited stays"
    tree.info = replace(tree.info, komi=0.5)
    assert read_tree(write_tree(tree)).komi == 0.5
    other = read_game(record.replace(b"foxwq", b"CGoban:3"))[1]
    assert (other.handicap, other.komi) == (0, 7.5)
    one = FOX.format(km="375", ha="0", rules="Chinese", result="W+R", stones=";B[pd]").encode()
    assert read_game(one)[1].handicap == 0


@pytest.mark.parametrize(
    ("leading", "handicap"), [(";B[aa]" * 9, 9), (";B[aa]" * 10, 0), (";B[aa]" * 300, 0), (";B[aa];B[];B[tt];B[bb]", 2)]
)
def test_only_two_to_nine_stones_of_black_are_a_handicap_of_the_fox_server(leading: str, handicap: int) -> None:
    """300 moves did not fit in the byte that a store has for a handicap."""
    record = read_record(FOX.format(km="375", ha="0", rules="Chinese", result="W+R", stones=leading).encode())
    assert (record.info.handicap, record.info.komi) == (handicap, None if handicap else 7.5)
    tree = read_tree(FOX.format(km="375", ha="0", rules="Chinese", result="W+R", stones=leading).encode())
    assert tree.info == record.info


def test_names_of_properties_of_the_nihon_kiin_and_cyberoro() -> None:
    text = "(\nTE[本因坊戦]\nRD[2019-07-05]\nKO[黒6目半]\nRE[182수 백불계승]\nHD[2]\nAB[aa][bb];W[cc])"
    _, info = read_game(text.encode())
    assert (info.event, str(info.date), info.komi, str(info.result)) == ("本因坊戦", "2019-07-05", 6.5, "W+R")
    assert info.handicap == 2
    both = read_game(b"(;SZ[9]KM[7]KO[6.5]EV[a]TE[b];B[aa])")[1]
    assert (both.komi, both.event) == (7, "a")
    tree = read_tree(text.encode())
    tree.info = replace(tree.info, komi=None, event="")
    again = read_tree(write_tree(tree)).info
    assert (again.komi, again.event, str(again.date)) == (None, "", "2019-07-05")


@pytest.mark.parametrize("own", [b"TE[1]", b"TE[2]", b"KO[]"])
def test_a_tesuji_and_an_illegal_move_of_sgf_are_no_event_and_no_komi(own: bytes) -> None:
    tree = read_tree(b"(;SZ[9]%b;B[aa];W[bb])" % own)
    assert (tree.info.event, tree.info.komi, tree.problems) == ("", None, [])
    tree.info = replace(tree.info, event="Cup", komi=5.5)
    tree.info = replace(tree.info, event="", komi=6.5)
    assert own in write_tree(tree) and read_tree(write_tree(tree)).info == tree.info


def test_names_are_one_line_and_only_comments_have_more() -> None:
    """SGF's SimpleText: a line break is a space, an escaped one nothing; sgfmill's own properties are the check."""
    data = b"(;SZ[9]PB[Cho\r\nChikun]PW[Lee \\\nChangho]EV[a\n\nb]PC[x\ty]GC[two\nlines];B[ee])"
    _, info = read_game(data)
    root = sgfmill_sgf.Sgf_game.from_bytes(data).get_root()
    assert (info.black, info.white, info.event, info.place, info.comment) == tuple(
        root.get(name) for name in ("PB", "PW", "EV", "PC", "GC")
    )
    assert (info.black, info.white, info.comment) == ("Cho Chikun", "Lee Changho", "two\nlines")
    tree = read_tree(data)
    tree.info = replace(tree.info, place="z")
    assert b"PB[Cho\r\nChikun]" in write_tree(tree), "only what differs is written"


def test_values_that_a_terminal_would_obey_are_escaped() -> None:
    """The name of a player cleared the terminal of who reviewed the game."""
    _, info = read_game(b"(;SZ[9]PB[\x1b[2Jx]BR[\x1b[1m]GC[a\nb];B[aa])")
    assert (info.black, info.comment) == (r"\x1b[2Jx", "a\nb")
    tree = read_tree(b"(;SZ[9]AB[\x1b[2J];B[aa])")
    assert tree.problems == [r"a point off the board: AB[\x1b[2J] is not shown, but saved"]
    with pytest.raises(SgfError, match=r"GM\[\\x1b\[2J\]$"):
        read_game(b"(;GM[\x1b[2J];B[aa])")


def test_a_game_without_players_is_named_by_its_name_its_event_or_its_comment() -> None:
    info = SgfInfo(name="Problem 1", event="Cup")
    long = "White to kill.\n" + 60 * "白"
    assert [info.title(long), replace(info, name="").title(long)] == ["Problem 1", "Cup"]
    assert SgfInfo().title(long) == f"White to kill. {45 * '白'}\u2026" and SgfInfo().title(" a\nb ") == "a b"
    assert SgfInfo().title() == replace(info, white="Bo").title(long) == ""
    tree = read_tree(b"(;SZ[9]GN[Ten\nproblems]EV[x];B[aa])")
    assert tree.info.name == "Ten problems" and tree.info == read_record(write_tree(tree)).info
    tree.info = replace(tree.info, name="")
    assert b"GN" not in write_tree(tree)


@pytest.mark.parametrize(
    "points", [-400.0, -60.0, -3.5, 0.0, 2.5, 51.0, 99.5, 100.0, 123.5, 325.0, 375.0, 400.0, -123456.5, 1e6]
)
def test_any_komi_of_a_game_is_read_as_it_was_written(points: float) -> None:
    record = write_game(Game(9, "chinese", points).play("E5"))
    game, info = read_game(record)
    assert (game.komi, info.komi, read_tree(record).komi) == (points, points, points)
    assert read_game(record.replace(b"AP[Tengen]", b"AP[Tengen:0.9]"))[0].komi == points
    assert read_game(b"(;SZ[9]KM[375]AP[CGoban:3];B[ee])")[1].komi == 7.5, "other programs count stones"


@pytest.mark.parametrize("points", [6.0, 6.5])
@pytest.mark.parametrize("rules", ["aga-button", "aga"])
def test_the_komi_of_a_counted_game_is_kept(rules: str, points: float) -> None:
    """A button is half a point, so that a whole komi gives a half score."""
    game = Game(9, rules, points).play("E5")
    while not game.is_over:
        game.play("pass")
    score = game.score()
    assert (score - points).is_integer() == (rules == "aga")
    info = SgfInfo(result=Result(int(score < 0), score, "count"))
    record = write_game(game, info)
    assert read_game(record)[1].komi == points
    wrong = read_game(record.replace(b"aga-button", b"aga"))[1].komi
    assert wrong == (None if rules == "aga-button" else points)


@pytest.mark.parametrize("text", ["1048576.5", "6.25", "9" * 99, "-" + "9" * 99, "x"])
def test_a_komi_that_is_none_is_unknown(text: str) -> None:
    assert read_game(f"(;SZ[9]AP[Tengen]KM[{text}];B[ee])".encode())[1].komi is None


@pytest.mark.parametrize(
    ("root", "problem"),
    [
        (b"KM[7]RU[Japanese]RE[W+3.5]", "KM[7] contradicts RE[W+3.5]: read as komi 6.5"),
        (b"KM[6.5]RU[Japanese]RE[W+3.5]", ""),
        (b"KM[0]TC[3]TT[30]RU[Chinese]RE[W+R]", "KM[0] is wrong for an even game: read as komi 7.5"),
        (b"KM[what]RE[W+3.5]", ""),
        (b"KM[7.25]RU[Japanese]", "KM[7.25] is no possible komi: read as komi 6.5"),
        (b"RE[W+3.5]", ""),
        (b"KO[7.25]RU[Japanese]", "KO[7.25] is no possible komi: read as komi 6.5"),
    ],
)
def test_a_komi_that_is_not_believed_is_a_problem_of_the_tree(root: bytes, problem: str) -> None:
    assert read_tree(b"(;SZ[9]%b;B[aa];W[bb])" % root).problems == [problem] * bool(problem)
    assert read_tree(b"(;SZ[9]%b)" % root).problems == [], "no move could be read wrong"


def test_a_komi_that_is_not_believed_beside_unknown_rules_is_read() -> None:
    tree = read_tree(b"(;SZ[9]KM[7]RU[house]RE[W+3.5];B[aa];W[bb])")
    assert tree.komi == 7.5 and ["house" in tree.problems[0], "KM[7]" in tree.problems[1]] == [True, True]


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("Chinese", "chinese"),
        ("chinese rules", "chinese"),
        ("Chinese-OGS", "chinese-ogs"),
        ("Korean", "japanese"),
        ("AGA", "aga"),
        ("AGA rules 2013", "aga"),
        ("bga", "aga"),
        ("GOE", "ing"),
        ("Ing rules", "ing"),
        ("NZ", "new-zealand"),
        ("New Zealand", "new-zealand"),
        ("koPOSITIONALscoreAREAtaxNONEsui1", "tromp-taylor"),
        ('{"ko":"SIMPLE","scoring":"TERRITORY","suicide":false}', "japanese"),
        ("japanese,tax=none", "ko=simple,scoring=territory,suicide=false,bonus=none,tax=none"),
        ("Chinese area scoring, komi 7.5", "chinese"),
        ("\u4e2d\u56fd\u89c4\u5219", "chinese"),
        (json.dumps(Rules.parse("japanese").katago), "japanese"),  # fields with capitals, as hasButton
        ('{"hasButton":true}', "ko=positional,scoring=area,suicide=true,bonus=none,button=true"),
    ],
)
def test_rules_as_programs_write_them(text: str, name: str) -> None:
    game, info = read_game(f"(;SZ[9]RU[{text}];B[ee])".encode())
    assert (info.rules, info.unknown_rules, game.rules.text) == (name, "", name)


@pytest.mark.parametrize(
    "text",
    [
        *("Lasker-Maas", "Pair Go", "agape", "ko=never", "koSPIGHTscoreAREA", "1989"),
        # A known name with words that change the rules.
        *("Chinese,ko=bogus", "chinese,tax=foo", "Chinese with button", "japanese superko", "AGA Button Go", "koreanx"),
        "Japanese area",
    ],
)
def test_unknown_rules_are_not_guessed(text: str) -> None:
    """Not even where the komi suggests some: the game is read by rules that the caller names."""
    record = f"(;SZ[9]KM[7.5]RU[{text}];B[ee];W[ec])".encode()
    with pytest.raises(SgfError, match=rf"unknown rules: RU\[{text}\]"):
        read_game(record)
    game, info = read_game(record, rules="aga")
    assert (game.rules.text, info.rules, info.unknown_rules) == ("aga", "", text)
    tree = read_tree(record)
    assert len(tree.problems) == 1 and text in tree.problems[0] and len(tree.line(tree.root)) == 3
    tree.info = replace(tree.info, black="Ann")
    assert f"RU[{text}]".encode() in write_tree(tree), "the record keeps what it says"


@pytest.mark.parametrize("text", ["", "?", "unknown"])
def test_a_record_without_rules_is_guessed_by_its_komi(text: str) -> None:
    for points, name in ((7.5, "chinese"), (6.5, "japanese")):
        game, info = read_game(f"(;SZ[9]KM[{points}]RU[{text}];B[ee])".encode())
        assert (game.rules.text, info.rules, info.unknown_rules) == (name, "", "")

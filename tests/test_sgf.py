"""Game records in and out: real ones with their quirks, variations, and any text that is none."""

from __future__ import annotations

import datetime
import io
import json
import lzma
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sgfmill import sgf as sgfmill_sgf

from tengen.coords import MAX_SIZE
from tengen.errors import SgfError
from tengen.game import BLACK, WHITE, Game
from tengen.rules import Rules
from tengen.sgf import GameTree, Result, SgfInfo, read_game, read_tree, split_trees, write_game, write_tree
from tengen.sgf.charset import guess_charset
from tengen.sgf.grammar import read_line
from tengen.sgf.values import date, komi, rank, rank_strength, result, rules, rules_name

GAMES = Path(__file__).parent / "data"


def tygem_games() -> list[bytes]:
    with lzma.open(GAMES / "tygem-300.sgf.xz") as stream:
        return list(split_trees(stream))


def sgfmill_moves(data: bytes) -> list[tuple[int, int]]:
    """The main line as sgfmill's own property layer reads it: the independent check."""
    game = sgfmill_sgf.Sgf_game.from_bytes(data)
    size = game.get_size()
    moves = []
    for node in game.get_main_sequence():
        color, place = node.get_move()
        if color:
            moves.append(("bw".index(color), size * size if place is None else (size - 1 - place[0]) * size + place[1]))
    return moves


def test_moves_are_those_that_sgfmill_reads() -> None:
    games = tygem_games()
    assert len(games) == 300
    for data in games:
        assert read_game(data)[0].moves == sgfmill_moves(data)


def test_read_and_write_give_the_same_game() -> None:
    for path in sorted(GAMES.glob("*.sgf")):
        try:
            game, info = read_game(path)
        except SgfError:
            continue
        again, info_again = read_game(write_game(game, info))
        assert (again.moves, again.setup_stones) == (game.moves, game.setup_stones), path.name
        assert (info_again.black, info_again.date, info_again.white_rank) == (info.black, info.date, info.white_rank)


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


@pytest.mark.parametrize(
    ("setup", "black", "white", "first"),
    [
        ("AB[aa][bb]", {0, 10}, set(), WHITE),
        ("AB[aa]", {0}, set(), BLACK),
        ("AB[aa]PL[W]", {0}, set(), WHITE),
        ("AB[aa][bb]PL[B]", {0, 10}, set(), BLACK),
        ("AB[aa][bb]AW[cc]", {0, 10}, {20}, BLACK),
        ("AW[aa][bb]", set(), {0, 10}, BLACK),
        ("AB[aa][bb][cc];AE[aa]", {10, 20}, set(), WHITE),
    ],
)
def test_who_begins_after_a_setup_without_moves(setup: str, black: set[int], white: set[int], first: int) -> None:
    """White after two stones or more of Black's alone, and whom PL names."""
    game, _ = read_game(f"(;SZ[9]{setup})".encode())
    stones = game.board.ravel()
    assert (set(np.flatnonzero(stones == BLACK)), set(np.flatnonzero(stones == WHITE))) == (black, white)
    assert game.to_play == first


@pytest.mark.parametrize("extra", [b"AB[]", b"AW[]AE[]", b"AB[][cc]", b"AE[ ]"])
def test_a_setup_of_nothing_is_none(extra: bytes) -> None:
    data = b"(;SZ[9]" + extra + b";B[ee];W[dd])"
    (game, _), tree = read_game(data), read_tree(data)
    assert game.setup_stones == [(0, 20)] * (b"cc" in extra)
    assert len(game.moves) == 2 and tree.problems == [] and len(tree.line(tree.root)) == 3
    assert read_tree(write_tree(tree)).root.properties == tree.root.properties, "the record keeps what it says"


def test_broken_utf8_keeps_what_can_be_read() -> None:
    _, info = read_game(GAMES / "fox-broken-utf8.sgf")
    assert "\ufffd" in info.black + info.white
    assert info.black_rank == "9d"
    assert info.white_rank.endswith("p")


def test_gbk_text_in_any_place() -> None:
    text = "(;GM[1]SZ[9]PB[古力]PW[李]RE[黑中盘胜];B[ee])"
    _, info = read_game(text.encode("gb18030"))
    assert (info.black, info.white, str(info.result)) == ("古力", "李", "B+R")
    bracket = "(;GM[1]SZ[9]PB[刓]PW[古力];B[ee])"  # the second byte of the first name is a backslash
    assert len(read_game(bracket.encode("gb18030"))[0].moves) == 1


@pytest.mark.parametrize(
    "charset, white, black, event",
    [
        ("cp1252", "André", "Jörg Müller", "Coupe de Genève à"),
        ("cp949", "이세돌", "박정환", "제15회 농심신라면배"),
        ("cp932", "井山裕太", "羽根直樹", "棋聖戦第一局"),
        ("big5", "周俊勳", "張栩", "應氏盃"),
        ("cp1251", "Шикшин Илья", "Пётр", "Чемпионат России"),
        ("gb18030", "李昌镐", "芈昱廷", "春兰杯世界围棋锦标赛"),
    ],
)
def test_the_language_shows_an_encoding_that_is_not_declared(charset: str, white: str, black: str, event: str) -> None:
    """A bracket after the last byte is one, and no second byte of a Chinese character."""
    text = f"(;GM[1]SZ[9]PW[{white}]PB[{black}]EV[{event}];B[ee];W[dd]C[{event}];B[cc])"
    game, info = read_game(text.encode(charset))
    assert (info.white, info.black, info.event, len(game.moves)) == (white, black, event, 3)


@pytest.mark.parametrize("charset", ["UTF-16", "utf-16-be", "UTF-32", "cp037"])
@pytest.mark.parametrize("more", ["", "x", "xy", "xyz"])
def test_a_record_of_plain_bytes_is_in_no_wide_encoding(charset: str, more: str) -> None:
    """Converted by a program that left the declaration; what decodes by chance hangs on the length."""
    data = f"(;GM[1]SZ[19]CA[{charset}]PB[黄翊祖]PW[朴廷桓]C[{more}];B[pd];W[dd])".encode("gbk")
    game, info = read_game(data)
    assert (info.black, len(game.moves)) == ("黄翊祖", 2)
    assert read_tree(data).info.white == "朴廷桓"


@pytest.mark.parametrize("charset", ["raw_unicode_escape", "unicode_escape", "Unicode-Escape"])
def test_escapes_of_python_are_no_character_set(charset: str) -> None:
    """They would make half of a surrogate pair, which no text in UTF-8 can hold."""
    text = f"(;GM[1]SZ[9]CA[{charset}]PB[\\ud800 é\\]];B[aa];W[bb])".encode("latin-1")
    assert len(read_game(text)[0].moves) == 2 and len(list(split_trees(io.BytesIO(text)))) == 1
    tree = read_tree(text)
    tree.root.comment = "é"
    assert read_tree(write_tree(tree)).info.black == tree.info.black == "ud800 é]"


def test_a_tree_of_undeclared_gbk_ends_at_its_own_bracket() -> None:
    """Second bytes of characters are brackets and escapes."""
    game = "(;GM[1]SZ[9]PB[古力]PW[李昌镐]EV[刓 春兰杯世界围棋锦标赛];B[ee]C[刓乗 (黑中盘胜 媇];W[dd])"
    trees = list(split_trees(io.BytesIO(2 * game.encode("gb18030"))))
    assert [tree.decode("gb18030") for tree in trees] == [game, game]


HALF_BRACKETS = {  # characters whose second byte is [, \\ or ], and others
    "Shift_JIS": "ゼ能ゾー表転ソ日本ｱﾜ",
    "Big5": "許功蓋育琵琶中國",
    "gb18030": "刓丱乗媆媅媇中国\U00020000",
}


@given(st.data(), st.sampled_from(sorted(HALF_BRACKETS)))
@settings(max_examples=200)
def test_characters_that_hold_a_bracket_cut_no_tree(data: st.DataObject, charset: str) -> None:
    """Trees in an encoding of two bytes are those of the same text in UTF-8, with what follows them.

    White's name is no UTF-8 in any of the encodings.
    """
    words = st.text([*HALF_BRACKETS[charset], *"a ()[:;B"], max_size=8)
    a, b, c = (data.draw(words).replace("\\", "\\\\").replace("]", "\\]") for _ in range(3))
    game = f"(;SZ[9]CA[{charset}]PW[中本]PB[{a}];B[ee]C[{b}](;W[dd]C[{c}\\]])(;W[cc];B[aa]))"
    text = f"{game}\n(;SZ[9];B[aa])\n{game}"
    trees = list(split_trees(io.BytesIO(text.encode(charset))))
    assert [tree.decode(charset) for tree in trees] == [game, "(;SZ[9];B[aa])", game]
    tree = read_tree(text.encode(charset))
    assert len(tree) == 5 and tree.problems == []
    assert len(read_game(text.encode(charset))[0].moves) == 2
    comments = [node.comment for node in read_tree(text.encode()).walk()]
    assert [node.comment for node in tree.walk()] == comments


@pytest.mark.parametrize("name", ["fox-truncated-1", "fox-truncated-2", "fox-truncated-3", "fox-truncated-4"])
def test_a_truncated_game_says_so_and_can_be_read_in_part(name: str) -> None:
    path = GAMES / f"{name}.sgf"
    with pytest.raises(SgfError, match="breaks off"):
        read_game(path)
    game, _ = read_game(path, partial=True)
    assert 150 <= len(game.moves) <= 155


def test_an_illegal_move_is_named() -> None:
    with pytest.raises(SgfError, match="move 282, White S1, is illegal: ko"):
        read_game(GAMES / "fox-illegal-ko.sgf")
    assert len(read_game(GAMES / "fox-illegal-ko.sgf", partial=True)[0].moves) == 281


@pytest.mark.parametrize(
    ("tail", "reason"),
    [
        (b";W[ee];B[cc])", "occupied"),
        (b";AB[cc])", "mid-game"),
        (b";W[zz])", "off the board"),
        (b";W[cc]B[dd])", "two moves"),
        (b"C[never closed", "breaks off"),
    ],
)
def test_moves_before_the_damage_can_be_read_alone(tail: bytes, reason: str) -> None:
    record = b"(;SZ[9]AB[aa];W[gg];B[ee]" + tail
    whole = sgfmill_moves(b"(;SZ[9]AB[aa];W[gg];B[ee])")
    for count in range(3):
        game, _ = read_game(record, moves=count)
        assert (game.moves, game.setup_stones, game.first_to_play) == (whole[:count], [(0, 0)], 1)
    with pytest.raises(SgfError, match=reason):
        read_game(record, moves=3)
    assert len(read_game(b"(;SZ[9];B[aa])", moves=3)[0].moves) == 1
    with pytest.raises(ValueError, match="no -1 moves"):
        read_game(b"(;SZ[9];B[aa])", moves=-1)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (b"", "no game tree"),
        (b"hello", "no game tree"),
        (b"(;GM[40];B[aa])", "not a game of Go"),
        (b"(;SZ[19:13];B[aa])", "not square"),
        (b"(;SZ[1];B[aa])", f"2 to {MAX_SIZE}"),
        (b"(;SZ[26];B[aa])", f"2 to {MAX_SIZE}"),
        (b"(;SZ[x];B[aa])", f"2 to {MAX_SIZE}"),
        (b"(;SZ[00000001900000];B[aa])", f"2 to {MAX_SIZE}"),
        (b"(;SZ[9];B[zz])", "off the board"),
        (b"(;SZ[9];B[aa]W[bb])", "two moves"),
        (b"(;SZ[9];B[aa];AB[cc];W[bb])", "mid-game"),
        (b"(;SZ[9]AB[zz];W[bb])", "off the board"),
        (b"(;SZ[9]HA[5];W[bb])", "handicap stones not given"),
        (b"(;SZ[9];B[aa];W[aa])", "occupied"),
        (b"(;gm[1]sz[9];b[ee];w[ec])", "small letters"),
        (b"(;GM[1]SZ[9];b[ee];w[ec])", "small letters"),
    ],
)
def test_what_cannot_be_a_game_is_refused_with_its_reason(text: bytes, reason: str) -> None:
    with pytest.raises(SgfError, match=reason):
        read_game(text)


def test_a_broken_game_does_not_spoil_the_next() -> None:
    whole = b"(;GM[1]SZ[9];B[aa];W[bb])"
    broken = [whole[:-1], whole[:18], b"(;GM[1]C[never closed \\];B[aa])", b"(;GM[1](((;B[cc]", b"(;GM[1];B[aa]"]
    for bad in broken:
        trees = list(split_trees(io.BytesIO(whole + b"\n" + bad + b"\n" + whole)))
        assert trees[0] == whole
        assert trees[-1] == whole
        assert len(trees) == 3


def test_text_with_brackets_is_no_boundary() -> None:
    tree = rb"(;GM[1]C[(;GM[1\] is no game \\];B[aa](;W[bb]C[\)\]];B[cc])(;W[dd]))"
    assert list(split_trees(io.BytesIO(b"noise ) ] " + tree + b" more ("))) == [tree]


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=30)
def test_trees_are_cut_alike_however_the_stream_comes(steps: list[int], skip: int) -> None:
    trees = [b"(;GM[1]C[a\\]b];B[aa](;W[bb])(;W[cc]))", b"( ;B[dd])", b"(;GM[1]SZ[9];B[aa];W[bb])"]
    data = b"x" * skip + b"\r\n".join(trees)

    class Dribble(io.BytesIO):
        calls = 0

        def read(self, size: int | None = -1, /) -> bytes:
            self.calls += 1
            return super().read(steps[self.calls % len(steps)])

    assert list(split_trees(Dribble(data))) == trees


def test_the_fast_lane_reads_what_the_grammar_reads() -> None:
    plain = b"(;GM[1]SZ[19]C[;B[aa\\]];AB[aa][bb] ;W[cc];B[dd]\n;W[ee])"
    fast, slow = read_line(plain), read_line(plain.replace(b"W[ee]", b"W[ee]N[x]"))
    assert len(fast.plain) == 3
    assert len(slow.plain) == 0
    assert [n.get("B", n.get("W")) for n in slow.nodes[-3:]] == [[b"cc"], [b"dd"], [b"ee"]]
    assert fast.nodes[0] == slow.nodes[0]


def test_write_game_says_all() -> None:
    game = Game(9, "japanese", 5.5)
    game.setup(black=["C3", "G7"], to_play=1)
    game.play("E5").play("pass")
    info = SgfInfo(black="Ann ]", result=Result(0, 3.5, "count"), date=datetime.date(2024, 2, 29))
    again, read = read_game(write_game(game, info, comments=["first \\ ]", "second"]))
    assert again.moves == game.moves
    assert sorted(again.setup_stones) == sorted(game.setup_stones)
    assert (again.komi, again.rules.text) == (5.5, "japanese")
    assert (read.black, str(read.result), read.date, read.handicap) == ("Ann ]", "B+3.5", info.date, 2)
    nodes = list(read_tree(write_game(game, info, comments=["first \\ ]", "second"])).walk())
    assert [node.comment for node in nodes] == ["", "first \\ ]", "second"]


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
        *[(".5", (0.5, False)), ("6目半", (6.5, False)), ("6집반", (6.5, False)), ("半目", (0.5, False))],
    ],
)
def test_komi(text: str, expected: tuple[float | None, bool]) -> None:
    assert komi(text) == expected


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


def test_dates_rules_and_charsets() -> None:
    assert date("2016-07-10,11") == datetime.date(2016, 7, 10)
    assert date("2016年7月") == datetime.date(2016, 7, 1)
    assert date("1970-01-01") is None
    assert date("2016-13-45") is None
    assert date("20160710") == date("20160710T093000") == datetime.date(2016, 7, 10)
    assert date("2016 12:00") == datetime.date(2016, 1, 1)
    assert rules("Japanese") == "japanese"
    assert rules("ko=simple,scoring=area,suicide=false,bonus=none") != ""
    assert rules("ko=never") == ""
    assert guess_charset("段 and more 段".encode() + b"\xe5?") == "utf-8"
    assert guess_charset("José Mart".encode() + b"\xc3") == guess_charset("Крамник".encode()[:-1]) == "utf-8"
    assert guess_charset("PB[李昌镐]".encode().replace(b"\xe6\x98", b"\xe6?")) == "utf-8"
    assert guess_charset(b"(;B[aa])") == guess_charset(b"C[\x1b$B(]") == "utf-8"
    assert guess_charset("李昌镐九段".encode("gb18030")) == "gb18030"
    assert guess_charset("日本".encode("shift_jis"), "shift_jis") == "shift_jis"
    assert guess_charset(b"\xff\xfe", "no such charset") == "cp1252"


JAPANESE = "第七十三期本因坊戦挑戦手合 黒番の布石はおもしろい"
"""In ISO-2022-JP its characters have the bytes of brackets, of an escape and of a semicolon."""


@pytest.mark.parametrize("charset", ["euc_jp", "iso2022_jp", "cp932", "utf-16", "utf-16-be"])
@pytest.mark.parametrize("again", ["", "(;SZ[9]PB[Bea];B[bb])"])
def test_japanese_without_a_declared_encoding(charset: str, again: str) -> None:
    mark = "\ufeff" if charset == "utf-16-be" else ""
    data = f"{mark}(;GM[1]SZ[19]GC[{JAPANESE}]PB[張栩]PW[山下ひろし];B[pd]C[ツケ];W[dd](;B[pq])(;B[dp])){again}".encode(
        charset
    )
    games = list(split_trees(io.BytesIO(data)))
    assert len(games) == 1 + bool(again)
    game, info = read_game(data)
    tree = read_tree(data)
    for found in (info, tree.info, read_tree(write_tree(tree)).info):
        assert (found.comment, found.black, found.white) == (JAPANESE, "張栩", "山下ひろし")
    assert len(game.moves) == 3 and tree.problems == [] and tree.line(tree.root)[1].comment == "ツケ"
    tree.root.comment = "ほ"
    assert read_tree(write_tree(tree)).info == tree.info


@pytest.mark.parametrize(
    ("text", "charset"),
    [
        ("中國人大不了在有我他 下了一手好棋", "big5"),
        ("第十届应氏杯世界职业围棋锦标赛 柯洁 黑中盘胜", "gb18030"),
        ("제25회 삼성화재배 월드바둑마스터스 신진서 흑 불계승", "cp949"),
        # Half of the bytes or more are sequences of UTF-8.
        *[("PB[古力]PW[时越]", "gb18030"), ("PB[古力]PW[小林光一]", "gb18030"), ("PB[檀啸]PW[黑嘉嘉]", "gb18030")],
        # Alone, likelier to be Big5, or Korean.
        *[("PB[常昊]PW[柯洁]", "gb18030"), ("PB[古力]PW[芈昱廷]", "gb18030")],
    ],
)
def test_other_encodings_are_not_taken_for_japanese_or_utf8(text: str, charset: str) -> None:
    assert guess_charset(text.encode(charset)) == charset


@pytest.mark.parametrize(
    ("root", "problem"),
    [
        (b"KM[7]RU[Japanese]RE[W+3.5]", "KM[7] contradicts RE[W+3.5]: read as komi 6.5"),
        (b"KM[6.5]RU[Japanese]RE[W+3.5]", ""),
        (b"KM[0]TC[3]TT[30]RU[Chinese]RE[W+R]", "KM[0] is wrong for an even game: read as komi 7.5"),
        (b"KM[what]RE[W+3.5]", ""),
        (b"KM[7.25]RU[Japanese]", "KM[7.25] is no possible komi: read as komi 6.5"),
        (b"RE[W+3.5]", ""),
    ],
)
def test_a_komi_that_is_not_believed_is_a_problem_of_the_tree(root: bytes, problem: str) -> None:
    assert read_tree(b"(;SZ[9]%b;B[aa];W[bb])" % root).problems == [problem] * bool(problem)
    assert read_tree(b"(;SZ[9]%b)" % root).problems == [], "no move could be read wrong"


def test_a_komi_that_is_not_believed_beside_unknown_rules_is_read() -> None:
    tree = read_tree(b"(;SZ[9]KM[7]RU[house]RE[W+3.5];B[aa];W[bb])")
    assert tree.komi == 7.5 and ["house" in tree.problems[0], "KM[7]" in tree.problems[1]] == [True, True]


WORDS = rb"( ) ; [ ] \ B W AB SZ[9] GM[1] HA[2] KM[375] RE[B+R] [aa] [tt] [] B[bb] ;W[cc] (; C[ PL[W] AB[aa:zz]".split()
PIECES = st.sampled_from([*WORDS, b"\xff", b"\0", b"\n", b"\xc4\xe3", b"\x84\\"])


@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(b"".join)))
@settings(max_examples=400)
def test_hostile_text_is_a_game_or_an_sgf_error(data: bytes) -> None:
    for tree in [data, *split_trees(io.BytesIO(data))]:
        for read in (read_game, read_tree):
            try:
                read(tree)
            except SgfError:
                continue


def test_a_result_that_needs_no_count_is_written() -> None:
    game = Game(9).play("E5")
    assert b"RE[" not in write_game(game)
    assert b"RE[" not in write_game(game.copy().play(None).play(None)), "the dead stones are not known"
    assert b"RE[B+R]" in write_game(game.copy().resign())
    assert b"RE[W+2.5]" in write_game(game.copy().resign(), SgfInfo(result=Result(1, -2.5, "count")))
    assert b"RE[Void]" in write_game(game.limit_moves(1, no_result=True))


def test_a_game_is_written_as_its_tree_is() -> None:
    game = Game(9)
    game.place_handicap(2)
    for move in ("E5", "C4", "pass", "G6"):
        game.play(move)
    comments = ["a ] b \\ :é", "", "two\nlines"]
    tree = GameTree.of_game(game, SgfInfo(black="x]y"))
    for node, comment in zip(tree.line(tree.root)[1:], comments, strict=False):
        node.comment = comment
    written = read_tree(write_game(game, SgfInfo(black="x]y"), comments))
    assert [node.properties for node in written.line(written.root)] == [
        node.properties for node in tree.line(tree.root)
    ]


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


@pytest.mark.parametrize("text", ["Korean", " korea ", "\ud55c\uad6d", "KR"])
def test_korean_rules_keep_their_name(text: str) -> None:
    assert (rules(text), rules_name(text)) == ("japanese", "korean")


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

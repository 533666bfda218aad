"""The encoding of records that declare none, or a wrong one."""

from __future__ import annotations

import codecs
import io
from pathlib import Path

import pytest
from sgfmill import sgf

from tengen.sgf import read_game, read_tree, split_trees, write_tree
from tengen.sgf.charset import guess_charset

GAMES = Path(__file__).parents[1] / "data"


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


@pytest.mark.parametrize("charset", ["utf-16", "utf-8-sig"])
@pytest.mark.parametrize("declared", ["", "CA[UTF-16]", "CA[utf-16le]", "CA[GB2312]", "FF[4] CA [Shift_JIS]", "CA[]"])
def test_a_game_of_a_file_with_a_byte_order_mark_declares_what_it_became(charset: str, declared: str) -> None:
    """Other programs take a game without a declaration for Latin-1, as the standard says."""
    text = f"(;GM[1]{declared}SZ[9]PB[張栩];B[aa];W[bb])\n( ;GM[1]SZ[9]PW[井山];B[aa])(;GM[1]SZ[9];B[aa])"
    one, two, plain = split_trees(io.BytesIO(text.encode(charset)))
    assert plain == b"(;GM[1]SZ[9];B[aa])"
    for tree, name, value in ((one, "PB", "張栩"), (two, "PW", "井山")):
        written = write_tree(read_tree(tree))
        root = sgf.Sgf_game.from_bytes(written).get_root()
        assert (root.get("CA"), root.get(name)) == ("UTF-8", value) and written.count(b"CA[UTF-8]") == 1
        assert b"Shift" not in written and b"GB" not in written
    assert write_tree(read_tree(text.encode(charset))) == write_tree(read_tree(one))


def test_a_declaration_in_a_comment_is_text() -> None:
    text = "(;GM[1]C[棋 CA[GBK]SZ[9]PB[張栩];B[aa]C[CA[Big5])"
    (tree,) = split_trees(io.BytesIO(text.encode("utf-8-sig")))
    assert tree == b"(;CA[UTF-8]" + text.encode()[2:]


@pytest.mark.parametrize("declared", ["CA[GBK]", ""])
def test_what_is_no_utf8_in_spite_of_its_mark_stays_as_it_is(declared: str) -> None:
    data = f"(;GM[1]{declared}SZ[9]PB[古力]PW[李昌镐];B[aa])".encode("gbk")
    assert list(split_trees(io.BytesIO(codecs.BOM_UTF8 + data))) == [data]
    assert read_tree(codecs.BOM_UTF8 + data).info.white == "李昌镐"


@pytest.mark.parametrize("charset", ["raw_unicode_escape", "unicode_escape", "Unicode-Escape"])
def test_escapes_of_python_are_no_character_set(charset: str) -> None:
    """They would make half of a surrogate pair, which no text in UTF-8 can hold."""
    text = f"(;GM[1]SZ[9]CA[{charset}]PB[\\ud800 é\\]];B[aa];W[bb])".encode("latin-1")
    assert len(read_game(text)[0].moves) == 2 and len(list(split_trees(io.BytesIO(text)))) == 1
    tree = read_tree(text)
    tree.root.comment = "é"
    assert read_tree(write_tree(tree)).info.black == tree.info.black == "ud800 é]"


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


def test_utf8_a_declared_encoding_and_none() -> None:
    assert guess_charset("段 and more 段".encode() + b"\xe5?") == "utf-8"
    assert guess_charset("José Mart".encode() + b"\xc3") == guess_charset("Крамник".encode()[:-1]) == "utf-8"
    assert guess_charset("PB[李昌镐]".encode().replace(b"\xe6\x98", b"\xe6?")) == "utf-8"
    assert guess_charset(b"(;B[aa])") == guess_charset(b"C[\x1b$B(]") == "utf-8"
    assert guess_charset("李昌镐九段".encode("gb18030")) == "gb18030"
    assert guess_charset("日本".encode("shift_jis"), "shift_jis") == "shift_jis"
    assert guess_charset(b"\xff\xfe", "no such charset") == "cp1252"

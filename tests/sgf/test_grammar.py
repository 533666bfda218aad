"""How a text is cut into game trees, and its main line read; any text that is no record."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.errors import SgfError
from tengen.sgf import read_game, read_tree, split_trees, write_tree
from tengen.sgf.grammar import parse_tree, read_line


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


def test_a_root_without_its_semicolon_begins_a_game() -> None:
    """As the Nihon Ki-in and Cyberoro write records; text in brackets between games does not."""
    bare, whole = "(\r\nTE[本因坊戦]\r\nRD[2019-07-05]\r\nPB[a(b]\r\n;B[pd];W[dd](;B[pp])(;B[dp]))", "(;SZ[9];B[aa])"
    text = f"A game (see [1], (TE) and (B [2])):\r\n{bare}\r\n{whole}\r\n{bare}".encode("cp932")
    mended = bare.replace("(\r\n", "(;\r\n", 1).encode("cp932")
    assert list(split_trees(io.BytesIO(text))) == [mended, whole.encode(), mended]
    tree = read_tree(text)
    assert len(tree) == 5 and tree.problems == [] and tree.info.black == "a(b"
    assert read_tree(write_tree(tree)).root.properties == tree.root.properties
    assert len(read_game(text)[0].moves) == 3


def test_a_name_with_digits_is_kept() -> None:
    """LizzieYzy's in the root and in a variation; one that looks like the stand-in; one without capital letters."""
    root = b"(;SZ[9]LZ[a]LZOP2[K 4.5\nmove D4 [\\]]QZQZAA[c]1[x]My_Name2[d]"
    tree = read_tree(root + b";B[aa](;W[bb]LZ2[x][y]C[z];B[cc])(;W[dd]))")
    assert tree.problems == [] and len(tree) == 5
    assert list(tree.root.properties) == ["SZ", "LZ", "LZOP2", "QZQZAA", "M_N2"]
    written = write_tree(tree)
    assert b"LZOP2[K 4.5\nmove D4 [\\]]" in written and b"(;W[bb]LZ2[x][y]C[z];" in written
    assert [node.properties for node in read_tree(written).walk()] == [node.properties for node in tree.walk()]
    game, _ = read_game(root + b";B[aa];W[bb])")
    assert len(game.moves) == 2
    long = read_tree(b"(;SZ[9]%b2[x];B[aa])" % (b"A" * 90))
    assert len(long) == 2 and list(long.root.properties) == ["SZ"]


LOST = ": what follows is lost when the record is saved"


@pytest.mark.parametrize(
    ("text", "nodes", "problem"),
    [
        (b";B[aa](;W[bb]C[x];B[cc])(;W[dd])", 5, "the text breaks off"),  # only the last bracket is missing
        (b";B[aa](;W[bb];B[cc])(;W[dd];B[ee", 5, f"the text breaks off{LOST}"),
        (b";B[aa](;W[bb])(;W[dd];B[ee]C[x", 5, f"the text breaks off{LOST}"),
        (b";B[aa](;W[bb])(;W[dd]) here [;B[ee])", 4, f"the text is damaged{LOST}"),
        (b";B[aa](;W[bb]KO;B[cc])(;W[dd]))", 3, f"the text is damaged{LOST}"),
        (b";B[aa]()(;W[bb])())", 3, ""),
        (b";B[aa]();W[bb])", 3, ""),
        (b"()", 1, "the text breaks off"),
    ],
)
def test_a_damaged_text_keeps_its_variations(text: bytes, nodes: int, problem: str) -> None:
    tree = read_tree(b"(;SZ[9]" + text)
    assert (len(tree), tree.problems) == (nodes, [problem] * bool(problem))
    assert len(read_tree(write_tree(tree))) == nodes


@pytest.mark.parametrize(
    ("text", "like"),
    [
        (b";B[aa];W[bb](C[hi];B[cc];W[dd])", b";B[aa];W[bb](;C[hi];B[cc];W[dd])"),
        (b";B[aa](W[bb];B[cc])(W[dd])", b";B[aa](;W[bb];B[cc])(;W[dd])"),
        (b"(LZ2[x]PB[y];B[aa];W[bb];B[cc])", b"(;LZ2[x]PB[y];B[aa];W[bb];B[cc])"),
        (b";B[aa]((;W[bb];B[cc]))", b";B[aa](;W[bb];B[cc])"),
        (b";B[aa](((W[bb];B[cc])))", b";B[aa](;W[bb];B[cc])"),
        (b";B[aa]((;W[bb](;B[cc])((;B[dd])))(;W[ee]))(;W[ff])", b";B[aa](;W[bb](;B[cc])(;B[dd]))(;W[ee])(;W[ff])"),
        (b";B[aa](()(;W[bb])((())))(;W[cc])", b";B[aa](;W[bb])(;W[cc])"),
    ],
)
def test_variations_with_a_missing_semicolon_or_doubled_brackets_are_whole(text: bytes, like: bytes) -> None:
    tree, other = (read_tree(b"(;SZ[9]%b)" % part) for part in (text, like))
    assert tree.problems == [] and write_tree(tree) == write_tree(other)
    assert len(read_game(b"(;SZ[9]%b)" % text)[0].moves) == len(read_game(b"(;SZ[9]%b)" % like)[0].moves) > 1
    if b"((" in text:  # the last bracket closes the tree no more
        stray = read_tree(b"(;SZ[9]" + text)
        assert stray.problems == ["the text breaks off"] and write_tree(stray) == write_tree(other)


def test_hostile_brackets_and_names_take_linear_time() -> None:
    for part in (b"A1", b"[a\\]", b"(", b"()", b"(()", b"a ", b"1 ", b"["):
        text = b"1[]" + part * 100_000
        assert parse_tree(b"(;" + text).tree.children == []


@given(st.lists(st.integers(1, 40), min_size=1, max_size=4), st.integers(0, 3))
@settings(max_examples=30)
def test_trees_are_cut_alike_however_the_stream_comes(steps: list[int], skip: int) -> None:
    trees = [b"(;GM[1]C[a\\]b];B[aa](;W[bb])(;W[cc]))", b"( ;B[dd])", b"(; TE[(x]PB[y];B[aa])", b"(;GM[1]SZ[9];B[aa])"]
    data = b"x" * skip + b"\r\n".join(trees).replace(b"; TE", b" TE")

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


WORDS = rb"( ) ; [ ] \ B W AB SZ[9] GM[1] HA[2] KM[375] RE[B+R] [aa] [tt] [] B[bb] ;W[cc] (; C[ PL[W] AB[aa:zz]".split()
OTHER = [b"LZ2", b"LZ2[a]", b"()", b"((", b"))", b"(B[aa]", b"AB[zz]"]
PIECES = st.sampled_from([*WORDS, *OTHER, b"\xff", b"\0", b"\n", b"\xc4\xe3", b"\x84\\"])


@given(st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=40).map(b"".join)))
@settings(max_examples=400)
def test_hostile_text_is_a_game_or_an_sgf_error(data: bytes) -> None:
    for tree in [data, *split_trees(io.BytesIO(data))]:
        for read in (read_game, read_tree):
            try:
                read(tree)
            except SgfError:
                continue

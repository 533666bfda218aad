"""A game of one line of play from SGF and to SGF: real records, damaged ones, and what is none."""

from __future__ import annotations

import datetime
import lzma
from pathlib import Path

import numpy as np
import pytest
from sgfmill import sgf as sgfmill_sgf

from tengen.coords import MAX_SIZE
from tengen.errors import SgfError
from tengen.game import BLACK, WHITE, Game
from tengen.sgf import GameTree, Result, SgfInfo, read_game, read_tree, split_trees, write_game, write_tree

GAMES = Path(__file__).parents[1] / "data"


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


@pytest.mark.parametrize(("size", "letter"), [(9, "j"), (13, "n"), (18, "s"), (19, "t")])
def test_a_move_to_the_point_past_the_board_is_a_pass(size: int, letter: str) -> None:
    """As Lizzie and LizzieYzy write it; in a plain row of moves and elsewhere. Other points off the board are none."""
    moves = f"(;SZ[{size}];B[cc];W[{letter * 2}];B[{letter * 2}]"
    for text in (f"{moves};W[dd])", f"{moves};W[dd]N[x])"):
        game, tree = read_game(text.encode())[0], read_tree(text.encode())
        row = [node.move for node in tree.main_line() if node.move]
        assert game.moves == row and [point for _, point in row[1:3]] == [size * size] * 2
        assert tree.problems == [] and f";W[{letter * 2}];B[{letter * 2}]".encode() in write_tree(tree)
    for other in (f"c{letter}", f"{letter}c"):
        with pytest.raises(SgfError, match="off the board"):
            read_game(f"(;SZ[{size}];B[aa];W[{other}])".encode())


@pytest.mark.parametrize("setup", ["AB[zz][dd]", "AB[tt][dd]", "AB[dd][bb:zz]"])
def test_a_stone_off_the_board_is_left_out_and_kept(setup: str) -> None:
    data = f"(;SZ[9]{setup}TR[zz][cc];W[ee];B[ff])".encode()
    tree = read_tree(data)
    value = next(part for part in ("[zz]", "[tt]", "[bb:zz]") if part in setup)
    assert tree.problems == [f"a point off the board: AB{value} is not shown, but saved"]
    assert (tree.root.setup, list(tree.root.marks), len(tree.line(tree.root))) == ({30: 0}, [20], 3)
    assert tree.position(tree.line(tree.root)[-1]).board.ravel()[30] == BLACK
    assert tree.root.properties == read_tree(write_tree(tree)).root.properties
    with pytest.raises(SgfError, match="off the board: AB"):
        read_game(data)


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


@pytest.mark.parametrize(("size", "place"), [(9, "ja"), (9, "aj"), (9, "kk"), (13, "na"), (13, "an")])
def test_a_move_one_line_off_a_small_board_is_refused(size: int, place: str) -> None:
    record = f"(;SZ[{size}];B[aa];W[{place}];B[bb])".encode()
    with pytest.raises(SgfError, match="off the board: after move 1"):
        read_game(record)
    assert read_game(record, partial=True)[0].moves == [(BLACK, 0)]


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

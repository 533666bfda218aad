"""Sessions from records and back."""

from __future__ import annotations

import lzma
import re
from pathlib import Path

import pytest

from tengen.errors import SgfError
from tengen.sgf import GameNode, read_game, read_tree
from tengen.web import session as session_module
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode
from tengen.web.view import tree_layout

BRANCHED = b"""(;GM[1]FF[4]SZ[9]KM[6.5]RU[Japanese]PB[Anna]BR[3k]PW[Bo]RE[W+R]EV[Cup]AB[gg]C[start]
;B[cc]C[first](;W[ee];B[ce]LB[cc:A])(;W[eg]C[other];B[gc];W[aa]))"""


def points(session: GameSession) -> list[int]:
    return [point for _, point in session.game.moves]


def test_a_record_opens_at_its_start_with_all_it_says() -> None:
    session, problems = GameSession.from_record(BRANCHED)
    assert problems == [] and session.place == 0 and session.settings.mode is Mode.ANALYZE
    assert session.names == ("Anna", "Bo") and session.details == ("3k", "komi 6.5")
    assert session.node.comment == "start" and session.view().stones.count("X") == 1
    session.seek(99)
    assert points(session) == [20, 40, 38]
    assert session.phase is Phase.OVER and session.status() == "White wins by resignation"
    session.play(0)
    assert points(session)[-1] == 0, "a resigned game can be played on in analysis"


def test_variations_comments_and_strange_properties_survive_a_round_trip() -> None:
    session, _ = GameSession.from_record(BRANCHED)
    written = session.to_sgf()
    again, problems = GameSession.from_record(written)
    assert problems == []
    for text in (b"EV[Cup]", b"LB[cc:A]", b"C[other]", b"RE[W+R]", b"KM[6.5]", b"AB[gg]", b"BR[3k]"):
        assert text in written
    assert [(n.move, n.comment) for n in nodes(again)] == [(n.move, n.comment) for n in nodes(session)]


def nodes(session: GameSession) -> list[GameNode]:
    return list(session.tree.walk())


def test_a_played_game_is_saved_so_that_another_reader_plays_it_alike() -> None:
    session = GameSession(GameSettings(size=13, handicap=3, komi=0.5, rules="aga"))
    for point in (20, 30, 13 * 13, 41):
        session.play(point)
    session.node.comment = "a ] bracket \\ and a (;B[aa]) trap"
    session.resign(0)
    game, info = read_game(session.to_sgf())
    assert game.moves == session.game.moves and (game.board == session.game.board).all()
    assert (game.komi, info.black, info.white, str(info.result)) == (0.5, "You", "Tengen (100 visits a move)", "W+R")
    again, _ = GameSession.from_record(session.to_sgf())
    again.seek(4)
    assert again.node.comment == session.node.comment


@pytest.mark.parametrize(
    ("data", "turn"),
    [
        (b"(;SZ[19]HA[2]AB[dd][pp];W[pd];B[dp])", 1),
        (b"(;SZ[9];C[a word before it];W[cc])", 1),
        (b"(;SZ[9]AB[dd][ff];B[cc])", 0),
        (b"(;SZ[9]AB[dd][ff]PL[W])", 1),
        (b"(;SZ[9]AB[dd][ff])", 0),
    ],
)
def test_whose_turn_it_is_at_the_start_is_as_the_first_move_says(data: bytes, turn: int) -> None:
    session, problems = GameSession.from_record(data)
    assert problems == [] and session.game.to_play == turn
    assert GameSession.from_record(session.to_sgf())[0].game.to_play == turn


def test_an_illegal_move_ends_its_variation_only() -> None:
    session, problems = GameSession.from_record(b"(;SZ[9];B[cc](;W[cc];B[dd])(;W[ee];B[ff]))")
    assert len(problems) == 1 and "occupied" in problems[0]
    session.seek(99)
    assert len(points(session)) == 3


def test_stones_set_up_in_the_middle_are_shown() -> None:
    session, problems = GameSession.from_record(b"(;SZ[9];B[cc];AW[dd];W[ee])")
    session.seek(99)
    assert session.view().stones.count("O") == 2 and session.place == 3
    assert len(problems) == 1 and "earlier captures" in problems[0]


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"hello",
        b"(;SZ[9",
        b"(;SZ[52];B[aa])",
        b"(;GM[2];B[aa])",
        b"(;SZ[9]AB[aa][ab][ba]AW[ca][bb][ac]AB[ca])",
        b"\x00\xff" * 500,
    ],
)
def test_what_is_no_record_is_refused(data: bytes) -> None:
    with pytest.raises(SgfError):
        GameSession.from_record(data)


def test_a_record_of_too_many_moves_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"(;SZ[19]" + b"".join(b"(;B[a%c];W[b%c])" % (97 + k, 97 + k) for k in range(19)) + b")"
    monkeypatch.setattr(session_module, "MAX_NODES", 39)
    GameSession.from_record(data)
    monkeypatch.setattr(session_module, "MAX_NODES", 38)
    with pytest.raises(SgfError, match="is the limit"):
        GameSession.from_record(data)


def test_deep_nesting_is_read() -> None:
    moves = [b";B[aa]", b";W[bb]", b";B[cc]"]
    session, _ = GameSession.from_record(b"(;SZ[9]" + b"(".join(moves) + b"(;W[]" * 500 + b")" * 504)
    assert len(nodes(session)) > 100


def test_games_of_the_shared_records_open(shared: Path) -> None:
    with lzma.open(shared / "data" / "tygem-9d-2016-07-validation.sgf.xz") as file:
        games = re.findall(rb"\(;.*?\)\n", file.read(200_000), re.DOTALL)[:30]
    assert len(games) == 30
    whole = 0
    for data in games:
        session, problems = GameSession.from_record(data)
        main = [node.move for node in read_tree(data).walk() if node.move]
        session.seek(10**6)
        assert session.game.moves == main[: session.place]
        whole += not problems
        assert bool(problems) == (session.place < len(main))
    assert whole >= 28, "one of these games takes a ko back at once"


def test_what_nobody_changed_is_saved_as_it_was() -> None:
    data = "(;FF[4]KM[375]PB[古力]RE[黑中盘胜]SZ[9];B[aa](;C[x]W[bb])(;W[aa];B[cc]))\n".encode("gb18030")
    session, problems = GameSession.from_record(data)
    assert len(problems) == 1 and session.settings.komi == 7.5 and session.result == "B+R"
    session.seek(2)
    session.node.comment = session.node.comment  # the page sends it back
    assert session.to_sgf() == data, "the illegal variation too"


def test_a_comment_without_a_move_has_its_own_place() -> None:
    session, problems = GameSession.from_record(b"(;SZ[9];B[aa];C[note];W[bb])")
    session.seek(2)
    assert problems == [] and session.node.comment == "note" and session.game.moves == [(0, 0)]
    session.seek(9)
    assert (session.place, session.node.move_number) == (3, 2)


def test_drawing_keeps_every_node_apart_and_parents_first() -> None:
    session, _ = GameSession.from_record(b"(;SZ[9];B[aa](;W[bb];C[n];B[cc];W[dd])(;W[ee];B[ff])(;W[gg]))")
    session.seek(0)
    session.play(80)
    cells = tree_layout(session.tree)
    assert len({(column, row) for _, column, row, *_ in cells}) == len(session.tree) == len(cells) == 10
    for index, (_, column, row, kind, parent, _) in enumerate(cells):
        if kind != "root":
            assert parent < index and cells[parent][1] == column - 1 and cells[parent][2] <= row
    assert [cell[1:4] + cell[5:] for cell in cells if cell[2] == 0] == [
        (0, 0, "root", 0),
        (1, 0, "black", 1),
        (2, 0, "white", 2),
        (3, 0, "note", 2),
        (4, 0, "black", 3),
        (5, 0, "white", 4),
    ]


def test_a_very_long_line_needs_no_deep_recursion() -> None:
    session, _ = GameSession.from_record(b"(;SZ[19]" + b";B[];W[]" * 2500 + b")")
    assert len(tree_layout(session.tree)) == 5001

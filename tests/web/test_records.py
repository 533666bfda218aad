"""Records as games of the page: what is opened, refused, kept and written."""

from __future__ import annotations

import asyncio
import lzma
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from web_engine import FakeEngine
from web_records import BRANCHED

from tengen.errors import SgfError
from tengen.game import WHITE
from tengen.review.game import GameReview, ReviewedMove
from tengen.sgf import GameNode, GameTree, read_game, read_tree
from tengen.web import records as records_module
from tengen.web.editor import Editor, Tool
from tengen.web.files import GameFiles
from tengen.web.open_dialog import describe
from tengen.web.players import PEOPLE, facing, own_player
from tengen.web.records import annotated, is_analyzed, open_record, record_file_name
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode
from tengen.web.status_text import status
from tengen.web.tree_layout import tree_layout


def points(session: GameSession) -> list[int]:
    return [point for _, point in session.game.moves]


def test_a_record_opens_at_its_start_with_all_it_says() -> None:
    session, problems = open_record(BRANCHED)
    assert problems == [] and session.place == 0 and session.settings.mode is Mode.ANALYZE
    assert session.names == ("Anna", "Bo") and session.details == ("3k", "komi 6.5")
    assert session.node.comment == "start" and session.view().stones.count("X") == 1
    session.seek(99)
    assert points(session) == [20, 40, 38]
    assert session.phase is Phase.OVER and status(session) == "White wins by resignation"
    session.play(0)
    assert points(session)[-1] == 0, "a resigned game can be played on in analysis"


def test_variations_comments_and_strange_properties_survive_a_round_trip() -> None:
    session, _ = open_record(BRANCHED)
    written = session.to_sgf()
    again, problems = open_record(written)
    assert problems == []
    for text in (b"EV[Cup]", b"LB[cc:A]", b"C[other]", b"RE[W+R]", b"KM[6.5]", b"AB[gg]", b"BR[3k]"):
        assert text in written
    assert [(n.move, n.comment) for n in nodes(again)] == [(n.move, n.comment) for n in nodes(session)]


def test_names_and_annotations_stay_when_the_record_is_edited() -> None:
    positions = b";B[aa]N[Correct]TE[2];W[ba]BM[];B[ca]DO[];W[da]IT[];GB[1]HO[2]UC[1];GW[2]DM[1]SL[cc:dd]"
    session, problems = open_record(b"(;SZ[9]N[Start]SL[ee]" + positions + b")")
    before = [dict(node.properties) for node in session.line]
    editor = Editor(session)
    for node in session.line:
        session.goto(node.id)
        editor.comment("edited")
        editor.apply(Tool.CIRCLE, 41)
    editor.apply(Tool.BLACK, 80)
    again, _ = open_record(session.to_sgf())
    added = {"C", "CR", "AB"}
    after = [{name: values for name, values in node.properties.items() if name not in added} for node in again.line]
    assert not problems and after == before and len(before) == 7


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
    again, _ = open_record(session.to_sgf())
    again.seek(4)
    assert again.node.comment == session.node.comment


@pytest.mark.parametrize(
    ("data", "turn"),
    [
        (b"(;SZ[19]HA[2]AB[dd][pp];W[pd];B[dp])", 1),
        (b"(;SZ[9];C[a word before it];W[cc])", 1),
        (b"(;SZ[9]AB[dd][ff];B[cc])", 0),
        (b"(;SZ[9]AB[dd][ff]PL[W])", 1),
        (b"(;SZ[9]AB[dd][ff])", 1),
        (b"(;SZ[9]AB[dd])", 0),
    ],
)
def test_whose_turn_it_is_at_the_start_is_as_the_record_says(data: bytes, turn: int) -> None:
    session, problems = open_record(data)
    assert problems == [] and session.game.to_play == turn
    assert open_record(session.to_sgf())[0].game.to_play == turn


def test_an_illegal_move_ends_its_variation_only() -> None:
    session, problems = open_record(b"(;SZ[9];B[cc](;W[cc];B[dd])(;W[ee];B[ff]))")
    assert len(problems) == 1 and "occupied" in problems[0] and problems[0].endswith("not shown, but saved")
    session.seek(99)
    assert len(points(session)) == 3


def test_stones_set_up_in_the_middle_are_shown() -> None:
    session, problems = open_record(b"(;SZ[9];B[cc];AW[dd];W[ee])")
    session.seek(99)
    assert session.view().stones.count("O") == 2 and session.place == 3
    assert len(problems) == 1 and "earlier captures" in problems[0] and "saved" not in problems[0]


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
        open_record(data)


def test_a_record_of_too_many_moves_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    data = b"(;SZ[19]" + b"".join(b"(;B[a%c];W[b%c])" % (97 + k, 97 + k) for k in range(19)) + b")"
    monkeypatch.setattr(records_module, "MAX_NODES", 39)
    open_record(data)
    monkeypatch.setattr(records_module, "MAX_NODES", 38)
    with pytest.raises(SgfError, match="is the limit"):
        open_record(data)
    open_record(rb"(;SZ[19]C[" + b";" * 50 + rb"\];];B[aa])"), "those of a comment are no nodes"
    monkeypatch.setattr(records_module, "read_tree", None)
    with pytest.raises(SgfError, match="is the limit"):
        open_record(data)  # before it is read


def test_a_record_is_read_once_and_on_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    """While one person opened a large record the page stood still for everybody."""
    threads: list[threading.Thread] = []
    adopted: list[GameSession] = []

    def read(data: bytes) -> GameTree:
        threads.append(threading.current_thread())
        return read_tree(data)

    monkeypatch.setattr(records_module, "read_tree", read)
    before = GameSession(GameSettings(9, "chinese", 7.0, 0, PEOPLE))
    files = GameFiles(
        None,
        session=lambda: before,
        adopt=adopted.append,
        notify=lambda message: None,
        tab=lambda: "tab",
        is_live=lambda: True,
    )
    asyncio.run(files.open(BRANCHED))
    assert len(threads) == 1 and threads[0] is not threading.main_thread()
    assert [session.names for session in adopted] == [("Anna", "Bo")]


def test_brackets_that_are_never_closed_are_read_in_linear_time() -> None:
    """60 KB stopped the server for 13 seconds; this takes half an hour there, in a search that nothing interrupts."""
    program = """
from tengen.web.records import read_record_tree
text = b"(;B[aa]" + b"C[" * 390_000
for end in (b"", b"\\\\"):
    print(*read_record_tree(text + end).problems)
"""
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60)
    assert found.stdout.count("the text breaks off") == 2


def test_deep_nesting_is_read() -> None:
    moves = [b";B[aa]", b";W[bb]", b";B[cc]"]
    session, _ = open_record(b"(;SZ[9]" + b"(".join(moves) + b"(;W[]" * 500 + b")" * 504)
    assert len(nodes(session)) > 100


def test_games_of_the_shared_records_open(shared: Path) -> None:
    with lzma.open(shared / "data" / "tygem-9d-2016-07-validation.sgf.xz") as file:
        games = re.findall(rb"\(;.*?\)\n", file.read(200_000), re.DOTALL)[:30]
    assert len(games) == 30
    whole = 0
    for data in games:
        session, problems = open_record(data)
        main = [node.move for node in read_tree(data).walk() if node.move]
        session.seek(10**6)
        assert session.game.moves == main[: session.place]
        whole += not problems
        assert bool(problems) == (session.place < len(main))
    assert whole >= 28, "one of these games takes a ko back at once"


def test_a_fox_record_with_stones_in_its_second_node_opens_with_them() -> None:
    data = b"(;SZ[19]HA[2]KM[0]TM[60]TC[3]TT[30];AB[pd][dp];W[dd];B[pp])\n"
    session, problems = open_record(data)
    assert problems == [] and session.view().stones.count("X") == 2 and session.game.to_play == WHITE
    assert read_tree(session.to_sgf()).info.handicap == 2


def test_a_game_of_a_collection_that_opens_is_described() -> None:
    """Its handicap stones may be unknown."""
    text = b"(;SZ[13]HA[9]KM[0]PB[Ann]PW[Bo]RE[W+3.5];W[cf];B[cc])"
    session, _ = open_record(text, fixed_handicap=False)
    title, detail = describe(text)
    assert title.split(" \u2013 ") == list(session.names)
    assert {"13x13", "W+3.5"} <= set(detail.split(", ")) and "HA[9]" in detail
    assert describe(b"(;SZ[9:13]PB[Ann])")[0] == "Not readable"


def test_problems_of_a_collection_are_told_apart_by_name_event_or_comment() -> None:
    named, long = b"(;SZ[9]GN[Problem 1];B[aa])", "(;SZ[9]HA[9]C[黒先\n白死];W[aa])"
    texts = (named, b"(;SZ[9]EV[Cup]C[x];B[aa])", b"(;SZ[9]C[White to live.];W[aa])", long.encode(), b"(;SZ[9];B[aa])")
    assert [describe(text)[0] for text in texts] == [
        "Problem 1",
        "Cup",
        "White to live.",
        "黒先 白死",
        "Black \u2013 White",
    ]


@pytest.mark.parametrize(
    ("setup", "handicap"), [(b"AB[dd][pd][dp][pp]", 4), (b"AB[dd][pd][dp][pp]AW[jj]", 0), (b"AB[ee][pp]", 0), (b"", 0)]
)
def test_the_next_game_after_a_record_has_its_handicap(setup: bytes, handicap: int) -> None:
    session, _ = open_record(b"(;SZ[19]KM[0.5]" + setup + b";W[qf])")
    again = GameSession(session.settings)
    assert again.settings.handicap == handicap and again.view().stones.count("X") == handicap


@pytest.mark.parametrize("handicap", [3, 5])
@pytest.mark.parametrize("fixed", [True, False])
def test_handicap_stones_without_points_are_placed_or_left_out(fixed: bool, handicap: int) -> None:
    session, problems = open_record(b"(;SZ[19]HA[%d]KM[0];W[cc];B[jc])" % handicap, fixed)
    assert session.view().stones.count("X") == fixed * handicap and len(problems) == (not fixed)
    for record in (session.to_sgf(), annotated(session)):
        assert (b"AB[" in record) == fixed


def test_a_collection_is_saved_whole() -> None:
    games = [b"(;SZ[9];B[aa])", b"(;SZ[9];B[bb])", b"(;SZ[9];B[cc])"]
    session, _ = open_record(games[1])
    session.others = games[:1], games[2:]
    session.seek(1)
    session.play(80)
    first, chosen, last = session.collection()
    assert [first, last] == [games[0], games[2]] and b"B[bb];W[ii]" in chosen


def test_what_an_engine_on_time_found_for_its_moves_is_no_analysis() -> None:
    session = GameSession(GameSettings(size=9, players=facing(own_player("", seconds=1.0), 0)))
    session.analyses.add(session.node, FakeEngine().result(session.game, 500), for_move=True)
    assert not is_analyzed(session)
    session.analyses.add(session.node, FakeEngine().result(session.game, 600))
    assert is_analyzed(session)


def test_a_record_is_saved_with_its_review_and_stays_as_it_is() -> None:
    session, _ = open_record(b"(;SZ[9]KM[7];B[ee];W[aa](;B[gg])(;B[cc]))\n")
    before = session.to_sgf()
    engine, line = FakeEngine(), session.line
    for node in line:
        session.analyses.add(node, engine.result(session.tree.position(node), 100))
    best = engine.result(session.tree.position(line[1]), 100).candidates[1]
    moves = tuple(
        ReviewedMove(node, number, number % 2 == 0, node.point or 0, "opening", loss, 0.0, None, best)
        for number, (node, loss) in enumerate(zip(line[1:], (0.1, 7.0, 0.0), strict=True), 1)
    )
    session.analyses.review = GameReview(session.tree, "made", 100, tuple(line), moves)
    written = read_tree(annotated(session))
    assert session.to_sgf() == before
    first, second = written.root.children[0], written.root.children[0].children[0]
    assert "60.0%" in written.root.comment and second.text("BM") == "1"
    assert len(first.children) == 2 and len(second.children) == 2, "the better line beside the mistake"
    again, _ = open_record(annotated(session))
    graded = {cell[0]: cell[6] for cell in tree_layout(again.tree)}
    assert [graded[node.id] for node in again.line] == [-1, -1, 3, -1], "the page colors the mistakes of a saved review"
    session.analyses.review = None
    assert is_analyzed(session) and b"60.0%" in annotated(session) and b"BM" not in annotated(session)


@pytest.mark.parametrize(
    ("record", "name"),
    [
        (b"(;SZ[9]PB[Ann]PW[Bo]DT[2024-05-06];B[aa])", "2024-05-06 Ann - Bo.sgf"),
        ("(;SZ[9]PB[../a/b]PW[\u738b]CA[UTF-8]DT[2024-05-06])".encode(), "2024-05-06 .._a_b - \u738b.sgf"),
    ],
)
def test_a_record_is_named_by_date_and_players(record: bytes, name: str) -> None:
    assert record_file_name(open_record(record)[0]) == name


@pytest.mark.parametrize(
    "record",
    [
        "fox-komi-375.sgf",
        "fox-komi-325.sgf",
        "(;SZ[9]KM[375]RE[B+R];B[ee];W[cc];B[gg];W[cg])",
        "(;SZ[9]KM[7.5]RE[B+3];B[ee];W[cc];B[gg];W[cg])",  # the komi contradicts the result
    ],
)
def test_a_count_in_a_record_is_read_again_as_it_was_agreed(record: str) -> None:
    text = (Path(__file__).parents[1] / "data" / record).read_bytes() if record.endswith(".sgf") else record.encode()
    session, _ = open_record(text)
    session.seek(len(session.line) - 1)
    for _ in range(2):
        session.pass_turn()
    session.begin_count([])
    session.agree()
    again, problems = open_record(session.to_sgf())
    assert not problems and again.result == session.result
    assert (again.tree.rules, again.tree.komi) == (session.tree.rules, session.tree.komi)


def test_what_nobody_changed_is_saved_as_it_was() -> None:
    data = "(;SZ[9]FF[4]RE[黑中盘胜]KM[375]PB[古力];B[aa](;W[bb]C[x])(;W[aa];B[cc]))\n".encode("gb18030")
    session, problems = open_record(data)
    assert len(problems) == 1 and session.settings.komi == 7.5 and session.result == "B+R"
    session.seek(2)
    session.node.comment = session.node.comment  # the page sends it back
    assert session.to_sgf() == data, "the illegal variation too"


def test_a_comment_without_a_move_has_its_own_place() -> None:
    session, problems = open_record(b"(;SZ[9];B[aa];C[note];W[bb])")
    session.seek(2)
    assert problems == [] and session.node.comment == "note" and session.game.moves == [(0, 0)]
    session.seek(9)
    assert (session.place, session.node.move_number) == (3, 2)

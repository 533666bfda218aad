"""Kept games: written with every change, listed, and opened as they were left."""

from __future__ import annotations

import errno
import json
import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from tengen.engine import TimeControl
from tengen.errors import SgfError, TengenError
from tengen.game import BLACK, WHITE
from tengen.sgf import read_game
from tengen.sgf.info import raw_text
from tengen.web.editor import Editor, Tool
from tengen.web.library import STATE, GameLibrary, without_state
from tengen.web.players import PEOPLE, PlayerChoice, facing, level_of_visits
from tengen.web.records import open_record, record_file_name
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode
from tengen.web.status_text import count


def played(**more: object) -> GameSession:
    session = GameSession(GameSettings(size=9, **more))
    session.click(40)
    session.play(41)
    session.click(42)
    return session


def reopened(folder: Path) -> GameSession:
    """What another server finds."""
    library = GameLibrary(folder)
    return library.load(library.recent()[0])


def test_a_record_cannot_bring_a_state_of_its_own() -> None:
    """Of a property with several values, or written twice, one was left in the other games of a collection."""
    forged = rb'(;GM[1]TENGEN[x] [b]TENGEN[{"tab": "mine"}]XX[TENGEN[{\]]' + b"\nTENGEN\n[{}]SZ[9]PB[Evil];B[aa])"
    assert without_state(forged) == rb"(;GM[1]XX[TENGEN[{\]]SZ[9]PB[Evil];B[aa])".replace(rb"]SZ", b"]\nSZ")
    for plain in (b"(;GM[1] XX[a] [b]\n;TENGEN[c];B[aa])", b"(;\n)", b"no game"):
        assert without_state(plain) == plain


@pytest.mark.parametrize("again", [False, True])
def test_a_game_goes_on_where_a_page_was_lost_while_it_was_edited(tmp_path: Path, again: bool) -> None:
    session = played(players=facing(level_of_visits(7), BLACK))
    session.begin_edit()
    if again:
        Editor(session).comment("a note")
    assert not session.live and session.mode is Mode.ANALYZE
    GameLibrary(tmp_path).keep(session, "tab", final=True)
    (kept,) = GameLibrary(tmp_path).recent()
    found = GameLibrary(tmp_path).load(kept)
    assert kept.unfinished and found.live and found.tip.move == session.tip.move
    session.end_edit()
    assert session.live and session.edited_from is None


def test_a_state_too_deep_to_read_is_none(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)
    (tmp_path / "deep.sgf").write_text("(;SZ[9]TENGEN[" + '{"a":' * 100_000 + "1]PB[Ann];B[aa])")
    (game,) = library.recent()
    assert game.state == {} and library.of_tab("mine") is None
    assert library.load(game).names[0] == "Ann"


def test_a_game_is_left_and_goes_on_as_it_was(tmp_path: Path) -> None:
    level, clock = level_of_visits(7), TimeControl.byoyomi(60, 10, 3)
    session = GameSession(GameSettings(size=9, players=facing(level, WHITE), clock=clock, komi=6.5, rules="japanese"))
    session.play(40, 0.0)
    session.tick(0.0)
    session.tick(65.0)  # five seconds into byo-yomi
    session.click(41, 65.0)
    session.tick(65.0)
    session.play(42, 66.0)
    session.step(-1)
    GameLibrary(tmp_path).keep(session)
    again = reopened(tmp_path)
    assert again.settings == session.settings and again.in_progress and again.place == 2
    assert again.names == ("Tengen", "You") and again.details == session.details
    again.step(1)
    assert again.may_click and again.game.moves == session.tree.position(session.tip).moves
    assert again.clock is not None and again.clock.text(WHITE) == "0:10 (3)" and again.clock.text(BLACK) == "0:59"
    assert again.take_back() and len(again.tree) == 2, "moves that were played can be taken back"
    assert again.clock.text(WHITE) == "5.0 (3)", "and the period that the move has renewed"


def test_the_file_is_a_record_that_others_read(tmp_path: Path) -> None:
    session = played(clock=TimeControl.fischer(180, 10))
    session.resign()
    library = GameLibrary(tmp_path)
    library.keep(session)
    (path,) = tmp_path.iterdir()
    assert path.name == record_file_name(session)
    game, info = read_game(path)
    assert game.moves == session.game.moves and str(info.result) == "W+R"
    assert b"TM[180]" in path.read_bytes() and b"OT[10 fischer]" in path.read_bytes()
    again = reopened(tmp_path)
    assert again.phase is Phase.OVER and again.result == "W+R" and not again.in_progress
    assert STATE.encode() not in again.to_sgf(), "what the page keeps beside the game is not part of the record"


def test_a_result_in_a_variation_and_a_handicap_without_stones_stay_as_they_were(tmp_path: Path) -> None:
    session, _ = open_record(b"(;SZ[19]HA[5]KM[0];W[dd];B[pp];W[pd])", fixed_handicap=False)
    session.seek(1)
    session.play(300)
    session.settle("W+R")
    GameLibrary(tmp_path).keep(session)
    again = reopened(tmp_path)
    assert again.phase is Phase.OVER and again.game.moves == session.game.moves
    assert again.view().stones == session.view().stones
    again.goto(again.tree.root.id)
    again.seek(99)
    assert again.view().stones.count("X") == 1


def test_only_changes_are_written_and_an_untouched_board_is_not(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)
    session = GameSession(GameSettings(size=9))
    library.keep(session)
    assert list(tmp_path.iterdir()) == []
    session.click(40)
    library.keep(session)
    (path,) = tmp_path.iterdir()
    os.utime(path, (1, 1))
    library.keep(session)
    session.step(-1)
    library.keep(session)
    assert path.stat().st_mtime == 1
    session.node.comment = "hm"
    library.keep(session)
    assert path.stat().st_mtime > 1 and b"C[hm]" in path.read_bytes()


def test_a_position_that_is_set_up_on_the_empty_board_is_kept(tmp_path: Path) -> None:
    for number, session in enumerate((GameSession(GameSettings(size=9)), open_record(b"(;SZ[9]AB[aa][bb])")[0]), 1):
        library = GameLibrary(tmp_path / str(number))
        if number == 1:
            Editor(session).apply(Tool.BLACK, 0)
            Editor(session).apply(Tool.BLACK, 10)
        library.keep(session)
        assert reopened(library.folder).view().stones[0:11:10] == "XX"
    undone = GameSession(GameSettings(size=9))
    Editor(undone).apply(Tool.CIRCLE, 0)
    Editor(undone).undo()
    assert undone.untouched


def test_a_large_game_is_not_written_with_every_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [1000.0]
    monkeypatch.setattr("tengen.web.library.time", SimpleNamespace(monotonic=lambda: now[0]))
    monkeypatch.setattr("tengen.web.library.LARGE_NODES", 3)
    library, session = GameLibrary(tmp_path), played()
    library.keep(session)
    (path,) = tmp_path.iterdir()
    for comment, later, final, is_written in (("a", 1, False, False), ("b", 9, False, True), ("c", 1, True, True)):
        now[0] += later
        session.node.comment = comment
        library.keep(session, final=final)
        assert (f"C[{comment}]".encode() in path.read_bytes()) == is_written


def test_moves_of_a_record_are_not_taken_back_after_it_was_opened_again(tmp_path: Path) -> None:
    session, _ = open_record(b"(;SZ[9]KM[7];B[aa];W[bb];B[cc];W[dd])")
    session.seek(4)
    session.play_on(facing(level_of_visits(1), BLACK))
    session.play(40)
    session.play(41)
    GameLibrary(tmp_path).keep(session)
    again = reopened(tmp_path)
    for _ in range(2):
        assert again.take_back()
    assert [node.point for node in again.line[1:]] == [0, 10, 20, 30] and again.place == 2


def test_a_result_stays_in_the_tree_when_a_finished_game_was_opened_again(tmp_path: Path) -> None:
    session = played()
    session.resign()
    GameLibrary(tmp_path).keep(session)
    again = reopened(tmp_path)
    assert again.take_back() and again.ended_at in again.tree and len(again.tree) == 4


def test_every_game_has_its_own_file_and_a_game_opened_twice_gets_a_second(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)
    first, second = played(), played()
    for session in (first, second):
        library.keep(session)
    assert len(list(tmp_path.glob("*.sgf"))) == 2
    kept = next(game for game in library.recent() if game.path.name == record_file_name(first))
    copy = library.load(kept)
    copy.play(50)
    library.keep(copy)
    library.keep(first, final=True)
    assert len(list(tmp_path.glob("*.sgf"))) == 2, "the tab that is closed afterwards writes nothing"
    first.play(60)
    library.keep(first)
    texts = [path.read_bytes() for path in tmp_path.glob("*.sgf")]
    assert len(texts) == 3 and sum(b"W[ff]" in text for text in texts) == sum(b"W[gg]" in text for text in texts) == 1


def test_a_game_that_two_servers_show_loses_no_move(tmp_path: Path) -> None:
    """Each has a library of its own. The first one wrote over the moves that the second one had added."""
    first, second = GameLibrary(tmp_path), GameLibrary(tmp_path)
    session = played()
    first.keep(session)
    other = second.load(second.recent()[0])
    other.step(1)
    other.play(30)
    second.keep(other)
    first.keep(session, final=True)
    assert len(list(tmp_path.iterdir())) == 1, "nothing has changed in the first one"
    for step in range(2):
        session.play(31 + step)
        first.keep(session)
        other.play(50 + step)
        second.keep(other)
    ends = {tuple(point for _, point in read_game(path)[0].moves) for path in tmp_path.iterdir()}
    assert ends == {(40, 41, 42, 30, 50, 51), (40, 41, 42, 31, 32)}


def test_a_record_that_is_opened_again_has_one_file(tmp_path: Path) -> None:
    data = b"(;SZ[9]PB[Ann];B[aa];W[bb])"
    for _ in range(2):
        GameLibrary(tmp_path).keep(open_record(data)[0])
    assert len(list(tmp_path.iterdir())) == 1
    changed, _ = open_record(data)
    changed.play(80)
    GameLibrary(tmp_path).keep(changed)
    assert len(list(tmp_path.iterdir())) == 2


def test_recent_games_are_listed_newest_first(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path / "games")
    assert library.recent() == []
    done, going = played(), played()
    done.resign()
    library.keep(done, "tab 1")
    library.keep(going, "tab 2")
    for age, name in enumerate(sorted((tmp_path / "games").iterdir())):
        os.utime(name, (1000 + age, 1000 + age))
    listed = library.recent()
    assert [game.unfinished for game in listed] in ([True, False], [False, True])
    assert {game.detail for game in listed} == {"9x9, 3 moves, White wins by resignation", "9x9, 3 moves"}
    assert listed[0].changed == 1001 and listed[0].title == "You \u2013 Tengen"
    assert library.of_tab("tab 1") in listed and library.of_tab("") is None and library.of_tab("tab 3") is None
    library.remove(listed[0])
    assert library.recent() == listed[1:]


def test_a_deleted_game_comes_back_with_its_next_change_alone(tmp_path: Path) -> None:
    library, session = GameLibrary(tmp_path), played()
    library.keep(session)
    library.remove(library.recent()[0])
    library.keep(session, final=True)
    assert library.recent() == []
    session.play(70)
    library.keep(session)
    assert len(library.recent()) == 1


@pytest.mark.parametrize(
    "state", ["", f"{STATE}[]", f"{STATE}[7]", STATE + '[{"tip": 99, "mode": "chess"\\]]', "XX[1]"]
)
def test_a_file_with_a_damaged_state_is_a_plain_record(tmp_path: Path, state: str) -> None:
    (tmp_path / "a.sgf").write_text(f"(;{state}SZ[9]PB[Ann];B[aa];W[bb])")
    session = reopened(tmp_path)
    assert session.mode is Mode.ANALYZE and session.place == 0 and len(session.tree) == 3


def changed_state(folder: Path, session: GameSession, **changes: object) -> None:
    """Keep a game, with some entries of its state changed; an entry of None is left out."""
    library = GameLibrary(folder)
    library.keep(session)
    (game,) = library.recent()
    state = {name: value for name, value in {**game.state, **changes}.items() if value is not None}
    record = without_state(game.path.read_bytes()).replace(b"(;", b"", 1)
    game.path.write_bytes(f"(;{STATE}[".encode() + raw_text(json.dumps(state)) + b"]" + record)


@pytest.mark.parametrize(
    ("players", "live", "known"),
    [(GameSettings.players, True, True), (GameSettings.players, False, False), (PEOPLE, True, False)],
)
def test_the_moves_of_an_older_file_were_played_where_its_game_goes_on(
    tmp_path: Path, players: tuple[PlayerChoice, PlayerChoice], live: bool, known: bool
) -> None:
    """Older files do not say which moves were played here and may be taken back."""
    changed_state(tmp_path, played(players=players), live=live, played=None)
    again = reopened(tmp_path)
    assert again.settings.players == players and len(again.line) == 4
    assert again.played.keys() == ({node.id for node in again.line} if known else set())


@pytest.mark.parametrize("older", [("before",), ("before", "played")])
@pytest.mark.parametrize("live", [True, False])
def test_the_moves_of_an_older_file_keep_their_times(tmp_path: Path, older: tuple[str, ...], live: bool) -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.byoyomi(0, 30, 2)))
    for point, now in ((40, 3.0), (41, 7.0)):
        session.tick(session.place * 3.0)
        session.play(point, now)
    changed_state(tmp_path, session, live=live, **dict.fromkeys(older))
    again = reopened(tmp_path)
    assert again.line_times() == session.line_times() == [(1, BLACK, 3.0), (2, WHITE, 4.0)]
    assert again.take_back() and len(again.tree) == (1 if live else 2), "and were played here"


@pytest.mark.parametrize("older", [False, True])
def test_the_points_of_a_counted_game_stay_with_its_result(tmp_path: Path, older: bool) -> None:
    session = GameSession(GameSettings(size=9, komi=6.5, players=PEOPLE))
    for point in (40, 0, 81, 81):
        session.play(point)
    session.begin_count([0])
    session.agree()
    points = count(session)
    assert session.result == "B+74.5" and points
    session.seek(1)
    changed_state(tmp_path, session, **({"dead": None} if older else {}))
    again = reopened(tmp_path)
    assert (again.place, again.result, again.counted) == (1, "B+74.5", False)
    again.step(9)
    assert again.phase is Phase.OVER and count(again) == ("" if older else points)
    assert again.dead == (set() if older else {0})


@pytest.mark.parametrize("dead", [7, "all", [81], [-1], [True], [[0]], {"0": 1}])
def test_dead_stones_that_make_no_sense_leave_a_record(tmp_path: Path, dead: object) -> None:
    session = played()
    session.resign()
    changed_state(tmp_path, session, dead=dead)
    again = reopened(tmp_path)
    assert again.result == "W+R" and again.mode is Mode.ANALYZE and again.dead_at_end is None


@pytest.mark.parametrize(
    "changes",
    [{"clock": "soon"}, {"left": [[1]]}, {"record_names": ["Ann"]}, {"record_details": None}],
    ids=lambda changes: next(iter(changes)),
)
def test_a_state_that_makes_no_sense_leaves_a_record(tmp_path: Path, changes: dict[str, object]) -> None:
    """Some of it is found to be wrong only after the rest was read."""
    session = played(clock=TimeControl.fischer(180, 10))
    assert session.place == 3
    changed_state(tmp_path, session, **changes)
    again = reopened(tmp_path)
    plain, _ = open_record(session.to_sgf(), fixed_handicap=False)
    assert (again.place, len(again.line), again.mode) == (0, 4, Mode.ANALYZE)
    assert (again.settings, again.names, again.played) == (plain.settings, plain.names, {})


def test_what_the_disk_refuses_is_an_error_of_words(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(TengenError, match="cannot be kept"):
        GameLibrary(tmp_path / "file").keep(played())
    library = GameLibrary(tmp_path)
    library.keep(played())
    (game,) = library.recent()
    library.remove(game)
    with pytest.raises(SgfError):
        library.load(game)


def test_a_full_disk_leaves_no_empty_files_and_is_tried_again_later(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []

    def full(path: Path, data: bytes) -> None:
        written.append(path)
        raise OSError(errno.ENOSPC, "No space left on device")

    now = [1000.0]
    monkeypatch.setattr("tengen.web.library.time", SimpleNamespace(monotonic=lambda: now[0]))
    library, session = GameLibrary(tmp_path), played()
    with monkeypatch.context() as disk:
        disk.setattr(Path, "write_bytes", full)
        with pytest.raises(TengenError, match="No space"):
            library.keep(session)
        assert list(tmp_path.iterdir()) == [] and library.recent() == []
        for _ in range(20):
            now[0] += 0.2
            library.keep(session)
        assert len(written) == 1
    now[0] += 2
    library.keep(session)
    assert [path.name for path in tmp_path.iterdir()] == [record_file_name(session)]


def test_a_game_of_a_collection_is_kept_with_the_others_in_one_file(tmp_path: Path) -> None:
    games = [b"(;SZ[9]PB[Ann];B[aa])", b"(;SZ[9]PB[Bea]C[(;a])", b"(;SZ[9]PB[Cid];B[cc](;W[dd])(;W[ee]))"]
    library = GameLibrary(tmp_path)
    session, _ = open_record(games[1])
    session.others = games[:1], games[2:]
    session.play(40)
    library.keep(session)
    again = reopened(tmp_path)
    assert again.others == ([games[0]], [games[2]]) and again.game.moves == [(BLACK, 40)]
    assert STATE.encode() not in again.to_sgf()
    last, _ = open_record(games[2])
    edited = session.to_sgf().strip()
    last.others = [games[0], edited], []
    library.go_on(session, last)
    last.seek(1)
    last.play(50)
    library.keep(last)
    (path,) = tmp_path.iterdir()
    after = reopened(tmp_path)
    assert after.others == ([games[0], edited], []) and after.game.moves == [(BLACK, 20), (WHITE, 50)]
    assert path.read_bytes().startswith(games[0])


def test_the_times_of_moves_outlive_the_page(tmp_path: Path) -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.byoyomi(10, 5, 3)))
    now = 0.0
    for point, seconds in ((40, 4.0), (41, 2.0), (42, 9.0), (43, 1.5)):
        session.tick(now)
        now += seconds
        session.play(point, now)
    times = [(1, BLACK, 4.0), (2, WHITE, 2.0), (3, BLACK, 9.0), (4, WHITE, 1.5)]
    assert session.line_times() == times, "also those in overtime"
    GameLibrary(tmp_path).keep(session)
    assert reopened(tmp_path).line_times() == times

"""Kept games: a file each, written with every change, listed, deleted and opened again."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from web_kept import played, reopened

from tengen.engine import TimeControl
from tengen.errors import SgfError, TengenError
from tengen.game import BLACK, WHITE
from tengen.sgf import read_game
from tengen.web.editor import Editor, Tool
from tengen.web.kept_state import STATE, state_in
from tengen.web.library import GameLibrary
from tengen.web.players import facing, level_of_visits
from tengen.web.records import open_record, record_file_name
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings


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


def test_every_game_has_its_own_file_and_a_game_opened_twice_gets_a_second(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)
    first, second = played(), played()
    for session in (first, second):
        library.keep(session)
    assert len(list(tmp_path.glob("*.sgf"))) == 2
    kept = next(game for game in library.recent() if game.path.name == record_file_name(first))
    library.is_shown = lambda session: False
    copy = library.load(kept)
    copy.play(50)
    library.keep(copy)
    library.keep(first, final=True)
    assert len(list(tmp_path.glob("*.sgf"))) == 2, "the tab that is closed afterwards writes nothing"
    first.play(60)
    library.keep(first)
    texts = [path.read_bytes() for path in tmp_path.glob("*.sgf")]
    assert len(texts) == 3 and sum(b"W[ff]" in text for text in texts) == sum(b"W[gg]" in text for text in texts) == 1


def test_a_game_that_another_tab_shows_stays_in_its_file(tmp_path: Path) -> None:
    """Another person who opened it took the file, and after a restart its own tab found nothing."""
    library, session = GameLibrary(tmp_path), played()
    library.keep(session, "Ann")
    copy = library.load(library.recent()[0])
    copy.step(-2)
    for final in (False, True):
        library.keep(copy, "Bob", final)
    assert [game.state["tab"] for game in library.recent()] == ["Ann"], "nothing of it has changed"
    copy.step(2)
    copy.play(50)
    library.keep(copy, "Bob")
    assert library.of_tab("Ann") is not None and len(library.recent()) == 2
    session.play(60)
    library.keep(session, "Ann")
    assert len(library.recent()) == 2


def test_another_game_of_a_collection_that_was_only_looked_at_is_not_written(tmp_path: Path) -> None:
    games = [b"(;SZ[9]PB[Ann];B[aa])", b"(;SZ[9]PB[Bea];B[bb])"]
    library, (session, _) = GameLibrary(tmp_path), open_record(games[0])
    session.others = [], games[1:]
    session.play(40)
    library.keep(session, "Ann")
    copy, (other, _) = library.load(library.recent()[0]), open_record(games[1])
    other.others = games[:1], []
    library.go_on(copy, other)
    library.keep(other, "Bob", final=True)
    assert [game.state["tab"] for game in library.recent()] == ["Ann"]


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


def test_a_game_that_is_kept_after_the_clock_was_set_back_is_the_newest(tmp_path: Path) -> None:
    """A tab resumed the game that it had shown while the clock was ahead."""
    GameLibrary(tmp_path).keep(played(), "tab")
    (path,) = tmp_path.iterdir()
    ahead = time.time() + 7200
    os.utime(path, (ahead, ahead))
    library, sessions = GameLibrary(tmp_path), [played(), played()]
    for session in (*sessions, sessions[0]):
        session.play(50 + session.tree.version)
        library.keep(session, "tab")
        left = library.of_tab("tab")
        assert left is not None and library.shown([session]) == {left.path}
    assert [game.path for game in library.recent()][-1] == path


def test_a_problem_is_listed_by_its_name_until_it_is_played_on(tmp_path: Path) -> None:
    session, library = open_record(b"(;SZ[9]GN[Problem 1];B[aa])")[0], GameLibrary(tmp_path)
    session.play(40)
    library.keep(session)
    assert [game.title for game in library.recent()] == ["Problem 1"]
    session.play_on(facing(level_of_visits(7), BLACK))
    library.keep(session)
    assert [game.title for game in library.recent()] == ["You \u2013 Tengen"]


def test_a_game_on_a_board_that_is_too_large_here_cannot_go_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server without TENGEN_MAX_SIZE=25 offered a game on 25x25, which it then refused to open."""
    library = GameLibrary(tmp_path)
    library.keep(played())
    (game,) = library.games()
    assert game.unfinished and game.can_go_on
    monkeypatch.setattr("tengen.web.library.MAX_SIZE", 7)
    assert game.unfinished and not game.can_go_on


def test_an_unfinished_game_is_found_behind_many_that_were_opened_since(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One person's forty records hid the games of all others, from their own tabs too."""
    monkeypatch.setattr("tengen.web.library.MAX_LISTED", 2)
    library, sessions = GameLibrary(tmp_path), [played() for _ in range(7)]
    for number, session in enumerate(sessions):
        if number > 3:
            session.resign()
        library.keep(session, f"tab {number}")
        (path,) = [game.path for game in library.recent() if game.state["tab"] == f"tab {number}"]
        os.utime(path, (1000 + number, 1000 + number))
    assert [game.state["tab"] for game in library.recent()] == ["tab 6", "tab 5", "tab 3", "tab 2"]
    assert all(library.of_tab(f"tab {number}") is not None for number in range(7))


def test_the_list_reads_a_file_again_when_it_has_changed_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Forty collections of 2 MB took 0.8 s for each new tab, and as long whenever somebody opened the list."""
    read: list[Path] = []

    def state_of_file(path: Path) -> dict[str, object]:
        read.append(path)
        return state_in(path)

    monkeypatch.setattr("tengen.web.library.state_in", state_of_file)
    library, session = GameLibrary(tmp_path), played()
    library.keep(session, "tab 1")
    library.keep(played(), "other")
    assert library.of_tab("tab 2") is None and len(library.recent()) == len(library.recent()) == len(set(read)) == 2
    assert len(read) == 2
    library.keep(session, "tab 2")
    assert library.of_tab("tab 2") is not None and len(library.recent()) == 2 and len(read) == 3
    assert "players" not in library.recent()[0].state, "the rest of a state may be large"


def test_a_deleted_game_comes_back_with_its_next_change_alone(tmp_path: Path) -> None:
    library, session = GameLibrary(tmp_path), played()
    library.keep(session)
    library.remove(library.recent()[0])
    library.keep(session, final=True)
    assert library.recent() == []
    session.play(70)
    library.keep(session)
    assert len(library.recent()) == 1


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

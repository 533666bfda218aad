"""The state of kept games: games that were left go on as they were, also from older and damaged files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from web_kept import played, reopened

from tengen.engine import TimeControl
from tengen.game import BLACK, WHITE
from tengen.sgf.info import raw_text
from tengen.web.editor import Editor
from tengen.web.kept_state import STATE, state_in, without_state
from tengen.web.library import GameLibrary
from tengen.web.players import PEOPLE, PlayerChoice, facing, level_of_visits
from tengen.web.records import open_record
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode
from tengen.web.status_text import count


def test_a_record_cannot_bring_a_state_of_its_own() -> None:
    """Of a property with several values, or written twice, one was left in the other games of a collection."""
    forged = rb'(;GM[1]TENGEN[x] [b]TENGEN[{"tab": "mine"}]XX[TENGEN[{\]]' + b"\nTENGEN\n[{}]SZ[9]PB[Evil];B[aa])"
    assert without_state(forged) == rb"(;GM[1]XX[TENGEN[{\]]SZ[9]PB[Evil];B[aa])".replace(rb"]SZ", b"]\nSZ")
    for plain in (b"(;GM[1] XX[a] [b]\n;TENGEN[c];B[aa])", b"(;\n)", b"no game"):
        assert without_state(plain) == plain


def test_a_state_too_deep_to_read_is_none(tmp_path: Path) -> None:
    library = GameLibrary(tmp_path)
    (tmp_path / "deep.sgf").write_text("(;SZ[9]TENGEN[" + '{"a":' * 100_000 + "1]PB[Ann];B[aa])")
    (game,) = library.recent()
    assert game.state == {} and library.of_tab("mine") is None
    assert library.load(game).names[0] == "Ann"


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
    state = {name: value for name, value in {**state_in(game.path), **changes}.items() if value is not None}
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

"""A session is a game with its tree, clocks and count; here it is played without a page."""

import pytest
from web_engine import FakeEngine

from tengen.engine import TimeControl
from tengen.errors import IllegalMove, TengenError
from tengen.game import BLACK, WHITE, Game
from tengen.web.panels import hint
from tengen.web.session import GameSession, Phase
from tengen.web.settings import GameSettings, Mode

D4_9 = 48  # on 9x9


def analysis(size: int = 9, **more: object) -> GameSession:
    return GameSession(GameSettings(size=size, mode=Mode.ANALYZE, **more))


def moves(session: GameSession) -> list[tuple[int, int]]:
    return session.game.moves


def test_a_click_plays_for_the_person_only_on_their_turn() -> None:
    session = GameSession(GameSettings(size=9, human=BLACK))
    assert session.may_click and not session.engine_to_move
    session.click(D4_9)
    assert session.engine_to_move and not session.may_click
    with pytest.raises(IllegalMove, match="engine's turn"):
        session.click(0)
    session.play(20)
    assert session.may_click and moves(session) == [(BLACK, D4_9), (WHITE, 20)]


@pytest.mark.parametrize("point", [-1, 81, True, None, "48", 4.0, [3], {"point": 3}])
def test_a_point_that_is_no_point_is_refused_and_changes_nothing(point: object) -> None:
    session = analysis()
    with pytest.raises(TengenError):
        session.click(point)
    assert moves(session) == []


def test_illegal_moves_are_explained() -> None:
    session = analysis(size=5)
    session.play(1)
    with pytest.raises(IllegalMove, match="already"):
        session.click(1)
    corner = GameSession(
        GameSettings(size=5, mode=Mode.ANALYZE), start=Game.from_diagram(".O...\nO....\n.....\n.....\n.....\n")
    )
    with pytest.raises(IllegalMove, match="no liberty"):
        corner.click(0)
    ko = GameSession(
        GameSettings(size=5, mode=Mode.ANALYZE), start=Game.from_diagram(".XO..\nXO.O.\n.XO..\n.....\n.....\n")
    )
    ko.click(7)
    with pytest.raises(IllegalMove, match="take"):
        ko.click(6)


def test_take_back_against_the_engine_takes_back_its_answer_too() -> None:
    session = GameSession(GameSettings(size=9, human=BLACK))
    session.click(40)
    session.play(41)
    assert session.take_back()
    assert moves(session) == [] and session.may_click
    assert len(session.tree) == 1, "moves that were taken back leave no branch"
    assert not session.take_back()


def test_take_back_before_the_person_has_moved_does_nothing() -> None:
    session = GameSession(GameSettings(size=9, human=WHITE))
    session.play(40)
    assert not session.take_back()
    assert len(moves(session)) == 1


def test_playing_elsewhere_after_going_back_makes_a_branch() -> None:
    session = analysis()
    for point in (10, 20, 30):
        session.play(point)
    session.step(-2)
    session.play(50)
    assert [point for _, point in moves(session)] == [10, 50]
    assert session.tree.root.children[0].children[0].point == 20
    session.sibling(-1)
    assert [point for _, point in moves(session)] == [10, 20]
    session.step(5)
    assert [point for _, point in moves(session)] == [10, 20, 30], "forward follows the branch that was chosen"


def test_playing_a_known_move_follows_the_tree() -> None:
    session = analysis()
    first = session.play(10)
    session.step(-1)
    assert session.play(10) is first and len(session.tree) == 2


def test_take_back_in_the_middle_of_a_line_keeps_what_follows() -> None:
    session = analysis()
    for point in (10, 20, 30):
        session.play(point)
    session.step(-1)
    session.take_back()
    assert session.place == 1 and len(session.tree) == 4


def test_looking_back_does_not_set_off_the_engine() -> None:
    session = GameSession(GameSettings(size=9, human=BLACK))
    session.click(40)
    session.play(41)
    session.step(-1)
    assert not session.engine_to_move
    session.seek(0)
    session.click(50)
    assert session.engine_to_move


def test_seek_and_goto_take_whatever_a_page_sends() -> None:
    session = analysis()
    session.play(10)
    for wrong in ("x", None, 3.5, [1]):
        session.seek(wrong)
        assert not session.goto(wrong)
    assert not session.goto(99)
    session.seek(10**9)
    assert session.place == 1
    session.seek(-5)
    assert session.place == 0


def played_out() -> GameSession:
    """Black owns the left of a 7x7 board, White the right; a White stone is dead in Black's area."""
    diagram = "..XO...\n.OXO...\n..XO...\n..XO...\n..XO...\n..XO...\n..XO...\n"
    session = GameSession(GameSettings(size=7, mode=Mode.ANALYZE, komi=2.5), start=Game.from_diagram(diagram, komi=2.5))
    session.pass_turn()
    session.pass_turn()
    return session


def test_after_two_passes_dead_stones_are_marked_and_corrected() -> None:
    session = played_out()
    assert session.phase is Phase.COUNTING
    stone = 8
    session.begin_count([stone])
    # Area: Black 21 with the dead stone taken away, White 28, komi 2.5.
    assert session.score == 21 - 28 - 2.5
    assert session.view().territory[stone] == "b" and session.view().dead == (stone,)
    session.toggle_dead(stone)
    # The White stone lives again: it is a point for White, and the empty points around it touch both colours.
    assert session.score == 7 - 29 - 2.5
    assert session.status() == "White wins by 24.5 as counted"
    session.toggle_dead(stone)
    assert session.agree() == "W+9.5"
    assert session.phase is Phase.OVER and session.status() == "White wins by 9.5"


def test_nothing_is_agreed_before_the_dead_stones_are_counted() -> None:
    """A finger that taps Pass twice may land on the button that comes in its place."""
    session = played_out()
    with pytest.raises(TengenError, match="not finished"):
        session.agree()
    assert session.result == "" and session.status() == "Counting …" and hint(session, paused=False) == ""
    session.begin_count([8])
    assert session.status() == "White wins by 9.5 as counted" and "accept" in hint(session, paused=False)
    assert session.agree() == "W+9.5"


def test_toggling_an_empty_point_or_rubbish_changes_nothing() -> None:
    session = played_out()
    session.begin_count([8])
    session.toggle_dead(0)
    assert session.dead == {8}
    with pytest.raises(TengenError):
        session.toggle_dead("8")


def test_a_finished_game_can_be_taken_back_and_played_on() -> None:
    session = played_out()
    session.begin_count([])
    session.agree()
    session.take_back()
    assert session.phase is Phase.PLAYING and session.result == ""
    session.play(0)


def test_resigning_settles_the_game() -> None:
    session = GameSession(GameSettings(size=9, human=WHITE))
    session.resign()
    assert session.result == "B+R" and session.status() == "Black wins by resignation"
    with pytest.raises(IllegalMove):
        session.play(3)
    assert not session.engine_to_move


def test_take_back_takes_ones_own_resignation_back_before_any_move() -> None:
    session = GameSession(GameSettings(size=9, human=BLACK))
    session.click(40)
    session.play(41)
    session.resign()
    assert session.take_back()
    assert session.result == "" and len(moves(session)) == 2 and session.may_click
    assert session.take_back() and moves(session) == []


def test_take_back_of_a_resignation_by_the_engine_takes_back_the_move_that_it_resigned_at() -> None:
    """It would only resign again."""
    session = GameSession(GameSettings(size=9, human=BLACK))
    session.click(40)
    session.resign(WHITE)
    assert session.result == "B+R" and session.take_back()
    assert session.result == "" and moves(session) == [] and session.may_click


def test_to_resign_while_looking_back_ends_the_game_at_its_end() -> None:
    session = GameSession(GameSettings(size=9, human=BLACK))
    session.click(40)
    session.play(41)
    session.step(-1)
    session.resign()
    assert session.phase is Phase.OVER and session.place == 2 and session.status() == "White wins by resignation"
    session.step(-1)
    with pytest.raises(IllegalMove, match="ended"):
        session.resign()
    session.step(1)
    assert session.take_back() and session.may_click and len(moves(session)) == 2


def test_time_runs_for_the_side_to_move_and_loses_the_game() -> None:
    session = GameSession(GameSettings(size=9, clock=TimeControl.absolute(60)))
    assert not session.tick(100.0)
    assert not session.tick(130.0)
    assert session.clock is not None and session.clock.text(BLACK) == "0:30"
    session.click(40, 150.0)
    assert not session.tick(150.0)
    session.play(41, 155.0)
    session.tick(155.0)
    assert session.clock.text(WHITE) == "0:55" and session.clock.text(BLACK) == "0:10"
    assert session.tick(166.0)
    assert session.result == "W+T" and session.status() == "White wins on time"
    assert not session.tick(1000.0)


def test_time_stands_still_while_looking_back() -> None:
    session = GameSession(GameSettings(size=9, mode=Mode.ANALYZE, clock=TimeControl.absolute(60)))
    session.play(40, 0.0)
    session.step(-1)
    session.tick(10.0)
    session.tick(500.0)
    assert session.clock is not None and session.clock.text(BLACK) == "1:00"


def test_analyses_are_kept_from_blacks_side_and_the_deeper_one_stays() -> None:
    session = analysis()
    engine = FakeEngine()
    session.add_analysis(session.node, engine.result(session.game, 100))
    session.play(40)
    session.add_analysis(session.node, engine.result(session.game, 100))
    session.add_analysis(session.node, engine.result(session.game, 10))
    (_, black), (_, white) = session.line_analyses()
    assert (black.winrate, black.score_lead) == (0.6, 2.5)
    assert (white.winrate, white.score_lead, white.visits) == (0.4, -2.5, 100)


def test_handicap_gives_white_the_first_move() -> None:
    session = GameSession(GameSettings(size=9, handicap=3, komi=0.5, human=BLACK))
    assert session.game.to_play == WHITE and session.engine_to_move
    assert session.view().stones.count("X") == 3


@pytest.mark.parametrize(
    "wrong",
    [
        {"size": 4},
        {"size": 20},
        {"komi": 7.3},
        {"komi": float("nan")},
        {"komi": 1e9},
        {"handicap": 1},
        {"handicap": 99},
        {"rules": "chess"},
    ],
)
def test_settings_that_cannot_be_played_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(TengenError):
        GameSession(GameSettings(**{"size": 9, **wrong}))

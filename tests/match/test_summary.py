"""Figures and lines of a match, checked by hand; its display."""

from __future__ import annotations

from dataclasses import asdict, replace
from functools import partial
from typing import Any

from rich.console import Console

from tengen.match.display import Display
from tengen.match.outcome import Outcome, Reason
from tengen.match.schedule import fixture
from tengen.match.settings import MatchSettings
from tengen.match.sprt import Sprt
from tengen.match.summary import game_line, games_of, pairing_line, report, score_line, summarize, tally

TWO = MatchSettings.of("one=random", "two=random", games=4)


def outcome(index: int, winner: str | None, result: str, reason: Reason, moves: int, **more: Any) -> Outcome:
    """The game of this number between `one` and `two`."""
    game = fixture([("one", "two")], index)
    return Outcome(**asdict(game), winner=winner, result=result, reason=reason, moves=moves, **more)


GAMES = [
    outcome(0, "one", "B+R", "resign", 101, seconds={"one": 3.0, "two": 4.0}, visits={"one": 400.0}),
    outcome(1, "one", "W+2.5", "count", 250, score=-2.5, counts={"one": -2.5, "two": 1.5}, disputed=True),
    outcome(2, None, "Draw", "count", 260, score=0, counts={"one": 0, "two": 0}),
    outcome(3, "two", "B+T", "timeout", 11),
]
AGREED = outcome(0, "one", "B+3.5", "count", 90, counts={"one": 3.5, "two": 3.5, "playouts": 17.5})


def test_figures() -> None:
    figures = summarize(TWO, GAMES)
    (pairing,) = figures["pairings"]
    assert (pairing["wins"], pairing["draws"], pairing["losses"], pairing["score"]) == (2, 1, 1, 0.625)
    assert (pairing["a_as_black"]["points"], pairing["a_as_white"]["points"]) == (1.5, 1)
    assert [(player["name"], player["points"]) for player in figures["players"]] == [("one", 2.5), ("two", 1.5)]
    assert [(player["seconds"], player["mean_visits"]) for player in figures["players"]] == [(3.0, 400.0), (4.0, None)]
    assert figures["endings"] == {"draw by count": 1, "one by count": 1, "one by resign": 1, "two by timeout": 1}
    assert (figures["counted"], figures["counts_differ"], figures["disputed"]) == (2, [1], [1])
    assert figures["complete"] and not summarize(TWO, GAMES[:3])["complete"]
    assert figures["mean_moves"] == (101 + 250 + 260 + 11) / 4
    (all_won,) = summarize(TWO, GAMES[:2])["pairings"]
    elo, low, high = all_won["elo"]
    assert (elo, high) == (None, None) and -200 < low < 0, "two of two games: an infinite Elo is null"
    games = [replace(game, visits={"one": visits}) for game, visits in zip(GAMES, (400.0, 200.0), strict=False)]
    assert summarize(TWO, games)["players"][0]["mean_visits"] == 300


def test_lines() -> None:
    assert score_line(tally(GAMES, "one")).startswith("2.5 - 1.5, 62.5% [")
    assert pairing_line("one", "two", tally(GAMES, "one")).endswith("stronger with probability 68.8%")  # 11 of 16
    assert game_line(GAMES[0]) == "game 0: B+R (resign), one - two, 101 moves, 7 s"
    assert "differ" in game_line(GAMES[1])
    assert "differ" not in game_line(AGREED)
    text = report(summarize(TWO, GAMES))
    assert "as Black 1.5 of 2, as White 1 of 2" in text
    assert "\n2 games were counted; " in text
    assert "\nendings: draw by count 1, one by count 1, one by resign 1, two by timeout 1\n" in text
    assert "one: 2.5 of 4" not in text, "the pairing has said it"
    assert "\n1 game was counted; " in report(summarize(TWO, GAMES[:2]))
    assert "different scores in 1 (game 1), to different winners in 1 (game 1)" in text


def test_more_than_two_players_are_ranked() -> None:
    settings = MatchSettings.of("one=random", "two=random", "three=random", games=2)
    names, games = ("one", "two", "three"), []
    for game in (fixture(settings.pairings, i) for i in range(6)):
        winner = max(game.black, game.white, key=names.index)
        games.append(Outcome(**asdict(game), winner=winner, result="?", reason="resign", moves=9))
    assert "\nthree: 4 of 4\ntwo: 2 of 4\none: 0 of 4\n" in report(summarize(settings, games))


def test_the_figures_of_a_tournament_are_those_of_its_games() -> None:
    settings = MatchSettings.of(*(f"{name}=random" for name in "abcd"), games=4)
    games = []
    for game in map(partial(fixture, settings.pairings), range(19)):  # one pairing lacks games
        winner = (game.black, game.white, None)[game.index % 3]
        times = {"seconds": {game.black: 1.5}, "visits": {game.white: 10.0 * game.index}}
        games.append(Outcome(**asdict(game), winner=winner, result="?", reason="resign", moves=9, **times))
    figures = summarize(settings, games)
    counts = ("wins", "draws", "losses")
    for player in figures["players"]:
        name, own = player["name"], games_of(games, player["name"])
        assert tuple(player[count] for count in counts) == tuple(getattr(tally(own, name), count) for count in counts)
        assert player["seconds"] == 1.5 * sum(game.black == name for game in own)
    for pairing in figures["pairings"]:
        whole = tally(games_of(games, pairing["a"], pairing["b"]), pairing["a"])
        assert tuple(pairing[count] for count in counts) == tuple(getattr(whole, count) for count in counts)


def test_a_game_that_is_counted_without_the_players_is_not_called_uncounted() -> None:
    games = [outcome(0, "one", "B+2.5", "count", 60, score=2.5), outcome(1, "two", "B+1.5", "settled", 50, score=1.5)]
    assert "counted" not in report(summarize(TWO, games))


def test_the_score_after_a_test_comes_with_a_warning() -> None:
    test, note = Sprt(elo0=0, elo1=100), "leans towards the decision"
    games = [outcome(index, "one", f"{'BW'[index % 2]}+R", "resign", 9) for index in range(40)]
    assert note in report(summarize(TWO, games, test.judge([1.0] * 20)))
    assert note not in report(summarize(TWO, games[:2], test.judge([1.0])))


def test_a_test_without_a_decision_says_how_to_go_on() -> None:
    settings = TWO.model_copy(update={"sprt": Sprt(elo0=0, elo1=10)})
    note = "\nundecided: the same command with a larger --games goes on\n"
    test = Sprt(elo0=0, elo1=10).judge([0.5, 0.25])
    assert note in report(summarize(settings, GAMES, test))
    assert note not in report(summarize(settings, GAMES[:3], test)), "games are left"


def shown(settings: MatchSettings, games: list[Outcome], terminal: bool) -> str:
    console = Console(width=200, force_terminal=terminal, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with Display(settings, console) as display:
        display.started([], 2)
        for game in games:
            display.played(game, None)
        if terminal:
            console.print(display.panel())
    return console.export_text()


def test_the_display_shows_the_standing_on_a_terminal_and_is_quiet_elsewhere() -> None:
    quiet = shown(TWO, GAMES, terminal=False).splitlines()
    assert quiet[0] == "4 games, 2 at once: head-to-head, one - two"
    assert len(quiet) == 2 and quiet[1].startswith("game 1: W+2.5") and "with different winners" in quiet[1]
    live = shown(TWO, GAMES[:3], terminal=True)
    assert "3 of 4 games, 0 s left" in live and "one - two: 2.5 - 0.5, 83.3%" in live and "game 2: Draw" in live


def test_the_display_counts_the_games_played_before() -> None:
    console = Console(width=200, force_terminal=True, record=True, file=open("/dev/null", "w"))  # noqa: SIM115
    with Display(TWO, console) as display:
        display.started(GAMES[:2], 2)
        display.played(GAMES[2], None)
        console.print(display.panel())
    live = console.export_text()
    assert "3 of 4 games" in live and "one - two: 2.5 - 0.5, 83.3%" in live and "game 2: Draw" in live


def test_the_display_of_a_tournament_is_a_table() -> None:
    three = MatchSettings.of("one=random", "two=random", "three=random", games=2)
    live = shown(three, [outcome(0, "two", "W+R", "resign", 9)], terminal=True)
    rows = [line.split() for line in live.splitlines()]
    assert [row[0] for row in rows if row and row[0] in ("one", "two", "three")][-3:] == ["two", "three", "one"]


def test_names_of_players_are_no_markup() -> None:
    three = MatchSettings.of("one=random", "[b]=random", "three=random", games=2)
    assert "\n[b]  " in shown(three, [], terminal=True)


def test_pairings_that_are_not_known_within_the_points_are_listed() -> None:
    settings = MatchSettings.of("one=random", "two=random", games=60, within=20)
    assert "score known within 20 points: 1 of 1 pairings" in report(summarize(settings, GAMES * 10))
    few = report(summarize(settings, GAMES))
    assert (
        "score known within 20 points: 0 of 1 pairings; one - two within " in few and f"after {len(GAMES)} games" in few
    )

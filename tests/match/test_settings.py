"""Match settings: errors and defaults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tengen.errors import RecipeError, TengenError
from tengen.evaluators.playout_file import find_playout, read_playout, read_playout_card, write_playout
from tengen.match.settings import MatchSettings
from tengen.recipes.loader import settled


def test_an_opening_by_default_leaves_a_game_on_every_board() -> None:
    drawn = {size: read(players=["random"] * 2, conditions={"size": size}).conditions.drawn for size in (2, 3, 4, 19)}
    assert drawn == {2: 1, 3: 3, 4: 4, 19: 4}
    with pytest.raises(RecipeError, match="an opening on 3x3 has at most 3 moves, a third of its points, not 4"):
        read(players=["random"] * 2, conditions={"size": 3, "opening": 4})


def read(**fields: object) -> MatchSettings:
    return settled(dict(fields), [], MatchSettings)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"players": ["random"]}, "two players or more"),
        ({"players": "random"}, "two players or more"),
        ({"players": ["random", 7]}, "player 2 is 7"),
        ({"players": ["random", "default@x"]}, "'x' is not a limit"),
        ({"players": ["random", {"player": "default", "visit": 3}]}, "player 2: .*did you mean visits"),
        ({"players": [{"name": "a", "player": "default", "search": {"fpu": 0.5}}, "random"]}, r"player 1 \(a\): fpu: "),
        ({"players": ["x=random", "x=random"]}, "two players are called 'x'"),
        ({"players": ["random", "random"], "games": 3}, "even number, not 3"),
        ({"players": ["random", "random"], "games": 0}, "games: .* 2"),
        ({"players": ["random", "random"], "shedule": "ladder"}, "unknown key 'shedule'; did you mean schedule"),
        ({"players": ["random", "random"], "conditions": {"komi": 6.3}}, "komi: .*0.5"),
        ({"players": ["random", "random"], "conditions": {"kommi": 7}}, r"unknown key .*did you mean conditions\.komi"),
        ({"players": ["random", "random"], "conditions": {"rules": "house"}}, "house"),
        ({"players": ["random", "random"], "conditions": {"size": 1}}, "conditions.size"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo1": 1}}, "elo0 must be below elo1"),
        ({"players": ["random", "random"], "sprt": {"elo0": 3, "elo2": 1}}, r"did you mean sprt\.elo"),
        ({"players": ["random"] * 3, "sprt": {"elo0": 0, "elo1": 1}}, "sequential test is for two"),
        ({"players": ["random"] * 2, "sprt": {"elo0": 0, "elo1": 1}, "within": 5}, r"by sprt .* or by within"),
        ({"players": ["random"] * 2, "within": 50}, "within: .* 50"),
        ({"players": ["random"] * 2, "within": 1e-6}, r"within: .* 0\.1"),
        ({"players": ["random"] * 2, "games": 10**12}, "games: .* 1000000"),
        ({"players": ["random"] * 2, "conditions": {"komi": 999}}, "komi: .* 400"),
        ({"players": ["random"] * 2, "within": 0}, "within: .* 0"),
        ({"players": ["random"] * 3, "schedule": "head-to-head"}, "two players, not 3"),
        ({"players": ["random"] * 3, "schedule": "swiss"}, "schedule.kind"),
    ],
)
def test_bad_settings_are_errors_of_one_line(fields: dict[str, object], says: str) -> None:
    with pytest.raises(TengenError, match=says) as caught:
        read(**fields)
    assert "\n" not in str(caught.value)


def test_a_sequential_test_has_games_enough_to_be_decided() -> None:
    two = {"players": ["random"] * 2}
    sprt = {"elo0": 0, "elo1": 5}
    assert read(**two).games == 60 and read(**two, sprt=sprt).games >= 10_000
    assert read(**two, sprt=sprt, games=40).games == 40


def test_defaults_apply_to_fields_that_are_not_given() -> None:
    settings = read(players=["default", "playouts@3", {"player": "random"}], defaults={"visits": 50})
    assert [spec.visits for spec in settings.players] == [50, 3, None]
    assert not settings.timed and read(players=["random", "default@2s"]).timed


@pytest.mark.parametrize(
    ("conditions", "komi"),
    [
        ({}, 7.5),
        ({"rules": "japanese"}, 6.5),
        ({"rules": "japanese", "komi": 7.5}, 7.5),
        ({"rules": "aga-button", "komi": None}, 7.0),
    ],
)
def test_komi_is_the_usual_one_of_the_rules_unless_it_is_given(conditions: dict[str, object], komi: float) -> None:
    settings = read(players=["random"] * 2, conditions=conditions)
    assert settings.conditions.new_game().komi == komi
    assert settings.about()["conditions"]["komi"] == komi, "the folder says it, whatever later versions take"


def test_a_network_that_changes_is_another_match() -> None:
    about = read(players=["default", "random"]).about()
    assert list(about["files"]) == ["default"] and len(about["files"]["default"]) == 16


def test_a_program_that_changes_is_another_match(tmp_path: Path) -> None:
    script, network = tmp_path / "engine.py", tmp_path / "net.bin"
    found = []
    for content in ("1", "2"):
        script.write_text(content)
        network.write_text(content)
        line = f"gtp:{sys.executable} {script} --net {network} --log {tmp_path / 'play.log'} --no-such {tmp_path}/x"
        (tmp_path / "play.log").write_text(content)
        found.append(read(players=[line, "random", "gtp:no-such-program gtp"]).about()["program_files"])
    assert list(found[0]) == list(found[1]) == sorted([sys.executable, str(script), str(network)])
    assert [word for word in found[0] if found[0][word] != found[1][word]] == sorted([str(script), str(network)])


def test_a_program_is_sought_where_it_is_started_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian has GNU Go in /usr/games, which PATH need not name."""
    (tmp_path / "gnugo").touch(mode=0o755)
    monkeypatch.setattr("tengen.gtp.process._GAMES", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path / "other"))
    assert list(read(players=["gtp:gnugo --mode gtp", "random"]).about()["program_files"]) == ["gnugo"]


def test_a_playout_policy_that_changes_is_another_match(tmp_path: Path) -> None:
    weights, found = tmp_path / "mine.playout", []
    known = find_playout("linear")
    steps = read_playout(known)
    for change in (0, 1):
        steps[0] += change
        write_playout(weights, read_playout_card(known), steps)
        found.append(read(players=[f"playouts:linear:{weights}", "playouts"]).about()["files"])
    assert [list(files) for files in found] == 2 * [[f"linear:{weights}"]]
    assert found[0] != found[1]

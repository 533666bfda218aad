"""The games that are rated together, and the identity of players."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from made_matches import game, series, write_match

from tengen.checksums import Integrity
from tengen.errors import RecipeError, SgfError, TengenError
from tengen.game import Game
from tengen.match.players import open_player
from tengen.match.spec import PlayerSpec
from tengen.ratings.duplicate_games import duplicate_games
from tengen.ratings.pool import GameRules, GameSet, Pool, even_games, match_games, matches_in, sgf_games
from tengen.ratings.score import Score
from tengen.runs.verify import verify
from tengen.selfplay.anchors import RunPlayers
from tengen.sgf import Result, SgfInfo, write_game


def test_every_game_of_a_match_is_a_score_for_the_right_color(tmp_path: Path) -> None:
    outcomes = [game(0, "a", "b", "a"), game(1, "b", "a", "a"), game(2, "a", "b", None), game(3, "b", "a", "b")]
    outcomes.append(game(4, "a", "b", None, reason="cycle", result="Void"))
    game_set = match_games(write_match(tmp_path / "m", outcomes, komi=6.5))
    assert game_set.rules == GameRules(5, "chinese", 6.5)
    assert game_set.scores == (
        Score("a", "b", wins=1),
        Score("b", "a", losses=1),
        Score("a", "b", draws=1),
        Score("b", "a", wins=1),
        Score("a", "b", draws=1),  # void counts half
    )
    assert [outcome.index for outcome in game_set.outcomes] == [0, 1, 2, 3, 4]


def test_a_winner_that_did_not_play_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(TengenError, match="game 7 was won by 'c'"):
        match_games(write_match(tmp_path / "m", [game(7, "a", "b", "c")]))


WRONG: list[tuple[str, tuple[Any, ...], str]] = [
    ("conditions", ({}, [], None), "conditions"),
    ("conditions.size", ("9", None, 1.5, [9]), "conditions.size: Input should be a valid integer"),
    ("conditions.size", (0, 99), "conditions.size: choose 2 to "),
    ("conditions.rules", (5, None), "conditions.rules: Input should be a valid string"),
    ("conditions.rules", ("x",), "conditions.rules: unknown rules 'x'"),
    ("conditions.komi", ("x", None, 1e308), "conditions.komi: Input should be"),
    ("players", ({}, "ab", [1], [{"name": 5}], None), "players"),
    ("players", ([{}],), "players.0.name: Field required"),
    ("schedule", ({}, {"kind": "x"}, 5, None), "schedule"),
    ("games", ("x", None, [1], 1e300), "games: Input should be a valid integer"),
    ("sprt", ({}, "x", 5, {"elo0": "a", "elo1": 1}), "sprt"),
    ("within", ("x", [1]), "within: Input should be a valid number"),
    ("files", ([], 5, None), "files: Input should be"),
    ("conditions.handicap", ("x", 1.5), "conditions.handicap: Input should be a valid integer"),
    ("conditions.handicap", (-2,), "conditions.handicap: Input should be greater than"),
    ("version", ("2",), "has version '2'; this Tengen knows 2"),
]


@pytest.mark.parametrize(
    ("key", "value", "message"), [(key, value, message) for key, values, message in WRONG for value in values]
)
def test_an_altered_match_is_an_error_in_words(tmp_path: Path, key: str, value: Any, message: str) -> None:
    folder = write_match(tmp_path / "m", series("a", "b", 1, 1))
    about = json.loads((folder / "match.json").read_text())
    *outer, last = key.split(".")
    (about[outer[0]] if outer else about)[last] = value
    (folder / "match.json").write_text(json.dumps(about))
    with pytest.raises(TengenError, match=re.escape(message)) as found:
        match_games(folder)
    assert str(folder / "match.json") in str(found.value) and "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        *[("index", "a"), ("index", None), ("index", 1.5), ("black", 5), ("black", None), ("black", ["a"])],
        *[("moves", "x"), ("moves", None), ("counts", []), ("counts", {"a": "x"}), ("seconds", None), ("visits", None)],
        *[("result", 5), ("reason", "x"), ("score", "x"), ("opening", "x"), ("last_words", None), ("extra", 1)],
    ],
)
def test_an_altered_game_is_an_error_in_words(tmp_path: Path, key: str, value: Any) -> None:
    folder = write_match(tmp_path / "m", series("a", "b", 1, 1))
    first, second = (folder / "games.jsonl").read_text().splitlines()
    (folder / "games.jsonl").write_text(f"{first}\n{json.dumps({**json.loads(second), key: value})}\n")
    with pytest.raises(TengenError, match=r"games\.jsonl, line 2 is not a game of a match \("):
        match_games(folder)


@pytest.mark.parametrize("name", ["match.json", "games.jsonl"])
def test_brackets_without_end_are_no_match(tmp_path: Path, name: str) -> None:
    folder = write_match(tmp_path / "m", series("a", "b", 1, 1))
    (folder / name).write_text("[" * 100_000 + "\n")
    with pytest.raises(TengenError, match="no JSON"):
        match_games(folder)
    assert (folder / "games.jsonl", Integrity.ALTERED if name == "games.jsonl" else Integrity.UNKNOWN) in verify(folder)


def test_games_beyond_those_of_the_match_do_not_count(tmp_path: Path) -> None:
    """A match that was stopped and continued with fewer games."""
    folder = write_match(tmp_path / "m", series("a", "b", 5, 1), games=2)
    assert [outcome.index for outcome in match_games(folder).outcomes] == [0, 1]


def test_matches_are_found_one_level_down(tmp_path: Path) -> None:
    write_match(tmp_path / "two", series("b", "c", 1, 1))
    write_match(tmp_path / "one", series("a", "b", 1, 1))
    pool = Pool.of(matches_in(tmp_path))
    assert [game_set.source.name for game_set in pool.game_sets] == ["one", "two"]
    assert pool.players == ["a", "b", "c"]
    assert matches_in(tmp_path / "one" / "games") == []


def test_sizes_are_kept_apart_and_terms_counted(tmp_path: Path) -> None:
    write_match(tmp_path / "1", series("a", "b", 3, 1))
    write_match(tmp_path / "2", series("a", "b", 1, 1), komi=7.5)
    write_match(tmp_path / "3", series("a", "b", 5, 1), size=7)
    pool = Pool.of(matches_in(tmp_path))
    assert pool.sizes == [5, 7]
    assert pool.at(7).rules == {GameRules(7, "chinese", 0.5): 6}
    assert list(pool.at(5).rules.values()) == [4, 2]
    assert sum(score.games for score in pool.at(5).scores) == 6


def test_players_of_one_name_that_are_known_to_differ_are_disambiguated(tmp_path: Path) -> None:
    new = {"player": "runs/2/net.onnx"}
    write_match(tmp_path / "monday", series("net", "gnugo", 1, 1), players={"net": {"player": "runs/1/net.onnx"}})
    write_match(tmp_path / "tuesday", series("net", "gnugo", 1, 1), players={"net": new})
    write_match(tmp_path / "wednesday", series("net", "gnugo", 1, 1), players={"net": {**new, "threads": 2}})
    pool = Pool.of(matches_in(tmp_path))
    assert pool.players == ["gnugo", "net (monday)", "net (tuesday)"]
    assert len(pool.notes) == 1 and pool.notes[0].startswith("net is not the same player everywhere")
    last = pool.game_sets[2].outcomes[0]
    assert (last.black, last.winner, set(last.seconds)) == ("net (tuesday)",) * 2 + ({"net (tuesday)", "gnugo"},)


def test_players_that_pass_or_draw_in_another_way_are_other_players(tmp_path: Path) -> None:
    """A run's playouts and those of tengen match had one name, and were rated as one player."""
    fields = {"player": "playouts", "visits": 100}
    for name, passes in (("old", {}), ("engine", {"pass_policy": "engine"}), ("free", {"pass_policy": "free"})):
        players = {"playouts": {**fields, **passes}, "net": {"player": "policy:x"}}
        write_match(tmp_path / name, series("net", "playouts", 3, 1), players=players)
    pool = Pool.of(matches_in(tmp_path))
    assert pool.players == ["net", "playouts (engine)", "playouts (free)"]
    drawn = {"net": {"player": "policy:x", "temperature": 1.0}}
    write_match(tmp_path / "drawn", series("net", "random", 3, 1), players=drawn)
    assert {"net (engine)", "net (drawn)"} <= set(Pool.of(matches_in(tmp_path)).players)


def test_a_network_in_another_precision_is_another_player(tmp_path: Path) -> None:
    for name, precision in (("old", {}), ("chosen", {"precision": None}), ("int8", {"precision": "int8"})):
        players = {"net": {"player": "policy:x", **precision}}
        write_match(tmp_path / name, series("net", "random", 3, 1), players=players)
    assert Pool.of(matches_in(tmp_path)).players == ["net (chosen)", "net (int8)", "random"]


def test_all_players_called_random_are_one(tmp_path: Path) -> None:
    spec, anchor = PlayerSpec.parse("random"), RunPlayers(64).parse("random")
    assert (spec, type(open_player(spec))) == (anchor, type(open_player(anchor)))
    assert RunPlayers(64).parse("playouts@100").name != PlayerSpec.parse("playouts@100").name


def test_a_network_file_that_changed_is_another_player(tmp_path: Path) -> None:
    for day, digest in (("monday", "aa"), ("tuesday", "bb")):
        fields = {"net": {"player": "policy:net.onnx"}}
        write_match(tmp_path / day, series("net", "x", 1, 1), players=fields, files={"net.onnx": digest})
    assert Pool.of(matches_in(tmp_path)).players == ["net (monday)", "net (tuesday)", "x"]


def test_a_player_spelled_in_two_ways_is_one(tmp_path: Path) -> None:
    for day, word, path in (("monday", "gnugo --level 10 --mode gtp", "nets/a.onnx"), ("tuesday", "gnugo", "a.onnx")):
        fields = {"GNU Go level 10": {"player": f"gtp:{word} --chinese-rules"}, "net": {"player": path}}
        write_match(tmp_path / day, series("net", "GNU Go level 10", 1, 1), players=fields, files={path: "aa"})
    assert Pool.of(matches_in(tmp_path)).players == ["GNU Go level 10", "net"]


def test_players_under_a_time_limit_with_other_threads_or_another_device_are_other_players(tmp_path: Path) -> None:
    """They were rated as one player, whose rating lay between theirs."""
    for name, fields in (
        ("one", {"threads": 1, "device": "auto"}),
        ("old", {}),
        ("two", {"threads": 2}),
        ("gpu", {"device": "cuda"}),
    ):
        for limit in ("seconds", "visits"):
            players = {"net": {"player": "x", limit: 9, **fields}}
            write_match(tmp_path / limit / name, series("net", "random", 1, 1), players=players)
    timed = ["net (gpu)", "net (old)", "net (two)", "random"]
    assert Pool.of(matches_in(tmp_path / "seconds")).players == timed
    assert Pool.of(matches_in(tmp_path / "visits")).players == ["net", "random"]


def test_a_search_in_other_batches_is_another_player(tmp_path: Path) -> None:
    for name, batch in (("usual", None), ("single", 1)):
        players = {"net": {"player": "x", "visits": 9, "batch": batch}}
        write_match(tmp_path / name, series("net", "random", 1, 1), players=players)
    assert Pool.of(matches_in(tmp_path)).players == ["net (single)", "net (usual)", "random"]


def test_programs_of_one_name_in_different_folders_are_different_players(tmp_path: Path) -> None:
    for name, folder in (("monday", "/a"), ("tuesday", "/b")):
        players = {"bot": {"player": f"gtp:{folder}/bot"}}
        write_match(tmp_path / name, series("bot", "random", 1, 1), players=players)
    assert Pool.of(matches_in(tmp_path)).players == ["bot (monday)", "bot (tuesday)", "random"]


def test_what_numbered_names_stand_for_is_a_note(tmp_path: Path) -> None:
    players = {"bot": {"player": "gtp:/a/bot"}, "bot (2)": {"player": "gtp:/b/bot"}}
    write_match(tmp_path / "1", series("bot", "bot (2)", 1, 1), players=players)
    assert Pool.of(matches_in(tmp_path)).notes == ("bot is gtp:/a/bot; bot (2) is gtp:/b/bot",)
    write_match(tmp_path / "2", series("bot", "random", 1, 1), players={"bot": {"player": "gtp:/c/bot"}})
    assert Pool.of(matches_in(tmp_path)).notes[-1] == "bot (1) is gtp:/a/bot; bot (2) is gtp:/b/bot"


def test_matches_with_a_handicap_are_set_apart(tmp_path: Path) -> None:
    for name, stones in (("even", None), ("old", 0), ("handicap", 4)):
        folder = write_match(tmp_path / name, series("a", "b", 2, 1))
        about = json.loads((folder / "match.json").read_text())
        about["conditions"] |= {"handicap": stones} if stones != 0 else {}
        (folder / "match.json").write_text(json.dumps(about))
    found = matches_in(tmp_path)
    assert str(next(iter(Pool.of(found).at(5).rules))) == "5x5, chinese, komi 0.5"
    assert str(found[1].rules) == "5x5, chinese, komi 0.5, handicap 4"
    even, notes = even_games(found)
    assert [game_set.source.name for game_set in even] == ["even", "old"]
    assert notes == [f"{tmp_path / 'handicap'}: 3 left out, games with handicap or set up stones"]


def test_a_name_may_stand_for_a_network_of_each_board_size(tmp_path: Path) -> None:
    for size, digest in ((7, "aa"), (9, "bb")):
        fields = {"default": {"player": "default"}}
        games = series("default", "x", 1, 1)
        write_match(tmp_path / str(size), games, players=fields, size=size, files={"default": digest})
    assert Pool.of(matches_in(tmp_path)).players == ["default", "x"]


def test_a_match_that_ended_by_itself_is_over_whatever_its_players_are_called(tmp_path: Path) -> None:
    outcomes = []
    for index in range(6 * 37):
        first, second = (("a", "b"), ("a", "c"), ("b", "c"))[index // 2 % 3]
        black, white = (second, first) if index % 2 else (first, second)
        outcomes.append(game(index, black, white, first, round=index // 6))
    write_match(tmp_path / "m", outcomes, games=400, within=5)
    game_sets = matches_in(tmp_path)
    assert Pool.of(game_sets).game_sets[0].left == Pool.of(game_sets, {"a": "c"}).game_sets[0].left == 0


def test_a_player_under_two_names_can_be_made_one(tmp_path: Path) -> None:
    write_match(tmp_path / "1", series("a", "gnugo", 1, 1))
    write_match(tmp_path / "2", series("b", "GNU Go level 10", 1, 1))
    game_sets = matches_in(tmp_path)
    assert Pool.of(game_sets, {"gnugo": "GNU Go level 10"}).players == ["GNU Go level 10", "a", "b"]
    with pytest.raises(RecipeError, match="there is no player 'pachi'; there are GNU Go level 10; a; b; gnugo"):
        Pool.of(game_sets, {"pachi": "x"})


def test_records_of_other_programs_are_read_by_their_headers(tmp_path: Path) -> None:
    def write(
        name: str, result: Result, size: int = 9, komi: float = 7.5, black: str = "Pachi", stones: int = 0
    ) -> None:
        info = SgfInfo(black, "Fuego", komi=komi, rules="chinese", result=result, handicap=stones)
        (tmp_path / f"{name}.sgf").write_bytes(write_game(Game(size, "chinese", komi).play(0), info))

    write("won", Result(0, None, "resign"))
    write("lost", Result(1, -3.5, "count"))
    write("drawn", Result(2, 0.0, "draw"), komi=7)
    write("large", Result(0, None, "time"), size=19)
    write("open", Result())
    write("nameless", Result(0, None, "resign"), black="")
    write("handicap", Result(0, None, "resign"), stones=2)
    (tmp_path / "broken.sgf").write_bytes(b"nothing")
    game_sets, notes = sgf_games(tmp_path)
    pool = Pool.of(game_sets)
    assert pool.sizes == [9, 19]
    scores = {game_set.rules: game_set.scores for game_set in game_sets}
    one, other = Score("Pachi", "Fuego", losses=1), Score("Pachi", "Fuego", wins=1)
    assert scores[GameRules(9, "chinese", 7.5)] == (one, other)
    assert scores[GameRules(9, "chinese", 7)] == (Score("Pachi", "Fuego", draws=1),)
    assert len(notes) == 4 and all(": 1 left out, " in note for note in notes), notes


def test_copies_of_records_are_those_with_moves_and_the_same_result(tmp_path: Path) -> None:
    def write(name: str, winner: int, *moves: int) -> None:
        played = Game(9)
        for move in moves:
            played.play(move)
        info = SgfInfo(black=name, white="Fuego", rules="chinese", result=Result(winner, None, "resign"))
        (tmp_path / f"{len(list(tmp_path.iterdir()))}.sgf").write_bytes(write_game(played, info))

    for _ in range(3):
        write("Pachi", 0, 40, 41)
        write("unknown", 0)
    write("Pachi", 1, 40, 41)
    for name in "abcdef":
        write(name, 0, 3)
        write(name, 0, 3)
    warnings = duplicate_games(Pool.of(sgf_games(tmp_path)[0]))
    assert warnings[0].startswith(
        "only 2 of 4 games between Fuego and Pachi differ: their interval is too narrow (the same"
    )
    assert len(warnings) == 6 and warnings[-1] == "2 more pairings have duplicate games"


def test_a_folder_without_games_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SgfError, match="no game records"):
        sgf_games(tmp_path)


def test_renaming_changes_the_whole_game_set() -> None:
    outcome = game(0, "a", "b", "a", counts={"a": 1.5, "b": 0.5, "playouts": 1.5}, visits={"b": 9.0})
    game_set = GameSet(Path("x"), GameRules(9, "chinese", 7.5), (Score("a", "b", 1),), {"a": "?"}, None, (outcome,))
    new = game_set.renamed({"a": "c"})
    assert (new.scores[0].black, new.identities) == ("c", {"c": "?"})
    assert (new.outcomes[0].black, new.outcomes[0].winner, new.outcomes[0].loser) == ("c", "c", "b")
    assert set(new.outcomes[0].counts) == {"c", "b", "playouts"} and set(new.outcomes[0].seconds) == {"c", "b"}

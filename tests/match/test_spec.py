"""Words and lines of YAML become players; errors name the bad value and what would be right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tengen.engine.clock import TimeControl
from tengen.engine.style import Style
from tengen.errors import RecipeError
from tengen.match.names import numbered_players
from tengen.match.spec import PLAYERS, PlayerSpec, distinct, identity


@pytest.mark.parametrize(
    ("word", "name", "kind", "subject", "limits"),
    [
        ("random", "random", "random", "", (None, None, None)),
        ("playouts", "playouts, 1000 visits", "playouts", "local", (1000, None, None)),
        ("playouts:uniform@300", "playouts (uniform), 300 visits", "playouts", "uniform", (300, None, None)),
        ("default", "default, 400 visits", "network", "default", (400, None, None)),
        ("nets/old.onnx@2s", "old, 2 s", "network", "nets/old.onnx", (None, 2.0, None)),
        ("default@0.5s", "default, 0.5 s", "network", "default", (None, 0.5, None)),
        ("default@10m+5x30s", "default, 10m+5x30s", "network", "default", (None, None, "10m+5x30s")),
        ("new=default@100", "new", "network", "default", (100, None, None)),
        ("policy:default", "default, policy", "policy", "default", (None, None, None)),
        ("raw:a/00007.onnx", "00007, raw policy, first move drawn", "raw", "a/00007.onnx", (None, None, None)),
        ("raw:default@5m+0", "default, raw policy, first move drawn, 5m+0", "raw", "default", (None, None, "5m+0")),
        ("./a=b.onnx", "a=b, 400 visits", "network", "./a=b.onnx", (400, None, None)),
    ],
)
def test_words(word: str, name: str, kind: str, subject: str, limits: tuple[Any, ...]) -> None:
    spec = PlayerSpec.parse(word)
    assert (spec.name, spec.kind, spec.subject) == (name, kind, subject)
    assert (spec.visits, spec.seconds, spec.time) == limits
    assert PlayerSpec.of(json.loads(spec.model_dump_json())) == spec


@pytest.mark.parametrize(
    ("word", "name", "command", "limits"),
    [
        ("gtp:gnugo --mode gtp --level 1 --chinese-rules", "GNU Go level 1", None, (None, None)),
        ("gtp:/usr/games/gnugo --mode gtp --chinese-rules", "GNU Go level 10", None, (None, None)),
        (
            "gtp:gnugo --mode gtp --never-resign --level=3@90s+0",
            "GNU Go level 3 --never-resign, 1m30s+0",
            "gnugo --mode gtp --never-resign --level=3",
            (None, "1m30s+0"),
        ),
        ("gtp:other --fast@2s", "other --fast, 2 s", "other --fast", (2.0, None)),
        ("old one=gtp:other --level=3", "old one", "other --level=3", (None, None)),
        ("gtp:ssh me@far katago", "ssh me@far katago", None, (None, None)),
        ("gtp:ssh me@10.0.0.1 katago", "ssh me@10.0.0.1 katago", None, (None, None)),
        (
            "gtp:/opt/katago/katago gtp -model /opt/katago/models/g170-b6c96-s175395328-d26788732.bin.gz",
            "katago gtp -model g170-b6c96-s175395328-d26788732.bin.gz",
            None,
            (None, None),
        ),
    ],
)
def test_programs(word: str, name: str, command: str | None, limits: tuple[Any, ...]) -> None:
    spec = PlayerSpec.parse(word)
    assert (spec.name, spec.kind, spec.subject) == (name, "program", command or word.removeprefix("gtp:"))
    assert (spec.seconds, spec.time) == limits and spec.visits is None


def test_a_network_file_may_have_an_at_sign_in_its_name(tmp_path: Path) -> None:
    """No word and no mapping could name it."""
    path = tmp_path / "a@4.onnx"
    path.touch()
    for word, visits in ((str(path), 400), (f"{path}@2", 2), (f"new={path}@2", 2)):
        spec = PlayerSpec.parse(word)
        assert (spec.kind, spec.subject, spec.visits) == ("network", str(path), visits)
    (other := tmp_path / "a@b+c.onnx").touch()
    assert PlayerSpec.parse(str(other)).subject == PlayerSpec.of({"player": str(other)}).subject == str(other)
    raw = PlayerSpec.parse(f"policy:{path}")
    path.unlink()
    assert (raw.kind, raw.subject) == ("policy", str(path))
    assert PlayerSpec.of(json.loads(raw.model_dump_json())) == raw, "a record of a match is read without the file"


def test_programs_of_different_folders_are_different_players(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Their identity had no folders, those of options neither, so that they were rated as one player."""
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("engine", "gnugo"):
        (tmp_path / name).touch(mode=0o755)
    same = [
        ("gtp:engine --fast", f"gtp:{tmp_path}/engine --fast"),
        ("gtp:gnugo --mode gtp", f"gtp:{tmp_path}/gnugo --level 10 --chinese-rules --mode gtp"),
        ("policy:a.onnx", "policy:a.onnx"),
    ]
    other = [
        ("gtp:/a/engine", "gtp:/b/engine"),
        ("gtp:engine", "gtp:/b/engine"),
        ("gtp:gnugo", "gtp:/b/gnugo"),
        ("gtp:engine -model /a/model.bin.gz", "gtp:engine -model /b/model.bin.gz"),
        ("gtp:engine 'a b'", "gtp:engine a b"),
    ]
    assert [identity(one, None) == identity(two, None) for one, two in same + other] == [True] * 3 + [False] * 5


def test_what_numbered_names_stand_for() -> None:
    words = ("gtp:/a/bot -x", "gtp:/b/bot -x", "random", "random", "z=gtp:/a/bot")
    specs = distinct([PlayerSpec.parse(word) for word in words])
    assert numbered_players([spec.model_dump() for spec in specs]) == {
        "bot -x": "gtp:/a/bot -x",
        "bot -x (2)": "gtp:/b/bot -x",
    }
    batches = [PlayerSpec.of({"player": "default", "visits": 4, **more}) for more in ({}, {"batch": 1})]
    assert numbered_players([spec.model_dump() for spec in distinct(batches)]) == {
        "default, 4 visits": "default",
        "default, 4 visits (2)": "default (batch 1)",
    }
    unknown = [{"name": "bot", "visits": 1}, {"name": "bot (2)", "visits": 2}]
    assert numbered_players(unknown) == numbered_players([*unknown, {"name": "bot (3)", "player": "default"}]) == {}


@pytest.mark.parametrize("name", ["", "bot=", "my bot=", "Bot 2 (new)="])
def test_the_home_folder_is_found_behind_any_name(name: str) -> None:
    for kind in ("", "policy:", "gtp:"):
        assert PlayerSpec.parse(f"{name}{kind}~/bot").player == f"{kind}{Path.home()}/bot"


@pytest.mark.parametrize(
    ("word", "name"),
    [
        ("nets/mine.onnx@20", "mine, 20 visits"),
        ("/nets/g170-b6c96.bin.gz@20", "g170-b6c96, 20 visits"),
        ("./my nets/b18.bin.gz@20", "b18, 20 visits"),
        ("policy:leela.v1.txt.gz", "leela.v1, policy"),
        ("a.b@20", "a.b, 20 visits"),
    ],
)
def test_a_network_has_its_name_without_folder_and_ending(word: str, name: str) -> None:
    assert PlayerSpec.parse(word).name == name


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("", "names no player"),
        ("gtp:", "names no program"),
        ("gtp:'open", "not a command line"),
        ("playouts:clever", "clever"),
        ("playouts:uniform:300", "playouts@300"),
        ("policy:", "names no player"),
        ("gnugo --mode gtp", "a GTP program is written gtp:gnugo --mode gtp"),
        ("default@fast", "@400"),
        ("default@", "@400"),
        ("default@0", "greater than or equal to 1"),
        ("default@0s", "greater than 0"),
        ("default@10m+5", "10m\\+5x30s"),
        ("random@100", "does not take visits; it takes time"),
        ("policy:default@2s", "does not take seconds"),
        ("gtp:gnugo --mode gtp@400", "does not take visits"),
        ("gtp:gnugo --mode gtp@5mm", "not a limit"),
        (" =default", "name"),
        ("playouts=random", "the name 'playouts' is reserved"),
    ],
)
def test_bad_words(word: str, says: str) -> None:
    with pytest.raises(RecipeError, match=says) as caught:
        PlayerSpec.parse(word)
    assert str(caught.value).startswith(f"player {word!r}: ") and "\n" not in str(caught.value)


def test_a_line_of_yaml_is_a_word_or_a_mapping() -> None:
    lines = yaml.safe_load(
        """
        - random
        - new=default@10m+25/5m
        - {player: default, visits: 50, diversity: true, search: {c_puct: 2.5, virtual_loss: 2}, name: mobile}
        - {player: "gtp:gnugo --mode gtp", startup_seconds: 5, time: 5m+3s}
        - {player: playouts, preset: alphago}
        """
    )
    random, new, mobile, gnugo, preset = (PlayerSpec.of(line) for line in lines)
    assert random.kind == "random"
    assert new.control == TimeControl.canadian(600, 300, 25)
    assert (mobile.name, mobile.visits, mobile.diversity) == ("mobile", 50, True)
    assert (mobile.params.c_puct, mobile.params.virtual_loss) == (2.5, 2)
    assert (gnugo.startup_seconds, gnugo.control) == (5.0, TimeControl.fischer(300, 3))
    assert preset.params.selection == "puct-alphago"


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"visits": 3}, "needs the field player"),
        ({"player": "default", "visit": 3}, "unknown field 'visit'; did you mean visits"),
        ({"player": "default@400"}, "contains a limit: .* visits, seconds or time"),
        ({"player": "default", "search": {"cpuct": 1}}, "did you mean c_puct"),
        ({"player": "default", "preset": "best"}, "unknown search preset 'best'"),
        ({"player": "default", "threads": 0}, "threads: .*found 0"),
        ({"player": "default", "batch": 0}, "batch: .*found 0"),
        ({"player": "default", "batch": 4, "pass_policy": "free"}, "batch needs pass_policy = engine, not free"),
        ({"player": "playouts", "batch": 4}, "does not take batch"),
        ({"player": "random", "diversity": True}, "does not take diversity"),
        ({"player": "default", "seconds": float("inf")}, "seconds"),
        ({"player": "default", "name": "a\nb"}, "cannot be a player's name"),
        ({"player": "default", "precision": "fp16"}, "precision: .*'bf16', 'f32' or 'int8'.*found 'fp16'"),
        ({"player": "playouts", "precision": "f32"}, "does not take precision"),
    ],
)
def test_bad_mappings(line: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        PlayerSpec.of(line)


def test_defaults_go_to_the_players_that_take_them() -> None:
    defaults = {"visits": 50, "move_seconds": 9, "symmetries": True}
    words = ["random", "default", "default@2s", "playouts", "gtp:gnugo --mode gtp"]
    random, plain, timed, playouts, gnugo = (PlayerSpec.parse(word, defaults) for word in words)
    assert (plain.visits, plain.symmetries, timed.visits, playouts.visits) == (50, True, None, 50)
    assert (random.name, gnugo.move_seconds) == ("random", 9.0)
    seconds = [PlayerSpec.parse(word, {"seconds": 3}).seconds for word in words]
    assert seconds == [None, 3.0, 2.0, 3.0, None]
    times = [PlayerSpec.parse(word, {"time": "1m+0"}).time for word in words]
    assert times == ["1m+0", "1m+0", None, "1m+0", "1m+0"]


def test_a_precision_of_its_own_is_in_the_name() -> None:
    """`auto` was in the name where it was written out, so that one player had two names."""
    plain = PlayerSpec.parse("default@20")
    written = PlayerSpec.of({"player": "default", "visits": 20, "precision": "auto"})
    assert written == plain and (written.name, written.is_named) == ("default, 20 visits", False)
    assert PlayerSpec.of({"player": "default", "visits": 20, "precision": "f32"}).name == "default, f32, 20 visits"


def test_which_players_have_a_network() -> None:
    words = ("default", "policy:default", "raw:default", "playouts", "random", "gtp:gnugo --mode gtp")
    assert [PlayerSpec.parse(word).has_network for word in words] == [True, True, True, False, False, False]


@pytest.mark.parametrize(
    ("pass_policy", "name"),
    [
        ("engine", "playouts, 20 visits"),
        ("free", "playouts, 20 visits, passes freely"),
        ("no-useful-move", "playouts, 20 visits, passes last"),
        ("no-legal-move", "playouts, 20 visits, passes when forced"),
    ],
)
def test_a_default_name_says_when_the_player_passes(pass_policy: str, name: str) -> None:
    spec = PlayerSpec.of({"player": "playouts", "visits": 20, "pass_policy": pass_policy})
    assert (spec.name, spec.pass_policy) == (name, pass_policy)


def test_names_are_made_distinct_or_refused() -> None:
    specs = [PlayerSpec.parse(word) for word in ("random", "random", "x=random", "random")]
    assert [spec.name for spec in distinct(specs)] == ["random", "random (2)", "x", "random (3)"]
    chosen = [PlayerSpec.parse(word) for word in ("random", "random=default", "random")]
    assert [spec.name for spec in distinct(chosen)] == ["random (2)", "random", "random (3)"]
    with pytest.raises(RecipeError, match="two players are called 'x'"):
        distinct([PlayerSpec.parse("x=random"), PlayerSpec.parse("x=default")])


def test_a_style_is_that_of_the_engine() -> None:
    style = {"mean_loss": 3, "policy_floor": 0.02}
    spec = PlayerSpec.of({"player": "policy:default", "temperature": 2, "style": style})
    assert spec.play_style == Style(policy_temperature=2.0, mean_loss=3, policy_floor=0.02)
    assert spec.name == "default, policy, temperature 2, mean loss 3, policy floor 0.02"
    assert PlayerSpec.of({"player": "default", "style": {"resign": False}}).play_style == Style(resign=False)
    assert PlayerSpec.parse("default").play_style == Style()


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ({"player": "policy:default", "style": {"mean_los": 3}}, "mean_los.*did you mean mean_loss"),
        ({"player": "policy:default", "style": {"mean_loss": -3}}, "mean_loss must lie between"),
        ({"player": "playouts", "style": {"mean_loss": 3}}, "playouts does not take style"),
        ({"player": "policy:default", "temperature": 1, "style": {"policy_temperature": 1}}, "are the same: give one"),
        ({"player": "default", "pass_policy": "free", "style": {"mean_loss": 3}}, "style needs pass_policy = engine"),
    ],
)
def test_bad_styles(line: dict[str, Any], says: str) -> None:
    with pytest.raises(RecipeError, match=says):
        PlayerSpec.of(line)


@pytest.mark.parametrize("name", ["random", "playouts", "policy", "raw", "gtp", "my:bot", "a=b", "bot@8", "my/bot"])
def test_a_player_of_a_program_takes_no_word_of_another_meaning(name: str) -> None:
    """`gtp` and `playouts` would stand for it, `random` and `my:bot` never."""
    with pytest.raises(ValueError, match=f"player '{name}'.*: choose another name|player '{name}': .*; choose another"):
        PLAYERS.register(name, lambda spec, games: None)  # type: ignore[arg-type, return-value]

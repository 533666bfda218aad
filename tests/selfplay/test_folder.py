"""The run folder: one run each, and never half a file."""

import re
import shutil
from pathlib import Path

import pytest
import yaml
from pydantic import ValidationError

from tengen.errors import RecipeError
from tengen.evaluators.installed_networks import find_network
from tengen.selfplay import folder as folders
from tengen.selfplay.config import SelfPlayConfig, StageConfig
from tengen.selfplay.folder import SelfPlayFolder

CONFIG = SelfPlayConfig(name="x", cycles=2, games_per_cycle=10, network={"family": "residual", "size": "b2c16"})


def mark_learned(folder: SelfPlayFolder, cycles: int) -> None:
    folder.network(cycles).parent.mkdir(exist_ok=True)
    folder.network(cycles).touch()


def test_another_recipe_is_refused_by_its_first_difference(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG)
    other = CONFIG.model_copy(update={"search": CONFIG.search.model_copy(update={"visits": 99})})
    with pytest.raises(RecipeError, match=r"search\.visits = 32, not 99"):
        folder.prepare(other)
    with pytest.raises(RecipeError, match=r"network\.size = b2c16, not b4c32"):
        folder.prepare(CONFIG.model_copy(update={"network": {"family": "residual", "size": "b4c32"}}))


def test_without_a_network_a_recipe_takes_that_of_its_start(tmp_path: Path) -> None:
    """And the search that suits it, also where the start has gone since; a search of the recipe stays."""
    pytest.importorskip("torch", reason="the start of a run needs the extra [train]")
    from tengen.runs.interruption import ShutdownFlag
    from tengen.selfplay.loop import SelfPlayRun
    from tengen.selfplay.progress import Observer

    start = tmp_path / "start.onnx"
    shutil.copyfile(find_network("distilled-13x13"), start)
    fields = {**CONFIG.model_dump(), "start": str(start), "network": {}}
    folder, config = SelfPlayFolder(tmp_path / "run"), SelfPlayConfig.model_validate(fields)
    found = folder.with_network(config)
    assert found.network["size"] == "b8c64" and found.card.search == {"preset": "katago"}
    folder.prepare(found)
    start.unlink()
    folder.prepare(folder.with_network(config))
    assert SelfPlayRun(config, folder.path, Observer(), ShutdownFlag()).config == found
    own = {**fields, "card": {"search": {"preset": "elf"}}}
    assert folder.with_network(SelfPlayConfig.model_validate(own)).card.search == {"preset": "elf"}
    with pytest.raises(ValidationError, match="network is missing"):
        SelfPlayConfig.model_validate({**fields, "start": None})


def test_what_changes_no_game_may_change(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG)
    learn = CONFIG.learn.model_copy(update={"device": "cpu"})
    folder.prepare(CONFIG.model_copy(update={"cycles": 9, "workers": 1, "games_at_once": 3, "learn": learn}))


def test_a_recipe_that_was_edited_by_hand_may_have_numbers_for_keys(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG)
    mark_learned(folder, 2)
    edited = yaml.safe_load(folder.recipe.read_text())
    edited["stages"] = {1: {"game": {}, "opening": {}, "search": {"visits": 64}}}
    folder.recipe.write_text(yaml.safe_dump(edited))
    folder.prepare(CONFIG.model_copy(update={"stages": {1: StageConfig(search={"visits": 64})}}))
    with pytest.raises(RecipeError, match=r"stages\.1 = .*64.*, not null"):
        folder.prepare(CONFIG)


def test_stages_to_come_may_change(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG.model_copy(update={"stages": {3: StageConfig(search={"visits": 64})}}))
    mark_learned(folder, 3)
    later = {3: StageConfig(search={"visits": 99}), 5: StageConfig(opening={"moves_mean": 1})}
    folder.prepare(CONFIG.model_copy(update={"stages": later}))
    mark_learned(folder, 4)
    with pytest.raises(RecipeError, match=r"stages\.3\.search\.visits = 99, not 64"):
        folder.prepare(CONFIG.model_copy(update={"stages": {3: StageConfig(search={"visits": 64})}}))


def test_a_helper_takes_the_stages_of_the_run(tmp_path: Path) -> None:
    """Those that have not begun are not compared: it would play the same cycle in another way than the lead."""
    folder = SelfPlayFolder(tmp_path / "run")
    lead = CONFIG.model_copy(update={"stages": {3: StageConfig(search={"visits": 64}, game={"komi": {"tail": 0.2}})}})
    folder.prepare(lead)
    helper = CONFIG.model_copy(update={"workers": 1, "cycles": 99, "stages": {2: StageConfig(search={"visits": 99})}})
    folder.check_config(helper)
    found = folder.with_stages(helper)
    assert found == lead.model_copy(update={"workers": 1})
    assert [found.at(cycle).search.visits for cycle in (2, 3)] == [32, 64]


@pytest.mark.parametrize("state", ["played", "stored"])
def test_a_cycle_whose_games_are_there_has_begun(tmp_path: Path, state: str) -> None:
    """Network 3 is the newest, and games of cycles 3 and, with overlap, 4 are there: other stages would mix them."""
    folder = SelfPlayFolder(tmp_path / "run")
    stages = {cycle: StageConfig(search={"visits": 60 + cycle}) for cycle in (3, 4, 5)}
    folder.prepare(CONFIG.model_copy(update={"stages": stages}))
    mark_learned(folder, 3)
    for cycle in range(5):
        there = folder.pending(cycle) if state == "played" and cycle > 2 else folder.games / f"shard-{cycle:05d}.arrow"
        there.parent.mkdir(exist_ok=True)
        there.touch()
    folder.prepare(CONFIG.model_copy(update={"stages": {**stages, 5: StageConfig(search={"visits": 99})}}))
    for cycle in (3, 4):
        with pytest.raises(RecipeError, match=rf"stages\.{cycle}\.search\.visits = {60 + cycle}, not 99"):
            folder.prepare(CONFIG.model_copy(update={"stages": {**stages, cycle: StageConfig(search={"visits": 99})}}))


def test_the_files_say_how_many_cycles_are_finished(tmp_path: Path) -> None:
    """At each moment at which a run may be killed: never more than the log says, and one less at most."""
    folder = SelfPlayFolder(tmp_path)
    mark_learned(folder, 0)
    folder.checkpoints.mkdir()
    for cycle in range(5):
        for file in (folder.checkpoint(cycle + 1), folder.network(cycle + 1)):
            assert max(0, cycle - 1) <= folder.min_cycles(cycle + 1) <= cycle
            file.touch()
        assert folder.min_cycles(cycle + 1) == cycle, "the network is there, but not rated yet"
        folder.tidy(cycle + 1, 2, set())


def test_what_an_older_version_wrote_and_left_empty_says_nothing(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG)
    old = yaml.safe_load(folder.recipe.read_text())
    del old["stages"]
    old["search"]["visits_from"] = {}
    folder.recipe.write_text(yaml.safe_dump(old))
    folder.prepare(CONFIG)
    old["search"]["visits_from"] = {3: 64}
    folder.recipe.write_text(yaml.safe_dump(old))
    with pytest.raises(RecipeError, match=r"search\.visits_from = .*64.*, not null"):
        folder.prepare(CONFIG)


def test_a_run_goes_on_after_an_upgrade_that_brings_settings(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path / "run")
    folder.prepare(CONFIG)
    old = yaml.safe_load(folder.recipe.read_text())
    for group, name in ((old["game"], "settle"), (old["learn"]["targets"], "value_mix"), (old["learn"], "swa")):
        del group[name]
    folder.recipe.write_text(yaml.safe_dump(old))
    folder.check_config(CONFIG)
    with pytest.raises(RecipeError, match=r"learn\.swa = 1, not 2"):
        folder.check_config(CONFIG.model_copy(update={"learn": CONFIG.learn.model_copy(update={"swa": 2})}))


def test_other_code_goes_on_with_a_warning_and_does_not_help(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Two checkouts may have the same version."""
    folder = SelfPlayFolder(tmp_path)
    assert re.fullmatch(r"\d+\.\d+\.\d+\S* \([0-9a-f]{12}, native [0-9a-f]{12}\)", folders.code_version())
    folder.check_code()  # of a version that recorded none
    folder.note_code()
    folder.check_code()
    monkeypatch.setattr(folders, "code_digest", lambda: "other code of this version")
    with pytest.raises(RecipeError, match=r"Tengen .* leads this run, and this process is Tengen .* \(other code o, "):
        folder.check_code()
    assert not caplog.messages
    for _ in range(2):
        folder.note_code()
        folder.check_code()
    (warning,) = caplog.messages
    assert re.search(r"\(other code o, native \w+\) goes on with it", warning)


def test_an_installed_package_is_the_same_code_as_its_clone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """It has no native sources, and was refused. Two clones with other sources are other code."""
    folder = SelfPlayFolder(tmp_path)
    for lead, helper in (("a" * 64, ""), ("", "a" * 64), ("", "")):
        monkeypatch.setattr(folders, "native_digest", lambda found=lead: found)
        folder.note_code()
        monkeypatch.setattr(folders, "native_digest", lambda found=helper: found)
        folder.check_code()
    assert not caplog.messages
    for digest in "ab":
        monkeypatch.setattr(folders, "native_digest", lambda found=digest: found * 64)
        if digest == "b":
            with pytest.raises(RecipeError, match=r"native a{12}\) leads this run, .* native b{12}\), which may play"):
                folder.check_code()
        folder.note_code()
    assert len(caplog.messages) == 1


def test_one_leader(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path)
    with folder.locked("lead") as first, folder.locked("lead") as second, folder.locked("rate") as other:
        assert (first, second, other) == (True, False, True)
    with folder.locked("lead") as again:
        assert again


def test_tidying_keeps_the_first_the_newest_and_the_rated(tmp_path: Path) -> None:
    folder = SelfPlayFolder(tmp_path)
    for cycle in range(10):
        for path in (folder.network(cycle), folder.checkpoint(cycle)):
            path.parent.mkdir(exist_ok=True)
            path.touch()
    for number in range(1, 10):
        (games := tmp_path / "matches" / f"gate-{number:05d}" / "games").mkdir(parents=True)
        (games.parent / "match.json").touch()
        (tmp_path / "matches" / f"rating-{number:05d}-vs-random").mkdir()
    folder.tidy(9, 2, {4})
    assert sorted(path.name for path in (tmp_path / "matches").glob("gate-*")) == ["gate-00008", "gate-00009"]
    assert len(list((tmp_path / "matches").glob("rating-*"))) == 9
    assert [cycle for cycle, _ in folder.networks()] == [0, 4, 8, 9]
    assert [cycle for cycle, _ in folder.saved_checkpoints()] == [8, 9], "one more, in case the newest is damaged"

"""KataGo's files wherever a network is named: converted once, by several callers at a time, with a profile."""

from __future__ import annotations

import os
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import katago_twin
import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.evaluators import foreign_networks, load_evaluator
from tengen.evaluators.installed_networks import find_network
from tengen.evaluators.network_file import int8_path, read_card
from tengen.game import Game


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that nothing has converted yet: other tests convert files of this content."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return katago_twin.written(tmp_path / "plain.txt", metadata=False)


def test_callers_at_a_time_convert_once(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[Path] = []

    def convert(path: Path, *rest: Any) -> Any:
        calls.append(path)
        return whole(path, *rest)

    whole = foreign_networks.convert
    monkeypatch.setattr(foreign_networks, "convert", convert)
    with ThreadPoolExecutor(4) as pool:
        (found,) = set(pool.map(find_network, [plain] * 4))
    assert calls == [plain] and read_card(found).name == "tiny-v15"
    for name in ("other.txt", "other", "other.gz", "other.download"):  # the content counts, not the name
        plain = plain.rename(plain.with_name(name))
        assert find_network(plain) == found and len(calls) == 1


def test_whether_a_file_opens_does_not_depend_on_what_was_opened_before(
    plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = plain.rename(plain.with_name("only.gz"))
    assert read_card(find_network(other)).name == "tiny-v15"
    (tmp_path / "notes.gz").write_bytes(b"nothing")
    with pytest.raises(NetworkError, match=r"notes\.gz is no network of KataGo or Leela Zero, nor a network file"):
        find_network(tmp_path / "notes.gz")


def test_conversions_of_earlier_versions_are_removed(plain: Path, caplog: pytest.LogCaptureFixture) -> None:
    found = find_network(plain)
    stem, version = found.stem.rsplit("-", 1)
    names = [
        f"{stem}-{number}{end}" for number in (1, int(version) - 1, 99) for end in (".onnx", ".int8.onnx", ".lock")
    ]
    others = [found.with_name(name) for name in (*names, f"{stem}-rank_5k-1.onnx", f"{'0' * 32}-1.onnx")]
    for path in others:
        path.write_bytes(b"")
    assert find_network(plain) == found and all(path.exists() for path in others), "nothing is converted"
    assert not caplog.records
    found.unlink()
    assert find_network(plain) == found
    (warning,) = caplog.messages
    assert warning.startswith(f"the int8 file of {plain} was made") and "tengen nets quantize" in warning
    assert [path.name for path in others if not path.exists()] == names[:6]


def test_conversions_used_longest_ago_give_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    human = katago_twin.written(tmp_path / "human.txt", metadata=True)

    def found(profile: str) -> Path:
        return find_network(f"{human}@{profile}")

    first, second = found("rank_1k"), found("rank_2k")
    for path, age in ((first, 300), (second, 200)):
        os.utime(path, (time.time() - age,) * 2)
    monkeypatch.setattr(foreign_networks, "_CACHE_BYTES", int(2.5 * first.stat().st_size))
    assert found("rank_1k") == first
    third = found("rank_3k")
    assert set(first.parent.glob("*.onnx")) == {first, third}
    monkeypatch.setattr(foreign_networks, "_CACHE_BYTES", 0)
    last = found("rank_4k")
    assert set(first.parent.glob("*.onnx")) == {last}


def test_conversions_with_an_int8_file_stay(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but `tengen nets quantize` makes the int8 file again, of exactly this network file."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    human = katago_twin.written(tmp_path / "human.txt", metadata=True)
    kept, plain = (find_network(f"{human}@{profile}") for profile in ("rank_1k", "rank_2k"))
    int8_path(kept).write_bytes(b"int8")
    for path in (kept, int8_path(kept), plain):
        os.utime(path, (time.time() - 300,) * 2)
    monkeypatch.setattr(foreign_networks, "_CACHE_BYTES", 0)
    last = find_network(f"{human}@rank_3k")
    assert set(kept.parent.glob("*.onnx")) == {kept, int8_path(kept), last}


def test_a_damaged_conversion_is_made_again(plain: Path) -> None:
    found = find_network(plain)
    whole = found.read_bytes()
    for damaged in (whole[:-100], whole.replace(b"tiny-v15", b"tiny-v16"), b""):
        found.write_bytes(damaged)
        assert find_network(plain) == found and found.read_bytes() == whole


def test_a_profile_follows_the_name(tmp_path: Path) -> None:
    human = katago_twin.written(tmp_path / "human.txt", metadata=True)
    game = Game(9).play("D4")
    policies = {}
    for profile in ("", "@rank_9d", "@rank_20k", "@proyear_1850"):
        evaluator = load_evaluator(f"{human}{profile}", "onnxruntime")
        policies[profile] = evaluator.evaluate([game]).policy
        assert evaluator.name == f"tiny-v15{profile or '@rank_9d'}" and not evaluator.on(9).has_optimism
    assert np.array_equal(policies[""], policies["@rank_9d"])
    assert len({policy.tobytes() for policy in policies.values()}) == 3


@pytest.mark.parametrize(
    ("profile", "message"),
    [("rank_40k", "no profile 'rank_40k': choose"), ("../x", "no profile '../x': it is made of")],
)
def test_unknown_profiles(profile: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(NetworkError, match=message):
        find_network(f"{katago_twin.written(tmp_path / 'human.txt', metadata=True)}@{profile}")


def test_unknown_files(plain: Path) -> None:
    with pytest.raises(
        NetworkError, match=r"no network 'nothing\.bin\.gz': neither .*; KataGo's networks are at \S+org"
    ):
        find_network("nothing.bin.gz")
    with pytest.raises(NetworkError, match=r"plain\.txt imitates no people, so that it takes no profile 'rank_5k'"):
        find_network(f"{plain}@rank_5k")


def test_a_cache_folder_that_cannot_be_made(plain: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    found = find_network(plain)
    assert read_card(found).name == "tiny-v15" and find_network(plain) == found

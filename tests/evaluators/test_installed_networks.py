"""Networks by name: installed ones, the default, and names of none."""

from pathlib import Path

import pytest
from small_network import card_named, random_inputs

from tengen.disk import cache_folder
from tengen.errors import NetworkError, NoHomeFolder
from tengen.evaluators import installed_networks, load_evaluator
from tengen.evaluators.installed_networks import add_network, find_network, installed
from tengen.evaluators.playout_file import installed_playouts


def test_networks_by_name_and_path(nets: Path, network: Path) -> None:
    assert installed() == [(nets / f"{name}.onnx", card_named(name)) for name in ("alpha", "beta")]
    assert find_network("alpha") == nets / "alpha.onnx"
    assert find_network("default") == nets / "beta.onnx"
    assert find_network(network) == network
    (nets / "default").unlink()
    assert find_network("default") == nets / "alpha.onnx"


def test_a_damaged_network_does_not_hide_the_others(nets: Path, caplog: pytest.LogCaptureFixture) -> None:
    (nets / "gamma.onnx").write_bytes((nets / "alpha.onnx").read_bytes()[:300])
    assert [path.stem for path, _ in installed()] == ["alpha", "beta"]
    assert "gamma.onnx" in caplog.text


def test_a_damaged_playout_policy_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    installed_networks.user_folder().mkdir(parents=True)
    (installed_networks.user_folder() / "mine.playout").write_bytes(b"TENGEN")
    assert [one.name for one in installed_playouts()] == ["linear-tygem"] and "mine.playout" in caplog.text


def test_an_unknown_name_is_told_the_nearest(nets: Path) -> None:
    with pytest.raises(NetworkError, match=r"no network 'alpa'.*did you mean alpha\?"):
        find_network("alpa")
    for unknown, told in (
        ("some/where/else.onnx", "there are: alpha, beta$"),
        ("missing.bin.gz", r"katagotraining\.org"),
    ):
        with pytest.raises(NetworkError, match=told):
            find_network(unknown)


def test_no_network_installed_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed_networks, "SHIPPED", tmp_path)
    monkeypatch.setattr(installed_networks, "DEFAULT_NAME", tmp_path / "default")
    assert installed() == []
    with pytest.raises(NetworkError, match="no network is installed"):
        find_network("default")


@pytest.mark.posix
def test_a_user_without_a_home_folder_has_the_shipped_networks(
    nets: Path, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As in a container, under a number that the system's list of users does not have."""

    def unknown(_number: int) -> None:
        raise KeyError

    monkeypatch.setattr("pwd.getpwuid", unknown)
    monkeypatch.chdir(tmp_path)
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    assert [path.stem for path, _ in installed()] == ["alpha", "beta"] and find_network("alpha").is_file()
    assert len(load_evaluator("alpha").infer(random_inputs([9], 9))) == 1
    assert cache_folder("nets") is None
    with pytest.raises(NoHomeFolder, match="set HOME"):
        add_network(network)
    assert {path.name for path in tmp_path.iterdir()} == {"nets"}


def test_a_name_that_no_file_can_have_is_unknown() -> None:
    with pytest.raises(NetworkError, match="neither an installed one nor a file"):
        find_network("a" * 300)

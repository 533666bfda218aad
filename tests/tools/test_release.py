"""The checks of a release, on made-up packages; building them is left to `make release`."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import zipfile
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
CARDS = [{"name": "small", "licence": "MIT", "data": "its own games"}, {"name": "other", "licence": "", "data": ""}]


@pytest.fixture(scope="module")
def release() -> ModuleType:
    spec = importlib.util.spec_from_file_location("release", ROOT / "tools" / "release.py")
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wheel(folder: Path, *files: str, name: str = "tengen-1.2-cp312-abi3-manylinux_2_28_x86_64.whl") -> Path:
    with zipfile.ZipFile(folder / name, "w") as archive:
        for file in ("tengen-1.2.dist-info/licenses/LICENSE", "tengen-1.2.dist-info/licenses/LICENSE-THIRD-PARTY"):
            archive.writestr(file, "")
        for file in files:
            archive.writestr(file, "")
    return folder / name


def test_the_version_is_that_of_the_package(release: ModuleType) -> None:
    import tengen

    assert release.source_version((ROOT / "src/tengen/__init__.py").read_text()) == tengen.__version__
    with pytest.raises(SystemExit, match="states no __version__"):
        release.source_version("version = 3")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("# Changelog\n\n## 1.2 - 2026-12-01\n\n### Added\n\n- **A thing**.\n\n## 1.1 - 2026-01-01\n", None),
        ("# Changelog\n\n## Unreleased\n\n- A thing.\n\n## 1.2 - 2026-12-01\n\n- B\n", "begins with 'Unreleased'"),
        ("# Changelog\n\n## 1.2\n\n- A thing.\n", "begins with '1.2' instead"),
        ("# Changelog\n\n## 1.2 - 2026-12-01\n\n## 1.1 - 2026-01-01\n\n- A thing.\n", "names no change of 1.2"),
        ("", "begins with ''"),
    ],
)
def test_the_changelog_has_the_version(release: ModuleType, text: str, problem: str | None) -> None:
    if problem is None:
        release.check_changelog(text, "1.2")
    else:
        with pytest.raises(SystemExit, match=problem):
            release.check_changelog(text, "1.2")


def test_a_tag_is_that_of_the_version(release: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_REF_NAME", "v1.3")
    monkeypatch.setenv("GITHUB_REF_TYPE", "branch")
    release.check_tag("1.2")
    monkeypatch.setenv("GITHUB_REF_TYPE", "tag")
    release.check_tag("1.3")
    with pytest.raises(SystemExit, match=r"must be v1\.2"):
        release.check_tag("1.2")


def test_packages_of_one_version_for_many_systems(release: ModuleType, tmp_path: Path) -> None:
    made = wheel(tmp_path)
    with pytest.raises(SystemExit, match="must hold the sdist"):
        release.check_names(tmp_path, "1.2")
    sdist = tmp_path / "tengen-1.2.tar.gz"
    sdist.touch()
    assert release.check_names(tmp_path, "1.2") == [made, sdist]
    old = wheel(tmp_path, name="tengen-1.1-cp312-abi3-win_amd64.whl")
    with pytest.raises(SystemExit, match=r"another version: tengen-1\.1"):
        release.check_names(tmp_path, "1.2")
    old.unlink()
    wheel(tmp_path, name="tengen-1.2-cp311-cp311-linux_x86_64.whl")
    with pytest.raises(SystemExit, match="no manylinux tag"):
        release.check_names(tmp_path, "1.2")


def test_a_wheel_of_this_machine_alone_is_to_be_removed(release: ModuleType, tmp_path: Path) -> None:
    made = wheel(tmp_path, name="tengen-1.2-cp312-abi3-linux_x86_64.whl")
    release.build_missing(tmp_path, "1.2")
    with pytest.raises(SystemExit, match=rf"{made.name}, .*; remove it"):
        release.check_names(tmp_path, "1.2")
    assert made.exists()


def test_everything_shipped_has_a_licence(release: ModuleType, tmp_path: Path) -> None:
    files = [
        "tengen/",
        "tengen/__init__.py",
        "tengen/_native.abi3.so",
        "tengen/_native25.abi3.so",
        "tengen/nets/small.int8.onnx",
        "tengen/nets/default",
    ]
    text = release.licences([wheel(tmp_path, *files)], CARDS)
    for row in (
        "| Tengen | MIT | this project |",
        "| nanobind (compiled into the module) | BSD-3-Clause | https://github.com/wjakob/nanobind |",
        "| robin-map (compiled into the module) | MIT | https://github.com/Tessil/robin-map |",
        "| tengen/nets/small.int8.onnx | MIT | trained on: its own games |",
    ):
        assert row in text.splitlines()
    for file in ("tengen/nets/other.onnx", "tengen/nets/unknown.onnx", "tengen.libs/libgomp.so", "tengen/font.woff"):
        with pytest.raises(SystemExit, match=f"{file} is in a wheel and has no licence"):
            release.licences([wheel(tmp_path, *files, file)], CARDS)
    with zipfile.ZipFile(tmp_path / "bare.whl", "w") as archive:
        archive.writestr("tengen/__init__.py", "")
    with pytest.raises(SystemExit, match="lacks LICENSE"):
        release.licences([tmp_path / "bare.whl"], CARDS)


def test_the_sbom_names_the_version(release: ModuleType) -> None:
    given = {"metadata": {"component": {"name": "tengen"}}, "components": [{"name": "numpy", "version": "2.0"}]}
    found = json.loads(release.with_version(json.dumps(given), "1.2"))
    assert found == {**given, "metadata": {"component": {"name": "tengen", "version": "1.2"}}}


def test_every_file_of_the_package_has_a_licence(release: ModuleType, tmp_path: Path) -> None:
    from tengen.evaluators.installed_networks import installed
    from tengen.evaluators.playout_file import installed_playouts

    source = ROOT / "src"
    found = [path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    cards = [{"name": card.name, "licence": card.licence, "data": card.data} for _, card in installed()]
    cards += [{"name": card.name, "licence": card.licence, "data": card.data} for card in installed_playouts()]
    assert release.licences([wheel(tmp_path, *(path.relative_to(source).as_posix() for path in found))], cards)


def test_checksums_are_those_of_sha256sum(release: ModuleType, tmp_path: Path) -> None:
    wheel(tmp_path)
    (tmp_path / "LICENCES.md").write_text("none")
    (tmp_path / "SHA256SUMS").write_text(release.checksums(tmp_path))
    done = subprocess.run(["sha256sum", "--check", "SHA256SUMS"], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout.count(": OK") == 2


def test_the_size_of_an_install_has_a_limit(release: ModuleType, tmp_path: Path) -> None:
    """Bytes of every distribution by its RECORD, whatever the folders of its files."""
    for name, size in (("large", 3_000_000), ("small", 500_000), ("pip", 9_000_000)):
        info = tmp_path / f"{name}-1.0.dist-info"
        info.mkdir()
        text = f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n"
        (info / "METADATA").write_text(text)
        (tmp_path / f"{name}.py").write_bytes(b" " * (size - len(text)))
        (info / "RECORD").write_text(f"{name}.py,,\n{name}-1.0.dist-info/METADATA,,\ngone.py,,\n")
    sizes = release.install_sizes(tmp_path)
    assert sizes == {"large": 3_000_000, "small": 500_000}
    text = release.checked_sizes(sizes)
    assert text.splitlines() == [
        f"a player's install: 4 MB of {release.MAX_INSTALL_MB}, 2 packages",
        "    3.0 MB  large",
        "    0.5 MB  small",
    ]
    limit = release.MAX_INSTALL_MB * 1_000_000
    assert release.checked_sizes({"large": limit})
    with pytest.raises(SystemExit, match=rf"has {release.MAX_INSTALL_MB + 1} MB, more than {release.MAX_INSTALL_MB}"):
        release.checked_sizes({"large": limit, "small": 1_000_000})


def test_a_state_between_two_versions_is_checked_without_its_entry(
    release: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """No wheel could be checked while the changelog began with Unreleased."""
    seen: list[str] = []

    def checked(_text: str, _version: str) -> None:
        seen.append("changelog")

    def built(folder: Path, _version: str) -> None:
        seen.append(f"built in {folder.name}")
        raise SystemExit

    monkeypatch.setattr(release, "check_changelog", checked)
    monkeypatch.setattr(release, "build_missing", built)
    for words in (["--check", str(tmp_path)], [str(tmp_path)]):
        monkeypatch.setattr("sys.argv", ["release.py", *words])
        with pytest.raises(SystemExit):
            release.main()
    assert seen == [f"built in {tmp_path.name}", "changelog", f"built in {tmp_path.name}"]


def test_a_failed_program_ends_the_release(release: ModuleType) -> None:
    with pytest.raises(SystemExit, match="no_such_module --x failed"):
        release.run("no_such_module", "--x")

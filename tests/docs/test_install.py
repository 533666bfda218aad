"""What the page on installation says about versions, beside pyproject.toml."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_the_commands_for_pytorch_without_gpu_libraries_name_the_versions_of_the_extra() -> None:
    """Another version would be replaced by the build with GPU libraries when the extra is installed."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    (wanted,) = (name for name in extras["train"] if name.startswith("torch"))
    page = (ROOT / "docs" / "start" / "install.md").read_text(encoding="utf-8")
    named = re.findall(r"pip install '(torch[^']*)' --index-url", page)
    assert named and set(named) == {wanted}

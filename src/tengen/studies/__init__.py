"""Studies: published experiments rerun from YAML files that list training runs, matches and measurements."""

from pathlib import Path

FOLDER = Path(__file__).parent


def study_names() -> list[str]:
    """The studies that come with Tengen."""
    return sorted(path.stem for path in FOLDER.glob("*.yaml"))

"""A study of a small network, which runs in seconds."""

import shutil
from pathlib import Path
from typing import Any

import tengen
from tengen.cli.app import main
from tengen.studies.runner import StudyFolder


def description(recipe: Path) -> dict[str, Any]:
    return {
        "title": "Small",
        "paper": "Nobody (2026)",
        "hours": 0.01,
        "about": "Two seeds of a small network.",
        "quick": 0.2,
        "steps": {
            "net-{seed}": {
                "each": {"seed": [1, 2]},
                "run": f"train {recipe} --quiet",
                "set": {"training.seed": "{seed}"},
            },
            "duel": {
                "run": "match one=policy:${net-1} two=policy:${net-2} --quiet --workers 1",
                "options": {"games": 2, "size": 7, "komi": 0.5, "openings": "random", "opening": 2, "sprt": "0,200"},
            },
            "elsewhere": {"run": "match random random", "needs": ["a-program-that-is-not-there"]},
        },
        "rows": [
            {"what": "accuracy", "published": "50%", "ours": {"figure": "top1", "of": "net-1"}},
            {"what": "both seeds", "ours": {"figure": "top1", "of": ["net-1", "net-2"]}},
            {"what": "difference", "ours": {"figure": "top1", "of": ["net-2"], "minus": ["net-1"]}},
            {"what": "score", "ours": {"figure": "score", "of": "duel", "player": "one", "against": "two"}},
            {"what": "Elo", "ours": {"figure": "elo", "of": "duel", "player": "two"}},
            {"what": "missing", "ours": {"figure": "score", "of": "elsewhere", "player": "random"}},
        ],
        "plots": [{"title": "Accuracy", "of": {"net": ["net-1", "net-2"]}, "published": {"paper": [[100, 50.0]]}}],
        "conclusions": ["It is small."],
    }


def put_network(folder: StudyFolder, step: str) -> Path:
    """A network where that of a step lies once it has run."""
    path = folder.run_folder(step) / "nets" / "small.onnx"
    path.parent.mkdir(parents=True)
    return Path(shutil.copy(Path(tengen.__file__).parent / "nets" / "zero-7x7.onnx", path))


def study(*args: object) -> int:
    return main(["study", *map(str, args)])

"""A folder that follows another one: the same files after every change, of any kind."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

from tengen.disk import write_text
from tengen.runs.mirror import FolderWatch, apply_changes


def content(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_follows_another_through_all_changes(tmp_path: Path) -> None:
    draw, there, here = random.Random(5), tmp_path / "there", tmp_path / "here"
    (there / "checkpoints").mkdir(parents=True)
    write_text(there / "log.jsonl", "first\n")
    shutil.copytree(there, here)
    watch = FolderWatch(there)
    assert watch.changes() == []
    for step in range(60):
        for _ in range(draw.randrange(4)):
            path = there / draw.choice(["recipe.yaml", "checkpoints/a.ckpt", "nets/a.onnx", "log.jsonl"])
            kind = draw.choice(["write", "append", "remove"])
            path.parent.mkdir(exist_ok=True)
            if kind == "write":
                write_text(path, f"{step}\n" * draw.randrange(5))
            elif kind == "append" and path.name == "log.jsonl":
                with path.open("a", encoding="utf-8") as file:
                    file.write(f"{step} more\n")
            elif kind == "remove":
                path.unlink(missing_ok=True)
        (there / "a.partial").write_text(str(step))
        (there / ".lead.lock").write_text(str(step))
        changes = watch.changes()
        apply_changes(here, changes)
        expected = content(there)
        del expected["a.partial"], expected[".lead.lock"]
        assert content(here) == expected


def test_of_a_log_only_what_is_new_is_sent_and_after_a_checkpoint(tmp_path: Path) -> None:
    there, here = tmp_path / "there", tmp_path / "here"
    (there / "checkpoints").mkdir(parents=True)
    write_text(there / "log.jsonl", "x" * 1000 + "\n")
    shutil.copytree(there, here)
    watch = FolderWatch(there)
    with (there / "log.jsonl").open("a", encoding="utf-8") as log:
        log.write("step 1\n")
    write_text(there / "checkpoints" / "step-00000001.ckpt", "state")
    changes = watch.changes()
    assert [(change.name, change.content, change.start) for change in changes] == [
        ("checkpoints/step-00000001.ckpt", b"state", 0),
        ("log.jsonl", b"step 1\n", 1001),
    ]
    apply_changes(here, changes[:1])
    apply_changes(here, changes[1:])
    apply_changes(here, changes[1:])  # a second time changes nothing
    assert content(here) == content(there)

"""Whole conversations, printed: `tests/gtp/transcripts/*.txt` hold commands (after `>`) and answers.

The first line names the moves of the scripted engine. TENGEN_UPDATE_GOLDEN=1 writes the answers anew, to be read in the
diff.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from gtp_fakes import FakeEngine, session_of, talk

import tengen
from tengen.gtp.streams import InputQueue

TRANSCRIPTS = sorted((Path(__file__).parent / "transcripts").glob("*.txt"))


def replay(text: str) -> str:
    """The same conversation with the answers of today."""
    head, *lines = text.splitlines()
    session = session_of(FakeEngine(head.removeprefix("engine:").split(), seconds=2.0), size=19)
    parts = [head]
    for line in lines:
        if line.startswith(">"):
            session.lines = InputQueue()
            parts += [line, talk(session, line[1:].lstrip(" ")).rstrip("\n")]
    return "\n".join(part for part in parts if part) + "\n"


def compact(answer: str) -> str:
    return "\n".join(line.rstrip() for line in answer.splitlines())


def test_there_are_transcripts() -> None:
    assert len(TRANSCRIPTS) >= 4


@pytest.mark.parametrize("path", TRANSCRIPTS, ids=lambda path: path.stem)
def test_a_conversation_goes_as_it_went(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tengen, "__version__", "1.0")
    now = compact(replay(path.read_text(encoding="utf-8"))) + "\n"
    if os.environ.get("TENGEN_UPDATE_GOLDEN"):
        path.write_text(now, encoding="utf-8")
    assert now == path.read_text(encoding="utf-8")

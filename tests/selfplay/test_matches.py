"""Matches of a run: what a kill leaves does not stop the run."""

from __future__ import annotations

import itertools
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tengen.match.runner import InBatch, play_match
from tengen.match.settings import MatchSettings
from tengen.selfplay.matches import play_run_match


class Killed(BaseException):
    """Stands for the end of the process."""


def match(komi: float) -> MatchSettings:
    return MatchSettings.of("a=random", "b=random", games=2, conditions={"size": 5, "komi": komi, "turns": 4})


def test_a_kill_while_an_earlier_attempt_is_removed_does_not_stop_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A folder of games without its match.json is refused: it could be of anything."""
    play_match(match(0.5), tmp_path / "before", InBatch(2))
    for changes in itertools.count():
        folder = tmp_path / str(changes)
        shutil.copytree(tmp_path / "before", folder)
        left = changes

        def counted(call: Callable[..., None]) -> Callable[..., None]:
            def tried(*args: Any, **more: Any) -> None:
                nonlocal left
                left -= 1
                if left < 0:
                    raise Killed
                call(*args, **more)

            return tried

        killed = False
        with monkeypatch.context() as patch:
            for name in ("unlink", "rmdir"):
                patch.setattr(os, name, counted(getattr(os, name)))
            try:
                play_run_match(match(1.5), folder, InBatch(2))
            except Killed:
                killed = True
        outcomes = play_run_match(match(1.5), folder, InBatch(2))
        assert len(outcomes) == 2 and all(abs(outcome.score or 0) % 1 == 0.5 for outcome in outcomes)
        if not killed:
            break
    assert changes > 5

"""Games that the tests keep and open again."""

from __future__ import annotations

from pathlib import Path

from tengen.web.library import GameLibrary
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings


def played(**more: object) -> GameSession:
    session = GameSession(GameSettings(size=9, **more))
    session.click(40)
    session.play(41)
    session.click(42)
    return session


def reopened(folder: Path) -> GameSession:
    """What another server finds."""
    library = GameLibrary(folder)
    return library.load(library.recent()[0])

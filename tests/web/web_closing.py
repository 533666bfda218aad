"""Serves a game against a GTP program, which has Black, to a tab that no browser shows: `python web_closing.py COMMAND
PORT`. Prints when the program has moved."""

import sys
from typing import Any

from nicegui import app, background_tasks
from web_alone import visit
from web_engine import FakeEngine, FakeEngines, until

from tengen.gtp.program import ProgramSettings
from tengen.web import server
from tengen.web.players import PERSON, program_player
from tengen.web.settings import GameSettings


class VisitedSite(server.Site):
    """Opens the page when the server has started."""

    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        app.on_startup(lambda: background_tasks.create(self._visit(), name="a tab"))

    async def _visit(self) -> None:
        _, page = await visit(self, "tab")
        await until(lambda: page.session.game.moves)
        print("moved", flush=True)


if __name__ == "__main__":
    command, port = sys.argv[1:]
    programs = {"the program": ProgramSettings("the program", command)}
    settings = GameSettings(size=9, players=(program_player("the program"), PERSON))
    setattr(server, "Site", VisitedSite)  # noqa: B010
    server.serve(FakeEngines(FakeEngine, programs=programs), settings, "127.0.0.1", int(port), min_seconds=0.0)

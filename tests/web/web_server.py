"""Serves the page with a fake engine: `python web_server.py [TOKEN] PORT`. Prints when a search begins and ends."""

import sys

from web_engine import FakeEngine, FakeEngines

from tengen.engine import SearchResult
from tengen.web.library import GameLibrary, games_folder
from tengen.web.server import serve
from tengen.web.settings import first_game


class TalkingEngine(FakeEngine):
    """Prints a line around every search."""

    def think(self, *args: object, **more: object) -> SearchResult:
        print("search begins", flush=True)
        result = super().think(*args, **more)
        print("search ends", flush=True)
        return result


if __name__ == "__main__":
    *token, port = sys.argv[1:]
    library = GameLibrary(games_folder())
    engines, settings = FakeEngines(TalkingEngine), first_game(9, None)
    serve(engines, settings, "127.0.0.1", int(port), min_seconds=0.05, token="".join(token), library=library)

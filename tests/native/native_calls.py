"""Makes calls of tengen._native in a process of its own, so that a crash is an answer and not the end of the tests.

Run as a script it reads lists of calls from a connection and answers each call; `Caller` is the other end.
Values travel as they are, but for `{"array": dtype, "shape": [...], "values": [...]}`, which becomes a numpy array of
these values over and over, and `{"object": "Game"}`, the script's current object of a class.
"""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

TIMEOUT = 60.0  # seconds for one call, on a loaded machine too


@dataclass(frozen=True)
class Call:
    """A call of `owner` (a class, or "" for the module): a method, "__init__", or "set PROPERTY"."""

    owner: str
    name: str
    arguments: dict[str, Any]

    def __str__(self) -> str:
        listed = ", ".join(f"{name}={value!r}" for name, value in self.arguments.items())
        return f"{self.owner}.{self.name}({listed})"


class Crash(AssertionError):
    """The process ended, or did not answer, in the middle of a call."""


class Caller:
    """A process that makes calls; started at the first, and again after a crash."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._line: Connection | None = None

    def run(self, calls: list[Call]) -> list[tuple[str, str]]:
        """Make the calls in order on fresh objects: for each the name of its exception and the message, or ("", "").

        Raises Crash that tells the calls made.
        """
        if self._line is None:
            self._line, theirs = Pipe()
            command = [sys.executable, "-X", "faulthandler", __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(command, pass_fds=[theirs.fileno()])
            theirs.close()
        self._line.send([(call.owner, call.name, call.arguments) for call in calls])
        answers: list[tuple[str, str]] = []
        try:
            while len(answers) < len(calls):
                if not self._line.poll(TIMEOUT):
                    raise EOFError
                answers.append(self._line.recv())
        except (EOFError, ConnectionError):
            self.close()
            raise Crash("no answer to the last of\n" + "\n".join(map(str, calls[: len(answers) + 1]))) from None
        return answers

    def close(self) -> None:
        if self._process is not None and self._line is not None:
            self._process.kill()
            self._process.wait()
            self._line.close()
        self._process = self._line = None


def serve(line: Connection) -> None:
    """The process itself."""
    import numpy as np

    from tengen import _native

    def games() -> Any:
        none, start = np.zeros(0, np.uint16), np.zeros(2, np.int32)
        return _native.GameColumns(
            size=np.array([9], np.uint8),
            moves=np.array([40, 41 | 1 << 15, 81], np.uint16),
            offsets=np.array([0, 3], np.int32),
            black_stones=none, black_offsets=start, white_stones=none, white_offsets=start,
            ownership=np.zeros(0, np.uint8), ownership_offsets=start,
            first=np.zeros(1, np.uint8), rules=np.zeros(1, np.int16), komi=np.zeros(1, np.float32),
            score=np.zeros(1, np.float32), weight=np.ones(1, np.float32), winner=np.zeros(1, np.int8),
            black_rank=np.zeros(1, np.int8), white_rank=np.zeros(1, np.int8),
            visits=np.array([40 | 3 << 16, 81 | 1 << 16], np.uint32),
            visit_offsets=np.array([0, 2, 2, 2], np.int32), visit_rows=np.array([0, 3], np.int32),
            rule_sets=["chinese"],
        )  # fmt: skip

    def played() -> Any:
        params = _native.PlayParams()
        params.max_moves = 1  # so that the start is the whole game
        pool = _native.SelfPlay(params, 1)
        pool.add(0, 0, 5, "chinese", 0.5, [12])
        planes, scalars = _native.plane_set("tengen")
        arrays = [np.zeros(shape, np.float32) for shape in ((1, len(planes), 5, 5), (1, len(scalars)), (1, 5, 5))]
        pool.gather("tengen", *arrays)
        return pool.take()[0]

    def game_end() -> Any:
        game = _native.Game(5, "tromp-taylor", 6.5)
        game.play(25)
        game.play(25)
        return game.game_end()

    # An object of each class whose constructor needs arguments, for calls that come before any constructor.
    defaults = {
        "Game": lambda make: _native.Game(5, "tromp-taylor", 6.5),
        "GameEnd": lambda make: game_end(),
        "FeatureContext": lambda make: _native.FeatureContext(make("Game")),
        "GameColumns": lambda make: games(),
        "Search": lambda make: _native.Search(make("SearchParams"), 1),
        "SearchPool": lambda make: _native.SearchPool(make("SearchParams"), [1, 2], 2),
        "PlayedGame": lambda make: played(),
        "SelfPlay": lambda make: _native.SelfPlay(make("PlayParams"), 2, 2),
        "Winograd": lambda make: _native.Winograd(np.ones((4, 2, 3, 3), np.float32), np.ones(4, np.float32)),
        "Attention": lambda make: _native.Attention(2, 1, 32, 16),
        "ConvolutionStep": lambda make: _native.ConvolutionStep(make("Winograd"), 0),
        "ConvolutionChain": lambda make: _native.ConvolutionChain(1, [make("ConvolutionStep")], [1]),
    }
    while True:
        try:
            script = line.recv()
        except EOFError:
            return
        objects: dict[str, Any] = {}

        def make(name: str, objects: dict[str, Any] = objects) -> Any:
            if name not in objects:
                objects[name] = defaults[name](make) if name in defaults else getattr(_native, name)()
            return objects[name]

        def value(sent: Any) -> Any:
            if isinstance(sent, dict) and "array" in sent:
                return np.resize(np.array(sent["values"]).astype(sent["array"]), sent["shape"])
            if isinstance(sent, dict) and "object" in sent:
                return make(sent["object"])
            return [value(item) for item in sent] if isinstance(sent, list) else sent

        for owner, name, sent in script:
            answer = ("", "")
            try:
                arguments = {key: value(item) for key, item in sent.items()}
                if name == "__init__":
                    objects[owner] = getattr(_native, owner)(**arguments)
                elif name.startswith("set "):
                    setattr(make(owner), name.removeprefix("set "), *arguments.values())
                elif name.startswith("get "):
                    getattr(make(owner), name.removeprefix("get "))
                else:
                    getattr(make(owner) if owner else _native, name)(**arguments)
            except Exception as error:
                answer = (type(error).__name__, str(error))
            line.send(answer)


if __name__ == "__main__":
    serve(Connection(int(sys.argv[1])))

"""Mixed load on the page, `tengen gtp` and `tengen analysis` by clients that vanish: is memory flat, is nothing left?

    python benchmarks/soak.py --minutes 60 --warm-up 20
    python benchmarks/soak.py --minutes 10 --warm-up 5 --clients pages

One server of pages, one analysis and one GTP session live all the time. Pages are opened and closed by their websocket
or left without a word, analyses and GTP sessions beside them are killed in the middle of a search; `--clients pages`
has the pages alone. Prints a line of JSON a sample: memory in MB, threads, open files and child processes of each of
the three; then what is left after the end. The exit status is 1 where one of them is left: a process; a thread of a
page that was closed; or, at rest at the end, more than GROWTH_MB more memory than at rest after the warm-up.
"""

import argparse
import asyncio
import contextlib
import html
import json
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import aiohttp
import psutil

TENGEN = [sys.executable, "-m", "tengen"]
GROWTH_MB = 100
"""Of a program between two rests, by what is kept with a limit: evaluations of 20,000 positions (60 MB), and what
FastAPI keeps of the last 4,096 pages (10 KB each)."""
PAGE = """
import pathlib, signal, sys, threading
from tengen.cli.app import main
file = pathlib.Path(sys.argv.pop(1))

def tell(*_):
    file.with_suffix(".new").write_text("\\n".join(thread.name for thread in threading.enumerate()))
    file.with_suffix(".new").replace(file)

signal.signal(signal.SIGUSR1, tell)
main()
"""
"""`tengen play`, which writes the names of its threads into a file when it is asked by a signal."""
QUERY = {"rules": "tromp-taylor", "komi": 7.5, "boardXSize": 9, "boardYSize": 9, "analyzeTurns": [0, 1, 2]}
MOVES = [["B", "E5"], ["W", "D3"], ["B", "F7"], ["W", "C6"]]


def start(*words: str) -> subprocess.Popen[bytes]:
    pipe = subprocess.PIPE
    return subprocess.Popen([*TENGEN, *words], stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL)


def say(program: subprocess.Popen[bytes], line: str) -> None:
    assert program.stdin is not None
    program.stdin.write(line.encode() + b"\n")
    program.stdin.flush()


def _clickable(page: str) -> list[dict[str, Any]]:
    """The buttons and the board of a page: where clicks go."""
    found = re.search(r"String\.raw`(\{.*?\})`", page, re.DOTALL)
    assert found is not None, "a page without elements"
    kinds = ("click", "point")
    return [
        {"id": int(number), "listener_id": event["listener_id"], "type": event["type"], "args": ["{}"]}
        for number, element in json.loads(html.unescape(found[1])).items()
        for event in element.get("events", [])
        if event["type"] in kinds
    ]


def _read(stream: IO[bytes]) -> None:
    """Take the output, as a client does."""
    while stream.read(65536):
        pass


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Soak:
    """The programs, and the clients that use them until `end`."""

    def __init__(self, net: str, seed: int, folder: Path) -> None:
        self.random = random.Random(seed)
        self.end = 0.0
        self.net, self.port = net, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.names = folder / "threads"
        words = [sys.executable, "-c", PAGE, str(self.names), "play", "--net", net, "--port", str(self.port)]
        out = {"stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
        self.page = subprocess.Popen(words, stdin=subprocess.PIPE, **out)
        self.analysis = start("analysis", "--net", net)
        self.gtp = start("gtp", "--net", net, "--visits", "16", "--size", "9")
        self.done = dict.fromkeys(("pages", "vanished pages", "events", "queries", "moves", "killed"), 0)

    @property
    def programs(self) -> dict[str, psutil.Process]:
        return {name: psutil.Process(getattr(self, name).pid) for name in ("page", "analysis", "gtp")}

    def left(self) -> bool:
        return time.monotonic() < self.end

    async def pages(self) -> None:
        """Opens a page, sends events to it, and leaves: half of the time without a word."""
        while self.left():
            with contextlib.suppress(aiohttp.ClientError, asyncio.TimeoutError, ConnectionError):
                async with aiohttp.ClientSession() as session:
                    async with session.get(self.url, timeout=aiohttp.ClientTimeout(60)) as answer:
                        text = await answer.text()
                    found = re.search(r"client_id': '([0-9a-f-]{36})'", text)
                    if found is None:
                        raise AssertionError(f"status {answer.status}, no client in the page: {text[:300]!r}")
                    await self._events(session, found[1], _clickable(text))
                    self.done["pages"] += 1
            await asyncio.sleep(self.random.uniform(0.5, 2))

    async def _events(self, session: aiohttp.ClientSession, client: str, places: list[dict[str, Any]]) -> None:
        """The protocol of socket.io by hand, so that a connection can be cut anywhere."""
        query = f"EIO=4&transport=websocket&client_id={client}&tab_id=t{self.random.random()}&document_id=d"
        address = f"{self.url}/_nicegui_ws/socket.io/?{query}&next_message_id=0&implicit_handshake=true"
        async with session.ws_connect(address, origin=self.url) as ws:
            await ws.receive(timeout=60)
            await ws.send_str("40")
            for _ in range(self.random.randrange(2, 30)):
                event = {**self.random.choice(places), "client_id": client}
                if event.pop("type") == "point":
                    event["args"] = [json.dumps({"point": self.random.randrange(361)})]
                await ws.send_str("42" + json.dumps(["event", event]))
                self.done["events"] += 1
                with contextlib.suppress(asyncio.TimeoutError):
                    await ws.receive(timeout=self.random.uniform(0, 0.2))
            if self.random.random() < 0.5:
                self.done["vanished pages"] += 1
                (transport := ws.get_extra_info("transport")) and transport.abort()

    async def talk_json(self) -> None:
        """Queries to the analysis that stays, of which some are terminated."""
        number = 0
        while self.left():
            number += 1
            visits = self.random.choice([2, 8, 40])
            query = {**QUERY, "id": str(number), "moves": MOVES, "maxVisits": visits, "priority": number % 3}
            say(self.analysis, json.dumps(query))
            if self.random.random() < 0.2:
                say(self.analysis, json.dumps({"id": "t", "action": "terminate", "terminateId": str(number)}))
            if self.random.random() < 0.1:
                say(self.analysis, self.random.choice(["{", "null", '{"id": 1}', "é" * 100]))
            self.done["queries"] += 1
            await asyncio.sleep(self.random.uniform(0.2, 1))

    async def talk_gtp(self) -> None:
        """Games by the GTP session that stays."""
        while self.left():
            say(self.gtp, "clear_board")
            for color in "bw" * 20:
                say(self.gtp, self.random.choice([f"genmove {color}", "showboard", "play b Z99", "final_score"]))
                self.done["moves"] += 1
                await asyncio.sleep(self.random.uniform(0.2, 0.8))
                if not self.left():
                    break

    async def vanish(self) -> None:
        """Analyses and GTP sessions that are cut off in the middle of a search."""
        while self.left():
            kind = self.random.choice(["analysis", "gtp"])
            program = await asyncio.to_thread(start, kind, "--net", self.net)
            if kind == "gtp":
                say(program, "boardsize 9\nkata-analyze b 10")
            else:
                say(program, json.dumps({**QUERY, "id": "v", "moves": MOVES, "maxVisits": 100_000}))
            await asyncio.sleep(self.random.uniform(1, 8))
            assert program.stdin is not None and program.stdout is not None
            if self.random.random() < 0.5:
                program.kill()
            else:
                program.stdout.close()  # nobody reads any more
                with contextlib.suppress(BrokenPipeError):
                    program.stdin.close()
                if kind == "analysis":
                    program.terminate()
            await asyncio.to_thread(program.wait, 120)
            self.done["killed"] += 1

    async def sample(self, seconds: float) -> None:
        began = time.monotonic()
        while self.left():
            await asyncio.sleep(min(seconds, max(0.1, self.end - time.monotonic())))
            print(json.dumps({"minutes": round((time.monotonic() - began) / 60, 1), **self.figures()}), flush=True)

    def figures(self) -> dict[str, Any]:
        return {
            name: {
                "MB": round(process.memory_info().rss / 1e6),
                "threads": process.num_threads(),
                "files": process.num_fds(),
                "children": len(process.children(recursive=True)),
            }
            for name, process in self.programs.items()
        }

    def threads_of_pages(self) -> list[str]:
        """The names of the threads that pages have started; those of the libraries' pools stay for the next page."""
        self.names.unlink(missing_ok=True)
        self.page.send_signal(signal.SIGUSR1)
        deadline = time.monotonic() + 60
        while not self.names.exists():
            assert time.monotonic() < deadline, "the page does not say what its threads are"
            time.sleep(0.1)
        return [name for name in self.names.read_text().splitlines() if name.startswith("tengen")]

    async def run(self, lengths: Sequence[float], samples: int, rest: float, pages_alone: bool) -> list[dict[str, Any]]:
        """Let the clients work for each of these times, in seconds; the figures after each, at rest."""
        for program in (self.page, self.analysis, self.gtp):
            assert program.stdout is not None
            threading.Thread(target=_read, args=(program.stdout,), daemon=True).start()
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1):
                break
            await asyncio.sleep(0.5)
        found = []
        for length in lengths:
            self.end = time.monotonic() + length
            clients = [self.pages(), self.pages()]
            if not pages_alone:
                clients += [self.talk_json(), self.talk_gtp(), self.vanish()]
            await asyncio.gather(*clients, self.sample(length / samples))
            await asyncio.sleep(rest)  # a page without its websocket lives for a minute
            found.append(self.figures())
            print(json.dumps({"at rest": found[-1], **self.done}), flush=True)
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=0.3)
    parser.add_argument("--warm-up", type=float, default=0.3, help="minutes before those, in which memory may grow")
    parser.add_argument("--clients", choices=("all", "pages"), default="all")
    parser.add_argument("--net", default="default")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--rest", type=float, default=75, help="seconds of rest after the warm-up and at the end")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        return judge(Soak(args.net, args.seed, Path(folder)), args)


def judge(soak: Soak, args: argparse.Namespace) -> int:
    """Run it, end its programs, and say what is left: the exit status."""
    lengths = [60 * args.warm_up, 60 * args.minutes]
    try:
        before, after = asyncio.run(soak.run(lengths, args.samples, args.rest, args.clients == "pages"))
        threads = soak.threads_of_pages()
    finally:
        programs = {process for top in soak.programs.values() for process in [top, *top.children(recursive=True)]}
        soak.page.send_signal(signal.SIGINT)
        for program in (soak.analysis, soak.gtp):
            assert program.stdin is not None
            program.stdin.close()
        _, alive = psutil.wait_procs(programs, timeout=60)
        for process in alive:
            process.kill()
    grown = {name: after[name]["MB"] - before[name]["MB"] for name in after}
    print(json.dumps({"processes left": len(alive), "threads left": threads, "grown MB": grown}))
    return 1 if alive or threads or max(grown.values()) > GROWTH_MB else 0


if __name__ == "__main__":
    sys.exit(main())

"""The games that the page keeps on disk: one SGF file a game, or a collection, written with every change."""

from __future__ import annotations

import math
import os
import time
import weakref
from collections.abc import Callable, Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from io import BytesIO
from pathlib import Path
from typing import Any

from tengen.coords import MAX_SIZE
from tengen.disk import data_folder, write_whole
from tengen.errors import SgfError, TengenError, os_reason
from tengen.sgf import split_trees
from tengen.web.kept_state import resume, state_in, state_of, states, with_state, without_state
from tengen.web.language import _
from tengen.web.records import open_record, record_file_name
from tengen.web.session import GameSession
from tengen.web.words import in_words, moves_text

MAX_LISTED = 40
_LISTED = ("names", "title", "size", "moves", "result", "unfinished", "tab")
"""What a list of games needs of their states, which are much larger."""
LARGE_NODES, LARGE_BYTES, WAIT_SECONDS = 2_000, 200_000, 5.0
"""A game of more nodes, or in a collection of more bytes, is written at most once in WAIT_SECONDS: 20,000 nodes take
half a second. So is a game that the disk has refused."""
_MILLISECOND = 1_000_000  # in nanoseconds


def games_folder() -> Path:
    """Where the games of this user are."""
    return data_folder("games")


@dataclass(frozen=True)
class KeptGame:
    """A file of the library. changed: seconds since 1970. state: of what the page wrote beside the game what a list
    needs, perhaps empty."""

    path: Path
    changed: float
    state: dict[str, Any]

    @property
    def title(self) -> str:
        """The players, what else names a game without them, or the name of the file."""
        names, title = self.state.get("names"), str(self.state.get("title") or "")
        return title or (" \u2013 ".join(map(str, names)) if isinstance(names, list) else self.path.stem)

    @property
    def detail(self) -> str:
        """Board, moves and result: `19x19, move 43, Black wins by 3.5`."""
        size, moves = self.state.get("size"), self.state.get("moves")
        result = in_words(str(self.state.get("result") or ""))
        return ", ".join(text for text in (size and f"{size}x{size}", moves and moves_text(moves), result) if text)

    @property
    def unfinished(self) -> bool:
        """Whether a game with the engine goes on here."""
        return self.state.get("unfinished") is True

    @property
    def can_go_on(self) -> bool:
        """Whether an unfinished game is on a board of this program, which TENGEN_MAX_SIZE decides."""
        size = self.state.get("size")
        return self.unfinished and (not isinstance(size, int) or size <= MAX_SIZE)

    @property
    def tab(self) -> str:
        """The browser tab that showed the game last, empty where none is known."""
        return str(self.state.get("tab", ""))


@dataclass(frozen=True)
class ReadGame:
    """A kept game that was read: its session as it was left, what the file said of it, and the digest of the file."""

    game: KeptGame
    session: GameSession
    digest: bytes


@dataclass
class _SessionFile:
    """What is known of the file of a session, and of the one that it had before."""

    path: Path | None = None
    digest: bytes = b""
    copy_of: tuple[int, str] | None = None  # the session needs no file as long as its record is this
    not_before: float = -math.inf  # when it may be written again, by the steady timer
    written: object = None  # the stamp of the session when it was written last


class GameLibrary:
    """The kept games in a folder, which is made with the first one. A game of a collection is kept with all of it.

    Every session has a file of its own. Where a session comes from a file that another one has, the other one takes a
    new name, unless it `is_shown` to somebody: then the new session takes one, and so it does where the file is a game
    in progress in which its tab may not go on (`may_go_on`, which gets the tab of the file and the new one). Where
    another program has written the file, such as a second server, the session takes a new name. A record that is opened
    again takes the file that it has, unless that is a game in progress or is shown.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_shown: Callable[[GameSession], bool] = lambda session: True
        self.may_go_on: Callable[[str, str], bool] = lambda left, tab: True
        # By path: modification time, size and inode of a file, and its state as far as a list needs it.
        self._states: dict[Path, tuple[tuple[int, int, int], dict[str, Any]]] = {}
        self._files: weakref.WeakKeyDictionary[GameSession, _SessionFile] = weakref.WeakKeyDictionary()
        self._newest = 0  # the latest modification time of a game, in nanoseconds; 0 until the folder was read

    def keep(self, session: GameSession, tab: str = "", final: bool = False) -> None:
        """Write a game if it has changed; a new one has no file before its first move or edit.

        A large game, which takes long to write, may wait for a later call, and so does one after a refusal of the disk.
        With `final` it is written also where only another position is shown or a clock has run. `tab` is the browser
        tab that shows the game. Raises TengenError where the disk refuses.
        """
        stamp = (session.tree.version, session.result, session.settings, session.live, session.tip.id, tab)
        now = time.monotonic()
        before, after = session.others
        large = len(session.tree) > LARGE_NODES or sum(map(len, (*before, *after))) > LARGE_BYTES
        file = self._file(session)
        unchanged = file.written == stamp
        if (unchanged or now < file.not_before) and not final:
            return
        if file.path is None and file.copy_of == _content(session):
            return
        if file.path is not None and _digest(file.path) not in (None, file.digest):
            file.path = None
        taken = file.written is not None and file.path is None  # by another session or program, or deleted
        if (unchanged and taken) or (file.path is None and session.untouched):
            return
        text = b"\n".join((*before, with_state(session, tab), *after))
        path = file.path
        try:
            path = path or self._new_file(session, b"\n".join(session.collection()))
            with write_whole(path, durable=final) as temporary:
                temporary.write_bytes(text)
                self._make_newest(temporary)
        except OSError as error:
            file.not_before = now + WAIT_SECONDS
            if path is not None and file.path is None:
                _remove_empty(path)
            raise TengenError(
                _("the game cannot be kept in {folder}: {reason}", folder=self.folder, reason=os_reason(error))
            ) from error
        file.path, file.digest, file.written = path, sha256(text).digest(), stamp
        file.not_before = now + WAIT_SECONDS if large else now

    def games(self) -> Iterator[KeptGame]:
        """All games, the newest first. It may run on any thread, and reads a file again only when it has changed."""
        for path, stat in self._newest_first():
            stamp = stat.st_mtime_ns, stat.st_size, stat.st_ino
            known = self._states.get(path)
            if known is None or known[0] != stamp:
                state = state_in(path)
                known = self._states[path] = stamp, {name: state[name] for name in _LISTED if name in state}
            yield KeptGame(path, stat.st_mtime, known[1])

    def recent(self) -> list[KeptGame]:
        """The MAX_LISTED games that changed last, and as many unfinished ones that changed before, the newest first."""
        games = list(self.games())
        unfinished = [game for game in games[MAX_LISTED:] if game.unfinished]
        return games[:MAX_LISTED] + unfinished[:MAX_LISTED]

    def of_tab(self, tab: str) -> KeptGame | None:
        """The game that a browser tab showed last; None for an unknown tab."""
        return next((game for game in self.games() if game.tab == tab), None) if tab else None

    def load(self, game: KeptGame) -> GameSession:
        """Open a kept game as it was left. Raises SgfError where the file is gone or is no game."""
        return self.take(read_kept(game))

    def take(self, read: ReadGame, tab: str = "", leaving: GameSession | None = None) -> GameSession:
        """The session of a kept game that was read, for the page of a `tab` in the place of the session that it leaves.
        It goes on in the file unless another session keeps that; then its first change gets a new one."""
        game, session = read.game, read.session
        file = self._file(session)
        shown = (other for other, known in self._files.items() if known.path == game.path and other is not leaving)
        if any(map(self.is_shown, shown)) or (game.unfinished and not self.may_go_on(game.tab, tab)):
            file.copy_of = _content(session)
        else:
            self._forget(game.path)
            file.path, file.digest = game.path, read.digest
        return session

    def go_on(self, before: GameSession, after: GameSession) -> None:
        """Another game of the same collection goes on in the file of this one."""
        left, file = self._file(before), self._file(after)
        if left.path is not None:
            file.path, file.digest, left.path = left.path, left.digest, None
        elif left.copy_of is not None:
            file.copy_of = _content(after)

    def shown(self, sessions: Collection[GameSession]) -> set[Path]:
        """The files of these sessions."""
        return {file.path for session in sessions if (file := self._files.get(session)) and file.path}

    def remove(self, game: KeptGame) -> None:
        """Delete a kept game; a page that shows it writes it again with its next change."""
        game.path.unlink(missing_ok=True)
        self._states.pop(game.path, None)
        self._forget(game.path)

    def _newest_first(self) -> list[tuple[Path, os.stat_result]]:
        """The files of all games."""
        files = []
        for path in self.folder.glob("*.sgf"):
            with suppress(OSError):  # it is gone
                files.append((path, path.stat()))
        self._newest = max([self._newest, *(stat.st_mtime_ns for _, stat in files)])
        return sorted(files, key=lambda file: -file[1].st_mtime_ns)

    def _make_newest(self, written: Path) -> None:
        """Give a file a time after that of all games, which may lie ahead where the clock was set back."""
        if not self._newest:
            self._newest_first()
        changed = written.stat().st_mtime_ns
        if changed <= self._newest:
            changed = self._newest + _MILLISECOND
            os.utime(written, ns=(changed, changed))
        self._newest = changed

    def _file(self, session: GameSession) -> _SessionFile:
        return self._files.setdefault(session, _SessionFile())

    def _forget(self, path: Path) -> None:
        """Let the sessions of a file take another one when they change."""
        for file in self._files.values():
            if file.path == path:
                file.path = None

    def _new_file(self, session: GameSession, data: bytes) -> Path:
        """A file for a session: a new one, or one with the same record, which was opened again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        stem, number = Path(record_file_name(session)).stem, 1
        games = list(split_trees(BytesIO(data)))
        while True:
            path = self.folder / f"{stem}{f' ({number})' if number > 1 else ''}.sgf"
            try:
                path.open("xb").close()  # no other server takes the name
            except FileExistsError:
                there = [without_state(text) for text in split_trees(BytesIO(path.read_bytes()))]
                shown = any(known.path == path and self.is_shown(other) for other, known in self._files.items())
                if shown or there != games or state_in(path).get("unfinished"):
                    number += 1
                    continue
                self._forget(path)
            return path


def read_kept(game: KeptGame) -> ReadGame:
    """Read a kept game as it is now. It may run on any thread. Raises SgfError where the file is gone or is no game."""
    try:
        data = game.path.read_bytes()
    except OSError as error:
        raise SgfError(f"{game.path.name}: {os_reason(error)}") from error
    texts = list(split_trees(BytesIO(data)))
    index = next((at for at, text in enumerate(texts) if states(text)), 0)
    games = [without_state(text) for text in texts]
    record, state = games[index] if games else data, state_of(texts)
    session, _ = open_record(record, fixed_handicap=False)
    if not resume(session, state):
        session, _ = open_record(record, fixed_handicap=False)  # without what was read of the state
    session.others = games[:index], games[index + 1 :]
    return ReadGame(replace(game, state=state), session, sha256(data).digest())


def _content(session: GameSession) -> tuple[int, str]:
    """Differs after a change of the record."""
    return session.tree.version, session.result


def _digest(path: Path) -> bytes | None:
    """The SHA-256 of a file; None where it is gone or cannot be read."""
    try:
        return sha256(path.read_bytes()).digest()
    except OSError:
        return None


def _remove_empty(path: Path) -> None:
    """Remove a new name, to which nothing could be written."""
    with suppress(OSError):
        if not path.stat().st_size:
            path.unlink()

"""Opening records: by file, by text, dropped on the page, from the kept games, and which game of a collection."""

from __future__ import annotations

import asyncio
import codecs
import json
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any
from weakref import WeakMethod

from nicegui import background_tasks, events, ui

from tengen.errors import SgfError, os_reason
from tengen.sgf import read_tree
from tengen.sgf.grammar import read_line
from tengen.sgf.info import text_of
from tengen.sgf.main_line import read_record
from tengen.web.dialog import answer_of, dialog_buttons, titled_dialog
from tengen.web.language import _, ngettext
from tengen.web.library import GameLibrary, KeptGame
from tengen.web.words import color_names, moves_text, sentence

MAX_SGF_BYTES = 2_000_000
MAX_FIELD = 100_000  # characters that are sent as the text of a field
MAX_GAMES_LISTED = 500
READING_SECONDS = 0.7
"""A second tap that comes sooner belongs to a double tap, of somebody who has not read the question yet."""


class OpenDialog:
    """Asks for a game record and calls `on_record` with its bytes, or `on_kept` with a kept game.

    Records over 2 MB are rejected. The name of a file does not matter.
    """

    def __init__(
        self,
        library: GameLibrary | None,
        *,
        on_record: Callable[[bytes], Awaitable[None]],
        on_kept: Callable[[KeptGame], Awaitable[None]],
    ) -> None:
        self._on_record, self._on_kept, self._library = on_record, on_kept, library
        self._asked = 0.0
        # FastAPI remembers the last 4,096 routes by their functions. That of an upload has its handlers, and through
        # them every closed page would stay in memory.
        received = WeakMethod(self._received)

        def receive(event: events.UploadEventArguments) -> Coroutine[Any, Any, None] | None:
            return None if (alive := received()) is None else alive(event)

        self._upload = ui.upload(
            auto_upload=True, max_file_size=MAX_SGF_BYTES, on_upload=receive, on_rejected=self._too_large
        ).classes("hidden")
        words = json.dumps([_("Drop the record to open it"), _("Of several files only the first one is opened")])
        ui.add_body_html(f"<script>tengen.takeFiles({self._upload.id}, {MAX_FIELD}, ...{words})</script>")
        with titled_dialog(_("Open a game"), "open-dialog") as self._dialog:
            note = _("An SGF file of any Go program or server: choose it, drop it on the page, or paste its text.")
            ui.label(note).classes("tg-note")
            self._text = ui.textarea(placeholder="(;GM[1]FF[4] ...").classes("w-full tg-paste")
            self._text.props("outlined dense data-testid=paste input-style='height: 52px; resize: none'")
            self._text.props["aria-label"] = _("The text of a record")
            self._recent = ui.element("div").classes("tg-field")
            self._recent.set_visibility(False)
            with dialog_buttons(self._dialog):
                opened = ui.button(_("Open text"), on_click=self._pasted).props(
                    "unelevated no-caps data-testid=open-text"
                )
                opened.bind_visibility_from(self._text, "value", bool)
                choose = ui.button(_("Choose a file")).props("unelevated no-caps")
                choose.on("click", js_handler=f"() => runMethod({self._upload.id}, 'pickFiles', [])")

    def open(self) -> None:
        """Show the dialog with nothing chosen, and the games that were kept as soon as their files are read."""
        self._upload.reset()
        self._text.set_value("")
        self._dialog.open()
        if self._library is not None:
            background_tasks.create(self._list_recent(self._library), name="tengen recent games")

    async def _list_recent(self, library: GameLibrary) -> None:
        games = await asyncio.to_thread(library.recent)
        if self._recent.is_deleted:  # the tab was closed meanwhile
            return
        self._recent.clear()
        self._recent.set_visibility(bool(games))
        with self._recent:
            ui.label(_("Recent games")).classes("tg-heading")
            with ui.element("div").classes("tg-list"):
                for game in games:
                    self._row(game)

    def _row(self, game: KeptGame) -> None:
        with ui.element("div").classes("tg-list-row") as row:
            with ui.element("button").classes("tg-list-open").props("type=button data-testid=recent") as button:
                ui.label(game.title).classes("tg-list-title")
                parts = [game.detail, when(game.changed)]
                ui.label(", ".join([_("unfinished"), *parts] if game.unfinished else parts)).classes("tg-note")
            button.on("click", lambda: self._kept(game), args=[])
            removal = ui.button(icon="delete_outline", color=None)
            removal.on_click(lambda: self._remove(game, row, removal))
            removal.props("flat dense no-caps size=sm").props["aria-label"] = _("Delete this game")

    def _remove(self, game: KeptGame, row: ui.element, button: ui.button) -> None:
        """Delete a kept game at the second tap, unless it comes before the question can be read."""
        if not button.text:
            button.set_text(_("Delete?"))
            self._asked = time.monotonic()
            return
        if time.monotonic() - self._asked < READING_SECONDS:
            return
        assert self._library is not None
        try:
            self._library.remove(game)
        except OSError as error:
            button.set_text("")
            ui.notify(sentence(_("the game cannot be deleted: {reason}", reason=os_reason(error))), position="top")
            return
        row.delete()

    async def _kept(self, game: KeptGame) -> None:
        self._dialog.close()
        await self._on_kept(game)

    async def _pasted(self) -> None:
        self._dialog.close()
        await self._on_record(codecs.BOM_UTF8 + str(self._text.value or "").encode())

    async def _received(self, event: events.UploadEventArguments) -> None:
        if event.file.size() > MAX_SGF_BYTES:  # a page may ignore its own limit
            self._too_large()
            return
        data = await event.file.read()
        self._upload.reset()
        self._dialog.close()
        await self._on_record(data)

    def _too_large(self) -> None:
        self._upload.reset()
        ui.notify(_("Not opened: a record may have up to {n} MB", n=MAX_SGF_BYTES // 1_000_000), position="top")


async def choose_game(texts: Sequence[tuple[str, str]], number: int) -> int | None:
    """Ask which game of a collection of this number to show; None where the question is left. `texts`: what `described`
    says of them."""
    title = ngettext("{n:,} game in this file", "{n:,} games in this file", number)
    with titled_dialog(title, "choose-game", is_open=True) as dialog:
        ui.label(_("Save writes all of them, with your changes to the chosen one.")).classes("tg-note")
        with ui.element("div").classes("tg-list tg-list-tall"):
            for index, (title, detail) in enumerate(texts):
                with (
                    ui.element("button")
                    .classes("tg-list-open tg-list-row")
                    .props("type=button data-testid=game") as row
                ):
                    ui.label(f"{index + 1}. {title}").classes("tg-list-title")
                    ui.label(detail).classes("tg-note")
                row.on("click", lambda index=index: dialog.submit(index), args=[])
        if number > len(texts):
            listed = _("The first {n} are listed; divide the file to reach others.", n=MAX_GAMES_LISTED)
            ui.label(listed).classes("tg-note")
        with dialog_buttons(dialog):
            pass  # a tap on a game chooses it
    answer = await answer_of(dialog)
    return answer if isinstance(answer, int) else None


def described(games: Sequence[bytes]) -> list[tuple[str, str]]:
    """A title and a text for each game of a collection that is listed. It may take seconds, on any thread."""
    return [describe(text) for text in games[:MAX_GAMES_LISTED]]


def describe(text: bytes) -> tuple[str, str]:
    """The players of a game of a collection, or what else names it; its date, board, moves and result, and what is
    wrong with it."""
    problem = ""
    try:
        record, line = read_record(text), read_line(text)
        comment = text_of(line.nodes[0], "C", line.charset)
        info, size, moves = record.info, record.size, len(record.moves)
    except SgfError as error:
        problem = str(error)
        try:  # slower, but as the game is opened: with a handicap of unknown stones
            tree = read_tree(text)
        except SgfError:
            return _("Not readable"), problem
        comment = tree.root.comment
        info, size, moves = tree.info, tree.size, tree.line(tree.root)[-1].move_number
    result = str(info.result) if info.result.ending != "unknown" else ""
    parts = (str(info.date or ""), f"{size}x{size}", moves_text(moves), result, problem)
    title = info.title(comment) or " \u2013 ".join(info.players(color_names()))
    return title, ", ".join(part for part in parts if part)


def when(seconds: float) -> str:
    """A time for people, in the zone of the server: `today 14:05` or `2026-11-23`."""
    then, now = time.localtime(seconds), time.localtime()
    if then[:3] == now[:3]:
        return _("today {time}", time=time.strftime("%H:%M", then))
    return time.strftime("%Y-%m-%d", then)

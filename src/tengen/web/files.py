"""The way of a game between page and disk: records that are opened and saved, and the kept games."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from io import BytesIO

from nicegui import ui

from tengen.errors import SgfError, TengenError
from tengen.sgf import split_trees
from tengen.web.dialog import ask
from tengen.web.kept_state import without_state
from tengen.web.language import _
from tengen.web.library import GameLibrary, KeptGame, read_kept
from tengen.web.open_dialog import choose_game, described
from tengen.web.records import annotated, is_analyzed, open_tree, read_record_tree, record_file_name
from tengen.web.session import GameSession

_logger = logging.getLogger(__name__)


class GameFiles:
    """Opens and saves the games of a page, and asks what there is to ask.

    `session` gives the game of the page, `adopt` replaces it, `notify` shows a message. `is_live` is false once the
    page is closed or another one has taken over its tab. Every change is written to the `library`, with the browser's
    `tab`; without a library nothing is.
    """

    def __init__(
        self,
        library: GameLibrary | None,
        *,
        session: Callable[[], GameSession],
        adopt: Callable[[GameSession], None],
        notify: Callable[[str], None],
        tab: Callable[[], str],
        is_live: Callable[[], bool],
    ) -> None:
        self._session, self._adopt, self._notify = session, adopt, notify
        self._library, self._tab, self._is_live = library, tab, is_live
        self._refused = False
        self._opened = 0  # records that were to be opened

    def keep(self, final: bool = False) -> None:
        """Write the game to the library if it has changed, with `final` in any case; a failure is reported once.

        Raises nothing: a page goes on, and is closed, whatever becomes of the file.
        """
        if self._library is None:
            return
        try:
            self._library.keep(self._session(), self._tab(), final)
        except TengenError as error:
            self._refuse(str(error))
        except Exception:
            if not self._refused:
                _logger.exception("the game cannot be kept")
            self._refuse(_("the game cannot be kept: the server log has the reason"))

    def _refuse(self, message: str) -> None:
        if not self._refused:
            self._refused = True
            self._notify(message)

    async def open(self, data: bytes, before: GameSession | None = None) -> None:
        """Show a record; of a collection the game that the person chooses.

        `before` is the game of the same collection that is left: the file of it goes on with the new one. Of records
        that are read at the same time the last one is shown.
        """
        self._opened += 1
        number = self._opened
        games, texts = await asyncio.to_thread(_games_in, data)
        if not self._awaits(number):
            return
        index = await choose_game(texts, len(games)) if len(games) > 1 else 0
        if index is None:
            return
        text = games[index] if games else data
        try:  # on a thread: this page and others go on while a large record is read
            tree = await asyncio.to_thread(read_record_tree, text)
            if not self._awaits(number):
                return
            fixed = await _ask_handicap(tree.handicap_guess)
            session, problems = await asyncio.to_thread(open_tree, tree, fixed)
        except SgfError as error:
            if self._awaits(number):
                self._notify(_("the file cannot be opened: {reason}", reason=error))
            return
        if self._awaits(number) and await self.may_replace() and self._is_live():
            if before is not None:
                games[len(before.others[0])] = before.to_sgf()  # with what was changed meanwhile
            session.others = games[:index], games[index + 1 :]
            if self._library is not None and before is not None:
                self.keep(final=True)
                self._library.go_on(before, session)
            self._adopt(session)
            if problems:
                self._notify(problems[0])

    def _awaits(self, number: int) -> bool:
        """Whether the page still waits for this record: it is live, and no later one is to be opened."""
        return self._is_live() and number == self._opened

    async def choose(self) -> None:
        """Show another game of the collection; changes to this one stay in it."""
        before = self._session()
        await self.open(b"\n".join(before.collection()), before)

    async def open_kept(self, game: KeptGame) -> None:
        """Show a game of the library as it was left."""
        if self._library is None or not await self.may_replace():
            return
        self._opened += 1
        number = self._opened
        self.keep(final=True)  # it may be the same game
        before, tip = self._session(), self._session().tip
        try:
            read = await asyncio.to_thread(read_kept, game)
        except TengenError as error:
            if self._awaits(number):
                self._notify(str(error))
            return
        if not self._awaits(number):
            return
        # Meanwhile the person may have begun another game, or played on in this one.
        session = self._session()
        is_same = game.path in self._library.shown([session])
        if session is before and is_same and session.tip is not tip:
            return
        if session is before or await self.may_replace():
            self._adopt(self._library.take(read, self._tab(), self._session()))

    async def may_replace(self) -> bool:
        """Whether another game may take the place of this one; asks where a game is in progress."""
        if not self._session().unfinished:
            return True
        kept = _("It stays under Open, Recent games.") if self._library else _("It is lost unless you save it.")
        choices = {"stay": _("Go on playing"), "leave": _("Leave it")}
        return await ask(_("A game is in progress"), kept, choices, "ask-leave") == "leave"

    async def save(self) -> None:
        """Let the browser save the record, or all games of its collection; asks whether the analysis goes with it."""
        session = self._session()
        text = session.to_sgf()
        reviewed = session.analyses.review is not None
        if reviewed or is_analyzed(session):
            note = _("A record has moves, variations, comments, marks, result, rules, komi and times, but no analysis.")
            if reviewed:
                more = _("Evaluations can be added as comments, better lines as variations.")
            else:
                more = _("Evaluations can be added as comments.")
            saving = _("Save with the review") if reviewed else _("Save with the analysis")
            choices = {"analysis": saving, "game": _("Save the game")}
            answer = await ask(_("Save the record"), f"{note} {more}", choices, "ask-save")
            if answer is None:
                return
            text = annotated(session) if answer == "analysis" else text
        before, after = session.others
        ui.download.content(b"\n".join((*before, text, *after)), record_file_name(session), "application/x-go-sgf")


def _games_in(data: bytes) -> tuple[list[bytes], list[tuple[str, str]]]:
    """The games of a file; of several also what the list of them says."""
    games = [without_state(text) for text in split_trees(BytesIO(data))]
    return games, described(games) if len(games) > 1 else []


async def _ask_handicap(stones: int) -> bool:
    """Whether to put the handicap stones that a record names, but does not show, on the usual points."""
    if not stones:
        return True
    note = _("The record names a handicap of {n} stones, but not where they are. White plays first.", n=stones)
    choices = {"none": _("Leave the board empty"), "fixed": _("Put them on the usual points")}
    return await ask(_("Where are the handicap stones?"), note, choices, "ask-handicap") != "none"

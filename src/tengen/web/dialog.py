"""What the dialogs of the page share: the card with its title, the row of its buttons, and a plain question."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nicegui import ui

from tengen.web.language import _


@contextmanager
def titled_dialog(title: str, name: str, is_open: bool = False) -> Iterator[ui.dialog]:
    """A dialog with a card under `title`, which the block fills. `name` identifies the card in tests."""
    with ui.dialog(value=is_open) as dialog, ui.card().classes("tg-dialog").props(f"data-testid={name}"):
        dialog.props["aria-label"] = title
        ui.label(title).classes("tg-dialog-title").props("role=heading aria-level=2")
        yield dialog


@contextmanager
def dialog_buttons(cancels: ui.dialog | None = None) -> Iterator[None]:
    """The row at the end of a dialog, in view where the dialog scrolls. The block fills it with buttons, after one that
    cancels this dialog."""
    with ui.row().classes("tg-dialog-buttons w-full justify-end gap-2"):
        if cancels is not None:
            ui.button(_("Cancel"), on_click=cancels.close, color=None).props("flat no-caps")
        yield


def close_button(dialog: ui.dialog) -> None:
    """The button of a dialog in which there is nothing to cancel."""
    ui.button(_("Close"), on_click=dialog.close).props("unelevated no-caps")


async def ask(title: str, note: str, choices: Mapping[str, str], name: str) -> str | None:
    """Ask a question with a button for each choice, the last one the usual answer; its key, or None where it is left.

    `name` identifies the dialog. A second tap on a slow connection asks no second time: None, the first one waits.
    """
    if any(part.props.get("data-testid") == name for part in ui.context.client.elements.values()):
        return None
    with titled_dialog(title, name, is_open=True) as dialog:
        ui.label(note).classes("tg-note")
        with dialog_buttons():
            for key, text in choices.items():
                usual = "unelevated" if key == list(choices)[-1] else "flat"
                made = ui.button(text, on_click=lambda key=key: dialog.submit(key), color="primary")
                made.props(f"{usual} no-caps data-testid={name}-{key}")
    answer = await answer_of(dialog)
    return str(answer) if answer in choices else None


async def answer_of(dialog: ui.dialog) -> object:
    """What an open dialog is answered with, None where it is left; it is gone afterwards.

    Cancels the task that waits where the tab is closed meanwhile: its page must not be used any more.
    """
    answer: object = await dialog
    if dialog.is_deleted:
        raise asyncio.CancelledError
    dialog.delete()
    return answer

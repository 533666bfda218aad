"""Which shortcut a key is."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from nicegui.events import KeyboardAction, KeyboardKey, KeyboardModifiers, KeyEventArguments

from tengen.web.shortcuts import shortcut_of


@pytest.mark.parametrize(
    ("name", "held", "shown"),
    [
        ("a", "", "A"),
        ("A", "", "A"),  # Caps Lock
        ("m", "", "M"),
        ("M", "", "M"),
        ("M", "shift", "Shift+M"),
        ("m", "shift", "Shift+M"),  # Caps Lock
        ("Z", "ctrl", "Ctrl+Z"),
        ("z", "meta", "Ctrl+Z"),
        ("y", "ctrl", "Ctrl+Y"),
        ("Z", "ctrl shift", "Ctrl+Y"),
        ("z", "meta shift", "Ctrl+Y"),
        ("?", "shift", "?"),
        ("v", "", "V"),
        ("ArrowLeft", "", "\u2190"),
        ("ArrowLeft", "shift", "\u2190"),
        ("m", "ctrl", None),
        ("a", "alt", None),
        ("a", "shift", None),
        ("z", "", None),
        ("z", "shift", None),
        ("z", "ctrl meta", None),
        *((name, "meta", None) for name in ("y", "r", "a", "b", "m", "ArrowLeft", "Home", "?")),
    ],
)
def test_a_key_is_known_by_what_is_held_and_not_by_its_case(name: str, held: str, shown: str | None) -> None:
    modifiers = KeyboardModifiers(**{one: one in held.split() for one in ("alt", "ctrl", "meta", "shift")})
    pressed = KeyEventArguments(
        sender=None,  # type: ignore[arg-type]
        client=SimpleNamespace(elements={}),  # type: ignore[arg-type]
        action=KeyboardAction(keydown=True, keyup=False, repeat=False),
        key=KeyboardKey(name=name, code="", location=0),
        modifiers=modifiers,
    )
    found = shortcut_of(pressed)
    assert (found and found.shown) == shown

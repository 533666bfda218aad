"""The state of a kept game: what the page writes beside the game into its file, and how a session goes on from it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from io import BytesIO
from pathlib import Path
from typing import Any

from tengen.engine import Clock, TimeControl
from tengen.errors import TengenError
from tengen.sgf import split_trees
from tengen.sgf.info import raw_text, text_of
from tengen.web.players import player_of
from tengen.web.session import GameSession, PlayedMove, check_point
from tengen.web.settings import GameSettings, Mode

STATE = "TENGEN"
"""The root property of a kept file with what SGF has no property for: who plays, what is shown, the clocks."""
_TEXT = rb"[^\]\\]*+(?:\\.[^\]\\]*+)*+"
_PROPERTY = rb"\s*+([A-Za-z]++)\s*+((?:\[" + _TEXT + rb"\]\s*+)++)"
_ROOT = re.compile(rb"(\(\s*+;)((?:" + _PROPERTY + rb")*+)", re.DOTALL)
_NAMED = re.compile(_PROPERTY, re.DOTALL)
_VALUE = re.compile(rb"\[(" + _TEXT + rb")\]", re.DOTALL)


def with_state(session: GameSession, tab: str) -> bytes:
    """The game of a session as SGF with the state of the page in the root; `tab` is the browser tab that shows
    it, empty for none."""
    data = session.to_sgf()
    state = f"{STATE}[".encode() + raw_text(json.dumps(_state(session, tab))) + b"]"
    at = data.index(b";") + 1
    return data[:at] + state + data[at:]


def without_state(text: bytes) -> bytes:
    """The text of a game without the state of the page: a kept file may be opened as any record."""
    root = _ROOT.match(text)
    if root is None or not states(text):
        return text
    kept = (found[0] for found in _NAMED.finditer(root[2]) if found[1] != STATE.encode())
    return root[1] + b"".join(kept) + text[root.end() :]


def states(text: bytes) -> list[bytes]:
    """The values of the state in the root of a game, as they are between the brackets; the page writes one, a forged
    record may have more."""
    root = _ROOT.match(text)
    properties = _NAMED.finditer(root[2]) if root else ()
    return [value for found in properties if found[1] == STATE.encode() for value in _VALUE.findall(found[2])]


def state_in(path: Path) -> dict[str, Any]:
    """The state in a kept file, empty where there is none that can be read."""
    try:
        return state_of(split_trees(BytesIO(path.read_bytes())))
    except OSError:
        return {}


def state_of(games: Iterable[bytes]) -> dict[str, Any]:
    """The state of the first of these games that has one, empty where none can be read."""
    try:
        found = next(filter(None, map(states, games)), None)
        state = json.loads(text_of({STATE: found[:1]}, STATE, "utf-8")) if found else {}
    except (ValueError, RecursionError):
        return {}
    return state if isinstance(state, dict) else {}


def resume(session: GameSession, state: dict[str, Any]) -> bool:
    """Let a session that was just opened from the record of a kept file go on as the state of that file says. False for
    a state that makes no sense, part of which may have been taken."""
    tree = session.tree
    try:
        black, white = (player_of(player, tree.size) for player in state["players"])
        clock = TimeControl.parse(state["clock"]) if state["clock"] else None
        settings = GameSettings(tree.size, tree.rules, tree.komi, state["handicap"], (black, white), clock)
        tip, shown = tree.get(state["tip"]) or tree.root, tree.get(state["shown"]) or tree.root
        if session.result:
            session.ended_at = tree.get(state["ended"])
            dead = state.get("dead")  # older files have none
            if session.ended_at is not None and dead is not None:
                session.begin_count([check_point(point, tree.size) for point in dead], session.ended_at)
        spent = {number: float(seconds) for number, seconds in state["spent"]}
        # Older files have neither `before` nor `played`.
        before = {number: Clock(clock, *left) for number, *left in state.get("before", ())} if clock else {}
        goes_on = state["live"] is True and settings.mode is not Mode.ANALYZE
        known = {*state.get("played", range(len(tree)) if goes_on else ()), *spent}
        nodes = {number: node for number in known if (node := tree.get(number)) is not None}
        played = {node.id: PlayedMove(before.get(at), spent.get(at)) for at, node in nodes.items()}
        session.resume(settings, state["live"] is True, tip, shown, state["left"], played)
        session.record_names = (str(state["record_names"][0]), str(state["record_names"][1]))
        black_rank, white_details = (str(detail) for detail in state["record_details"])
        session.record_ranks = black_rank, white_details.rpartition(" · ")[0]  # the last part is the komi
    except (KeyError, TypeError, ValueError, IndexError, TengenError):
        return False
    return True


def _state(session: GameSession, tab: str) -> dict[str, Any]:
    settings, tree, clock = session.settings, session.tree, session.clock
    number = tree.numbered()
    left = [clock.remaining(color) for color in (0, 1)] if clock else []
    played = {number[node]: move for node, move in session.played.items() if node in number}
    dead = session.dead_at_end
    return {
        "names": session.names,
        "title": tree.info.title(tree.root.comment) if session.mode is Mode.ANALYZE else "",
        "record_names": session.record_names,
        "record_details": session.record_details,
        "size": settings.size,
        "moves": session.line[-1].move_number,
        "result": session.result,
        "unfinished": session.unfinished,
        "handicap": settings.handicap,
        "players": [player.state for player in settings.players],
        "clock": str(settings.clock) if clock else "",
        "spent": [(at, move.seconds) for at, move in played.items() if move.seconds is not None],
        "before": [(at, *_left(move.clock_before)) for at, move in played.items() if move.clock_before],
        "left": [_left(one) for one in left],
        "played": sorted(played),
        "live": session.live or session.goes_on,
        "tip": number.get(session.tip.id, 0),
        "ended": number.get(session.ended_at.id) if session.ended_at else None,
        "dead": None if dead is None else sorted(dead),
        "shown": number.get(session.node.id, 0),
        "tab": tab,
    }


def _left(clock: Clock) -> tuple[float, float, int]:
    return clock.main, clock.period, clock.count

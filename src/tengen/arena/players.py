"""From what a player is called to one that is ready."""

from __future__ import annotations

from tengen.arena.player import Player
from tengen.arena.program_player import ProgramPlayer
from tengen.arena.random_player import RandomPlayer
from tengen.arena.spec import PlayerSpec
from tengen.errors import TengenError


def open_player(spec: PlayerSpec) -> Player:
    """Start a player. Raises TengenError, by the player's name, when it is not there or does not come up."""
    try:
        return _open(spec)
    except TengenError as error:
        if str(error).startswith(f"{spec.name}: "):
            raise
        raise TengenError(f"{spec.name}: {error}") from error


def _open(spec: PlayerSpec) -> Player:
    match spec.kind:
        case "random":
            return RandomPlayer(spec)
        case "program":
            return ProgramPlayer(spec)
        case "raw":
            from tengen.arena.raw_player import RawPlayer
            from tengen.evaluators import load_evaluator

            return RawPlayer(load_evaluator(spec.subject, spec.backend, threads=spec.threads), spec.name)
        case _:
            from tengen.arena.engine_player import EnginePlayer

            return EnginePlayer(spec)

"""From what a player is called to one that is ready."""

from __future__ import annotations

from tengen.errors import TengenError
from tengen.match.player import Player
from tengen.match.program_player import ProgramPlayer
from tengen.match.random_player import RandomPlayer
from tengen.match.spec import PlayerSpec


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
            from tengen.evaluators import load_evaluator
            from tengen.match.raw_player import RawPlayer

            return RawPlayer(load_evaluator(spec.subject, spec.backend, threads=spec.threads), spec.name)
        case _:
            from tengen.match.engine_player import EnginePlayer

            return EnginePlayer(spec)

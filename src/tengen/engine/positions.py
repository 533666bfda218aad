"""Positions that a search can start from, where a game as it stands is none."""

from __future__ import annotations

import numpy as np

from tengen.game import BLACK, WHITE, Game


def with_turn(game: Game, color: int) -> Game:
    """The game with this colour to play: itself where that is so, else its stones as a new game's first position."""
    return game if game.to_play == color else from_stones(game, color)


def from_stones(game: Game, to_play: int) -> Game:
    """A new game that starts from the stones of this one: no history, no ko; White's bonus is kept in the komi."""
    fresh = Game(game.size, game.rules, game.komi + game._native.white_bonus)
    board = game.board.ravel()
    black, white = ([int(p) for p in np.flatnonzero(board == color)] for color in (BLACK, WHITE))
    return fresh.setup(black=black, white=white, to_play=to_play)

"""Positions that a search can start from, for games that have ended or whose turn differs, and their symmetries."""

from __future__ import annotations

from collections.abc import Sequence

from tengen import _native
from tengen.engine.search import MoveRestriction
from tengen.game import Game


def with_turn(game: Game, color: int) -> Game:
    """The game with this color to play: itself if it is this color's turn, else a new game from its stones."""
    return game if game.to_play == color else from_stones(game, color)


def goes_on(before: Game, now: Game) -> bool:
    """Whether a game continues the earlier one, by the same rules and komi."""
    starts = [(game.size, game.rules, game.komi, game.setup_stones) for game in (before, now)]
    played = before.moves
    return starts[0] == starts[1] and now.moves[: len(played)] == played


def resumed(game: Game) -> Game:
    """A game that is over as one that goes on from its last position, with its history as far as that may be kept.

    Resignation, final passes and the limit of moves are taken back; prisoners and superko history stay. After a long
    cycle, after passes out of turn, and where a simple ko from before the passes would bind again, the result is a new
    game from the stones.
    """
    twin = game.copy().limit_moves(0)
    if twin.ending == "resignation":
        twin.undo()
    for _ in range(game.passes - game.passes % 2):  # an even number, for the same side to play
        twin.undo()
    bound_again = twin.ko is not None and game.ko is None and game.rules.ko == "simple"
    return from_stones(game, game.to_play) if twin.is_over or twin.to_play != game.to_play or bound_again else twin


def without_history(game: Game) -> Game:
    """The position as if no move had led to it, for one evaluation; a search has `hide_history`.

    It is the game itself where its history forbids a move, by a ko or by superko, and where there is none: Black's next
    move may still belong to the handicap.
    """
    kept = not game.moves or game.ko is not None or bool(game.superko_bans())
    return game if kept else from_stones(game, game.to_play)


def from_stones(game: Game, to_play: int) -> Game:
    """A new game that starts from the stones of this one: no history, no ko, no prisoners.

    White's bonus, a button that was taken and the prisoners under territory rules are kept in the komi, and the rules
    give no bonus for the stones that Black has now.
    """
    return game.restarted_here(to_play)


def root_symmetries(game: Game, restrictions: Sequence[MoveRestriction]) -> list[int]:
    """The symmetries, but for the identity, under which stones, legal moves and what is restricted stay in place."""
    return _native.root_symmetries(game._native, [restriction.native() for restriction in restrictions])

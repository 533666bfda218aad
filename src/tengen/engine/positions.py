"""Positions that a search can start from, for games that have ended or whose turn or rules differ."""

from __future__ import annotations

from tengen.game import Game
from tengen.rules import Rules


def with_turn(game: Game, color: int) -> Game:
    """The game with this color to play: itself if it is this color's turn, else a new game from its stones."""
    return game if game.to_play == color else game.restarted_here(color)


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
    passes = game.passes - game.passes % 2  # an even number, for the same side to play
    twin = game.without_last(passes).limit_moves(0)
    bound_again = twin.ko is not None and game.ko is None and game.rules.ko == "simple"
    lost = twin.is_over or twin.to_play != game.to_play or bound_again  # the history
    return game.restarted_here(game.to_play) if lost else twin


def without_history(game: Game) -> Game:
    """The position as if no move had led to it, for one evaluation; a search has `hide_history`.

    It is the game itself where its history forbids a move, by a ko or by superko, and where there is none: Black's next
    move may still belong to the handicap.
    """
    kept = not game.moves or game.ko is not None or bool(game.superko_bans())
    return game if kept else game.restarted_here(game.to_play)


def replayed(game: Game, rules: Rules) -> Game:
    """The same game under other rules, which need not allow its moves."""
    fresh = Game(game.size, rules, game.komi)
    stones: tuple[list[int], list[int]] = ([], [])
    for color, point in game.setup_stones:
        stones[color].append(point)
    fresh.setup(black=stones[0], white=stones[1], to_play=game.first_to_play)
    for color, point in game.moves:
        fresh.play(point, color=color, tolerant=True)
    return fresh

"""The end of a game, eyes and useful moves of the native core against slow definitions, over random games."""

from __future__ import annotations

import numpy as np
import pytest

from tengen import _native
from tengen.game import BLACK, EMPTY, WHITE, Game


def beside(size: int, row: int, col: int, diagonal: bool) -> list[tuple[int, int]]:
    steps = [(-1, -1), (-1, 1), (1, -1), (1, 1)] if diagonal else [(-1, 0), (1, 0), (0, -1), (0, 1)]
    return [(row + r, col + c) for r, c in steps if 0 <= row + r < size and 0 <= col + c < size]


def is_true_eye(board: np.ndarray, row: int, col: int, color: int) -> bool:
    size = len(board)
    corners = beside(size, row, col, True)
    hostile = sum(board[at] == 1 - color for at in corners)
    surrounded = all(board[at] == color for at in beside(size, row, col, False))
    return bool(board[row, col] == EMPTY and surrounded and hostile < (2 if len(corners) == 4 else 1))


def random_positions(rules: str, seed: int, size: int = 5, komi: float = 0.5, every: int = 4) -> list[_native.Game]:
    """Positions of a random game in which a side passes only where nothing else is legal but its own eyes."""
    random = np.random.default_rng(seed)
    game = _native.Game(size, rules, komi)
    positions = []
    while not game.is_over and game.move_count < 3 * size * size:
        eyes = set(game.true_eyes())
        points = [p for p in game.legal_points() if p not in eyes]
        game.play(int(random.choice(points)) if points else size * size)
        if game.move_count % every == 0 or game.is_over:
            positions.append(game.copy())
    return positions


@pytest.mark.parametrize("seed", range(8))
def test_eyes_and_useful_moves_are_what_they_are_said_to_be(seed: int) -> None:
    for game in random_positions("tromp-taylor", seed, size=5 + seed % 3):
        board, alive = game.board(), game.pass_alive()
        size = len(board)
        for color in (BLACK, WHITE):
            eyes = {r * size + c for r in range(size) for c in range(size) if is_true_eye(board, r, c, color)}
            assert set(game.true_eyes(color)) == eyes
        mine = set(game.true_eyes(game.to_play))
        standing = {p for p in game.legal_points() if p not in mine}
        assert set(game.useful_moves("none")) == standing
        assert set(game.useful_moves()) == {p for p in standing if alive.flat[p] == EMPTY}


@pytest.mark.parametrize("policy", _native.pass_policies())
@pytest.mark.parametrize("dead", _native.dead_stone_rules())
def test_a_pass_policy_allows_what_it_says(policy: str, dead: str) -> None:
    games = [game for seed in range(4) for game in random_positions("tromp-taylor", seed)]
    masks = _native.allowed_moves(games, policy, dead)
    assert masks.shape == (len(games), 26) and masks.dtype == bool
    passes = 0
    for game, mask in zip(games, masks, strict=True):
        points = game.useful_moves(dead) if policy == "no-useful-move" else game.legal_points()
        assert np.flatnonzero(mask[:-1]).tolist() == sorted(points)
        assert mask[-1] == (policy == "free" or not points)
        passes += mask[-1]
    assert passes > 0 or policy == "no-legal-move"


def test_wrong_words_and_boards_are_refused() -> None:
    game = _native.Game(5, "chinese", 7.5)
    with pytest.raises(ValueError, match="choose free, no-legal-move, no-useful-move"):
        _native.allowed_moves([game], "never")
    with pytest.raises(ValueError, match="choose pass-alive, none"):
        game.useful_moves("all")
    with pytest.raises(ValueError, match="one size"):
        _native.allowed_moves([game, _native.Game(7, "chinese", 7.5)])
    assert len(_native.allowed_moves([])) == 0


@pytest.mark.parametrize("rules", ["tromp-taylor", "chinese", "japanese"])
def test_a_game_ends_and_counts_as_its_parts_say(rules: str) -> None:
    reasons = set()
    for seed in range(12):
        for game in random_positions(rules, seed, every=1):
            alive = game.pass_alive()
            black, white, points = int((alive == BLACK).sum()), int((alive == WHITE).sum()), alive.size
            margin = game.sure_margin()
            best, worst = 2 * black - points - game.komi, points - 2 * white - game.komi
            expected = best if best > 0 else worst if worst < 0 else None
            assert margin == (None if rules == "japanese" else expected)

            assert (game.game_end() is None) == (not game.is_over)
            end = game.game_end(settle=True, sure_win=True)
            if end is None:
                assert margin is None and not game.is_over
                continue
            reasons.add(end.reason)
            if game.is_no_result:
                assert (end.winner, end.score, end.owners) == (None, None, None)
                continue
            full = not (alive == EMPTY).any() and rules != "japanese"
            assert end.reason == (game.ending or ("settled" if full else "sure win"))
            counted = margin if end.reason == "sure win" else game.score(game.pass_dead())
            assert end.score == counted
            assert end.winner == (2 if counted == 0 else BLACK if counted > 0 else WHITE)
            assert end.owners is not None and (end.owners == game.owners(game.pass_dead())).all()
            if end.reason == "settled":
                assert end.score == black - white - game.komi and (end.owners == alive).all()
            if game.is_over:
                standing = game.game_end(dead_stones="none")
                assert standing is not None and standing.score == game.score()
    assert reasons >= ({"passes"} if rules == "japanese" else {"settled", "sure win"})


def test_the_bonus_for_a_handicap_counts_in_a_sure_win() -> None:
    """Black's area is 15 of 25 points: a lead of 5, which three stones' bonus and komi 2.5 turn around."""
    diagram = ". X . X X\nX X X X X\nX X X X X\n. . . . .\n. . . . ."
    assert Game.from_diagram(diagram, "tromp-taylor", komi=2.5).sure_margin() == 15 - 10 - 2.5
    handicap = Game.from_diagram(diagram, "chinese", komi=2.5)
    assert handicap.white_bonus == 13
    assert handicap.sure_margin() is None


def test_a_resignation_has_a_winner_and_no_score() -> None:
    game = _native.Game(5, "chinese", 7.5)
    game.resign(BLACK)
    end = game.game_end()
    assert end is not None and (end.reason, end.winner, end.score, end.owners) == ("resignation", WHITE, None, None)

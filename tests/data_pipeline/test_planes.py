"""Every plane of the set `tengen` against an obvious definition, on random games."""

from __future__ import annotations

import random
import threading

import numpy as np
import pytest
from agreement import Pair
from plain_go import Board, liberties, play
from plain_reading import slow_ladders, slow_pass_alive

from tengen import _native
from tengen.coords import MAX_SIZE
from tengen.data.planes import encode_game, plane_set, plane_set_names
from tengen.errors import NetworkError
from tengen.game import Game
from tengen.rules import Rules

SIZES = (5, 9, 13, MAX_SIZE)
RULES = ("chinese", "tromp-taylor", "japanese", "aga")


def random_move(pair: Pair, rng: random.Random) -> None:
    """Play a random legal move, now and then a pass, and rather often a capture so that kos come about."""
    points, board, color = pair.game.legal_points(), pair.plain.board, pair.plain.to_play
    if rng.random() < 0.03 or not points:
        return pair.play(len(board), color)
    hot = [p for p in points if play_takes(board, p, color)] if rng.random() < 0.4 else []
    return pair.play(rng.choice(hot or points), color)


def random_game(size: int, rules: str, seed: int, moves: int) -> Game:
    rng = random.Random(seed)
    pair = Pair(size, Rules.parse(rules), rng.choice([6.5, 7.5, 0.0, -3.0]))
    for _ in range(moves):
        random_move(pair, rng)
    return pair.game


def play_takes(board: Board, p: int, color: int) -> bool:
    after = play(board, p, color)
    return after is not None and after.board.count(1 - color) < board.count(1 - color)


def slow_planes(pair: Pair) -> dict[str, set[int]]:
    """Return the points of every plane by its sentence in docs/reference/planes.md."""
    board, own, other = pair.plain.board, pair.plain.to_play, 1 - pair.plain.to_play
    suicide = pair.plain.rules.suicide
    everywhere = range(len(board))
    bans = {p for p, reason in enumerate(pair.plain.reasons(own)) if reason in ("ko", "superko")}
    legal = {p: after for p in everywhere if p not in bans and (after := play(board, p, own, suicide))}
    taken = {p: board.count(other) - after.board.count(other) for p, after in legal.items()}
    left = {p: len(liberties(after.board, p)) if after.board[p] == own else 0 for p, after in legal.items()}
    ladders = slow_ladders(board, own)
    recent = [{p} - {len(board)} for _, p in reversed(pair.plain.moves[-5:])] + [set()] * 5
    planes = {
        "on_board": set(everywhere),
        "own_stones": {p for p in everywhere if board[p] == own},
        "opponent_stones": {p for p in everywhere if board[p] == other},
        "captures_1": {p for p in legal if taken[p] == 1},
        "captures_2": {p for p in legal if taken[p] >= 2},
        "leaves_1_liberty": {p for p in legal if left[p] == 1},
        "leaves_2_liberties": {p for p in legal if left[p] == 2},
        "ko_ban": bans,
        "last_move": recent[0],
        "second_last_move": recent[1],
        "third_last_move": recent[2],
        "fourth_last_move": recent[3],
        "fifth_last_move": recent[4],
        "own_laddered": set((ladders.black, ladders.white)[own]),
        "opponent_laddered": set((ladders.black, ladders.white)[other]),
        "ladder_capture": set(ladders.captures) - bans,
        "ladder_escape": set(ladders.escapes) - bans,
        "own_pass_alive": slow_pass_alive(board, own, suicide),
        "opponent_pass_alive": slow_pass_alive(board, other, suicide),
    }
    for who, color in (("own", own), ("opponent", other)):
        counts = {p: min(len(liberties(board, p)), 4) for p in everywhere if board[p] == color}
        for n, name in enumerate(("1_liberty", "2_liberties", "3_liberties", "4_liberties"), 1):
            planes[f"{who}_{name}"] = {p for p, count in counts.items() if count == n}
    return planes


def check_planes(pair: Pair) -> set[str]:
    """Compare all planes with their definitions; returns the names of those that were not empty."""
    names = plane_set("tengen").planes
    expected = slow_planes(pair)
    assert set(expected) == set(names)
    planes, _, mask = encode_game("tengen", pair.game)
    assert (mask == 1).all() and set(np.unique(planes)) <= {0, 1}
    for name, plane in zip(names, planes, strict=True):
        assert set(np.flatnonzero(plane).tolist()) == expected[name], f"{name}\n{pair.game}"
    return {name for name in names if expected[name]}


@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize(("size", "games"), [(5, 12), (9, 3), (13, 1), (19, 1)])
def test_every_plane_by_its_definition(size: int, games: int, rules: str) -> None:
    used: set[str] = set()
    for seed in range(games):
        rng = random.Random(seed)
        pair = Pair(size, Rules.parse(rules))
        for _ in range(min(2 * size * size, 300)):
            random_move(pair, rng)
            if rng.random() < 2 / size**2 or (pair.game.ko is not None and rng.random() < 1 / size):
                used |= check_planes(pair)
    if size == 5:
        missing = set(plane_set("tengen").planes) - used
        assert missing <= {"own_pass_alive", "opponent_pass_alive"}, f"the games never showed {missing}"


def scalars_of(game: Game) -> dict[str, float]:
    values = encode_game("tengen", game)[1]
    return dict(zip(plane_set("tengen").scalars, values.tolist(), strict=True))


def test_scalars_of_rules_and_komi() -> None:
    black = scalars_of(Game(19, "aga", 7.5))
    assert black == pytest.approx(
        {"self_komi": -0.375, "komi_parity": -0.5, "positional_ko": 0, "situational_ko": 1, "territory_scoring": 0,
         "suicide": 0, "last_was_pass": 0, "second_last_was_pass": 0, "pass_ends": 0}
    )  # fmt: skip
    japanese = scalars_of(Game(19, "japanese", 6.5))
    assert japanese["territory_scoring"] == 1 and japanese["komi_parity"] == 0
    trompish = scalars_of(Game(9, "tromp-taylor", 100))
    assert trompish["positional_ko"] == 1 and trompish["suicide"] == 1 and trompish["self_komi"] == -2


@pytest.mark.parametrize("komi", [-4.0, 0.0, 0.5, 5.5, 6.0, 6.5, 7.0, 7.5])
@pytest.mark.parametrize("size", [6, 9])
def test_komi_parity_is_a_wave_of_period_two(size: int, komi: float) -> None:
    game = Game(size, "tromp-taylor", komi)
    game.play("pass")  # White to move: his komi is the komi
    drawn = max(k for k in range(-50, 50) if k <= komi and k % 2 == size * size % 2)
    d = komi - drawn
    assert scalars_of(game)["komi_parity"] == pytest.approx(d if d < 0.5 else 1 - d if d < 1.5 else d - 2)


def test_scalars_of_passes_and_handicap() -> None:
    game = Game(9, "chinese", 0.5).setup(black=[20, 24, 56], to_play=1)
    assert scalars_of(game)["self_komi"] == pytest.approx((0.5 + game.white_bonus) / 20)
    game.play("pass")
    passed = scalars_of(game)
    assert (passed["last_was_pass"], passed["second_last_was_pass"], passed["pass_ends"]) == (1, 0, 1)
    game.play("E5")
    answered = scalars_of(game)
    assert (answered["last_was_pass"], answered["second_last_was_pass"], answered["pass_ends"]) == (0, 1, 0)


def turned(point: int, size: int, symmetry: int) -> int:
    row, column = divmod(point, size)
    row = size - 1 - row if symmetry & 1 else row
    column = size - 1 - column if symmetry & 2 else column
    return column * size + row if symmetry & 4 else row * size + column


def turned_planes(planes: np.ndarray, symmetry: int) -> np.ndarray:
    planes = planes[:, ::-1] if symmetry & 1 else planes
    planes = planes[:, :, ::-1] if symmetry & 2 else planes
    return planes.transpose(0, 2, 1) if symmetry & 4 else planes


@pytest.mark.parametrize(
    ("name", "size"), [*(("tengen", size) for size in SIZES), *((name, 9) for name in plane_set_names()[1:])]
)
def test_encoding_commutes_with_symmetry(name: str, size: int) -> None:
    game = random_game(size, "tromp-taylor", seed=7, moves=min(size * size, 250))
    straight, scalars, _ = encode_game(name, game)
    for symmetry in range(8):
        image = Game(size, "tromp-taylor", game.komi)
        for color, point in game.moves:
            image.play(point if point == size * size else turned(point, size, symmetry), color=color)
        assert (encode_game(name, image)[0] == turned_planes(straight, symmetry)).all()
        planes, same, _ = encode_game(name, game, symmetry)
        assert (planes == turned_planes(straight, symmetry)).all() and (same == scalars).all()


def test_a_small_board_lies_at_the_top_left() -> None:
    game = random_game(7, "chinese", seed=3, moves=30)
    small, _, _ = encode_game("tengen", game, symmetry=5)
    planes, _, mask = encode_game("tengen", game, symmetry=5, edge=10)
    assert (planes[:, :7, :7] == small).all() and planes[:, 7:].sum() == planes[:, :, 7:].sum() == 0
    assert mask.sum() == 49 and (mask[:7, :7] == 1).all()


@pytest.mark.parametrize("size", SIZES)
def test_the_three_boards_of_cody3_are_those_of_the_game(size: int) -> None:
    assert plane_set("cody3").planes == ("board", "board_before", "board_two_before")
    game = random_game(size, "chinese", seed=11, moves=size * size)
    past = Game(size, "chinese", game.komi)
    boards = [past.board]
    for color, point in game.moves:
        past.play(point, color=color)
        boards.append(past.board)
        own = past.to_play
        expected = [np.where(b == own, 1, np.where(b == 2, 0, -1)) for b in boards[:-4:-1]]
        planes, scalars, _ = encode_game("cody3", past)
        assert (planes[: len(expected)] == expected).all() and not planes[len(expected) :].any()
        assert scalars == pytest.approx([(past.komi if own else -past.komi) / 20])
    turned, _, _ = encode_game("cody3", past, symmetry=6)
    assert (turned == turned_planes(planes, 6)).all()


def test_refuses_what_cannot_be_encoded() -> None:
    assert plane_set_names()[:2] == ["tengen", "cody3"]
    with pytest.raises(NetworkError, match=r"unknown plane set 'planes-of-x'.*tengen"):
        plane_set("planes-of-x")
    with pytest.raises(ValueError, match="edge 8 is too small"):
        encode_game("tengen", Game(9), edge=8)
    with pytest.raises(ValueError, match="symmetry must be 0 to 7"):
        encode_game("tengen", Game(9), symmetry=8)


def test_a_position_is_encoded_as_it_was_although_it_is_played_on() -> None:
    """Another thread plays a move and takes it back while the position is encoded."""
    game = random_game(19, "tromp-taylor", seed=3, moves=200)
    native = game.native()
    move = next(p for p in game.legal_points() if p < 361)
    planes, scalars, mask = encode_game("tengen", game)
    known = {planes.tobytes(), encode_game("tengen", game.copy().play(move))[0].tobytes()}
    done = threading.Event()

    def play() -> None:
        while not done.is_set():
            native.play(move)
            native.undo()

    player = threading.Thread(target=play)
    player.start()
    try:
        for _ in range(300):
            _native.encode_game("tengen", native, 0, 19, planes, scalars, mask)
            assert planes.tobytes() in known
    finally:
        done.set()
        player.join()


def test_an_edge_beyond_all_tensors_is_refused() -> None:
    planes, scalars, mask = encode_game("tengen", Game(5))
    with pytest.raises(ValueError, match="edge 65536 is more than 32768"):
        _native.encode_game("tengen", Game(5).native(), 0, 65536, planes, scalars, mask)

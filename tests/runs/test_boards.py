"""Boards as SVG: the right stones with the right numbers at the right places."""

from __future__ import annotations

import re
from dataclasses import replace
from xml.etree import ElementTree

import numpy as np
from selfplay.random_games import played_game

from tengen.game import Game
from tengen.runs.boards import first_move_picture, game_picture, position_picture


def numbers(svg: str) -> dict[tuple[int, int], int]:
    """(row, column) -> move number, read off the drawing: a point's middle is at 40 (column + 1/2)."""
    found = {}
    for text in ElementTree.fromstring(svg).iter("text"):
        row, col = (int((float(text.attrib[axis]) - shift) // 40) for axis, shift in (("y", 5), ("x", 0)))
        found[row, col] = int(text.text or "")
    return found


def test_each_stone_has_the_number_of_the_move_that_put_it_there() -> None:
    game = Game(5, "tromp-taylor", 0.5)
    for vertex in ("C3", "C4", "B4", "A1", "D4", "A2", "C5", "pass", "C4", "pass", "pass"):
        game.play(vertex)  # Black takes the stone at C4 and plays there
    svg = game_picture(game, "B+10.5")
    assert numbers(svg) == {(2, 2): 1, (1, 1): 3, (4, 0): 4, (1, 3): 5, (3, 0): 6, (0, 2): 7, (1, 2): 9}
    assert svg.count("url(#black-stone)") == 5
    assert svg.count("url(#white-stone)") == 2
    assert "#e2574c" not in svg  # the last move was a pass


def test_every_stone_of_real_games_is_drawn_and_the_last_move_has_a_ring() -> None:
    for seed in range(6):
        record = played_game(seed, size=7)
        record = replace(record, moves=record.moves[: 11 + seed], ownership=None)
        svg, board = game_picture(record.game(), record.result), record.game().board
        places = {(int(r), int(c)) for r, c in np.argwhere(board < 2)}
        assert set(numbers(svg)) == places
        assert svg.count("url(#black-stone)") == int((board == 0).sum())
        row, col = divmod(int(record.points[-1]), 7)
        ring = re.search(r'<circle cx="(\d+)" cy="(\d+)" r="18.6"', svg)
        assert ring
        assert (int(ring[2]), int(ring[1])) == (40 * row + 20, 40 * col + 20)


def test_owned_points_are_tinted_and_dead_stones_are_pale() -> None:
    record = played_game(3, size=5)
    owners = np.full(25, 2, np.uint8)
    owners[:4] = (0, 0, 0, 1)
    svg = game_picture(record.game(), record.result, owners)
    assert len(re.findall(r'fill="#000" fill-opacity="0.24"', svg)) == 3
    assert len(re.findall(r'fill="#fff" fill-opacity="0.45"', svg)) == 1
    board = record.game().board.ravel()
    wrong = sum(bool(board[i] == 1 - owners[i]) for i in range(4))
    assert svg.count('<g opacity="0.5">') == wrong


def test_a_position_has_its_coordinates_left_and_below() -> None:
    size = 19
    texts = list(ElementTree.fromstring(position_picture(Game(size, "chinese", 7.5), "", 0, 0)).iter("text"))
    found = {(float(text.attrib["x"]), float(text.attrib["y"])): str(text.text) for text in texts}
    rows = [text for (x, _), text in sorted(found.items(), key=lambda one: one[0][1]) if x < 0]
    columns = [text for (_, y), text in sorted(found.items()) if y > 40 * size]
    assert rows == [str(number) for number in range(size, 0, -1)]
    assert columns == list("ABCDEFGHJKLMNOPQRST")
    assert len(texts) == 2 * size


def test_spots_of_first_moves_grow_with_their_share() -> None:
    counts = np.zeros((5, 5), int)
    counts[2, 2], counts[0, 1], counts[4, 4] = 70, 29, 1
    svg = first_move_picture(counts.tolist())
    spots = {
        (float(c.attrib["cy"]) // 40, float(c.attrib["cx"]) // 40): float(c.attrib["r"])
        for c in ElementTree.fromstring(svg).iter("circle")
        if "fill-opacity" in c.attrib
    }
    assert list(sorted(spots, key=spots.__getitem__)) == [(4, 4), (0, 1), (2, 2)]
    assert numbers(svg) == {(2, 2): 70, (0, 1): 29}

"""What the board draws of a position, and which moves are numbered."""

from __future__ import annotations

import pytest

from tengen import coords
from tengen.web.records import open_record
from tengen.web.view import MAX_LINES, MoveNumbers, move_numbers


def test_marks_of_a_record_are_drawn() -> None:
    root = (
        b"TR[aa]SQ[ba]CR[ca]MA[da]LB[ea:A][fa:<b>long text]LN[aa:ii]AR[ii:aa][xx:aa]DD[hh:ii]TB[ga]TW[ha]SL[da][ia:ib]"
    )
    data = b"(;SZ[9]%b;B[ee];W[cc]DD[])" % root
    session, _ = open_record(data)
    view = session.view()
    assert view.marks == (
        (0, "triangle"),
        (1, "square"),
        (2, "circle"),
        (3, "cross"),
        (8, "selected"),
        (17, "selected"),
    )
    assert view.labels == ((4, "A"), (5, "<b>long text")) and view.lines == ((0, 80, False), (80, 0, True))
    assert view.dimmed == (70, 71, 79, 80) and view.next == 40 and view.territory == "......bw." + 72 * "."
    session.seek(1)
    assert session.view().dimmed == view.dimmed and session.view().marks == () and not session.view().territory
    session.seek(2)
    assert session.view().dimmed == () and session.view().next == -1
    assert sorted(session.to_sgf().replace(b"\n", b"")) == sorted(data)


def test_a_record_of_thousands_of_lines_is_drawn_in_part_and_saved_whole() -> None:
    """240,000 times the same line took three seconds each time that the page was drawn."""
    points = [coords.to_sgf(point, 19) for point in range(361)]
    lines = "".join(f"[{start}:{end}]" for start in points[:4] for end in points[4:])
    data = f"(;AR{lines}LN{'[aa:ba]' * 20_000}SZ[19])".encode()
    session, _ = open_record(data)
    found = session.view().lines
    assert found[:2] == ((0, 1, False), (0, 4, True)) and len(found) == MAX_LINES
    assert session.to_sgf().replace(b"\n", b"") == data


@pytest.mark.parametrize(
    ("record", "branches"), [(b"(;W[])(;W[cc])", (20,)), (b";W[cc]", ()), (b"(;W[dd])(;W[cc])", (30, 20))]
)
def test_a_variation_that_begins_with_a_pass_is_no_point_of_the_board(record: bytes, branches: tuple[int, ...]) -> None:
    session, _ = open_record(b"(;SZ[9];B[ee]" + record + b")")
    session.seek(1)
    assert session.view().branches == branches


# Black's 5 takes White's 2, and White's 6 is a pass. A variation leaves after 2.
NUMBERED = b"""(;SZ[9];B[ba];W[aa](;B[ii];W[hi];B[ab];W[];B[hh];W[gh];B[dd];W[ee])
(;C[no move];B[gg];W[gf](;B[ge])(;B[gd])))"""


@pytest.mark.parametrize(
    ("wanted", "main", "variation"),
    [
        ("none", {}, {}),
        ("all", {1: 1, 80: 3, 79: 4, 9: 5, 70: 7, 69: 8, 30: 9, 40: 10}, {0: 2, 1: 1, 60: 3, 51: 4, 33: 5}),
        ("last", {70: 7, 69: 8, 30: 9, 40: 10}, {0: 2, 1: 1, 60: 3, 51: 4, 33: 5}),
        ("variations", {}, {60: 1, 51: 2, 33: 3}),
    ],
)
def test_the_moves_of_the_shown_line_are_numbered(
    wanted: MoveNumbers, main: dict[int, int], variation: dict[int, int]
) -> None:
    session, _ = open_record(NUMBERED)

    def numbers() -> dict[int, int]:
        return dict(move_numbers(session.game, session.node, wanted))

    assert numbers() == {}
    session.step(100)
    assert numbers() == main
    session.seek(3)
    session.sibling(1)
    session.step(2)
    session.step(1)
    session.sibling(1)
    assert numbers() == variation


def test_a_stone_shows_the_number_of_the_last_move_on_its_point_unless_it_was_set_up_since() -> None:
    session, _ = open_record(b"(;SZ[9];B[ba];W[aa];B[ab];W[cc];B[aa];W[dd];AE[cc]AB[dd];B[ee])")
    for place, expected in ((3, {1: 1, 9: 3}), (6, {1: 1, 9: 3, 0: 5, 20: 4, 30: 6}), (8, {1: 1, 9: 3, 0: 5, 40: 7})):
        session.seek(place)
        assert dict(move_numbers(session.game, session.node, "all")) == expected

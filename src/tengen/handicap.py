"""Points of handicap stones."""

from tengen.errors import IllegalMove


def fixed_handicap(size: int, stones: int) -> list[int]:
    """The points of GTP's `fixed_handicap`.

    Boards below 7x7 have none, 7x7 and even sizes 2 to 4 stones, all others 2 to 9. Raises IllegalMove for another
    number of stones.
    """
    limit = max_fixed_handicap(size)
    if not 2 <= stones <= limit:
        allowed = f"2 to {limit}" if limit else "none"
        raise IllegalMove(f"fixed handicap of {stones} stones on a {size}x{size} board; allowed: {allowed}")
    near = 2 if size < 13 else 3
    far, middle = size - 1 - near, size // 2
    corners = [(far, near), (near, far), (near, near), (far, far)]
    sides = [(middle, near), (middle, far), (near, middle), (far, middle)]
    if stones <= 4:
        places = corners[:stones]
    else:
        even = stones - stones % 2
        places = corners + sides[: even - 4] + [(middle, middle)] * (stones % 2)
    return sorted(row * size + column for row, column in places)


def max_fixed_handicap(size: int) -> int:
    """The largest fixed handicap of a board size; 0 if it has none."""
    if size < 7:
        return 0
    return 9 if size % 2 and size >= 9 else 4


def free_handicap(size: int, stones: int) -> list[int]:
    """Points for any number of handicap stones: the fixed points, then repeatedly the point farthest from all stones.

    Raises IllegalMove unless 2 <= stones <= size * size - 1.
    """
    if not 2 <= stones < size * size:
        raise IllegalMove(f"handicap of {stones} stones on a {size}x{size} board; allowed: 2 to {size * size - 1}")
    fixed = min(stones, max_fixed_handicap(size))
    points = fixed_handicap(size, fixed) if fixed else []
    while len(points) < stones:
        points.append(_most_open(size, points))
    return sorted(points)


def _most_open(size: int, taken: list[int]) -> int:
    """The free point with the most space: far from all stones and the edge, then near the centre."""

    def room(point: int) -> tuple[float, float, int]:
        row, column = divmod(point, size)
        edge = min(row, column, size - 1 - row, size - 1 - column)
        near = min((abs(row - t // size) + abs(column - t % size) for t in taken), default=2 * size)
        middle = abs(row - (size - 1) / 2) + abs(column - (size - 1) / 2)
        return min(near, 2.0 * edge + 1), -middle, -point

    return max((point for point in range(size * size) if point not in taken), key=room)

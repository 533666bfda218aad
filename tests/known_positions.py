"""Positions that several tests share, as diagrams."""

# Three kos taken in turn: the sixth move of the cycle, Black's first, restores the position.
TRIPLE_KO = """
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X . X O . . . . .
    . X O . . . . . .
    . X O . . . . . .
    X O . O . . . . .
    . X O . . . . . .
"""
TRIPLE_KO_CYCLE = ["C8", "B5", "C2", "B8", "C5", "B2"]

# Black lives at the left with 37 points, White at the right with 44; nothing is left to play.
SETTLED = """
. X X O . O . O .
X X O O O O O O O
X . X O . O . . .
X X X O O . . . .
. X . X O O O . .
X X X X X O . O O
. X . . X O O . O
X X X X X X O O .
. X . . . X O . .
"""

# Both sides share C9 and C8: who plays there first loses his stones.
SEKI = """
O X . O X . X O .
O X . O X X X O O
O X X O X . X O .
O X X O X X X O O
O O O O X X X O .
X X X X X X X O O
O O O O O O O O O
. O . O . O . O .
O O O O O O O O O
"""

"""Positions that several tests look at."""

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

"""Positions that Go players know, as diagrams that several tests share."""

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

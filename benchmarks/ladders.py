"""What the ladders of a position cost: median and tail over 10,000 mid-game positions of real games, on one core.

    python benchmarks/ladders.py [STORE [NODES]]

`share_of_encode` is the ratio of the ladders to the whole encoding of the same positions in the same run. NODES is the
limit of the reader. Without STORE the positions come from the 300 games that the tests ship. Processor time of one
thread.
"""

import sys

import _native

if __name__ == "__main__":
    _native.run("ladders", *sys.argv[2:3], games=_native.real_games(sys.argv[1] if len(sys.argv) > 1 else None))

"""What the ladders of a position cost: median and tail over 10,000 mid-game positions of real games, on one core.

    python benchmarks/ladders.py [STORE [NODES]]

`share_of_encode` is the ratio of the ladders to the whole encoding of the same positions in the same run. NODES is the
limit of the reader. Without STORE the positions come from the 300 games that the tests ship. Processor time of one
thread.
"""

import _native

if __name__ == "__main__":
    parser = _native.parser(__doc__)
    parser.add_argument("nodes", nargs="?", type=int, metavar="NODES", help="limit of the reader")
    settings = parser.parse_args()
    limit = [] if settings.nodes is None else [str(settings.nodes)]
    _native.run("ladders", *limit, games=_native.real_games(settings.store))

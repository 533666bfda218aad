"""Simulations a second of the tree alone, in native code with an evaluator that costs nothing, and memory a node.

    python benchmarks/tree.py [SECONDS]

Every simulation opens a new position: it goes down the tree, replays its moves, finds the legal ones and takes equal
priors over. `against_batch_1` is the ratio to single positions in the same run; `bytes_per_node` counts an evaluated
position with its priors and links. Processor time of one thread. benchmarks/search.py measures the same through Python
with every position encoded, benchmarks/pool.py many games at once.
"""

import _native

if __name__ == "__main__":
    parser = _native.parser(__doc__, store=False)
    parser.add_argument("seconds", nargs="?", type=float, metavar="SECONDS", help="how long to measure")
    settings = parser.parse_args()
    _native.run("tree", *([] if settings.seconds is None else [str(settings.seconds)]))

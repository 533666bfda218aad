"""How fast moves are played and legality is asked on real games, on one core.

    python benchmarks/board.py [STORE]

`moves`: whole games on the board alone, and with the history that superko needs. `legality`: whether each empty point
of a position is legal, by the board's rules and with positional superko. Both have a ratio to a plain board of the same
run that finds its chains by flood fill; `differ` counts answers that are not the same, and must be 0. Without STORE the
300 games that the tests ship are played. Processor time of one thread.
"""

import _native

if __name__ == "__main__":
    settings = _native.parser(__doc__).parse_args()
    _native.run("board", games=_native.real_games(settings.store))

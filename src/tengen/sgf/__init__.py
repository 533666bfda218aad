"""SGF: game records in and out.

`read_game` and `write_game` are for one line of play, `read_tree` and `write_tree` for variations. sgfmill parses;
`values`, `info` and `main_line` interpret the properties, with the quirks of servers, and `charset` guesses encodings.
"""

from tengen.sgf.edits import EditHistory
from tengen.sgf.game_text import read_game, write_game
from tengen.sgf.grammar import split_trees
from tengen.sgf.info import SgfInfo
from tengen.sgf.main_line import SgfProblem
from tengen.sgf.tree import Analysis, GameNode, GameTree
from tengen.sgf.tree_text import read_tree, write_tree
from tengen.sgf.values import Result

__all__ = [
    "Analysis",
    "EditHistory",
    "GameNode",
    "GameTree",
    "Result",
    "SgfInfo",
    "SgfProblem",
    "read_game",
    "read_tree",
    "split_trees",
    "write_game",
    "write_tree",
]

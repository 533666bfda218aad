"""The game of a query: its board, rules and komi, the stones at its start, and its positions."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, replace

from tengen.analysis.fields import Fields, QueryError, read_integer, shown
from tengen.coords import MAX_SIZE, MIN_SIZE, SIZES, to_gtp
from tengen.engine.positions import resumed
from tengen.errors import IllegalMove, RecipeError
from tengen.game import BLACK, WHITE, Game
from tengen.rules import KATAGO_BONUSES, Rules

MAX_KOMI = 400
_BONUSES = {text: bonus for bonus, text in KATAGO_BONUSES.items()}
_KOMI_OF_RULES = re.compile(r"(?<=[A-Z01])komi(-?[0-9]{1,4}(?:\.[0-9]{1,9})?)$")


@dataclass(frozen=True)
class QueryPosition:
    """One position of a query: `number` moves were played before it."""

    number: int
    priority: int
    game: Game


def board_size(fields: Fields) -> int:
    """The board size of a query. Raises QueryError where there is none, or for a board that is not square."""
    sizes = [read_integer(fields, name, MIN_SIZE, MAX_SIZE, SIZES) for name in ("boardXSize", "boardYSize")]
    if sizes[0] != sizes[1]:
        raise QueryError("boardYSize", f"square boards alone can be analyzed, not {sizes[0]}x{sizes[1]}")
    return sizes[0]


def with_rules_read(fields: Fields) -> Fields:
    """The fields with the object of the rules where they are its JSON, as KaTrain sends rule sets of the user's own."""
    given = fields.get("rules")
    if isinstance(given, str) and given.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):  # `Rules.parse` says what is wrong
            return {**fields, "rules": json.loads(given)}
    return fields


def read_rules(fields: Fields) -> Rules:
    """The rules of a query whose object is read (`with_rules_read`). Raises QueryError for anything else."""
    given = fields.get("rules")
    try:
        if isinstance(given, str):
            # KataGo writes the komi behind the parts of the rules. JSON may have half of a surrogate pair.
            rules = Rules.parse(_KOMI_OF_RULES.sub("", given).encode(errors="replace").decode())
        elif isinstance(given, dict):
            if "komi" in given:
                _komi(given, "rules")  # checked as by KataGo, also where the query has another one
            rules = Rules.from_katago({name: value for name, value in given.items() if name != "komi"})
        else:
            raise QueryError("rules", "a name such as chinese, or a JSON object with the fields of the rules, expected")
    except RecipeError as error:
        raise QueryError("rules", f"Could not parse rules: {error}") from error
    if "whiteHandicapBonus" in fields:
        bonus = fields["whiteHandicapBonus"]
        if not isinstance(bonus, str) or bonus not in _BONUSES:
            raise QueryError("whiteHandicapBonus", f"one of {', '.join(map(repr, _BONUSES))} expected, not {bonus!r}")
        rules = replace(rules, bonus=_BONUSES[bonus])
    return rules


def start_game(size: int, rules: Rules, fields: Fields) -> Game:
    """The game on an empty board, with the komi of the query, of its rules, or the usual one, in this order.

    Raises QueryError for a komi out of range.
    """
    given = fields["rules"]
    komi = _usual_komi(rules, given)
    # KataGo writes the komi among the rules; the komi of the query itself comes first.
    if isinstance(given, str):
        found = _KOMI_OF_RULES.search(given)
        given = {"komi": float(found[1])} if found else {}
    if "komi" in fields:
        komi = _komi(fields, "komi")
    elif "komi" in given:
        komi = _komi(given, "rules")
    return Game(size, rules, komi)


def _komi(source: Fields, field: str) -> float:
    """The komi of a query or of its rules; `field` is the one that is wrong where the komi is."""
    value = source["komi"]
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and -MAX_KOMI <= value <= MAX_KOMI and float(2 * value).is_integer()):
        text = f"a whole or half number from {-MAX_KOMI} to {MAX_KOMI} expected, not {shown(value)}"
        raise QueryError(field, text if field == "komi" else f"komi: {text}")
    return float(value)


def _usual_komi(rules: Rules, given: object) -> float:
    """The komi where none is given. That of New Zealand goes with its name, not with its parts."""
    named = isinstance(given, str) and given.strip().lower().startswith("n")
    return 7.5 if rules.text == "new-zealand" and not named else rules.usual_komi


def default_first_player(stones: list[tuple[int, int]], moves: list[tuple[int, int]]) -> int:
    """Who begins where the query does not say it: who makes the first move, or White after a handicap."""
    if moves:
        return moves[0][0]
    return WHITE if len(stones) > 1 and {color for color, _ in stones} == {BLACK} else BLACK


def placed_stones(size: int, stones: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], int]:
    """The stones that are left when they are placed one by one, as KataGo does, and White's prisoners minus Black's.

    Each captures as a move does, suicide of several stones included; that of a single stone is left out. A stone of the
    other color is replaced, but by a suicide it is only removed.
    """
    prisoners = 0
    try:
        if len({point for _, point in stones}) == len(stones):
            set_up(Game(size), stones, BLACK)
            return stones, 0  # every chain has a liberty: nothing was ever captured
    except IllegalMove:
        pass
    game = Game(size, "chinese")  # a suicide is no legal move
    for color, point in stones:
        row, column = divmod(point, size)
        if game.board[row, column] == 1 - color:
            kept = [stone for stone in _on_board(game) if stone[1] != point]
            prisoners += game.captures[WHITE] - game.captures[BLACK]
            game = Game(size, game.rules)
            set_up(game, kept, color)
            if not game.is_legal(point, color):
                continue
        elif game.board[row, column] == color:
            continue
        with suppress(IllegalMove):
            game.play(point, color, tolerant=True)
    return _on_board(game), prisoners + game.captures[WHITE] - game.captures[BLACK]


def _on_board(game: Game) -> list[tuple[int, int]]:
    """(color, point) of every stone."""
    return [(int(color), point) for point, color in enumerate(game.board.ravel()) if color in (BLACK, WHITE)]


def set_up(game: Game, stones: list[tuple[int, int]], first_player: int) -> None:
    """Place (color, point) stones in a game that has not begun. Raises IllegalMove for stones without liberties."""
    black, white = ([p for color, p in stones if color == side] for side in (BLACK, WHITE))
    game.setup(black, white, first_player)


def query_positions(game: Game, moves: list[tuple[int, int]], priorities: dict[int, int]) -> list[QueryPosition]:
    """The positions that are to be searched: those after as many moves as `priorities` has keys for.

    Raises QueryError if any move of the game is illegal.
    """
    turns = []
    for number in range(len(moves) + 1):
        if number in priorities:
            position = resumed(game) if game.is_over else game.copy()
            turns.append(QueryPosition(number, priorities[number], position))
        if number < len(moves):
            color, point = moves[number]
            try:
                game = _played(game, color, point)
            except IllegalMove as error:
                raise QueryError("moves", f"Illegal move {number}: {to_gtp(point, game.size)}") from error
    return turns


def _played(game: Game, color: int, point: int) -> Game:
    """The game with a move that any rules may allow: ko, superko and suicide of several stones as well.

    Raises IllegalMove for a point that is occupied, and for the suicide of one stone.
    """
    try:
        return game.play(point, color)
    except IllegalMove:
        free = game.restarted_here(color)  # without ko and history
        if free.is_legal(point):
            return free.play(point)
        anything = Game(game.size, replace(game.rules, suicide=True), free.komi)
        set_up(anything, free.setup_stones, color)
        after = anything.play(point).restarted_here(1 - color)
        fresh = Game(game.size, free.rules, after.komi)
        set_up(fresh, after.setup_stones, 1 - color)
        return fresh

"""Queries of the analysis protocol: from the fields of a JSON object to the positions that are to be searched."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from tengen.analysis.config import ANALYSIS_SETTINGS, AnalysisSettings
from tengen.coords import MAX_SIZE, MIN_SIZE, from_gtp, pass_point, to_gtp
from tengen.data.planes import plane_set
from tengen.engine.katago_params import is_of_machine
from tengen.engine.positions import resumed
from tengen.engine.search import MoveRestriction
from tengen.errors import IllegalMove, NetworkError, RecipeError, TengenError
from tengen.evaluators.board_warnings import not_learned_warning
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.game import BLACK, WHITE, Game
from tengen.rules import KATAGO_BONUSES, Rules

Fields = Mapping[str, Any]
Warned = tuple[str, str]
"""The field that a warning is about, and its text."""

_FIELDS = """
    id action terminateId turnNumbers boardXSize boardYSize initialStones moves initialPlayer analyzeTurns priorities
    priority rules komi whiteHandicapBonus overrideSettings maxVisits analysisPVLen rootFpuReductionMax
    rootPolicyTemperature includeOwnership includeOwnershipStdev includeMovesOwnership includeMovesOwnershipStdev
    includePolicy includePVVisits includeNoResultValue reportDuringSearchEvery firstReportDuringSearchAfter allowMoves
    avoidMoves
"""
FIELDS = frozenset(_FIELDS.split())
_OF_OWNERSHIP = ("includeOwnership", "includeOwnershipStdev", "includeMovesOwnership", "includeMovesOwnershipStdev")
MAX_KOMI = 400
MAX_PRIORITY = 2**62 - 1
_PLAYERS = {"b": BLACK, "black": BLACK, "w": WHITE, "white": WHITE}
_BONUSES = {text: bonus for bonus, text in KATAGO_BONUSES.items()}
_KOMI_OF_RULES = re.compile(r"(?<=[A-Z01])komi(-?[0-9]{1,4}(?:\.[0-9]{1,9})?)$")
_MISSING = object()


class QueryError(TengenError):
    """A query that cannot be answered: `field` is the field that is wrong."""

    def __init__(self, field: str, text: str) -> None:
        super().__init__(text)
        self.field = field


@dataclass(frozen=True)
class QueryPosition:
    """One position of a query: `number` moves were played before it."""

    number: int
    priority: int
    game: Game


@dataclass(frozen=True)
class Includes:
    """The optional parts of a report."""

    ownership: bool = False
    ownership_stdev: bool = False
    moves_ownership: bool = False
    moves_ownership_stdev: bool = False
    policy: bool = False
    pv_visits: bool = False
    no_result: bool = False

    @property
    def of_moves(self) -> bool:
        """Whether moves have ownership of their own."""
        return self.moves_ownership or self.moves_ownership_stdev


@dataclass(frozen=True)
class Query:
    """A query for the positions after some moves of one game.

    `every` and `first` are the seconds between partial reports, and before the first; None for no partial reports.
    `idle` are settings of the query that KataGo knows and that change nothing here, without a warning.
    """

    id: str
    turns: tuple[QueryPosition, ...]
    settings: AnalysisSettings
    restrictions: tuple[MoveRestriction, ...]
    includes: Includes
    every: float | None
    first: float | None
    idle: tuple[str, ...] = ()


def read_query(fields: Fields, settings: AnalysisSettings, evaluator: Evaluator) -> tuple[Query, list[Warned]]:
    """Read a query with a string `id`. Raises QueryError; a query with warnings is searched nevertheless."""
    warnings: list[Warned] = []
    fields = _with_rules_read(fields)
    # The fields, each by itself.
    size = _board_size(fields)
    stones = _moves(fields, "initialStones", size, may_pass=False) if "initialStones" in fields else []
    if "moves" not in fields:
        raise QueryError("moves", "an array of [player, vertex] pairs expected")
    moves = _moves(fields, "moves", size)
    first_player = _player("initialPlayer", fields["initialPlayer"]) if "initialPlayer" in fields else None
    priorities = _turns(fields, len(moves))
    game = _start(size, _rules(fields), fields)
    settings, idle = _settings(fields, settings, warnings)
    includes = Includes(
        ownership=_flag(fields, "includeOwnership"),
        ownership_stdev=_flag(fields, "includeOwnershipStdev"),
        moves_ownership=_flag(fields, "includeMovesOwnership"),
        moves_ownership_stdev=_flag(fields, "includeMovesOwnershipStdev"),
        policy=_flag(fields, "includePolicy"),
        pv_visits=_flag(fields, "includePVVisits"),
        no_result=_flag(fields, "includeNoResultValue"),
    )
    every = _seconds(fields, "reportDuringSearchEvery")
    first = _seconds(fields, "firstReportDuringSearchAfter")
    restrictions = _restrictions(fields, size)
    try:
        network = evaluator.on(size)
    except NetworkError as error:
        raise QueryError("boardXSize", str(error)) from error
    warnings += _unknown_to(network, fields, size, game.rules, settings)
    if settings.warn_unused:
        text = "unknown field, which has no effect; the setting warnUnusedFields=false turns this warning off"
        warnings += [(name, text) for name in fields if name not in FIELDS]
    # The stones at the start; their captures count under territory scoring. Then the positions.
    stones, prisoners = _placed(size, stones)
    if game.rules.scoring == "territory":
        game.komi += prisoners
    _set_up(game, stones, first_player if first_player is not None else _first_player(stones, moves))
    query = Query(
        id=fields["id"],
        turns=tuple(_positions(game, moves, priorities)),
        settings=_with_history(settings, network),
        restrictions=restrictions,
        includes=includes,
        every=math.inf if every is None and first is not None else every,
        first=every if first is None else first,
        idle=idle,
    )
    return query, warnings


def _unknown_to(
    network: BatchEvaluator, fields: Fields, size: int, rules: Rules, settings: AnalysisSettings
) -> Iterator[Warned]:
    """Warnings of what a network does not know: rules, the board, the ownership, an advantage."""
    if strange := _not_learned(rules, network.katago_format):
        yield "rules", f"{network.name} has not learned {', '.join(strange)}: it judges by the rules that it knows"
    if text := not_learned_warning(network.name, network.board_sizes, [size]):
        yield "boardXSize", text
    if not network.has_ownership and (asked := [name for name in _OF_OWNERSHIP if fields.get(name)]):
        yield asked[0], f"{network.name} does not predict the ownership: no effect of {', '.join(asked)}"
    asks = "playoutDoublingAdvantage" in fields.get("overrideSettings", ())
    advantage = settings.params.playout_doubling_advantage if asks else 0
    if advantage and "playout_advantage" not in plane_set(network.plane_set).scalars:
        yield "overrideSettings", f"{network.name} does not read an advantage: no effect of playoutDoublingAdvantage"


# --- The game


def _board_size(fields: Fields) -> int:
    sizes = [_integer(fields, name, MIN_SIZE, MAX_SIZE) for name in ("boardXSize", "boardYSize")]
    if sizes[0] != sizes[1]:
        raise QueryError("boardYSize", f"square boards alone can be analyzed, not {sizes[0]}x{sizes[1]}")
    return sizes[0]


def _with_rules_read(fields: Fields) -> Fields:
    """The fields with the object of the rules where they are its JSON, as KaTrain sends rule sets of the user's own."""
    given = fields.get("rules")
    if isinstance(given, str) and given.lstrip().startswith("{"):
        with suppress(ValueError, RecursionError):  # `Rules.parse` says what is wrong
            return {**fields, "rules": json.loads(given)}
    return fields


def _rules(fields: Fields) -> Rules:
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


def _start(size: int, rules: Rules, fields: Fields) -> Game:
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
        text = f"a whole or half number from {-MAX_KOMI} to {MAX_KOMI} expected, not {_shown(value)}"
        raise QueryError(field, text if field == "komi" else f"komi: {text}")
    return float(value)


def _usual_komi(rules: Rules, given: object) -> float:
    """The komi where none is given. That of New Zealand goes with its name, not with its parts."""
    named = isinstance(given, str) and given.strip().lower().startswith("n")
    return 7.5 if rules.text == "new-zealand" and not named else rules.usual_komi


def _first_player(stones: list[tuple[int, int]], moves: list[tuple[int, int]]) -> int:
    """Who begins where the query does not say it: who makes the first move, or White after a handicap."""
    if moves:
        return moves[0][0]
    return WHITE if len(stones) > 1 and {color for color, _ in stones} == {BLACK} else BLACK


def _placed(size: int, stones: list[tuple[int, int]]) -> tuple[list[tuple[int, int]], int]:
    """The stones that are left when they are placed one by one, as KataGo does, and White's prisoners minus Black's.

    Each captures as a move does, suicide of several stones included; that of a single stone is left out. A stone of the
    other color is replaced, but by a suicide it is only removed.
    """
    prisoners = 0
    try:
        if len({point for _, point in stones}) == len(stones):
            _set_up(Game(size), stones, BLACK)
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
            _set_up(game, kept, color)
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


def _set_up(game: Game, stones: list[tuple[int, int]], first_player: int) -> None:
    black, white = ([p for color, p in stones if color == side] for side in (BLACK, WHITE))
    game.setup(black, white, first_player)


def _positions(game: Game, moves: list[tuple[int, int]], priorities: dict[int, int]) -> list[QueryPosition]:
    """The positions that are to be searched.

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
        _set_up(anything, free.setup_stones, color)
        after = anything.play(point).restarted_here(1 - color)
        fresh = Game(game.size, free.rules, after.komi)
        _set_up(fresh, after.setup_stones, 1 - color)
        return fresh


# --- The search


def _turns(fields: Fields, moves: int) -> dict[int, int]:
    """The numbers of the positions that are to be searched, with the priority of each."""
    numbers = integers(fields, "analyzeTurns") if "analyzeTurns" in fields else [moves]
    for number in numbers:
        if not 0 <= number <= moves:
            raise QueryError("analyzeTurns", f"turn {number} does not exist: 0 to {moves} expected")
    if "priorities" not in fields:
        priority = _integer(fields, "priority", -MAX_PRIORITY, MAX_PRIORITY) if "priority" in fields else 0
        return dict.fromkeys(numbers, priority)
    if "priority" in fields:
        raise QueryError("priority", "priority and priorities cannot both be given")
    if "analyzeTurns" not in fields:
        raise QueryError("priorities", "priorities need analyzeTurns")
    priorities = integers(fields, "priorities")
    if len(priorities) != len(numbers):
        raise QueryError("priorities", f"{len(numbers)} priorities expected, as many as analyzeTurns")
    if wrong := [p for p in priorities if abs(p) > MAX_PRIORITY]:
        raise QueryError("priorities", f"priority {wrong[0]} is out of range: below 2^62 expected")
    return dict(zip(numbers, priorities, strict=True))


def _settings(
    fields: Fields, settings: AnalysisSettings, warnings: list[Warned]
) -> tuple[AnalysisSettings, tuple[str, ...]]:
    """The settings of the query, and the names of those that change nothing; warns of overrides that are unknown."""
    idle: tuple[str, ...] = ()
    overrides = fields.get("overrideSettings", {})
    if not isinstance(overrides, dict):
        raise QueryError("overrideSettings", "an object expected")
    if overrides:
        try:
            settings, changes = settings.changed(overrides)
        except RecipeError as error:
            raise QueryError("overrideSettings", f"Could not set settings: {error}") from error
        if changes.unknown:
            warnings.append(("overrideSettings", f"Unknown config params: {','.join(changes.unknown)}"))
        without = changes.without_effect(ANALYSIS_SETTINGS)
        idle = tuple(name for name in without if _is_silent(name))
        if missed := [name for name in without if name not in idle]:
            warnings.append(("overrideSettings", f"without effect in Tengen: {', '.join(missed)}"))
    if "maxVisits" in fields:
        visits = _integer(fields, "maxVisits", 1, 2**50)
        settings = replace(settings, limits=replace(settings.limits, visits=visits))
    for name, low, high in (("rootFpuReductionMax", 0.0, 2.0), ("rootPolicyTemperature", 0.01, 100.0)):
        if name in fields:
            settings, _ = settings.changed({name: _number(fields, name, low, high)})
    if "analysisPVLen" in fields:  # after `changed`, which sets it to that of the configuration
        settings = replace(settings, pv_length=_integer(fields, "analysisPVLen", 1, 1000))
    return settings, idle


def _with_history(settings: AnalysisSettings, network: BatchEvaluator) -> AnalysisSettings:
    """The settings with or without the moves before a position, as AnalysisSettings.ignore_history says."""
    if settings.ignore_history is None and "hide_history" in settings.params.model_fields_set:
        return settings
    hide = settings.ignore_history
    hide = network.plane_set.startswith("katago") if hide is None else hide
    return replace(settings, params=settings.params.model_copy(update={"hide_history": hide}))


def _is_silent(name: str) -> bool:
    """Whether a setting without effect costs no warning of the query.

    LizzieYzy's human-like player takes the first line with the id of its query for the answer: KataGo warns of none of
    the settings `humanSL...`.
    """
    return is_of_machine(name) or name.startswith("humanSL")


def _not_learned(rules: Rules, katago_format: int) -> list[str]:
    """The parts of the rules that networks of a format of KataGo do not know; 0 is no such network.

    Up to format 6 they know superko and area scoring alone, later ones the button with area scoring alone.
    """
    strange = []
    if 0 < katago_format <= 6:
        if rules.ko == "simple":
            strange.append("koRule SIMPLE")
        if rules.scoring == "territory":
            strange.append("scoringRule TERRITORY")
        if rules.tax != "none":
            strange.append(f"taxRule {rules.tax.upper()}")
    if katago_format and rules.button and (katago_format <= 6 or rules.scoring == "territory"):
        strange.append("hasButton true")
    return strange


def _restrictions(fields: Fields, size: int) -> tuple[MoveRestriction, ...]:
    """allowMoves or avoidMoves, as restrictions of the search."""
    if "allowMoves" in fields and "avoidMoves" in fields:
        raise QueryError("allowMoves", "allowMoves and avoidMoves cannot both be given")
    name = "allowMoves" if "allowMoves" in fields else "avoidMoves"
    given = fields.get(name, [])
    form = "an array of objects with player, moves and untilDepth expected"
    if not isinstance(given, list):
        raise QueryError(name, form)
    found = []
    for entry in given:
        if not isinstance(entry, dict) or not {"player", "moves", "untilDepth"} <= entry.keys():
            raise QueryError(name, form)
        color = _player("player", entry["player"])
        if not isinstance(entry["moves"], list):
            raise QueryError("moves", "an array of vertices expected")
        points = [_vertex("moves", vertex, size) for vertex in entry["moves"]]
        depth = _integer(entry, "untilDepth", 1, 10**9)
        found.append(MoveRestriction(color, points, depth, allow=name == "allowMoves"))
    if name == "allowMoves" and len({r.color for r in found}) < len(found):
        raise QueryError(name, "one entry for each player is possible")
    return tuple(found)


# --- Single fields


def _moves(fields: Fields, name: str, size: int, may_pass: bool = True) -> list[tuple[int, int]]:
    """(color, point) of each pair of an array."""
    form = 'an array of pairs ["B" or "W", vertex] expected'
    if not isinstance(fields[name], list):
        raise QueryError(name, form)
    found = []
    for pair in fields[name]:
        if not (isinstance(pair, list) and len(pair) == 2 and all(isinstance(word, str) for word in pair)):
            raise QueryError(name, form)
        found.append((_player(name, pair[0]), _vertex(name, pair[1], size)))
        if not may_pass and found[-1][1] == pass_point(size):
            raise QueryError(name, "a pass is no stone")
    return found


def _player(name: str, value: object) -> int:
    color = _PLAYERS.get(value.lower()) if isinstance(value, str) else None
    if color is None:
        raise QueryError(name, f'"B" or "W" expected, not {_shown(value)}')
    return color


def _vertex(name: str, value: object, size: int) -> int:
    try:
        if not isinstance(value, str):
            raise IllegalMove(f"a vertex expected, not {_shown(value)}")
        return from_gtp(value, size)
    except IllegalMove as error:
        raise QueryError(name, str(error)) from error


def _integer(fields: Fields, name: str, low: int, high: int) -> int:
    value = fields.get(name, _MISSING)
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise QueryError(name, f"a whole number from {low} to {high} expected{_not(value)}")
    return value


def integers(fields: Fields, name: str) -> list[int]:
    """The whole numbers of a field that is there, 1.0 as 1. Raises QueryError for anything else."""
    value = fields[name]
    form = "an array of whole numbers expected"
    if not isinstance(value, list):
        raise QueryError(name, form + _not(value))
    for one in value:
        if not (type(one) is int or (isinstance(one, float) and one.is_integer())):
            raise QueryError(name, form + _not(one))
    return [int(one) for one in value]


def _number(fields: Fields, name: str, low: float, high: float) -> float:
    value = fields.get(name, _MISSING)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise QueryError(name, f"a number from {low:g} to {high:g} expected{_not(value)}")
    return float(value)


def _seconds(fields: Fields, name: str) -> float | None:
    return _number(fields, name, 0.001, 1_000_000) if name in fields else None


def _flag(fields: Fields, name: str) -> bool:
    value = fields.get(name, False)
    if not isinstance(value, bool):
        raise QueryError(name, f"true or false expected{_not(value)}")
    return value


def _not(value: object) -> str:
    return "" if value is _MISSING else f", not {_shown(value)}"


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else text[:40] + "..."

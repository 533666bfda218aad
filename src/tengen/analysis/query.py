"""Queries of the analysis protocol: from the fields of a JSON object to the positions that are to be searched."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from tengen.analysis.config import ANALYSIS_SETTINGS, AnalysisSettings
from tengen.analysis.fields import (
    Fields,
    QueryError,
    read_flag,
    read_integer,
    read_integers,
    read_moves,
    read_number,
    read_player,
    read_seconds,
    read_vertex,
)
from tengen.analysis.query_game import (
    QueryPosition,
    board_size,
    default_first_player,
    placed_stones,
    query_positions,
    read_rules,
    set_up,
    start_game,
    with_rules_read,
)
from tengen.data.planes import plane_set
from tengen.engine.katago_params import is_of_machine
from tengen.engine.search import MoveRestriction
from tengen.errors import NetworkError, RecipeError
from tengen.evaluators.board_warnings import not_learned_warning
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator
from tengen.rules import Rules

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
MAX_PRIORITY = 2**62 - 1


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
    fields = with_rules_read(fields)
    # The fields, each by itself.
    size = board_size(fields)
    stones = read_moves(fields, "initialStones", size, may_pass=False) if "initialStones" in fields else []
    if "moves" not in fields:
        raise QueryError("moves", "an array of [player, vertex] pairs expected")
    moves = read_moves(fields, "moves", size)
    first_player = read_player("initialPlayer", fields["initialPlayer"]) if "initialPlayer" in fields else None
    priorities = _turns(fields, len(moves))
    game = start_game(size, read_rules(fields), fields)
    settings, idle = _settings(fields, settings, warnings)
    includes = Includes(
        ownership=read_flag(fields, "includeOwnership"),
        ownership_stdev=read_flag(fields, "includeOwnershipStdev"),
        moves_ownership=read_flag(fields, "includeMovesOwnership"),
        moves_ownership_stdev=read_flag(fields, "includeMovesOwnershipStdev"),
        policy=read_flag(fields, "includePolicy"),
        pv_visits=read_flag(fields, "includePVVisits"),
        no_result=read_flag(fields, "includeNoResultValue"),
    )
    every = read_seconds(fields, "reportDuringSearchEvery")
    first = read_seconds(fields, "firstReportDuringSearchAfter")
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
    stones, prisoners = placed_stones(size, stones)
    if game.rules.scoring == "territory":
        game.komi += prisoners
    set_up(game, stones, first_player if first_player is not None else default_first_player(stones, moves))
    query = Query(
        id=fields["id"],
        turns=tuple(query_positions(game, moves, priorities)),
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


def _turns(fields: Fields, moves: int) -> dict[int, int]:
    """The numbers of the positions that are to be searched, with the priority of each."""
    numbers = read_integers(fields, "analyzeTurns") if "analyzeTurns" in fields else [moves]
    for number in numbers:
        if not 0 <= number <= moves:
            raise QueryError("analyzeTurns", f"turn {number} does not exist: 0 to {moves} expected")
    if "priorities" not in fields:
        priority = read_integer(fields, "priority", -MAX_PRIORITY, MAX_PRIORITY) if "priority" in fields else 0
        return dict.fromkeys(numbers, priority)
    if "priority" in fields:
        raise QueryError("priority", "priority and priorities cannot both be given")
    if "analyzeTurns" not in fields:
        raise QueryError("priorities", "priorities need analyzeTurns")
    priorities = read_integers(fields, "priorities")
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
        visits = read_integer(fields, "maxVisits", 1, 2**50)
        settings = replace(settings, limits=replace(settings.limits, visits=visits))
    for name, low, high in (("rootFpuReductionMax", 0.0, 2.0), ("rootPolicyTemperature", 0.01, 100.0)):
        if name in fields:
            settings, _ = settings.changed({name: read_number(fields, name, low, high)})
    if "analysisPVLen" in fields:  # after `changed`, which sets it to that of the configuration
        settings = replace(settings, pv_length=read_integer(fields, "analysisPVLen", 1, 1000))
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
        color = read_player("player", entry["player"])
        if not isinstance(entry["moves"], list):
            raise QueryError("moves", "an array of vertices expected")
        points = [read_vertex("moves", vertex, size) for vertex in entry["moves"]]
        depth = read_integer(entry, "untilDepth", 1, 10**9)
        found.append(MoveRestriction(color, points, depth, allow=name == "allowMoves"))
    if name == "allowMoves" and len({r.color for r in found}) < len(found):
        raise QueryError(name, "one entry for each player is possible")
    return tuple(found)

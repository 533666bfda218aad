"""KataGo's parameter names: one table from the names of its configuration files to Tengen's settings.

GTP's `kata-set-param(s)`, `overrideSettings` of the JSON protocol, `-override-config` and `.cfg` files use it. Names
and ranges are those of KataGo 1.17 (`cpp/program/setup.cpp`, `cpp/command/gtp.cpp`, `cpp/command/analysis.cpp`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams, set_params
from tengen.engine.style import Style
from tengen.errors import RecipeError
from tengen.game import BLACK, WHITE

RELEASE = "1.17.2"
"""The release of KataGo whose protocols these are."""

Group = Literal["search", "style", "limits", "front"]
"""Where a parameter goes: SearchParams, Style, Limits, or a setting of the front end under KataGo's own name."""

Perspective = Literal["BLACK", "WHITE", "SIDETOMOVE"]
"""Whose values are reported: reportAnalysisWinratesAs."""

Read = Callable[[object], Any]


def _number(low: float, high: float) -> Read:
    return lambda value: _in_range(_float(value), low, high)


def _integer(low: int, high: int) -> Read:
    def read(value: object) -> int:
        number = _in_range(_float(value), low, high)
        if not number.is_integer():
            raise ValueError(f"must be a whole number, not {value}")
        return int(number)

    return read


def _boolean(value: object) -> bool:
    found = {"true": True, "false": False}.get(str(value).strip().lower())
    if found is None:
        raise ValueError(f"must be true or false, not {value}")
    return found


def _choice(*words: str) -> Read:
    def read(value: object) -> str:
        if str(value).strip().upper() not in words:
            raise ValueError(f"must be one of {', '.join(words)}, not {value}")
        return str(value).strip().upper()

    return read


def _text(value: object) -> str:
    return str(value).strip()


def _float(value: object) -> float:
    try:
        number = math.nan if isinstance(value, bool) else float(str(value))
    except ValueError:
        number = math.nan
    if math.isnan(number):
        raise ValueError(f"must be a number, not {value}")
    return number


def _in_range(number: float, low: float, high: float) -> float:
    if not low <= number <= high:
        raise ValueError(f"must lie between {low:g} and {high:g}, not {number:g}")
    return number


def _same(value: Any) -> Any:
    return value


@dataclass(frozen=True)
class KatagoParam:
    """One of KataGo's parameters: `read` checks a value, which goes to the field `field` of `group`.

    `to_ours` and `to_katago` convert the checked value where the scales differ.
    """

    name: str
    read: Read
    group: Group
    field: str
    to_ours: Callable[[Any], Any] = _same
    to_katago: Callable[[Any], Any] = _same


NO_COUNT, NO_SECONDS = 2**50, 1e20
"""KataGo's largest values of a limit: none."""
_COUNT = _integer(1, NO_COUNT)
_UNIT = _number(0, 1)


def _search(name: str, read: Read, field: str, *conversions: Callable[[Any], Any]) -> KatagoParam:
    return KatagoParam(name, read, "search", field, *conversions)


def _switch(value: float) -> tuple[Callable[[Any], Any], Callable[[Any], Any]]:
    """A setting that KataGo turns on and off, and that is 0 or, by default, `value` here."""
    return lambda on: value if on else 0.0, lambda setting: setting > 0


def _limit(name: str, read: Read, field: str, none: float) -> KatagoParam:
    """A limit whose value from `none` up, KataGo's word for no limit, is None here."""
    return KatagoParam(
        name,
        read,
        "limits",
        field,
        lambda value: None if value >= none else value,
        lambda limit: none if limit is None else limit,
    )


def _front(name: str, read: Read) -> KatagoParam:
    return KatagoParam(name, read, "front", name)


_HALFLIFE = 19.0  # of the temperature, KataGo's default
_TEMPERATURES = ("temperature", "late_temperature")

# Utilities are on the scale -1 to 1 in both programs.
_TABLE = (
    # Selection
    _search("cpuctExploration", _number(0, 10), "c_puct"),
    _search("cpuctExplorationLog", _number(0, 10), "c_puct_factor"),
    _search("cpuctExplorationBase", _number(10, 100_000), "c_puct_base"),
    _search("cpuctUtilityStdevPrior", _number(1e-8, 10), "c_puct_stdev_prior"),
    _search("cpuctUtilityStdevPriorWeight", _number(0, 100), "c_puct_stdev_weight"),
    _search("cpuctUtilityStdevScale", _UNIT, "c_puct_stdev_scale"),
    _search("fpuReductionMax", _number(0, 2), "fpu_reduction"),
    _search("rootFpuReductionMax", _number(0, 2), "root_fpu_reduction"),
    _search("fpuLossProp", _UNIT, "fpu_loss"),
    _search("rootFpuLossProp", _UNIT, "root_fpu_loss"),
    _search("fpuParentWeightByVisitedPolicy", _boolean, "fpu_mass_power", *_switch(2.0)),
    _search("fpuParentWeightByVisitedPolicyPow", _number(0, 5), "fpu_mass_power"),
    _search("numVirtualLossesPerThread", _number(0.01, 1000), "virtual_loss"),
    # Utilities
    _search("winLossUtilityFactor", _UNIT, "win_utility"),
    _search("staticScoreUtilityFactor", _UNIT, "static_score_utility"),
    _search("dynamicScoreUtilityFactor", _UNIT, "dynamic_score_utility"),
    _search("dynamicScoreCenterZeroWeight", _UNIT, "score_center_pull"),
    _search("dynamicScoreCenterScale", _number(0.2, 5), "score_center_scale"),
    _search("noResultUtilityForWhite", _number(-1, 1), "no_result_utility"),
    _search(
        "drawEquivalentWinsForWhite",
        _UNIT,
        "draw_value",
        lambda wins: round(2 * wins - 1, 9),
        lambda x: round((x + 1) / 2, 9),
    ),
    # Weights
    _search("valueWeightExponent", _UNIT, "value_weight_exponent"),
    _search("useNoisePruning", _boolean, "noise_pruning", *_switch(0.15)),
    _search("noisePruneUtilityScale", _number(0, 10), "noise_pruning"),
    _search("useUncertainty", _boolean, "uncertainty", *_switch(0.25)),
    _search("uncertaintyCoeff", _UNIT, "uncertainty"),
    _search("uncertaintyExponent", _number(0, 2), "uncertainty_exponent"),
    _search("uncertaintyMaxWeight", _number(1, 100), "uncertainty_max_weight"),
    _search("subtreeValueBiasFactor", _UNIT, "value_bias"),
    _search("subtreeValueBiasFreeProp", _UNIT, "value_bias_free"),
    _search("subtreeValueBiasWeightExponent", _UNIT, "value_bias_exponent"),
    # Priors
    _search("nnPolicyTemperature", _number(0.01, 5), "policy_temperature"),
    _search("rootPolicyTemperature", _number(0.01, 100), "root_temperature"),
    _search("rootNoiseEnabled", _boolean, "noise_weight", *_switch(0.25)),
    _search("rootDirichletNoiseWeight", _UNIT, "noise_weight"),
    _search("rootDirichletNoiseTotalConcentration", _number(0.001, 10_000), "noise_total"),
    _search(
        "nnRandomize", _boolean, "leaf_symmetry", lambda on: "random" if on else "none", lambda kind: kind == "random"
    ),
    _search("policyOptimism", _UNIT, "policy_optimism"),
    _search("rootPolicyOptimism", _UNIT, "root_policy_optimism"),
    _search("playoutDoublingAdvantage", _number(-3, 3), "playout_doubling_advantage"),
    # Root and tree
    _search("wideRootNoise", _number(0, 5), "wide_root_noise"),
    _search("rootEndingBonusPoints", _number(-1, 1), "ending_bonus"),
    _search("conservativePass", _boolean, "conservative_pass"),
    _search("rootSymmetryPruning", _boolean, "merge_symmetric"),
    _search("rootDesiredPerChildVisitsCoeff", _number(0, 100), "forced_playouts"),
    # Here the share is that of lcb_share, whose default is the usual threshold.
    _search("futileVisitsThreshold", _UNIT, "stop_futile", lambda share: share > 0, lambda on: 0.15 if on else 0.0),
    _search("rootNumSymmetriesToSample", _integer(1, 8), "root_symmetries"),
    _search("rootPruneUselessMoves", _boolean, "prune_useless"),
    _search("useGraphSearch", _boolean, "transpositions"),
    _search("graphSearchCatchUpLeakProb", _UNIT, "catch_up", lambda leak: 1 - leak, lambda chance: 1 - chance),
    # The move to play
    _search("useLcbForSelection", _boolean, "lcb"),
    _search("lcbStdevs", _number(1, 12), "lcb_deviations"),
    _search("minVisitPropForLCB", _UNIT, "lcb_share"),
    KatagoParam("chosenMoveTemperature", _number(0, 5), "style", "late_temperature"),
    KatagoParam("chosenMoveTemperatureEarly", _number(0, 5), "style", "temperature"),
    KatagoParam(
        "chosenMoveTemperatureHalflife",
        _number(0.1, 100_000),
        "style",
        "halflife",
        to_katago=lambda moves: _HALFLIFE if moves is None else moves,
    ),
    KatagoParam("allowResignation", _boolean, "style", "resign"),
    KatagoParam(
        "resignThreshold",
        _number(-1, 0),
        "style",
        "resign_threshold",
        lambda utility: round((utility + 1) / 2, 9),
        lambda winrate: round(2 * winrate - 1, 9),
    ),
    KatagoParam("resignConsecTurns", _integer(1, 100), "style", "resign_moves"),
    # Limits
    _limit("maxVisits", _COUNT, "visits", NO_COUNT),
    _limit("maxPlayouts", _COUNT, "playouts", NO_COUNT),
    _limit("maxTime", _number(0, NO_SECONDS), "seconds", NO_SECONDS),
    KatagoParam("lagBuffer", _number(0, 3600), "limits", "lag_buffer"),
    # Front ends
    _front("ponderingEnabled", _boolean),
    _front("maxVisitsPondering", _COUNT),
    _front("maxPlayoutsPondering", _COUNT),
    _front("maxTimePondering", _number(0, NO_SECONDS)),
    _front("numSearchThreads", _integer(1, 4096)),
    _front("numAnalysisThreads", _integer(1, 16_384)),
    _front("numSearchThreadsPerAnalysisThread", _integer(1, 4096)),
    _front("numEigenThreadsPerModel", _integer(1, 1024)),
    _front("nnMaxBatchSize", _integer(1, 65_536)),
    _front("reportAnalysisWinratesAs", _choice("BLACK", "WHITE", "SIDETOMOVE")),
    _front("analysisPVLen", _integer(1, 1000)),
    _front("analysisWideRootNoise", _number(0, 5)),
    _front("warnUnusedFields", _boolean),
    _front("defaultBoardSize", _integer(2, 25)),
    _front("komi", _number(-400, 400)),
    _front("ignoreGTPAndForceKomi", _number(-400, 400)),
    _front("rules", _text),
    _front("koRule", _choice("SIMPLE", "POSITIONAL", "SITUATIONAL", "SPIGHT")),
    _front("scoringRule", _choice("AREA", "TERRITORY")),
    _front("taxRule", _choice("NONE", "SEKI", "ALL")),
    _front("multiStoneSuicideLegal", _boolean),
    _front("hasButton", _boolean),
    _front("friendlyPassOk", _boolean),
    _front("whiteHandicapBonus", _choice("0", "N", "N-1")),
    _front("analysisIgnorePreRootHistory", _boolean),
    _front("ignorePreRootHistory", _boolean),
    _front("playoutDoublingAdvantagePla", _choice("BLACK", "WHITE", "B", "W", "")),
    _front("humanSLProfile", _text),
    _front("searchRandSeed", _text),
    _front("ogsChatToStderr", _boolean),
    _front("logFile", _text),
    _front("logDir", _text),
    _front("logDirDated", _text),
    _front("logToStderr", _boolean),
    _front("logAllGTPCommunication", _boolean),
    _front("logAllRequests", _boolean),
    _front("logAllResponses", _boolean),
    _front("logErrorsAndWarnings", _boolean),
)
KATAGO_PARAMS: dict[str, KatagoParam] = {param.name: param for param in _TABLE}
"""The parameters whose values are read, by KataGo's name; a front end uses those that concern it."""

RULE_PARAMS = {
    "koRule": "ko",
    "scoringRule": "scoring",
    "taxRule": "tax",
    "multiStoneSuicideLegal": "suicide",
    "hasButton": "hasButton",
    "friendlyPassOk": "friendlyPassOk",
    "whiteHandicapBonus": "whiteHandicapBonus",
}
"""The parameters that stand in the place of `rules`, with the fields of KataGo's rules that they are."""

_SWITCHES = {
    "rootNoiseEnabled": "rootDirichletNoiseWeight",
    "useNoisePruning": "noisePruneUtilityScale",
    "useUncertainty": "uncertaintyCoeff",
    "fpuParentWeightByVisitedPolicy": "fpuParentWeightByVisitedPolicyPow",
}

_OFF_BY_DEFAULT = frozenset({"rootNoiseEnabled"})
"""Switches that are off in KataGo unless it is asked for: the number alone changes nothing."""

_WITHOUT_EFFECT = """
    fpuParentWeight
    noisePruningCap
    graphSearchRepBound graphSearchCatchUpProp rootPolicyTemperatureEarly ignoreAllHistory

    chosenMoveTemperatureOnlyBelowProb chosenMoveSubtract
    chosenMovePrune useNonBuggyLcb fillDameBeforePass
    enablePassingHacks enableMorePassingHacks alwaysComputePassAliveUnderSuicideRules
    antiMirror genmoveAntiMirror dynamicPlayoutDoublingAdvantageCapPerOppLead
    resignMinMovesPerBoardArea resignMinScoreDifference cleanupBeforePass friendlyPass preventCleanupPhase
    assumeMultipleStartingBlackMovesAreHandicap whiteBonusPerHandicapStone avoidMYTDaggerHack
    avoidRepeatedPatternUtility

    humanSLCpuctExploration humanSLCpuctPermanent humanSLRootExploreProbWeightless humanSLRootExploreProbWeightful
    humanSLPlaExploreProbWeightless humanSLPlaExploreProbWeightful humanSLOppExploreProbWeightless
    humanSLOppExploreProbWeightful humanSLChosenMoveProp humanSLChosenMoveIgnorePass humanSLChosenMovePiklLambda
"""
_OF_MACHINE = """
    minPlayoutsPerThread searchFactorAfterOnePass
    searchFactorAfterTwoPass searchFactorWhenWinning searchFactorWhenWinningThreshold treeReuseCarryOverTimeFactor
    overallocateTimeFactor midgameTimeFactor midgameTurnPeakTime endgameTurnTimeDecay obviousMovesTimeFactor
    obviousMovesPolicyEntropyTolerance obviousMovesPolicySurpriseTolerance delayMoveScale delayMoveMax

    subtreeValueBiasTableNumShards nodeTableShardsPowerOfTwo useEvalCache evalCacheMinVisits
    logSearchInfo logSearchInfoForChosenMove logConfigContents logTimeStamp startupPrintMessageToStderr
    forDeterministicTesting debugSkipNeuralNet homeDataDir numBots
    nnCacheSizePowerOfTwo nnMutexPoolSizePowerOfTwo nnRandSeed nnForcedSymmetry numNNServerThreadsPerModel
    gtpForceMaxNNSize maxBoardSizeForNNBuffer maxBoardXSizeForNNBuffer maxBoardYSizeForNNBuffer requireMaxBoardSize
    inputsUseNHWC useFP16
"""
IGNORED_PARAMS = frozenset(_WITHOUT_EFFECT.split() + _OF_MACHINE.split())
"""Names that KataGo knows and that change nothing here: clocks, caches, passing, devices have settings of their own."""

_FRONT_OF_MACHINE = """
    ponderingEnabled numSearchThreads numAnalysisThreads numSearchThreadsPerAnalysisThread numEigenThreadsPerModel
    nnMaxBatchSize searchRandSeed maxVisitsPondering maxPlayoutsPondering maxTimePondering
    ogsChatToStderr
"""
_MACHINE_PARAMS = frozenset(_OF_MACHINE.split() + _FRONT_OF_MACHINE.split())

# Settings of one backend or device, such as cudaDeviceToUseThread0; and the files of patterns to avoid.
_DEVICE_FAMILIES = re.compile(
    r"(cuda|trt|opencl|metal|eigen|rocm|mlx|onnx|dummybackend)[A-Z0-9-]\w*|(device|gpu)ToUse\w*|useFP16-\d+"
)
_PATTERN_FAMILIES = re.compile(r"avoidSgf\d*Pattern[A-Z]\w*|autoAvoidRepeat[A-Z]\w*")


def is_ignored(name: str) -> bool:
    """Whether KataGo knows a parameter of this name that changes nothing here."""
    families = (_DEVICE_FAMILIES, _PATTERN_FAMILIES)
    return name in IGNORED_PARAMS or any(family.fullmatch(name) for family in families)


def is_of_machine(name: str) -> bool:
    """Whether a parameter only says how KataGo computes, takes its time or writes logs: no figure of an analysis with
    given visits depends on it."""
    return name in _MACHINE_PARAMS or name.startswith("log") or _DEVICE_FAMILIES.fullmatch(name) is not None


@dataclass(frozen=True)
class KatagoChanges:
    """What a mapping of KataGo's names changes.

    `search`, `style` and `limits` are fields of SearchParams, Style and Limits; `front` has the checked values of the
    settings of a front end by KataGo's names. `only_on` are the fields of `search` that change nothing where they are
    0, since their switch is off, and `only_off` those that change nothing where they are more: they are switched on
    without a number. `ignored` are names that KataGo knows and that change nothing here, `unknown` names that it does
    not know.
    """

    search: dict[str, Any] = field(default_factory=dict)
    style: dict[str, Any] = field(default_factory=dict)
    limits: dict[str, Any] = field(default_factory=dict)
    front: dict[str, Any] = field(default_factory=dict)
    only_on: frozenset[str] = frozenset()
    only_off: frozenset[str] = frozenset()
    ignored: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def new_params(self, params: SearchParams) -> SearchParams:
        """The search settings with these changes. Raises RecipeError for values that they do not allow."""
        kept = {name for name in self.only_on if not getattr(params, name)}
        kept |= {name for name in self.only_off if getattr(params, name)}
        changes = {name: value for name, value in self.search.items() if name not in kept}
        return set_params(params, changes) if changes else params

    def new_style(self, style: Style) -> Style:
        """The style with these changes. Another temperature of KataGo's falls by half-lives, as all of KataGo's do."""
        changes = dict(self.style)
        if style.halflife is None and changes.get("halflife", _HALFLIFE) == _HALFLIFE:
            moved = any(changes.get(n, getattr(style, n)) != getattr(style, n) for n in _TEMPERATURES)
            changes["halflife"] = _HALFLIFE if moved else None
        return replace(style, **changes)

    def new_limits(self, limits: Limits) -> Limits:
        return replace(limits, **self.limits)

    def without_effect(self, used: Collection[str]) -> list[str]:
        """The names that KataGo knows and that change nothing in a front end with these `used` settings of its own."""
        return sorted({*self.ignored, *self.front} - set(used))


def read_katago_params(settings: Mapping[str, object]) -> KatagoChanges:
    """The changes that KataGo's names and values ask for; values are numbers, booleans or texts.

    Raises RecipeError that names the parameter, its value and what would be right. Unknown names raise nothing: GTP
    reports them as an error, the JSON protocol as a warning.
    """
    found: dict[Group, dict[str, Any]] = {"search": {}, "style": {}, "limits": {}, "front": {}}
    ignored, unknown = [], []
    for name, value in settings.items():
        if param := KATAGO_PARAMS.get(name):
            try:
                found[param.group][param.field] = param.to_ours(param.read(value))
            except ValueError as error:
                raise RecipeError(f"{name} {error}") from error
        elif is_ignored(name):
            ignored.append(name)
        else:
            unknown.append(name)
    _apply_switches(settings, found["search"])
    alone = (_SWITCHES[switch] for switch in _OFF_BY_DEFAULT if switch not in settings)
    only_on = frozenset(KATAGO_PARAMS[number].field for number in alone if number in settings)
    on = (name for name in _SWITCHES if name in settings and _SWITCHES[name] not in settings)
    only_off = frozenset(field for name in on if found["search"][field := KATAGO_PARAMS[name].field])
    return KatagoChanges(**found, only_on=only_on, only_off=only_off, ignored=tuple(ignored), unknown=tuple(unknown))


def _apply_switches(settings: Mapping[str, object], search: dict[str, Any]) -> None:
    """In one mapping a switch decides whether the number that belongs to it counts, in either order."""
    for switch, number in _SWITCHES.items():
        if switch in settings and number in settings:
            param = KATAGO_PARAMS[number]
            search[param.field] = param.read(settings[number]) if _boolean(settings[switch]) else 0.0


def advantage_overrides(params: SearchParams, owner: str, to_play: int) -> dict[str, Any]:
    """The setting that changes where playoutDoublingAdvantagePla gives the doubling advantage to the other side.

    `owner` is BLACK, WHITE, B or W; empty for the side to play.
    """
    other = {"B": WHITE, "W": BLACK}.get(owner[:1]) == to_play
    advantage = params.playout_doubling_advantage
    return {"playout_doubling_advantage": -advantage} if other and advantage else {}


def ownership_overrides(params: SearchParams, *, mean: bool, below: bool) -> dict[str, Any]:
    """The setting that a report of the ownership needs: of its `mean` at the root, of its deviation or `below` moves.

    The mean alone needs it in KataGo's search, whose means are by weights.
    """
    return {"node_ownership": True} if below or (mean and params.selection == "puct-katago") else {}


def katago_values(
    params: SearchParams, style: Style, limits: Limits, front: Mapping[str, Any]
) -> Iterator[tuple[str, Any]]:
    """The current values by KataGo's names, in the order of the table; those of the front end as far as given.

    A limit that is not set has KataGo's word for none, a very large number.
    """
    for name, param in KATAGO_PARAMS.items():
        match param.group:
            case "front" if name not in front:
                continue
            case "front":
                value = front[name]
            case "search":
                value = getattr(params, param.field)
            case "style":
                value = getattr(style, param.field)
            case "limits":
                value = getattr(limits, param.field)
        yield name, param.to_katago(value)

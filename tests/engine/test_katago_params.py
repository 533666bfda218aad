"""KataGo's parameter names: what they change, and that the table follows the fields of the settings."""

from __future__ import annotations

from dataclasses import fields

import pytest

from tengen.engine import Limits, SearchParams, Style
from tengen.engine.katago_params import IGNORED_PARAMS, KATAGO_PARAMS, katago_values, read_katago_params
from tengen.engine.params import set_params
from tengen.errors import RecipeError

# The defaults of `loadParams` (cpp/program/setup.cpp of KataGo 1.17) for play and analysis.
KATAGO = {
    "cpuctExploration": 1.0,
    "cpuctExplorationLog": 0.45,
    "cpuctExplorationBase": 500,
    "cpuctUtilityStdevPrior": 0.4,
    "cpuctUtilityStdevPriorWeight": 2,
    "cpuctUtilityStdevScale": 0.85,
    "fpuReductionMax": 0.2,
    "rootFpuReductionMax": 0.1,
    "fpuLossProp": 0,
    "rootFpuLossProp": 0,
    "fpuParentWeightByVisitedPolicy": True,
    "fpuParentWeightByVisitedPolicyPow": 2,
    "numVirtualLossesPerThread": 1,
    "winLossUtilityFactor": 1,
    "staticScoreUtilityFactor": 0.1,
    "dynamicScoreUtilityFactor": 0.3,
    "dynamicScoreCenterZeroWeight": 0.2,
    "dynamicScoreCenterScale": 0.75,
    "noResultUtilityForWhite": 0,
    "drawEquivalentWinsForWhite": 0.5,
    "valueWeightExponent": 0.25,
    "useNoisePruning": True,
    "noisePruneUtilityScale": 0.15,
    "useUncertainty": True,
    "uncertaintyCoeff": 0.25,
    "uncertaintyExponent": 1,
    "uncertaintyMaxWeight": 8,
    "subtreeValueBiasFactor": 0.45,
    "subtreeValueBiasFreeProp": 0.8,
    "subtreeValueBiasWeightExponent": 0.85,
    "nnPolicyTemperature": 1,
    "rootPolicyTemperature": 1,
    "rootNoiseEnabled": False,
    "rootDirichletNoiseTotalConcentration": 10.83,
    "policyOptimism": 1,
    "rootPolicyOptimism": 0.2,
    "playoutDoublingAdvantage": 0,
    "wideRootNoise": 0,  # in analysis 0.04, which `analysisWideRootNoise` sets
    "rootEndingBonusPoints": 0.5,
    "conservativePass": False,
    "rootSymmetryPruning": True,
    "rootDesiredPerChildVisitsCoeff": 0,
    "futileVisitsThreshold": 0,
    "rootNumSymmetriesToSample": 1,
    "rootPruneUselessMoves": True,
    "useGraphSearch": True,
    "graphSearchCatchUpLeakProb": 0,
    "useLcbForSelection": True,
    "lcbStdevs": 5,
    "minVisitPropForLCB": 0.15,
}


def test_the_search_of_katagos_networks_has_katagos_figures():
    found = dict(katago_values(SearchParams.preset("katago"), Style(), Limits(), {}))
    assert {name: found[name] for name in KATAGO} == pytest.approx(KATAGO)


# KataGo's name, a value that is neither its default nor ours, the field, and the value there where it is another one.
CHANGES = [
    ("cpuctExploration", 0.91, "c_puct"),
    ("cpuctExplorationLog", 0.41, "c_puct_factor"),
    ("cpuctExplorationBase", 510, "c_puct_base"),
    ("cpuctUtilityStdevPrior", 0.42, "c_puct_stdev_prior"),
    ("cpuctUtilityStdevPriorWeight", 2.3, "c_puct_stdev_weight"),
    ("cpuctUtilityStdevScale", 0.83, "c_puct_stdev_scale"),
    ("fpuReductionMax", 0.24, "fpu_reduction"),
    ("rootFpuReductionMax", 0.14, "root_fpu_reduction"),
    ("fpuLossProp", 0.31, "fpu_loss"),
    ("rootFpuLossProp", 0.32, "root_fpu_loss"),
    ("fpuParentWeightByVisitedPolicy", False, "fpu_mass_power", 0),
    ("fpuParentWeightByVisitedPolicyPow", 1.6, "fpu_mass_power"),
    ("numVirtualLossesPerThread", 1.7, "virtual_loss"),
    ("winLossUtilityFactor", 0.95, "win_utility"),
    ("staticScoreUtilityFactor", 0.11, "static_score_utility"),
    ("dynamicScoreUtilityFactor", 0.33, "dynamic_score_utility"),
    ("dynamicScoreCenterZeroWeight", 0.22, "score_center_pull"),
    ("dynamicScoreCenterScale", 0.77, "score_center_scale"),
    ("noResultUtilityForWhite", -0.12, "no_result_utility"),
    ("drawEquivalentWinsForWhite", 0.7, "draw_value", 0.4),
    ("valueWeightExponent", 0.26, "value_weight_exponent"),
    ("useNoisePruning", False, "noise_pruning", 0),
    ("noisePruneUtilityScale", 0.16, "noise_pruning"),
    ("useUncertainty", False, "uncertainty", 0),
    ("uncertaintyCoeff", 0.27, "uncertainty"),
    ("uncertaintyExponent", 1.1, "uncertainty_exponent"),
    ("uncertaintyMaxWeight", 8.5, "uncertainty_max_weight"),
    ("subtreeValueBiasFactor", 0.46, "value_bias"),
    ("subtreeValueBiasFreeProp", 0.81, "value_bias_free"),
    ("subtreeValueBiasWeightExponent", 0.86, "value_bias_exponent"),
    ("nnPolicyTemperature", 1.05, "policy_temperature"),
    ("rootPolicyTemperature", 1.15, "root_temperature"),
    ("rootNoiseEnabled", False, "noise_weight", 0),
    ("rootDirichletNoiseWeight", 0.28, "noise_weight"),
    ("rootDirichletNoiseTotalConcentration", 10.9, "noise_total"),
    ("nnRandomize", False, "leaf_symmetry", "none"),
    ("policyOptimism", 0.92, "policy_optimism"),
    ("rootPolicyOptimism", 0.19, "root_policy_optimism"),
    ("playoutDoublingAdvantage", 1.5, "playout_doubling_advantage"),
    ("wideRootNoise", 0.04, "wide_root_noise"),
    ("rootEndingBonusPoints", 0.55, "ending_bonus"),
    ("conservativePass", True, "conservative_pass"),
    ("rootSymmetryPruning", False, "merge_symmetric"),
    ("rootDesiredPerChildVisitsCoeff", 1.9, "forced_playouts"),
    ("futileVisitsThreshold", 0.12, "stop_futile", True),
    ("rootNumSymmetriesToSample", 3, "root_symmetries"),
    ("rootPruneUselessMoves", False, "prune_useless"),
    ("useGraphSearch", False, "transpositions"),
    ("graphSearchCatchUpLeakProb", 0.375, "catch_up", 0.625),
    ("useLcbForSelection", False, "lcb"),
    ("lcbStdevs", 4.5, "lcb_deviations"),
    ("minVisitPropForLCB", 0.17, "lcb_share"),
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change[0])
def test_a_parameter_of_the_search_changes_its_field_alone(change):
    name, value, field, ours = change if len(change) == 4 else (*change, change[1])
    start = set_params(SearchParams.preset("katago"), {"noise_weight": 0.2})  # which 0 would leave off
    before, after = (p.model_dump() for p in (start, read_katago_params({name: value}).new_params(start)))
    assert {f: v for f, v in after.items() if v != before[f]} == {field: pytest.approx(ours)}


def test_values_of_all_kinds_reach_the_settings():
    changes = read_katago_params(
        {
            "cpuctExploration": "0.9",
            "useLcbForSelection": False,
            "nnRandomize": "True",
            "maxVisits": 300.0,
            "maxTime": "7.5",
            "resignThreshold": -0.9,
            "drawEquivalentWinsForWhite": "0.3",
            "reportAnalysisWinratesAs": "black",
        }
    )
    params = changes.new_params(SearchParams(lcb_deviations=3))
    assert (params.c_puct, params.lcb, params.leaf_symmetry) == (0.9, False, "random")
    assert params.lcb_deviations == 3
    assert params.draw_value == -0.4, "for White, from -1 to 1"
    assert dict(katago_values(params, Style(), Limits(), {}))["drawEquivalentWinsForWhite"] == 0.3
    assert changes.new_limits(Limits(playouts=7)) == Limits(visits=300, playouts=7, seconds=7.5)
    assert changes.new_style(Style()).resign_threshold == pytest.approx(0.05)
    assert changes.front == {"reportAnalysisWinratesAs": "BLACK"}


@pytest.mark.parametrize(
    ("name", "value", "reason"),
    [
        ("cpuctExploration", "11", "cpuctExploration must lie between 0 and 10, not 11"),
        ("cpuctExploration", "nan", "must be a number"),
        ("cpuctExploration", True, "must be a number"),
        ("maxVisits", 0, "must lie between 1"),
        ("maxVisits", "1.5", "whole number"),
        ("maxVisits", None, "must be a number"),
        ("lcbStdevs", [1], "must be a number"),
        ("useLcbForSelection", "1", "must be true or false, not 1"),
        ("koRule", "superko", "must be one of SIMPLE, POSITIONAL"),
    ],
)
def test_a_bad_value_is_named(name, value, reason):
    with pytest.raises(RecipeError, match=reason):
        read_katago_params({name: value})


def test_names_without_effect_and_unknown_names_are_told_apart():
    changes = read_katago_params(
        {"delayMoveMax": 1, "cudaDeviceToUseThread0": 0, "trtUseFP16": "auto", "maxVisit": 3, "cuda": 1}
    )
    assert changes.ignored == ("delayMoveMax", "cudaDeviceToUseThread0", "trtUseFP16")
    assert changes.unknown == ("maxVisit", "cuda")


@pytest.mark.parametrize(
    ("settings", "weight"),
    [
        ({"rootNoiseEnabled": "true"}, 0.25),
        ({"rootNoiseEnabled": "true", "rootDirichletNoiseWeight": 0.1}, 0.1),
        ({"rootDirichletNoiseWeight": 0.1, "rootNoiseEnabled": "false"}, 0),
    ],
)
def test_the_switch_of_the_root_noise_decides(settings, weight):
    assert read_katago_params(settings).search["noise_weight"] == weight


def test_the_weight_of_the_root_noise_alone_does_not_turn_it_on():
    changes = read_katago_params({"rootDirichletNoiseWeight": 0.3})
    assert changes.new_params(SearchParams()) == SearchParams()
    assert changes.new_params(SearchParams(noise_weight=0.1)).noise_weight == 0.3
    assert changes.search == {"noise_weight": 0.3}


@pytest.mark.parametrize(
    ("switch", "number", "usual"),
    [
        ("rootNoiseEnabled", "rootDirichletNoiseWeight", 0.25),
        ("useNoisePruning", "noisePruneUtilityScale", 0.15),
        ("useUncertainty", "uncertaintyCoeff", 0.25),
        ("fpuParentWeightByVisitedPolicy", "fpuParentWeightByVisitedPolicyPow", 2.0),
    ],
)
def test_a_switch_that_is_on_keeps_its_number(switch, number, usual):
    def changed(params, **settings):
        params = read_katago_params(settings).new_params(params)
        return params, dict(katago_values(params, Style(), Limits(), {}))[number]

    params, shown = changed(SearchParams(), **{switch: True, number: 0.5})
    assert shown == 0.5 != usual
    assert changed(params, **{switch: True})[1] == 0.5
    params, shown = changed(params, **{switch: False})
    assert (shown, changed(params, **{switch: True})[1]) == (0, usual)


def test_the_temperature_of_the_move_falls_as_in_katago():
    style = read_katago_params({"chosenMoveTemperatureEarly": 0.5, "chosenMoveTemperature": 0.1}).new_style(Style())
    assert (style.temperature, style.late_temperature, style.halflife) == (0.5, 0.1, 19)
    longer = read_katago_params({"chosenMoveTemperatureHalflife": 40}).new_style(style)
    assert read_katago_params({"chosenMoveTemperature": 0.2}).new_style(longer).halflife == 40
    own = Style(temperature=0.8)  # for the opening alone
    assert read_katago_params(dict(katago_values(SearchParams(), own, Limits(), {}))).new_style(own) == own


def test_settings_of_the_root_have_katagos_names():
    changes = read_katago_params({"rootNumSymmetriesToSample": 4, "rootPruneUselessMoves": "false"})
    params = changes.new_params(SearchParams.preset("katago"))
    assert (params.root_symmetries, params.prune_useless) == (4, False)
    futile = read_katago_params({"futileVisitsThreshold": 0.1}).new_params(params)
    shown = dict(katago_values(futile, Style(), Limits(), {}))
    assert futile.stop_futile and shown["futileVisitsThreshold"] == 0.15
    assert read_katago_params({"futileVisitsThreshold": 0}).new_params(futile) == params
    with pytest.raises(RecipeError, match="rootNumSymmetriesToSample must lie between 1 and 8, not 9"):
        read_katago_params({"rootNumSymmetriesToSample": 9})


def test_the_table_names_fields_that_exist_once():
    """Values read back what was set, under the names of the settings' own fields."""
    known = {
        "search": set(SearchParams.model_fields),
        "style": {f.name for f in fields(Style)},
        "limits": {f.name for f in fields(Limits)},
    }
    assert [name for name, *_ in CHANGES] == [p.name for p in KATAGO_PARAMS.values() if p.group == "search"]
    for param in KATAGO_PARAMS.values():
        assert param.group == "front" or param.field in known[param.group], param.name
    assert not IGNORED_PARAMS & set(KATAGO_PARAMS)
    start = dict(katago_values(SearchParams(), Style(), Limits(), {"analysisPVLen": 15}))
    assert (start["maxVisits"], start["maxTime"], start["analysisPVLen"]) == (2**50, 1e20, 15)
    changes = read_katago_params(start)
    assert not changes.unknown and not changes.ignored
    assert changes.new_params(SearchParams()) == SearchParams()
    assert changes.new_style(Style()) == Style()


def test_katagos_word_for_no_limit_removes_a_limit():
    none = {"maxVisits": 2**50, "maxPlayouts": str(2**50), "maxTime": "1e20"}
    assert read_katago_params(none).new_limits(Limits(visits=3, playouts=4, seconds=5)) == Limits()
    assert read_katago_params({"maxTime": 1e20}).new_limits(Limits(visits=3, seconds=5)) == Limits(visits=3)

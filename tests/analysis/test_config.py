"""The settings of an analysis by KataGo's names."""

from __future__ import annotations

from tengen.analysis.config import ANALYSIS_SETTINGS, AnalysisSettings


def test_settings_of_a_configuration_file() -> None:
    found = {"maxVisits": "7", "analysisPVLen": "9", "logDir": "a b", "reportAnalysisWinratesAs": "BLACK"}
    idle = {"nothingLikeIt": "1", "nnMaxBatchSize": "64"}
    settings, changes = AnalysisSettings.default().changed(found | idle)
    assert (settings.limits.visits, settings.pv_length, settings.perspective) == (7, 9, "BLACK")
    assert changes.unknown == ("nothingLikeIt",)
    assert changes.without_effect(ANALYSIS_SETTINGS) == ["logDir", "nnMaxBatchSize"]


def test_settings_keep_what_is_not_changed() -> None:
    settings, _ = AnalysisSettings.default().changed({"maxVisits": 9, "cpuctExploration": 2, "numAnalysisThreads": 3})
    changed, _ = settings.changed({"maxTime": 1.5, "rootPolicyTemperature": "1.1"})
    assert (changed.limits.visits, changed.limits.seconds, changed.at_once) == (9, 1.5, 3)
    assert (changed.params.c_puct, changed.params.root_temperature) == (2, 1.1)
    assert changed.limits.early_stop is False and changed.params.merge_symmetric

"""The settings of an analysis by KataGo's names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tengen.engine.katago_params import KatagoChanges, read_katago_params
from tengen.engine.katago_settings import KATAGO_SETTINGS, KatagoSettings
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams

DEFAULT_VISITS = 500
ANALYSIS_SETTINGS = {
    **KATAGO_SETTINGS,
    "numAnalysisThreads": "at_once",
    "warnUnusedFields": "warn_unused",
    "ignorePreRootHistory": "search_ignores_history",
    "analysisIgnorePreRootHistory": "analysis_ignores_history",
    "logAllRequests": "log_requests",
    "logAllResponses": "log_responses",
    "logErrorsAndWarnings": "log_problems",
}
"""The settings of this front end: the field of AnalysisSettings for KataGo's name."""


@dataclass(frozen=True, kw_only=True)
class AnalysisSettings(KatagoSettings):
    """What a query has where it says nothing itself.

    `at_once` positions are searched side by side. `warn_unused` warns of unknown fields of a query. Requests, responses
    and problems (errors and warnings) are logged.
    """

    params: SearchParams
    limits: Limits
    at_once: int = 16
    warn_unused: bool = True
    search_ignores_history: bool | None = None
    analysis_ignores_history: bool | None = None
    log_requests: bool = False
    log_responses: bool = False
    log_problems: bool = True

    @property
    def ignore_history(self) -> bool | None:
        """Whether the moves before a position are hidden from the network; the setting of the search comes first.

        None does as `params.hide_history` says where that was set, else so for networks of KataGo.
        """
        given = self.search_ignores_history
        return self.analysis_ignores_history if given is None else given

    @classmethod
    def default(cls) -> AnalysisSettings:
        """Settings without a configuration file, as KataGo's example file has them where Tengen has such a setting."""
        params = SearchParams(merge_symmetric=True, conservative_pass=True, wide_root_noise=0.04)
        return cls(params=params, limits=Limits(visits=DEFAULT_VISITS, early_stop=False))

    def changed(self, settings: Mapping[str, object]) -> tuple[AnalysisSettings, KatagoChanges]:
        """These settings with some of KataGo's names changed, and the changes, with the names that change nothing.

        Raises RecipeError for a value that is out of range.
        """
        changes = read_katago_params(settings)
        own = {ANALYSIS_SETTINGS[name]: value for name, value in changes.front.items() if name in ANALYSIS_SETTINGS}
        params, limits = changes.new_params(self.params), changes.new_limits(self.limits)
        return replace(self, params=params, limits=limits, **own), changes

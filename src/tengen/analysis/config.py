"""KataGo's configuration files and the settings of an analysis that come from them."""

from __future__ import annotations

import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tengen.engine.katago_params import KatagoChanges, read_katago_params
from tengen.engine.katago_settings import KATAGO_SETTINGS, KatagoSettings
from tengen.engine.limits import Limits
from tengen.engine.params import SearchParams
from tengen.errors import RecipeError

DEFAULT_VISITS = 500
MAX_INCLUDES = 10
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


def read_config(path: Path, _depth: int = 0) -> dict[str, str]:
    """The settings of a .cfg file of KataGo: `NAME = VALUE` lines, `#` begins a comment, `@include FILE` reads another.

    Settings of the file replace those of the files that it includes. Raises RecipeError with file and line for a line
    of another form and a name that is set twice, and for files that include each other; OSError for a file that cannot
    be read.
    """
    if _depth > MAX_INCLUDES:
        raise RecipeError(f"{path}: more than {MAX_INCLUDES} files include each other")
    included: dict[str, str] = {}
    own: dict[str, str] = {}
    text = path.read_bytes().decode("utf-8-sig", errors="replace")
    for number, line in enumerate(text.splitlines(), 1):
        content = line.partition("#")[0].strip()
        if not content:
            continue
        if content.startswith("@include"):
            name = content.removeprefix("@include").strip().strip('"')
            if "\0" in name:  # no system has such a file
                raise RecipeError(f"{path}, line {number}: {content!r} names no file")
            included |= read_config(path.parent / name, _depth + 1)
            continue
        name, equals, value = (part.strip() for part in content.partition("="))
        if not equals or not name:
            raise RecipeError(f"{path}, line {number}: NAME = VALUE expected, not {content!r}")
        if name in own:
            raise RecipeError(f"{path}, line {number}: {name} is set twice")
        own[name] = _unquoted(value)
    return included | own


def read_overrides(texts: list[str]) -> dict[str, str]:
    """The settings of `-override-config NAME=VALUE,NAME=VALUE`. Raises RecipeError for a part of another form."""
    settings = {}
    for part in (part for text in texts for part in text.split(",")):
        name, equals, value = (word.strip() for word in part.partition("="))
        if not equals or not name:
            raise RecipeError(f"-override-config {part!r}: NAME=VALUE expected, such as maxVisits=500")
        settings[name] = _unquoted(value)
    return settings


def warn_of_unused(changes: KatagoChanges, used: Collection[str]) -> None:
    """Print which settings change nothing where `used` are the settings of the front end."""
    if changes.unknown:
        print(f"warning: settings without a meaning are ignored: {', '.join(changes.unknown)}", file=sys.stderr)
    if names := changes.without_effect(used):
        print(f"without effect in Tengen: {', '.join(names)}", file=sys.stderr)


def _unquoted(value: str) -> str:
    return value[1:-1] if len(value) >= 2 and value[0] == value[-1] == '"' else value


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

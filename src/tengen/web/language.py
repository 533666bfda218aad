"""The language of the page: the message catalogues in `locale`, and which of them a browser gets.

Messages are English in the source. `make messages` collects them into `locale/tengen.pot`, brings the catalogues of the
other languages up to date and compiles them.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Mapping
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Literal, TypeVar, get_args

T = TypeVar("T")
Language = Literal["en", "zh_CN", "ja", "ko"]
LANGUAGES: tuple[Language, ...] = get_args(Language)
LANGUAGE_NAMES: dict[Language, str] = {"en": "English", "zh_CN": "简体中文", "ja": "日本語", "ko": "한국어"}
TAGS: dict[Language, Literal["en-US", "zh-CN", "ja", "ko-KR"]] = {
    "en": "en-US",
    "zh_CN": "zh-CN",
    "ja": "ja",
    "ko": "ko-KR",
}
"""The `lang` attribute of the page."""
LOCALE, DOMAIN = Path(__file__).parent / "locale", "tengen"
COOKIE = "tengen-language"
"""The cookie by which a browser tells what was chosen in the page."""

_language: ContextVar[Language] = ContextVar("language", default="en")


def _(message: str, **values: object) -> str:
    """A message in the language of this context, with `values` in the place of its {names}."""
    text = _catalogue(_language.get()).gettext(message)
    return text.format(**values) if values else text


def ngettext(one: str, many: str, number: int, **values: object) -> str:
    """A message about a number of things, which its text names {n}."""
    return _catalogue(_language.get()).ngettext(one, many, number).format(n=number, **values)


def N_(message: str) -> str:
    """Mark a message of a table, which `_` translates where it is shown."""
    return message


def translated(texts: Mapping[T, str]) -> dict[T, str]:
    """A table of marked messages in the language of this context."""
    return {key: _(text) for key, text in texts.items()}


def current_language() -> Language:
    """The language of this context; English where nobody has chosen."""
    return _language.get()


def use(chosen: Language) -> None:
    """Set the language of this context, which tasks and threads that it starts inherit."""
    _language.set(chosen)


def known(name: str) -> Language | None:
    """The language of a tag as browsers and shells write it, such as `ja`, `zh-Hans-CN` or `zh_CN.UTF-8`; None where
    there is no catalogue."""
    word = re.split("[-_.@]", name.strip().lower())[0]
    return next((code for code in LANGUAGES if code.partition("_")[0] == word), None)


def accepted(header: str) -> Language | None:
    """The language that an Accept-Language header likes best; None where none of its languages is known."""
    ranked: list[tuple[float, Language]] = []
    for part in header[:1000].split(","):
        tag, _, weight = part.partition(";")
        try:
            quality = float(weight.partition("q=")[2] or 1)
        except ValueError:
            continue
        if quality > 0 and (code := known(tag)):
            ranked.append((-quality, code))
    return min(ranked, key=lambda pair: pair[0])[1] if ranked else None


@cache
def _catalogue(code: Language) -> gettext.NullTranslations:
    if code == "en":
        return gettext.NullTranslations()
    return gettext.translation(DOMAIN, LOCALE, [code])

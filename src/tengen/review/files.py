"""The files of reviews in a folder: their names, what they tell of how they were made, and games without a review."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path, PurePath
from typing import TypeAlias

from tengen.data.sources import SourceProblem, Sources, Tree

NamedGame: TypeAlias = tuple[str, bytes | str]
"""A game's name in the folder of reviews, and its record; a text instead says why it cannot be read."""

FORMATS = ("sgf", "html", "json")
_MAX_STEM = 200  # bytes of a name, which files may have 255 of
_SOURCES = (
    rb'"source": "([0-9a-f]+)"',
    rb'<meta name="tengen-review" content="([0-9a-f]+)">',
    rb"REVIEWED\[Tengen ([0-9a-f]+)\]",
)
"""Where each file of a review, JSON, page and record, has the fingerprint of the record and the settings."""
DIGITS = 16
"""Of each half of a fingerprint: that of the record alone, and that of record and settings, which earlier versions
wrote alone."""


def record_digest(text: bytes) -> str:
    """The first half of the fingerprint of a review of this record."""
    return hashlib.sha256(text).hexdigest()[:DIGITS]


def file_of(out: Path, name: str, form: str) -> Path:
    """The file of a review in this format."""
    return out / f"{name}-review.{form}"


def games_to_review(
    paths: Sequence[str],
    out: Path,
    formats: Sequence[str],
    source: Callable[[bytes], str],
    on_reviewed: Callable[[str], object],
    force: bool = False,
) -> Iterator[NamedGame]:
    """The games at these paths that have no review in `out` in all these formats; with `force` all, of which those
    with a review of other settings keep its name. Records in other formats than SGF are left out of folders and
    archives: one that lies beside its SGF is no game that could not be reviewed.

    `source` gives the fingerprint of a review of a record, by which a review that is there is known as the same one.
    `on_reviewed` gets the name of each game that is left out. Raises SgfError at once where there are no records.
    """
    sources = Sources(paths, other_formats=False)

    def is_other(name: str, text: bytes) -> bool:
        made = [path for form in FORMATS if (path := file_of(out, name, form)).exists()]
        found = {_source(path.read_bytes()) for path in made if path.is_file()} - {""}
        same = source(text)[-DIGITS:]
        if force:
            return not all(one.startswith(record_digest(text)) or one == same for one in found)
        return bool(made) and {one[-DIGITS:] for one in found} != {same}

    def without_review() -> Iterator[NamedGame]:
        for name, text in _games(sources, is_other):
            is_game = isinstance(text, bytes)  # what cannot be read is no game that has a review, whatever its name
            if is_game and not force and all(file_of(out, name, form).exists() for form in formats):
                on_reviewed(name)
            else:
                yield name, text

    return without_review()


def _source(text: bytes) -> str:
    """The fingerprint of a review; empty for what is none, and for one of a version that did not tell."""
    found = next(filter(None, (re.search(pattern, text) for pattern in _SOURCES)), None)
    return found[1].decode() if found else ""


def _games(sources: Sources, is_other: Callable[[str, bytes], bool]) -> Iterator[NamedGame]:
    """The games with a file name for each, no two the same.

    A name is not given to a game where `is_other` says that the review of another one has it. A review counts as a game
    where its file is named, and is left out of folders and archives.
    """
    used: set[str] = set()
    for tree in sources.trees():
        base, number = tree.place, ""
        if isinstance(tree, Tree):
            base, _, number = tree.place.rpartition("#")
            if "/" in base and re.search(_SOURCES[-1], tree.data):
                continue
        stem = re.sub(r"[^\w.+-]+", "-", PurePath(base).stem).strip("-").encode()[:_MAX_STEM].decode(errors="ignore")
        own = f"{stem or 'game'}-{number}" if number not in ("", "1") else stem or "game"
        text = _problem(tree) if isinstance(tree, SourceProblem) else tree.data
        names = chain([own], (f"{own}-{more}" for more in count(2)))
        name = next(n for n in names if n not in used and (isinstance(text, str) or not is_other(n, text)))
        used.add(name)
        yield name, text


def _problem(problem: SourceProblem) -> str:
    return f"{problem.reason} ({problem.detail})" if problem.detail else problem.reason

"""The rated games of a self-play run, ready to be rated together with those of matches and other runs."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import yaml

from tengen.errors import TengenError
from tengen.match.batch_programs import program_rules
from tengen.ratings.elo import Score
from tengen.ratings.pool import Lot, Terms
from tengen.selfplay.rating_book import FILE, RatingBook


def is_run(folder: Path) -> bool:
    """Whether a folder is a run that has rated its networks."""
    return (folder / FILE).exists()


def run_lots(folder: Path) -> list[Lot]:
    """The games of all its ratings by their terms. Raises TengenError when the folder cannot be read as a run.

    The run's own networks are those of this folder; players outside it are known by name alone.
    """
    book = RatingBook.read(folder)
    try:
        recipe = yaml.safe_load((folder / "recipe.yaml").read_text(encoding="utf-8"))
        rules = str(recipe["game"]["rules"])
    except (OSError, TypeError, KeyError, yaml.YAMLError) as error:
        raise TengenError(f"{folder} is no self-play run: its recipe.yaml does not say the rules ({error})") from error
    scores: dict[Terms, list[Score]] = defaultdict(list)
    own: set[str] = set()
    for event in book.events:
        own.add(event.player)
        for pairing in event.pairings:
            played_by = program_rules(rules) if pairing.word.startswith("gtp:") else rules
            scores[Terms(event.size, played_by, event.komi)] += pairing.scores()
            own |= {pairing.anchor} if pairing.own else set()
    here = str(folder.resolve())
    return [Lot(folder, terms, tuple(found), dict.fromkeys(own, here)) for terms, found in sorted(scores.items())]

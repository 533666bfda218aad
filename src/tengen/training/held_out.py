"""The games of a store on which a network is evaluated: those that it has not learned from, as far as its card tells.

Needs no PyTorch.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain, repeat
from typing import Literal

import numpy as np

from tengen.data.format import games_digest
from tengen.data.label_sampler import LabelSampler, evaluation_labels
from tengen.data.sampler import OnePerGame, Sampler, choose_games
from tengen.data.split import Split, choose
from tengen.data.store import Store
from tengen.errors import StoreError
from tengen.evaluators.network_file import Card
from tengen.training.card import learned_games, share_learned
from tengen.training.config import DEFAULT_FRACTION
from tengen.training.metrics import OF_GAMES


@dataclass(frozen=True)
class Draw:
    """Which positions of a store are evaluated, drawn by `seed`; `batch` of them at once.

    split: of which games; `auto`: of those held out of training where the network has learned from the store, else of
    all. size: on boards of this size alone. every: of all positions, not one a game. positions: their number.
    """

    split: Split | Literal["auto"] = "auto"
    size: int | None = None
    every: bool = False
    seed: int = 0
    batch: int = 64
    positions: int | None = None


def board_sizes(store: Store, size: int | None) -> list[int]:
    """The board sizes of the games to evaluate, in order; of `size` alone if it is given. Raises StoreError
    for none."""
    sizes = [int(edge) for edge in np.unique(store.column("size"))] if len(store) else []
    if not sizes:
        raise StoreError(f"{store.path} holds no games")
    if size is None:
        return sizes
    if size not in sizes:
        there = ", ".join(f"{edge}x{edge}" for edge in sizes)
        raise StoreError(f"{store.path} holds no games on {size}x{size}: give one of {there}")
    return [size]


@dataclass(frozen=True)
class _TrainingShare:
    """The share of a store's games that a network learned from, and the fraction of them that it held out, if any."""

    share: float
    fraction: float | None

    def holds_out(self, store: Store) -> bool:
        """Whether it learned from the store, but not from all of its games."""
        return bool(self.share and self.fraction and choose(store.hashes, "validation", self.fraction).any())

    def note(self, who: str, store: Store, split: str) -> str:
        """What evaluating on a split of the store means for the figures; "" for nothing that a user should know."""
        part = "the" if self.share == 1 else f"about {self.share:.0%} of the"
        known = f"{who} learned from {part} games of {store.path}"
        held_out = self.holds_out(store)
        if split == "auto" and held_out:
            return f"{known}: evaluated on those that were held out; --split all takes all games"
        if self.share and split != "validation":
            why = "" if split != "auto" else ", and holds none out"
            return f"warning: {known}{why}: it predicts them better than games that it does not know"
        return ""


@dataclass(frozen=True)
class EvaluationGames:
    """The games of a store on which a network is evaluated: those of a split that holds out `fraction` of them.

    `notes` say what the network has learned of them, a line each.
    """

    store: Store
    draw: Draw
    split: Split
    fraction: float
    notes: tuple[str, ...] = ()

    @classmethod
    def choose(cls, store: Store, card: Card | None, draw: Draw) -> EvaluationGames:
        """The games of a draw; of the split `auto` those that the network did not learn from, as far as its card
        tells."""
        entries = learned_games(card.provenance) if card else []
        learned = [
            _TrainingShare(share_learned(games, store.hashes), games["validation_fraction"]) for games in entries
        ]
        if not learned:  # a card of an earlier version names the store alone
            named = card is not None and card.data.startswith(f"the games of {store.path.name}")
            learned = [_TrainingShare(float(named), DEFAULT_FRACTION)]
        fractions = [each.fraction for each in learned if each.fraction]
        held_out = [each.fraction for each in learned if each.fraction and each.holds_out(store)]
        # Of several fractions the smallest holds out what none of the networks learned from.
        fraction = min(held_out or fractions[:1] or [DEFAULT_FRACTION])
        whose = zip(chain(["it"], repeat("a network that it began with")), learned, strict=False)
        notes = tuple(filter(None, (each.note(who, store, draw.split) for who, each in whose)))
        of_auto: Split = "validation" if held_out else "all"
        return cls(store, draw, of_auto if draw.split == "auto" else draw.split, fraction, notes)

    def entries(self) -> dict[str, object]:
        """The store and which of its games, as JSON. `validation_fraction` is None where it chooses no games."""
        return {
            "store": {"path": str(self.store.path), "sha256": games_digest(self.store.manifest)},
            "size": self.draw.size,
            "split": self.split,
            "validation_fraction": None if self.split == "all" else self.fraction,
        }

    def __str__(self) -> str:
        """The split and its share of the games: `validation split (2%)`; the board size, if one was chosen."""
        if self.split == "all":
            return f"all games{self._on}"
        share = self.fraction if self.split == "validation" else 1 - self.fraction
        return f"{self.split} split ({100 * share:.4g}%){self._on}"

    @property
    def _on(self) -> str:
        return "" if self.draw.size is None else f" on {self.draw.size}x{self.draw.size}"

    def sampler(self, planes: str = "tengen") -> Sampler:
        """All positions of the games, or one of each. Raises StoreError where the split has no games."""
        size = self.draw.size
        if self.split == "validation" and not choose_games(self.store, self.split, self.fraction, size).any():
            games = int(choose_games(self.store, "all", self.fraction, size).sum())
            raise StoreError(
                f"{self.store.path}: none of its games{self._on} ({games:,}) is among the {100 * self.fraction:.4g}% "
                "that are held out: take all games with --split all, or a larger store"
            )
        return (Sampler if self.draw.every else OnePerGame)(
            self.store,
            self.split,
            planes,
            self.draw.batch,
            self.draw.seed,
            symmetries=False,
            validation_fraction=self.fraction,
            size=size,
        )

    def labels(self, planes: str) -> LabelSampler | None:
        """The labelled positions of the games for `metrics.agreement`; None where there are none."""
        return evaluation_labels(
            self.store,
            self.split,
            self.fraction,
            planes,
            size=self.draw.size,
            batch_size=self.draw.batch,
            seed=self.draw.seed,
            extra=OF_GAMES,
        )

"""Games of a store that a network has learned from, and those on which it is evaluated."""

from pathlib import Path

import numpy as np
import pytest
from training.small_run import GAMES, random_record

from tengen.data.split import choose
from tengen.data.store import Store, StoreWriter
from tengen.evaluators.network_file import Card
from tengen.training.card import games_learned
from tengen.training.held_out import Draw, EvaluationGames


@pytest.mark.parametrize("fraction", [None, 0.25])
def test_a_network_is_not_evaluated_on_games_that_it_learned_from(
    store: Path, tmp_path: Path, fraction: float | None
) -> None:
    """Its own store, another that shares games with it, one that shares none, and a card that only names the store."""
    games, card = Store.open(store), Card(name="x", family="", config={}, plane_set="", board_sizes=[7])
    rows = np.flatnonzero(choose(games.hashes, "train", fraction) if fraction else np.ones(GAMES, bool))
    card = card.model_copy(update={"provenance": {"games": games_learned(games, rows, fraction)}})
    with StoreWriter(tmp_path / "half") as half, StoreWriter(tmp_path / "new") as new:
        for seed in range(GAMES):
            (half if seed < 30 else new).add(random_record(seed))
            new.add(random_record(100 + seed))
    for path in (store, tmp_path / "half", tmp_path / "new"):
        found = EvaluationGames.choose(Store.open(path), card, Draw(every=True))
        [note] = found.notes
        assert found.split == ("validation" if fraction else "all") and "it learned from" in note
        assert note.startswith("warning: ") == (fraction is None), path
        if fraction:
            assert not set(Store.open(path).hashes[found.sampler().game_rows]) & set(games.hashes[rows])
    with StoreWriter(tmp_path / "other") as other:
        for seed in range(200, 230):
            other.add(random_record(seed))
    found = EvaluationGames.choose(Store.open(tmp_path / "other"), card, Draw())
    assert found.split == "all" and not found.notes
    found = EvaluationGames.choose(games, card, Draw("all"))
    assert found.split == "all" and found.notes[0].startswith("warning: ")
    old = card.model_copy(update={"provenance": {}, "data": f"the games of {store.name}"})
    assert EvaluationGames.choose(games, old, Draw("validation")).fraction == 0.02
    found = EvaluationGames.choose(games, old, Draw())
    assert found.split in ("validation", "all") and "it learned from the games of" in found.notes[0]

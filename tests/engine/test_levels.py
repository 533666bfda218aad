"""The ladder of levels: its file is complete, rises in roughly even steps, and says how sure it is."""

from __future__ import annotations

from itertools import pairwise

import pytest

from tengen.engine.levels import SIZES, level, levels_on, rank_text
from tengen.engine.style import Style
from tengen.errors import RecipeError


@pytest.mark.parametrize("size", SIZES)
def test_every_size_has_twelve_levels_that_rise_from_a_beginner(size: int) -> None:
    levels = levels_on(size)
    assert [one.number for one in levels] == list(range(1, len(levels) + 1)) and len(levels) >= 12
    steps = [after.elo - before.elo for before, after in pairwise(levels)]
    mean = sum(steps) / len(steps)
    assert all(0 < step < 2.5 * mean for step in steps), [round(step) for step in steps]
    assert levels[0].rank <= -18 and levels[0].rank_low <= -24, "about 25 kyu"
    assert levels[-1].elo > 0, "above GNU Go level 10"


@pytest.mark.parametrize("size", SIZES)
def test_levels_say_how_they_play_and_how_well_they_are_known(size: int) -> None:
    for one in levels_on(size):
        assert one.games >= 2
        assert (one.low is None or one.low < one.elo) and (one.high is None or one.elo < one.high)
        assert one.rank_low <= one.rank <= one.rank_high
    weakened = [one for one in levels_on(size) if one.style.mean_loss]
    assert [one.style.mean_loss for one in weakened] == sorted(
        (one.style.mean_loss or 0 for one in weakened), reverse=True
    )
    searching = [one.visits for one in levels_on(size) if not one.style.weakens]
    assert searching == sorted(searching)
    assert levels_on(size)[-1].style == Style()


def test_other_sizes_have_the_levels_of_the_nearest() -> None:
    assert levels_on(7) == levels_on(9) and levels_on(15) == levels_on(13) and levels_on(18) == levels_on(19)


def test_a_level_that_there_is_not_is_refused() -> None:
    assert level(9, 1) is levels_on(9)[0]
    for number in (0, 99):
        with pytest.raises(RecipeError, match=rf"level {number} is out of range: there are levels 1 to \d+ on 9x9"):
            level(9, number)


@pytest.mark.parametrize(("rank", "text"), [(-24.2, "25 kyu"), (0.4, "1 kyu"), (0.6, "1 dan"), (9.0, "9 dan")])
def test_ranks_in_words(rank: float, text: str) -> None:
    assert rank_text(rank) == text

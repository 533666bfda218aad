"""The searches of published systems: every one runs, and the page that explains them knows them all."""

from pathlib import Path

import pytest
from known_answers import Noise

from tengen.engine.params import SearchParams
from tengen.engine.presets import PRESETS
from tengen.engine.search import TreeSearch
from tengen.errors import RecipeError
from tengen.game import Game


@pytest.mark.parametrize("name", list(PRESETS))
def test_every_preset_searches(name: str) -> None:
    params = SearchParams.preset(name)
    search = TreeSearch(Noise(), params, 4)
    search.set_root(Game(7))
    search.run(120)
    assert search.visits == 120 and search.choose() is not None
    assert search.policy_target().sum() == pytest.approx(1, abs=1e-4)
    assert params != SearchParams()


def test_the_page_lists_every_preset_and_setting_of_selection() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "search.md").read_text()
    for name in PRESETS:
        assert f"| `{name}` |" in page
    for name in SearchParams.model_fields:
        if name.startswith(("fpu", "gumbel", "noise", "c_puct", "lcb", "forced", "merge", "stop", "prune", "planned")):
            assert f"`{name}`" in page, name


def test_an_unknown_preset_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(RecipeError, match="leela-zero"):
        SearchParams.preset("leela")

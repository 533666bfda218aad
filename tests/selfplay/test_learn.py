"""The replay window of the learner."""

from tengen.selfplay.config import WindowConfig
from tengen.selfplay.learn import window_size


def test_all_there_is_until_the_minimum() -> None:
    config = WindowConfig(min_positions=1000)
    assert [window_size(n, config) for n in (0, 1, 999, 1000)] == [0, 1, 999, 1000]


def test_grows_slower_than_the_total_and_never_beyond_the_maximum() -> None:
    config = WindowConfig(min_positions=1000, max_positions=5000, exponent=0.75, expand=0.4)
    sizes = [window_size(n, config) for n in range(1000, 100_000, 500)]
    assert sizes == sorted(sizes)
    assert sizes[1] - sizes[0] <= 0.4 * 500 + 1
    assert sizes[-1] == 5000


def test_the_published_curve() -> None:
    """KataGo's: 250,000 rows, exponent 0.65, expansion 0.4; 22 million rows make about 3.4 million."""
    config = WindowConfig(min_positions=250_000, max_positions=10**9, exponent=0.65, expand=0.4)
    total = 22_000_000
    expected = 250_000 + 0.4 * 250_000 / 0.65 * ((total / 250_000) ** 0.65 - 1)
    assert abs(window_size(total, config) - expected) <= 1

"""How batches are computed on the CPU: the layouts worth measuring, and where native code gains."""

import pytest

from tengen.evaluators.layout import Layout, LayoutRule


@pytest.mark.parametrize("threads", [1, 2, 3, 6, 16, 64])
def test_every_candidate_is_a_way_of_its_own_that_uses_the_threads(threads: int) -> None:
    for native in (False, True):
        found = Layout.candidates(threads, native, 8)
        assert len(found) == len(set(found)) <= 5 and Layout(False, 1, threads) in found
        assert {layout.parts > 1 for layout in found} == {False, True} or threads == 1
        for layout in found:
            assert layout.parts <= 8 and threads // 2 <= layout.parts * layout.threads <= threads
            assert native or not layout.native


def test_attention_needs_enough_points_a_part() -> None:
    """With two threads a part has half of the rows."""
    rule = LayoutRule.of("attention", 7, "bf16", None, 2, 2, 64, None)
    small = [rule.layout(rows, 9, None).native for rows in (3, 4, 6, 7, 64)]
    assert small == [False, False, False, True, True]
    assert [rule.layout(rows, 19, None).native for rows in (1, 2, 3)] == [False, False, True]

"""The names and annotations of nodes in words."""

from __future__ import annotations

import pytest

from tengen.web.annotations import MAX_NAME, remarks
from tengen.web.records import open_record


@pytest.mark.parametrize(
    ("properties", "said"),
    [
        ("", ""),
        ("N[ ]C[a comment]", ""),
        ("N[Correct]", "Correct"),
        ("N[two\nlines]BM[1]", "two lines \u00b7 Bad move"),
        ("BM[]", "Bad move"),
        ("BM[2]", "Very bad move"),
        ("TE[1]", "Good move"),
        ("TE[2]GB[2]", "Very good move \u00b7 Very good for Black"),
        ("DO[]", "Doubtful move"),
        ("IT[]UC[2]", "Interesting move \u00b7 Very unclear position"),
        ("GW[1]HO[1]", "Good for White \u00b7 Hotspot"),
        ("DM[2]", "Even position"),
        ("HO[2]", "Important hotspot"),
        (f"N[{'n' * (MAX_NAME + 1)}]", "n" * MAX_NAME + "\u2026"),
    ],
)
def test_the_name_and_the_annotations_of_a_node_are_said_in_words(properties: str, said: str) -> None:
    session, _ = open_record(f"(;SZ[9];B[ee]{properties})".encode())
    session.seek(1)
    assert remarks(session.node) == said

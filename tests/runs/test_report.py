"""Pages: text is escaped, empty sections vanish, the templates come with the package."""

from pathlib import Path

import pytest
from jinja2 import UndefinedError
from markupsafe import Markup

from tengen.runs.report import Board, Tile, sentence, write_page

EVIL = "<script>alert('&')</script>"
PAGE = {
    "title": EVIL,
    "what": "policy gradient",
    "description": EVIL,
    "tiles": [Tile(EVIL, EVIL, EVIL)],
    "plots": [Markup("<svg>plot</svg>")],
    "boards": [],
    "recipe": EVIL,
}


def test_text_is_escaped_and_pictures_are_not(tmp_path: Path) -> None:
    board = Board(Markup("<svg>board</svg>"), EVIL, EVIL, 'a"b')
    page = write_page(tmp_path / "report.html", "reinforce.html", **{**PAGE, "boards": [board]}).read_text()
    assert "<script" not in page
    assert page.count("&lt;script&gt;") == 9
    assert "<figure><svg>plot</svg></figure>" in page
    assert '<a href="a&#34;b"><svg>board</svg></a>' in page
    assert "<h2>Evaluation games</h2>" in page
    assert "prefers-color-scheme: dark" in page


def test_an_empty_section_has_no_heading(tmp_path: Path) -> None:
    page = write_page(tmp_path / "report.html", "reinforce.html", **PAGE).read_text()
    assert "<h2>" not in page
    assert "refresh" not in page
    assert 'content="30"' in write_page(tmp_path / "report.html", "reinforce.html", refresh=30, **PAGE).read_text()


def test_a_template_without_its_data_fails_and_leaves_the_page(tmp_path: Path) -> None:
    path = write_page(tmp_path / "report.html", "reinforce.html", **PAGE)
    before = path.read_text()
    with pytest.raises(UndefinedError):
        write_page(path, "reinforce.html", title="x", what="y")
    assert path.read_text() == before


@pytest.mark.parametrize(
    ("note", "shown"),
    [
        ("inside of the interval", "Inside of the interval."),
        ("in: no point was lost", "in: no point was lost."),
        ("b.c, policy: no point was lost", "b.c, policy: no point was lost."),
    ],
)
def test_a_note_becomes_a_sentence_that_leaves_names_as_they_are(note: str, shown: str) -> None:
    assert sentence(note, ["b.c, policy", "in"]) == shown

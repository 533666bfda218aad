"""InputQueue of GTP: any bytes are read without an error, and any spacing means the same command."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tengen.errors import GtpError
from tengen.gtp.parse import Arguments, json_object, parse_line

words = st.text(st.sampled_from('abcXYZ09_-,.{}"'), min_size=1, max_size=8)
spaces = st.text(" \t", min_size=1, max_size=3)


@given(st.text())
def test_any_text_is_a_command_or_nothing(line: str) -> None:
    command = parse_line(line)
    if command is not None:
        assert command.id is None or command.id.isdigit()
        assert all(word.split() == [word] for word in (command.name or "x", *command.args.words))


@given(
    st.none() | st.integers(0, 10**9), st.from_regex(r"[a-z_][a-z_-]{0,9}", fullmatch=True), st.lists(words), st.data()
)
def test_spacing_comments_and_control_characters_do_not_matter(
    number: int | None, name: str, args: list[str], data: st.DataObject
) -> None:
    parts = ([] if number is None else [str(number)]) + [name, *args]
    line = data.draw(spaces)
    for part in parts:
        line += part[:1] + data.draw(st.sampled_from(["", "\r", "\x07", "\x7f"])) + part[1:] + data.draw(spaces)
    command = parse_line(line + data.draw(st.sampled_from(["", "\r\n", "# a comment", "#"])))
    assert command is not None
    assert (command.id, command.name, command.args.words) == (
        None if number is None else str(number),
        name,
        tuple(args),
    )


@pytest.mark.parametrize("line", ["", "   ", "\t\r\n", "# only a comment", "  # 1 name", "\x00\x01"])
def test_a_line_without_a_command(line: str) -> None:
    assert parse_line(line) is None


def test_a_lone_id_is_a_command_without_a_name() -> None:
    command = parse_line("17")
    assert command is not None and (command.id, command.name) == ("17", "")


def test_a_command_that_begins_with_digits_is_no_id() -> None:
    command = parse_line("9x9")
    assert command is not None and (command.id, command.name) == (None, "9x9")


@pytest.mark.parametrize("word", ["b", "B", "black", "BLACK", "Black"])
def test_colors_in_any_case(word: str) -> None:
    assert Arguments((word,)).color(0) == 0


@pytest.mark.parametrize("word", ["I5", "A0", "K1", "A10", "55", "", "D4x", "D-4", "D٤", "passe"])
def test_bad_vertices_are_named(word: str) -> None:
    with pytest.raises(GtpError, match="invalid vertex"):
        Arguments((word,)).vertex(0, 9)


@pytest.mark.parametrize(
    "word", ["nan", "inf", "1e", "e5", "1e+", "1e500", "1e5.0", "0x10", "--1", "1,5", "", "٣", "9" * 400]
)
def test_only_plain_numbers_are_numbers(word: str) -> None:
    with pytest.raises(GtpError, match="not a number"):
        Arguments((word,)).number(0)
    with pytest.raises(GtpError, match="not a whole number"):
        Arguments((word,)).integer(0)


@given(st.floats(-400, 400))
def test_numbers_are_read_as_written(value: float) -> None:
    assert Arguments((f"{value:.3f}",)).number(0) == float(f"{value:.3f}")


@pytest.mark.parametrize(("word", "value"), [("1e1", 10), ("5E-1", 0.5), (".5e+2", 50), ("6.e0", 6)])
def test_numbers_may_have_an_exponent(word: str, value: float) -> None:
    """KataGo reads the interval of an analysis, times and komi as C++ reads floating-point numbers."""
    assert Arguments((word,)).number(0) == value


def test_the_number_of_arguments_is_checked() -> None:
    with pytest.raises(GtpError, match="2 arguments expected, got 1"):
        Arguments(("b",)).expect(2)
    with pytest.raises(GtpError, match="unexpected argument c"):
        Arguments(("a", "b", "c")).expect(0, 2)


@pytest.mark.parametrize("text", ["{", "[" * 100_000, '{"a":' * 100_000, f'{{"a": {"1" * 5000}}}', "3"])
def test_what_is_no_json_object_is_refused(text: str) -> None:
    with pytest.raises(GtpError, match="JSON"):
        json_object(text)

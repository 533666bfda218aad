"""Rule sets by name and by parts."""

from __future__ import annotations

import itertools

import pytest
from gtp_fakes import ask, session_of, talk

from tengen.errors import RecipeError
from tengen.game import Game
from tengen.rules import RULE_NAMES, Rules
from tengen.sgf import read_game, write_game

ALL = [
    Rules(*parts)  # type: ignore[arg-type]
    for parts in itertools.product(
        ("simple", "positional", "situational"), ("area", "territory"), (False, True), ("none", "n", "n-1")
    )
]


@pytest.mark.parametrize(
    ("name", "rules"),
    [
        ("tromp-taylor", Rules("positional", "area", True, "none")),
        ("chinese", Rules("simple", "area", False, "n")),
        ("japanese", Rules("simple", "territory", False, "none")),
        ("korean", Rules("simple", "territory", False, "none")),
        ("aga", Rules("situational", "area", False, "n-1")),
        ("new-zealand", Rules("situational", "area", True, "none")),
    ],
)
def test_named_rules(name: str, rules: Rules) -> None:
    assert name in RULE_NAMES
    assert Rules.parse(name) == rules
    assert Rules.parse(name.upper().replace("-", "_")) == rules
    assert Game(9, name).rules == rules


def test_every_combination_reads_back() -> None:
    assert len(ALL) == 36
    for rules in ALL:
        assert Rules.parse(rules.text) == rules
        assert Game(5, rules).rules == rules
    assert str(Rules.parse("ko=simple,scoring=area,suicide=false,bonus=n")) == "chinese"


@pytest.mark.parametrize("rules", ALL, ids=str)
def test_one_text_form_everywhere(rules: Rules) -> None:
    """GTP and SGF's RU read and print the same text, also of parts that have no name."""
    session = session_of()
    assert talk(session, f"kata-set-rules {rules.text}").startswith("=")
    assert session.game.rules == rules
    fields = ask(session, "kata-get-rules")
    ask(session, "kata-set-rules tromp-taylor")
    assert talk(session, f"kata-set-rules {fields}").startswith("=")
    assert session.game.rules == rules

    data = write_game(Game(9, rules, 0.5).play("E5"))
    assert f"RU[{rules.text}]".encode() in data
    game, info = read_game(data)
    assert (game.rules, info.rules) == (rules, rules.text)


def test_names_with_parts() -> None:
    assert Rules.parse("chinese,ko=positional") == Rules("positional", "area", False, "n")
    assert Rules.parse("ko=simple") == Rules("simple", "area", True, "none")


@pytest.mark.parametrize("text", ["", "chess", "ko=often", "komi=7.5", "chinese,aga", "suicide=yes", "chinese,,"])
def test_unknown_words_are_named(text: str) -> None:
    with pytest.raises(RecipeError, match=r"known are|part=value"):
        Rules.parse(text)

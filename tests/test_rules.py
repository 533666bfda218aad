"""Rule sets by name and by parts."""

from __future__ import annotations

import itertools
import json

import pytest
from gtp_fakes import ask, session_of, talk

from tengen import _native
from tengen.errors import RecipeError
from tengen.game import Game
from tengen.rules import RULE_NAMES, Rules
from tengen.sgf import read_game, write_game

ALL = [
    Rules(*parts)  # type: ignore[arg-type]
    for parts in itertools.product(
        ("simple", "positional", "situational"),
        ("area", "territory"),
        (False, True),
        ("none", "n", "n-1"),
        ("none", "seki", "all"),
        (False, True),
        (False, True),
    )
]

# What KataGo 1.17.2 answers to kata-get-rules after kata-set-rules NAME: ko, scoring, suicide, whiteHandicapBonus, tax,
# hasButton, friendlyPassOk.
KATAGO = {
    "tromp-taylor": ("POSITIONAL", "AREA", True, "0", "NONE", False, False),
    "chinese": ("SIMPLE", "AREA", False, "N", "NONE", False, True),
    "chinese-ogs": ("POSITIONAL", "AREA", False, "N", "NONE", False, True),
    "japanese": ("SIMPLE", "TERRITORY", False, "0", "SEKI", False, False),
    "stone-scoring": ("SIMPLE", "AREA", False, "0", "ALL", False, True),
    "ancient-territory": ("SIMPLE", "TERRITORY", False, "0", "ALL", False, False),
    "aga": ("SITUATIONAL", "AREA", False, "N-1", "NONE", False, True),
    "aga-button": ("SITUATIONAL", "AREA", False, "N-1", "NONE", True, True),
    "new-zealand": ("SITUATIONAL", "AREA", True, "0", "NONE", False, True),
    "ing": ("POSITIONAL", "AREA", True, "0", "NONE", False, True),
}
KATAGO_FIELDS = ("ko", "scoring", "suicide", "whiteHandicapBonus", "tax", "hasButton", "friendlyPassOk")
SAME = {
    "tromp-taylor": ("tromptaylor", "tromp_taylor", "Tromp Taylor"),
    "chinese-ogs": ("chinese-kgs", "chineseOGS", "chinesekgs", "Chinese_KGS"),
    "japanese": ("korean",),
    "stone-scoring": ("ancient-area", "ancientarea", "stonescoring", "stone scoring"),
    "ancient-territory": ("ancientterritory",),
    "aga": ("bga", "french", "AGA"),
    "aga-button": ("agabutton", "aga button"),
    "new-zealand": ("nz", "newzealand", "new_zealand"),
    "ing": ("goe", "Ing"),
}


@pytest.mark.parametrize(("name", "fields"), KATAGO.items())
def test_named_rules_are_those_of_katago(name: str, fields: tuple[str | bool, ...]) -> None:
    rules = Rules.parse(name)
    assert name in RULE_NAMES
    assert rules.katago == dict(zip(KATAGO_FIELDS, fields, strict=True))
    assert Rules.from_katago(rules.katago) == rules == Rules.parse(json.dumps(rules.katago))
    assert Game(9, name).rules == rules and rules.text == name
    for other in SAME.get(name, ()):
        assert Rules.parse(other) == rules, other
    session = session_of()
    assert ask(session, f"kata-set-rules {name}") == "" and json.loads(ask(session, "kata-get-rules")) == rules.katago


def test_every_name_is_known() -> None:
    assert {*RULE_NAMES, *_native.rule_aliases()} <= {*KATAGO, *itertools.chain(*SAME.values())}


def test_every_combination_reads_back() -> None:
    assert len({rules.text for rules in ALL}) == len(ALL) == 432
    for rules in ALL:
        assert Rules.parse(rules.text) == rules == Rules.from_katago(rules.katago)
        assert rules.compact == compact(rules) and Rules.parse(compact(rules)) == rules
        assert Game(5, rules).rules == rules
    assert str(Rules.parse("ko=simple,scoring=area,suicide=false,bonus=n,friendly_pass_ok=true")) == "chinese"


def compact(rules: Rules) -> str:
    fields = rules.katago
    text = f"ko{fields['ko']}score{fields['scoring']}tax{fields['tax']}sui{int(rules.suicide)}"
    if rules.button:
        text += "button1"
    if rules.bonus != "none":
        text += f"whb{fields['whiteHandicapBonus']}"
    return f"{text}fpok1" if rules.friendly_pass_ok else text


@pytest.mark.parametrize(
    ("text", "rules"),
    [
        ("koPOSITIONALscoreAREAtaxNONEsui1", "tromp-taylor"),
        ("koSIMPLEscoringTERRITORYsui0", "japanese"),  # the tax follows the scoring
        ("koSIMPLE scoreAREA taxALL sui0 fpok1", "stone-scoring"),
        ('{"ko": "SIMPLE", "score": "TERRITORY", "suicide": false}', "japanese"),
        ("ko=simple,scoring=territory,suicide=false,bonus=none", "japanese"),  # as stores of Tengen 0.23 have it
        ("japanese,tax=all", "ancient-territory"),
        ("{}", "tromp-taylor"),
    ],
)
def test_other_texts(text: str, rules: str) -> None:
    assert Rules.parse(text).text == rules


def test_tax_follows_the_scoring() -> None:
    assert [Rules(scoring=scoring).tax for scoring in ("area", "territory")] == ["none", "seki"]
    assert Rules.parse("chinese,scoring=territory").tax == "seki" and Rules.parse("japanese,scoring=area").tax == "none"
    assert Rules.parse("japanese,scoring=area,tax=seki").tax == "seki"


@pytest.mark.parametrize("rules", ALL[::7], ids=str)
def test_one_text_form_everywhere(rules: Rules) -> None:
    """GTP and SGF's RU read the same texts. RU has a name, or KataGo's compact form, which other programs may know."""
    session = session_of()
    assert talk(session, f"kata-set-rules {rules.text}").startswith("=")
    assert session.game.rules == rules
    fields = ask(session, "kata-get-rules")
    ask(session, "kata-set-rules tromp-taylor")
    assert talk(session, f"kata-set-rules {fields}").startswith("=")
    assert session.game.rules == rules

    data = write_game(Game(9, rules, 0.5).play("E5"))
    assert f"RU[{rules.compact if '=' in rules.text else rules.text}]".encode() in data
    game, info = read_game(data)
    assert (game.rules, info.rules) == (rules, rules.text)


def test_names_with_parts() -> None:
    assert Rules.parse("chinese,ko=positional").text == "chinese-ogs"
    assert Rules.parse("ko=simple") == Rules("simple", "area", True, "none")


@pytest.mark.parametrize(
    "text",
    [
        *("", "chess", "ko=often", "ko=spight", "komi=7.5", "chinese,aga", "suicide=yes", "chinese,,", "tax=some"),
        *("koSPIGHTscoreAREA", "koSIMPLEscorAREA", "koSIMPLEkomi7.5", "komi7.5", "sui2", '{"ko": "SPIGHT"}'),
    ],
)
def test_unknown_words_are_named(text: str) -> None:
    with pytest.raises(RecipeError, match=r"known are|part=value"):
        Rules.parse(text)


def test_rules_of_unknown_parts_have_no_text() -> None:
    with pytest.raises(RecipeError, match="spight"):
        _ = Rules(ko="spight").text  # type: ignore[arg-type]


@pytest.mark.parametrize("text", ["\udcff", '{"ko": "\\ud800"}', '{"ko":' * 100_000])
def test_what_is_no_text_is_refused(text: str) -> None:
    """GTP's `kata-set-rules` with a byte that is not UTF-8 was an internal error."""
    with pytest.raises(RecipeError, match=r"rules|ko"):
        Rules.parse(text)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"ko": 3}', "field ko of rules is a text, not 3"),
        ('{"suicide": "yes"}', "field suicide of rules is true or false, not 'yes'"),
        ('{"komi": 7.5}', "unknown field komi of rules: one of friendlyPassOk,"),
        ('{"ko": ', "invalid JSON"),
        (f'{{"ko": {"1" * 5000}}}', "invalid JSON"),  # in one record it ended a whole import
        ('{"ko": "SIMPLE,scoring=TERRITORY"}', "field ko of rules is one word, not 'SIMPLE,scoring=TERRITORY'"),
    ],
)
def test_bad_json_is_refused(text: str, message: str) -> None:
    with pytest.raises(RecipeError, match=message):
        Rules.parse(text)

"""The game information of a root node."""

from __future__ import annotations

import datetime
import re
from dataclasses import dataclass, field

from sgfmill import sgf_grammar

from tengen.errors import SgfError, printable
from tengen.rules import Rules
from tengen.sgf import values
from tengen.sgf.grammar import Properties
from tengen.sgf.values import Result


@dataclass(frozen=True)
class SgfInfo:
    """The game information of a record. An empty text, None and `Result()` mean unknown. `name` is that of the game.

    Ranks are `9d`, `2p` or `5k`. `rules` is the name of a rule set or the text of its parts. Where the record names
    rules that Tengen does not know, `rules` is empty and `unknown_rules` has their text. `time` and `overtime` are the
    times of both players as SGF writes them: the main time in seconds, and any text.
    """

    black: str = ""
    white: str = ""
    black_rank: str = ""
    white_rank: str = ""
    komi: float | None = None
    rules: str = ""
    unknown_rules: str = ""
    handicap: int = 0
    result: Result = field(default_factory=Result)
    date: datetime.date | None = None
    name: str = ""
    event: str = ""
    place: str = ""
    time: str = ""
    overtime: str = ""
    comment: str = ""
    application: str = ""

    def players(self, stand_ins: tuple[str, str] = ("Black", "White")) -> tuple[str, str]:
        """The names of both players, Black's first; `stand_ins` where they are unknown."""
        return self.black or stand_ins[0], self.white or stand_ins[1]

    def title(self, comment: str = "") -> str:
        """What names a game without players: its name, else its event, else the start of `comment`, that of the root.

        Empty where a player is named, or nothing names the game.
        """
        if self.black or self.white:
            return ""
        start = " ".join(comment.split())
        return self.name or self.event or (start if len(start) <= _MAX_TITLE else f"{start[:_MAX_TITLE]}\u2026")

    @property
    def rules_or_guess(self) -> str:
        """The rule set, or where the record names none a guess from the komi: 7.5 Chinese, any other Japanese.

        Raises SgfError where the record names unknown rules.
        """
        if self.unknown_rules and not self.rules:
            raise SgfError(f"unknown rules: RU[{self.unknown_rules[:40]}]; choose a rule set to read the record by")
        return self.rules or ("chinese" if self.komi == 7.5 else "japanese")

    @property
    def komi_or_guess(self) -> float:
        """The komi, or the usual one: 0 in a handicap game, else that of the rules (`Rules.usual_komi`)."""
        if self.komi is not None:
            return self.komi
        if self.handicap:
            return 0.0
        return Rules.parse(self.rules_or_guess).usual_komi


APPLICATION = "Tengen"
"""The program (AP) of records that Tengen makes. Their komi is in points, never in hundredths or stones."""

_MAX_TITLE = 60  # characters of a comment
_PLAIN_VALUE = re.compile(rb"[^\\\s]*+(?: [^\\\s]*+)*+")
_TEXTS = {
    "black": "PB",
    "white": "PW",
    "black_rank": "BR",
    "white_rank": "WR",
    "name": "GN",
    "event": "EV",
    "place": "PC",
    "time": "TM",
    "overtime": "OT",
    "comment": "GC",
    "application": "AP",
}


OTHER_NAMES = {"KM": "KO", "HA": "HD", "DT": "RD", "EV": "TE"}
"""What stands in records of the Nihon Ki-in and of Cyberoro for a property of SGF; see `other_name`."""
_TESUJI = ("1", "2")  # TE of SGF; its KO, a move against the rules, has no value
_MAX_FREE_HANDICAP = 9  # of the Fox server


def read_info(root: Properties, charset: str, leading: int = 0) -> SgfInfo:
    """Read the game information of a root node, with the quirks of servers. Impossible values stay unknown.

    `leading` is the number of stones that Black plays before White's first move: in a record of the Fox server without
    HA two to nine are the handicap, and the komi, which is then that of an even game, is unknown.
    """

    def text(name: str) -> str:
        found = text_of(root, name, charset).strip()
        if not found and (other := other_name(root, name, charset)):
            found = text_of(root, other, charset).strip()
        return found if name == "GC" else printable(found.replace("\n", " "))  # all others are SGF's SimpleText

    application = text("AP")
    fox = ("TC" in root and "TT" in root) or b"foxwq" in root.get("AP", ())
    rules = values.rules(text("RU"))
    komi, zi = values.komi(
        text("KM"),
        points=application.partition(":")[0] == APPLICATION,
        fox=fox,
        zi=not (rules and Rules.parse(rules).scoring == "territory"),
    )
    result = values.result(text("RE"), zi)
    handicap = min(int(text("HA")), 255) if text("HA").isdecimal() and len(text("HA")) < 9 else 0
    if fox and handicap == 0 and 1 < leading <= _MAX_FREE_HANDICAP:
        handicap, komi = leading, None if values.in_hundredths(text("KM")) else komi
    if fox and result.winner == 2:
        result = Result(2, None, "draw")  # agreed, not counted: too frequent for jigo, and some with komi 6.5
    if komi is not None and _is_wrong_komi(komi, handicap, result, rules, fox):
        komi = None
    return SgfInfo(
        black=text("PB"),
        white=text("PW"),
        black_rank=values.rank(text("BR")),
        white_rank=values.rank(text("WR")),
        komi=komi,
        rules=rules,
        unknown_rules=values.unknown_rules(text("RU")),
        handicap=handicap,
        result=result,
        date=values.date(text("DT")),
        name=text("GN"),
        event=text("EV"),
        place=text("PC"),
        time=text("TM"),
        overtime=text("OT"),
        comment=text("GC"),
        application=application,
    )


def root_properties(info: SgfInfo, size: int) -> Properties:
    """The game information as root properties in UTF-8, for a board size; unknown values are left out."""
    facts: dict[str, str] = {name: getattr(info, attribute) for attribute, name in _TEXTS.items()}
    facts |= {
        # Other programs know no parts of rules, but for KataGo's form of them.
        "RU": Rules.parse(info.rules).compact if "=" in info.rules else info.rules or info.unknown_rules,
        "KM": "" if info.komi is None else f"{info.komi:.15g}",
        "HA": str(info.handicap or ""),
        "DT": str(info.date or ""),
        "RE": "" if info.result == Result() else str(info.result),
    }
    root = {"FF": [b"4"], "GM": [b"1"], "CA": [b"UTF-8"], "SZ": [str(size).encode()]}
    return root | {name: [raw_text(text)] for name, text in facts.items() if text}


def text_of(node: Properties, name: str, charset: str) -> str:
    """The text of a property, empty where the node has none. Bytes outside the charset become U+FFFD."""
    values = node.get(name)
    if not values:
        return ""
    raw = values[0] if _PLAIN_VALUE.fullmatch(values[0]) else sgf_grammar.text_value(values[0])
    return raw.decode(charset, "replace")


def other_name(root: Properties, name: str, charset: str) -> str:
    """The property of a root that may stand for one of SGF, empty where it has none. TE[1], TE[2] and a KO without a
    value are properties of SGF and stand for no other."""
    other = OTHER_NAMES.get(name, "")
    text = text_of(root, other, charset).strip()
    return "" if not text or (other == "TE" and text in _TESUJI) else other


def raw_text(text: str) -> bytes:
    """A text as a raw property value in UTF-8."""
    return bytes(sgf_grammar.escape_text(text.encode("utf-8", "replace")))


def komi_problem(info: SgfInfo, root: Properties, charset: str, read_as: float) -> str:
    """Why `read_info` does not believe the komi of a root node, for which `read_as` stands; empty where it does, or
    where there is none."""
    name = "KM" if "KM" in root else OTHER_NAMES["KM"]
    komi = text_of(root, name, charset).strip()
    if info.komi is not None or not any(map(str.isdecimal, komi)):
        return ""
    if values.komi(komi)[0] is None:
        why = "is no possible komi"
    elif info.handicap and not read_info(root, charset).handicap:
        why = "is wrong for a handicap game"
    elif info.result.score is not None:
        why = f"contradicts RE[{text_of(root, 'RE', charset).strip()[:40]}]"
    else:
        why = "is wrong for an even game"
    return f"{name}[{komi[:40]}] {why}: read as komi {read_as:g}"


def _is_wrong_komi(komi: float, handicap: int, result: Result, rules: str, fox: bool) -> bool:
    """Whether the komi cannot be that of the game: 0 in an even game on Fox, or one that contradicts the score."""
    if komi == 0 and handicap == 0 and fox:
        return True
    if result.score is None or (result.score - komi).is_integer():
        return False
    return not (rules and Rules.parse(rules).button)  # the button is half a point

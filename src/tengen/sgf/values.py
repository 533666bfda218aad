"""The meaning of single SGF values, as servers and editors write them.

Every function takes a text and returns a value, or None (or an empty text) where it does not understand the text: a
strange value in a header must not cost the game.
"""

from __future__ import annotations

import datetime
import re
from contextlib import suppress
from dataclasses import dataclass

from tengen.errors import RecipeError
from tengen.game import MAX_KOMI
from tengen.rules import Rules


@dataclass(frozen=True)
class Result:
    """The result of a game. winner: 0 black, 1 white, 2 draw, None unknown. score: Black minus White in points.

    ending: `count`, `resign`, `time`, `forfeit`, `draw`, `void` or `unknown`.
    """

    winner: int | None = None
    score: float | None = None
    ending: str = "unknown"

    def __str__(self) -> str:
        """The value of RE: `B+3.5`, `W+R`, `Draw`, `Void` or `?`."""
        if self.ending == "void":
            return "Void"
        if self.winner == 2:
            return "Draw"
        if self.winner is None:
            return "?"
        how = {"resign": "R", "time": "T", "forfeit": "F"}.get(self.ending, "")
        return f"{'BW'[self.winner]}+{how or ('' if self.score is None else f'{abs(self.score):g}')}"


def score_text(score: float, draw: str = "0") -> str:
    """The result of a counted game (`B+3.5`, `draw` for a draw), from Black's score minus White's in points."""
    return draw if score == 0 else f"{'B' if score > 0 else 'W'}+{abs(score):g}"


_LONGEST = 100  # characters of a rank, date, komi or result that are read: the patterns take quadratic time

_RANK = re.compile(r"([Pp]?)\s*(\d{1,2})\s*([a-z]+|段|级|級|단|급)?\s*(pro|p\b)?", re.IGNORECASE)
_NUMERALS = str.maketrans("一二三四五六七八九初", "1234567891")
_KYU = ("k", "级", "級", "급")


def rank(text: str) -> str:
    """A rank as `9d`, `2p` or `5k`; empty where there is none. `P2段` of the Fox server is `2p`."""
    found = _RANK.search(text[:_LONGEST].translate(_NUMERALS))
    if not found or not found[3]:
        return ""
    number, unit = int(found[2]), found[3].lower()
    if unit.startswith(_KYU):
        return f"{number}k" if 1 <= number <= 30 else ""
    if not 1 <= number <= 9:
        return ""
    if found[1] or found[4] or unit.startswith("p"):
        return f"{number}p"
    return f"{number}d" if unit.startswith(("d", "段", "단")) else ""


def rank_strength(name: str) -> int:
    """A number for comparing ranks: 30k is -30, 1k -1, 1d 1, 9d 9, 1p 11, 9p 19; 0 for no rank."""
    if not name:
        return 0
    number = int(name[:-1])
    return {"k": -number, "d": number, "p": 10 + number}[name[-1]]


_DATE = re.compile(r"(\d{4})(?:(\d\d)(\d\d)|\s*[-/.年]\s*(\d{1,2})(?:\s*[-/.月]\s*(\d{1,2}))?)?")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY, _DAYS = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?\b", r"(?:\W+(?:and\W+)?\d{1,2}(?:st|nd|rd|th)?\b)*"
_NAMED_DATES = (  # the first day of a range, and the time of day that some programs write before the year
    re.compile(rf"\b(?P<year>\d{{4}})\W*(?P<month>{_MONTH})(?:\W*{_DAY})?", re.I),  # 2021 March 5, 2021-Mar-05
    re.compile(  # 5.3.2021, 5.-7.3.2021, 5.3.-7.3.2021
        r"\b(?P<day>\d{1,2})\.(?:\s?[-\u2013]\s?\d{1,2}\.)?\s?(?P<month>\d{1,2})\."
        r"(?:\s?[-\u2013]\s?\d{1,2}\.\s?\d{1,2}\.)?\s?(?P<year>\d{4})\b"
    ),
    re.compile(  # 5 March 2021, 5-7 March 2021, 5 March - 7 March 2021
        rf"\b{_DAY}{_DAYS}\W+(?:of\W+)?(?P<month>{_MONTH})(?:\W+\d{{1,2}}\W+{_MONTH})?\W+(?P<year>\d{{4}})\b", re.I
    ),
    re.compile(  # March 5, 2021, March 5-7, 2021, Mar 5 12:30:11 2021, March 2021
        rf"\b(?P<month>{_MONTH})\W+(?:{_DAY}{_DAYS}\W+)?(?P<year>\d{{4}})\b", re.I
    ),
)


def date(text: str) -> datetime.date | None:
    """The first date of a DT value; a missing day or month is 1, and so are both of 03/05/2021, whose order is unknown.

    None where there is no date, and for 1970-01-01, the date of a clock that was never set.
    """
    text = text[:_LONGEST]
    named = [found for pattern in _NAMED_DATES if (found := pattern.search(text))]
    numbers = _DATE.search(text)
    for found in sorted(named, key=lambda found: found.start()):
        if numbers and numbers.start() < found.start():
            break
        month = found["month"].lower()
        number = int(month) if month.isdigit() else 1 + _MONTHS.index(month[:3])
        if day := _day(int(found["year"]), number, int(found["day"] or 1)):
            return day
    if numbers is None:
        return None
    return _day(int(numbers[1]), int(numbers[2] or numbers[4] or 1), int(numbers[3] or numbers[5] or 1))


def _day(year: int, month: int, day: int) -> datetime.date | None:
    """A day; None where there is no such day, and for that of a clock that was never set."""
    try:
        found = datetime.date(year, month, day)
    except ValueError:
        return None
    return None if found == datetime.date(1970, 1, 1) else found


# RU values as servers and editors write them, besides the names that Rules.parse() knows; more words may follow.
_RULES = {
    "japanese": r"jap(?:an(?:ese)?)?|jp|日本",
    "chinese": r"chin(?:a|ese)?|cn|中国|中國",
    "korean": r"korean?|kr|한국|韩国|韓国",
    "aga": r"aga|american(?: go association)?",
    "bga": r"bga|british(?: go association)?",
    "french": r"french|ffg",
    "ing": r"ing|goe|应氏|應氏",
    "new-zealand": r"nz|new[ -]?zealand",
    "tromp-taylor": r"tromp(?:\W*taylor)?",
}
_MORE = r"[\W\d_]|rules?|rulesets?|{}|scoring|counting|style|komi|规则|規則|规|ルール|룰|규칙"
"""What may follow the name: words that change nothing. Any other, as in `Chinese, no suicide`, may change the rules."""


def rules(text: str) -> str:
    """The rule set of an RU value, as `Rules.text` writes it; empty for none and for an unknown one."""
    name = rules_name(text)
    return Rules.parse(name).text if name else ""


def rules_name(text: str) -> str:
    """The rule set of an RU value by a name that `Rules.parse` knows: Korean rules, whose text is that of the Japanese
    ones, keep their name. Empty for none and for an unknown one."""
    plain = text.strip()
    if not plain:
        return ""
    with suppress(RecipeError):
        if plain.startswith("{"):  # KataGo's JSON: its fields have capitals
            return Rules.parse(plain).text
        Rules.parse(plain.lower())
        return plain.lower()
    for name, written in _RULES.items():
        more = _MORE.format(Rules.parse(name).scoring)
        if len(plain) <= _LONGEST and re.fullmatch(rf"(?:{written})(?![a-z])(?:{more})*", plain.lower()):
            return name
    return ""


def unknown_rules(text: str) -> str:
    """An RU value that names rules which `rules` does not know; empty for a known one, none, `?` and `unknown`."""
    plain = text.strip()
    return "" if plain.lower() in _NOTHING or rules(plain) else plain


MAX_FOREIGN_KOMI = 50
"""The highest komi that is believed of a record that Tengen has not made."""
_ZI_KOMI = (2.75, 3.25, 3.75)
_FOX_HUNDREDTHS, _FOX_ZI_KOMI = 10, 3.5
_NUMBER = re.compile(r"[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+)")
_AND_A_HALF = re.compile(r"([+-]?\d{1,3})\s*[目집]?\s*[半반½]")
_HALF = re.compile(r"(?<![目집])[半반]\s*[目집]|½")
_STONES = re.compile(r"(\d+(?:[.,]\d+)?)?又?(?:(\d+)/(\d+))?子")
_FRACTION = re.compile(r"\D*(?:\d+(?:\s+|\s*又\s*))?\d+\s*/\s*\d")


def komi(text: str, points: bool = False, fox: bool = False, zi: bool = True) -> tuple[float | None, bool]:
    """The komi in points, and whether the record counts in Chinese stones (zi, two points each).

    `6.5` is 6.5; `650` is 6.5 in hundredths; `375`, `3.75` and `3又3/4子` are stones: 7.5 points. None for an
    impossible komi. With `points` the text is the komi in points whatever its size, as Tengen writes it. With `fox`,
    for the Fox server, `50` is 0.5 in hundredths, and `350` is stones where the rules may count them (`zi`): 7 points.
    """
    text = text[:_LONGEST]
    if points:
        value = _points(text)
        possible = value is not None and abs(value) <= MAX_KOMI and (2 * value).is_integer()
        return (value if possible else None), False
    if (stones := _stones(text)) is not None:
        return (2 * stones, True) if stones in (0, *_ZI_KOMI) else (None, False)
    value = _points(text)
    if value is None:
        return None, False
    zi_komi: tuple[float, ...] = _ZI_KOMI
    if abs(value) >= 100 or (fox and abs(value) >= _FOX_HUNDREDTHS and (value / 50).is_integer()):
        value /= 100
        zi_komi = (*_ZI_KOMI, _FOX_ZI_KOMI) if fox and zi else _ZI_KOMI
    if value in zi_komi:
        return 2 * value, True
    whole = abs(value) <= MAX_FOREIGN_KOMI and (2 * value).is_integer()
    return (value, False) if whole else (None, False)


def in_hundredths(text: str) -> bool:
    """Whether a KM value is the komi in hundredths, as only servers write it."""
    value = _points(text[:_LONGEST])
    return value is not None and abs(value) >= 100


def _stones(text: str) -> float | None:
    """A number of Chinese stones, such as `3又3/4子`; None where a text names none."""
    found = _STONES.search(text)
    if not found or not (found[1] or found[2]):
        return None
    part = float(found[2]) / float(found[3]) if found[2] and float(found[3]) else 0  # floats have no size limit
    return float((found[1] or "0").replace(",", ".")) + part


def _points(text: str) -> float | None:
    """The first number of a text; also reads `6目半` and `6½` (6.5), `半目` and `½` (0.5).

    None for a fraction such as `3 3/4`: whether it counts points or stones is unknown.
    """
    text = text.replace("\N{MINUS SIGN}", "-")
    if _FRACTION.match(text):
        return None
    if found := _AND_A_HALF.search(text):
        return float(found[1]) + (-0.5 if found[1].startswith("-") else 0.5)
    if found := _NUMBER.search(text):
        return float(found[0].replace(",", "."))
    return 0.5 if _HALF.search(text) else None


_WINS = re.compile(r"\s*(b|w|black|white)\s*\+\s*(.*)", re.IGNORECASE | re.DOTALL)
_WINS_IN_WORDS = re.compile(
    r"\s*(black|white|黑|黒|白|흑|백)\S*?\s*(.*(?:win|won|胜|勝|승).*)", re.IGNORECASE | re.DOTALL
)
_LOSES_IN_WORDS = re.compile(r"\s*(黑|黒|白)\S*?(.*[负負].*)", re.DOTALL)
_FIRST_WORD = re.compile(r"\W*(\w*)")
_MOVE_COUNT = re.compile(r"\d+\s*(?:手完|手まで|手|수)\W*")
_ENDINGS = (  # the first word, else a part of a text that does not begin with a margin
    ("time", ("t",), ("time", "超时", "超時", "时间", "時間", "시간")),
    ("forfeit", ("f",), ("forf",)),  # also Forfeit
    ("resign", ("r", "res"), ("resign", "中盘", "中盤", "认输", "불계", "中押")),
)
_NOTHING = ("", "?", "unknown", "unfinished", "未知")


def result(text: str, zi: bool = False) -> Result:
    """The result of an RE value: `B+R`, `W+3.5`, `B+T`, `Draw`, `0`, `Void`, `?`, `黑中盘胜`, `白胜1又1/4子` ...

    The number of moves may come first, as in `182수 백불계승`.
    With `zi` a plain number counts Chinese stones of two points. A number that no count can give (`W+0.0` or `B+0.02`
    of the Fox server) gives a winner without a score.
    """
    plain = text.strip()[:_LONGEST]
    if found := _MOVE_COUNT.match(plain):
        plain = plain[found.end() :]
    lower = plain.lower()
    if lower in _NOTHING:
        return Result()
    if lower in ("0", "draw", "jigo", "tie", "和棋", "和", "持碁", "무승부"):
        return Result(2, 0.0, "draw")
    if lower.startswith(("void", "无胜负", "無勝負", "no result")):
        return Result(None, None, "void")
    if found := _WINS.match(plain):
        return _won(0 if found[1][0] in "bB" else 1, found[2], zi)
    if found := _WINS_IN_WORDS.match(plain):
        return _won(0 if found[1].lower() in ("black", "黑", "黒", "흑") else 1, found[2], zi)
    if found := _LOSES_IN_WORDS.match(plain):
        return _won(0 if found[1] == "白" else 1, found[2], zi)
    return Result()


def _won(winner: int, how: str, zi: bool) -> Result:
    words = how.strip().lower()
    first = _FIRST_WORD.match(words)[1]  # type: ignore[index]  # matches the empty text too
    ending = next((ending for ending, letters, _ in _ENDINGS if first in letters), "")
    if not ending and not first[:1].isdecimal():
        ending = next((ending for ending, _, parts in _ENDINGS if any(part in words for part in parts)), "")
    if ending:
        return Result(winner, None, ending)
    margin = _margin(words, zi)
    if margin is None:
        return Result(winner)
    return Result(winner, margin if winner == 0 else -margin, "count")


def _margin(words: str, zi: bool) -> float | None:
    """The points of a margin; None where it is not positive or not a multiple of half a point."""
    if (stones := _stones(words)) is not None:
        points = 2 * stones
    elif (number := _points(words)) is not None:
        points = number * (2 if zi else 1)
    else:
        return None
    return points if 0 < points <= 450 and (2 * points).is_integer() else None

"""The encoding of a record, guessed where it declares none or a wrong one."""

from __future__ import annotations

import codecs
import re

import chardet

_UTF8_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")
_HIGH_BYTE = re.compile(rb"[\x80-\xff]")
_SIDE_BY_SIDE = re.compile(rb"[\x80-\xff]{4}")
_HIGH_RUN = re.compile(rb"[\x80-\xff]{3}")  # as in Cyrillic words; of western ones only single letters are above 127
_EUC_PAIR = re.compile(rb"[\xa1-\xfe]{2}")
_PLAIN_MOVES = re.compile(rb";\s*[BW]\[[a-s]{2}\]")
_MIN_KANA = 4
# What records without a declared encoding are written in; more would be taken for one another.
_CHARSETS = ("gb18030", "cp949", "cp932", "big5", "cp1252")
_CYRILLIC = "cp1251"
_NO_CHARSETS = ("raw-unicode-escape", "unicode-escape")


def guess_charset(data: bytes, declared: str = "") -> str:
    """The encoding of a record, as Python calls it: UTF-8 or the declared one if the record decodes, else damaged UTF-8
    or the likeliest of those that are in use, by the frequencies of the characters in their languages.

    It is damaged UTF-8 if at least half of the bytes above 127 form UTF-8 sequences. Those of two bytes must be more
    than four fifths where characters stand side by side: in Chinese encodings many characters look like them.
    """
    # What decodes as a whole.
    if data.isascii():
        return "iso2022_jp" if has_escapes(data) and _decodes(data, "iso2022_jp") else "utf-8"
    for charset in ("utf-8", declared):
        if charset and _decodes(data, charset):
            return codecs.lookup(charset).name
    # Damaged UTF-8.
    high, sequences = len(_HIGH_BYTE.findall(data)), [len(found) for found in _UTF8_SEQUENCE.findall(data)]
    long = sum(length for length in sequences if length > 2)
    if 2 * (long if _SIDE_BY_SIDE.search(data) else sum(sequences)) >= high or 5 * sum(sequences) > 4 * high:
        return "utf-8"
    # The likeliest of the others.
    if _is_euc_japanese(data):
        return "euc_jp"
    text = _PLAIN_MOVES.sub(b"", data)
    likely = (*_CHARSETS, _CYRILLIC) if _HIGH_RUN.search(text) else _CHARSETS
    found = chardet.detect_all(text, include_encodings=likely, ignore_threshold=True)
    weights = {name: one["confidence"] for one in found if (name := codecs.lookup(one["encoding"] or "gb18030").name)}
    # Most such records come from Chinese servers: measured on short names, twice is best for all languages together.
    weights["gb18030"] = 2 * weights.get("gb18030", 0.0)
    return max(weights, key=lambda name: weights[name])


def has_escapes(data: bytes) -> bool:
    """Whether a text has the escape sequences with which ISO-2022-JP begins Japanese characters."""
    return b"\x1b$B" in data or b"\x1b$@" in data


def _is_euc_japanese(data: bytes) -> bool:
    """Whether a text is EUC-JP: at least a quarter of its characters, and four, are kana. The bytes are hanzi in Big5,
    but not so many of them; in GB 18030 they are kana too, which no Chinese text has."""
    pairs = _EUC_PAIR.findall(data)
    kana = sum(pair[0] in (0xA4, 0xA5) for pair in pairs)
    return kana >= max(_MIN_KANA, len(pairs) / 4) and _decodes(data, "euc_jp")


def _decodes(data: bytes, charset: str) -> bool:
    try:
        # Escapes of Python, which make characters that no file can hold.
        if codecs.lookup(charset).name in _NO_CHARSETS:
            return False
        # The bytes have brackets of ASCII: a text that was UTF-16 and still says so is none any more.
        return isinstance(data.decode(charset), str) and b"(;[]".decode(charset) == "(;[]"
    except (LookupError, ValueError):
        return False

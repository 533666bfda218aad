"""The description of players that KataGo's human-style networks read: 192 numbers from the name of a profile."""

from __future__ import annotations

import re
from datetime import date

import numpy as np
from numpy.typing import NDArray

from tengen.errors import NetworkError
from tengen.formats.katago_model import METADATA_INPUTS

RANKS = [*(f"{dan}d" for dan in range(9, 0, -1)), *(f"{kyu}k" for kyu in range(1, 21))]
"""From the strongest on; the number of a rank is its place, from 1."""

_PROFESSIONAL = "9d"
_PEOPLE = r"(rank|preaz)_([^_]+)(?:_vs_([^_]+))?"
_KGS, _GOGOD, _GO4GO = 2, 5, 6  # where the records come from
_BYO_YOMI, _UNKNOWN_TIME = 79, 75
_RANK, _RANKS_WIDTH, _DATE, _DATES, _SOURCE = 6, 34, 87, 32, 151


def profile_of(profile: str, to_play: int) -> str:
    """The profile for the side to move: of KataGo's `rank_5k_3k` (Black's and White's rank) for Black (0)
    `rank_5k_vs_3k` and for White (1) `rank_3k_vs_5k`; another profile as it is.
    """
    found = re.fullmatch(r"(rank|preaz)_([^_]+)_([^_]+)", profile)
    if not found or not {found[2], found[3]} <= set(RANKS):
        return profile
    own, other = found[2 + to_play], found[3 - to_play]
    return f"{found[1]}_{own}_vs_{other}"


def katago_metadata(profile: str) -> NDArray[np.float32]:
    """The metadata inputs [192] of a profile, but for the area of the board, input 86, which is 0.

    Profiles are KataGo's: `rank_5k` (games of today between 5 kyu players, 20k to 9d), `preaz_5k` (before AlphaZero)
    and `proyear_1985` (professionals, 1800 to 2023), and besides `rank_5k_vs_3k` and `preaz_5k_vs_3k`: the side to move
    is 5 kyu, its opponent 3 kyu. Raises NetworkError for another, and for KataGo's profiles of two ranks, `rank_5k_3k`
    for Black and White, of which `profile_of` makes such a one.
    """
    numbers = np.zeros(METADATA_INPUTS, np.float64)
    numbers[:2] = 1  # both players are human
    if (found := re.fullmatch(_PEOPLE, profile)) and {found[2], found[3] or found[2]} <= set(RANKS):
        ranks = found[2], found[3] or found[2]
        played, source = date(2016, 9, 1), _KGS
        if found[1] == "rank":
            played = date(2020, 3, 1)
        numbers[74] = 0.5  # rated or not: unknown
        numbers[_BYO_YOMI] = 1
        main_time, period_time, periods = 1200, 30, 5
    elif (found := re.fullmatch(r"proyear_(\d{4})", profile)) and 1800 <= int(found[1]) <= 2023:
        ranks, played = (_PROFESSIONAL,) * 2, date(int(found[1]), 6, 1)
        source = _GOGOD if played.year <= 2020 else _GO4GO
        numbers[_UNKNOWN_TIME] = 1
        main_time = period_time = periods = 0
    elif profile_of(profile, 0) != profile:
        raise NetworkError(
            f"profile {profile!r} has a rank for each color, but the inputs of a network do not say whose turn it is: "
            "give one for both, or that of the player and of the opponent, such as rank_5k_vs_3k"
        )
    else:
        raise NetworkError(
            f"no profile {profile!r}: choose rank_20k to rank_9d, preaz_20k to preaz_9d or proyear_1800 to proyear_2023"
        )
    for player, rank in enumerate(ranks):
        start = _RANK + player * _RANKS_WIDTH
        numbers[start : start + RANKS.index(rank) + 1] = 1
    numbers[82] = 0.4 * (np.log(main_time + 60) - 6.5)
    numbers[83] = 0.3 * (np.log(period_time + 1) - 3)
    numbers[84] = 0.5 * (np.log(periods + 2) - 1.5)
    numbers[85] = 0.25 * (np.log(0 + 2) - 1.5)  # moves of a Canadian period
    days = (played - date(1970, 1, 1)).days
    turns = days / (7 * 80000 ** (np.arange(_DATES) / (_DATES - 1))) * 2 * np.pi
    numbers[_DATE : _DATE + 2 * _DATES : 2], numbers[_DATE + 1 : _DATE + 2 * _DATES : 2] = np.cos(turns), np.sin(turns)
    numbers[_SOURCE + source] = 1
    return numbers.astype(np.float32)

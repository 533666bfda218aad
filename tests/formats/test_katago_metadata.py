"""The metadata of human-style networks, against numbers worked out by hand from KataGo's description of them."""

import math

import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.formats.katago_metadata import katago_metadata


def test_rank_profile() -> None:
    found = katago_metadata("preaz_3k")  # 12th from 9d; KGS, 20 minutes and 5 periods of 30 seconds, 1 September 2016
    expected = np.zeros(192)
    expected[[0, 1, 79, 151 + 2]] = 1
    expected[6:18] = expected[40:52] = 1
    expected[74] = 0.5
    expected[82:86] = (
        0.4 * (math.log(1260) - 6.5), 0.3 * (math.log(31) - 3), 0.5 * (math.log(7) - 1.5), 0.25 * (math.log(2) - 1.5)
    )  # fmt: skip
    assert found[:87] == pytest.approx(expected[:87], abs=1e-6) and found[151:] == pytest.approx(expected[151:])
    days = 17045  # from 1 January 1970 to 1 September 2016, by `date -d 2016-09-01 +%s` / 86400
    assert found[87:89] == pytest.approx([math.cos(days / 7 * math.tau), math.sin(days / 7 * math.tau)], abs=1e-5)
    longest = days / (7 * 80000)
    assert found[149:151] == pytest.approx([math.cos(longest * math.tau), math.sin(longest * math.tau)], abs=1e-6)


def test_professionals_of_a_year() -> None:
    for year, source in ((1985, 5), (2021, 6)):
        found = katago_metadata(f"proyear_{year}")
        assert found[[0, 1, 6, 40, 75, 151 + source]].tolist() == [1] * 6
        assert found[7] == found[41] == found[74] == found[79] == 0
    assert not np.array_equal(katago_metadata("rank_1d"), katago_metadata("preaz_1d"))


@pytest.mark.parametrize("profile", ["rank_21k", "rank_9p", "proyear_1799", "proyear_2024", "rank_", "best", ""])
def test_unknown_profiles(profile: str) -> None:
    with pytest.raises(NetworkError, match=f"no profile '{profile}': choose rank_20k to rank_9d"):
        katago_metadata(profile)


@pytest.mark.parametrize("profile", ["rank_5k_3k", "preaz_9d_9d"])
def test_profiles_of_two_ranks_are_not_supported(profile: str) -> None:
    with pytest.raises(NetworkError, match=f"profile '{profile}' has a rank for each color, which is not supported"):
        katago_metadata(profile)

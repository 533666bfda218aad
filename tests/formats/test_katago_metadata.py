"""The metadata of human-style networks, against numbers worked out by hand from KataGo's description of them."""

import math

import numpy as np
import pytest

from tengen.errors import NetworkError
from tengen.formats.katago_metadata import katago_metadata, profile_of


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


@pytest.mark.parametrize(
    "profile",
    ["rank_21k", "rank_9p", "proyear_1799", "proyear_2024", "rank_", "best", "", "rank_5k_9p", "rank_5k_vs_9p"],
)
def test_unknown_profiles(profile: str) -> None:
    with pytest.raises(NetworkError, match=f"no profile '{profile}': choose rank_20k to rank_9d"):
        katago_metadata(profile)


def test_a_profile_for_the_player_of_one_rank_who_faces_another() -> None:
    """Inputs 6 to 39 are the ranks of the side to move, 40 to 73 those of its opponent."""
    found, even = katago_metadata("rank_5k_vs_3d"), katago_metadata("rank_5k")
    assert found[6:40].tolist() == [1] * 14 + [0] * 20  # the 14th from 9d
    assert found[40:74].tolist() == [1] * 7 + [0] * 27
    assert np.array_equal(np.delete(found, range(40, 74)), np.delete(even, range(40, 74)))
    assert np.array_equal(katago_metadata("preaz_1k_vs_1k"), katago_metadata("preaz_1k"))


@pytest.mark.parametrize("profile", ["rank_5k_3k", "preaz_9d_9d"])
def test_a_profile_with_a_rank_for_each_color_needs_the_side_to_move(profile: str) -> None:
    with pytest.raises(NetworkError, match=f"profile '{profile}' has a rank for each color.* such as rank_5k_vs_3k"):
        katago_metadata(profile)


def test_the_profile_of_the_side_to_move() -> None:
    assert profile_of("rank_5k_3d", 0) == "rank_5k_vs_3d"
    assert profile_of("rank_5k_3d", 1) == "rank_3d_vs_5k"
    assert profile_of("preaz_20k_9d", 1) == "preaz_9d_vs_20k"
    for profile in ("rank_5k", "proyear_1950", "rank_5k_3p", "rank_5k_3k_1k", ""):
        assert profile_of(profile, 1) == profile

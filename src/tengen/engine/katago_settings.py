"""The settings that the front ends with KataGo's protocols, GTP and JSON, share."""

from __future__ import annotations

from dataclasses import dataclass

from tengen.engine.katago_params import Perspective


@dataclass(frozen=True, kw_only=True)
class KatagoSettings:
    """What a front end reports of a search, and how the position is searched for it; KATAGO_SETTINGS has their names.

    `perspective` is whose winrate, score and ownership are reported. `pv_length` moves follow the first of a principal
    variation. `human_profile` is that of a human-style network, such as `rank_5k`, empty for none. `advantage_owner` is
    the player of the doubling advantage, as for `advantage_overrides`.
    """

    perspective: Perspective = "SIDETOMOVE"
    pv_length: int = 15
    human_profile: str = ""
    advantage_owner: str = ""

    @property
    def pv_moves(self) -> int:
        """The number of moves of a principal variation: KataGo's length does not count the first."""
        return self.pv_length + 1


KATAGO_SETTINGS = {
    "reportAnalysisWinratesAs": "perspective",
    "analysisPVLen": "pv_length",
    "humanSLProfile": "human_profile",
    "playoutDoublingAdvantagePla": "advantage_owner",
}
"""The field of KatagoSettings for KataGo's name."""

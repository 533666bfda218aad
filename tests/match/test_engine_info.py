"""Lines that Leela Zero and KataGo have really printed."""

from __future__ import annotations

from tengen.match.program_player import EngineInfo, read_engine_info

# github.com/leela-zero/leela-zero, issue 2280, the moves of the lines cut short.
LEELA_ZERO = """\
Thinking at most 36.5 seconds...
NN eval=0.550535

  S6 ->    1190 (V: 56.47%) (N: 13.26%) (LCB-Bi: 51.96%) (UCB-Bi: 60.91%) PV: S6 S8 Q8 S9 Q9 R10
  Q8 ->    1780 (V: 54.94%) (N: 72.65%) (LCB-Bi: 51.26%) (UCB-Bi: 58.59%) PV: Q8 P8 S8 Q5 P9
  S8 ->     253 (V: 54.78%) (N:  8.75%) (LCB-Bi: 44.88%) (UCB-Bi: 64.41%) PV: S8 Q5 R4 P4 S6
14.2 average depth, 29 max depth
2617 non leaf nodes, 1.23 average children
3224 visits, 1013181 nodes, 11 playouts, 220 n/s
""".splitlines()

KATAGO = ["CHAT:Visits 5733 Winrate 39.62% ScoreLead -0.9 ScoreStdev 17.4 PV D16 Q4 Q16 D4 C3 C4 D3 E4 F2 R17"]


def test_leela_zero() -> None:
    assert read_engine_info(LEELA_ZERO, "S6") == EngineInfo(0.5647, None, 3224)
    assert read_engine_info(LEELA_ZERO, "q8").comment(1) == "White wins 54.9%, 3224 visits"
    assert read_engine_info([" F13 ->       8 (V:  3.02%) (N:  0.25%) PV: F13 P14"], "f13").winrate == 0.0302


def test_katago() -> None:
    assert read_engine_info(KATAGO, "D16") == EngineInfo(0.3962, -0.9, 5733)
    assert read_engine_info(KATAGO, "D16").comment(0) == "Black wins 39.6%, score -0.9, 5733 visits"


def test_others_say_nothing() -> None:
    assert read_engine_info(["GNU Go 3.8", "loading book"], "D4").comment(0) == ""
    assert read_engine_info(LEELA_ZERO, "A1").comment(0) == ""

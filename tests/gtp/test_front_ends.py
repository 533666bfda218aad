"""What well-known front ends send, in their own words and order: each command gets an answer that they can use."""

from __future__ import annotations

import re

import pytest
from gtp_fakes import FakeEngine, session_of, talk

from tengen.engine.result import SearchResult
from tengen.gtp.streams import InputQueue

# Lizzie numbers its commands, sets komi after the size and stops an analysis by the next command.
LIZZIE = """
1 name
2 version
3 boardsize 19
4 komi 7.5
5 lz-analyze 10
6 play B Q16
7 lz-analyze 10
8 undo
9 lz-analyze 10 avoid b Q16,D4 30 avoid w Q16,D4 30
10 fixed_handicap 4
11 time_settings 0 30 1
12 lz-genmove_analyze W 10
13 name
14 clear_board
15 komi 0
"""
LIZZIEYZY = """
name
version
list_commands
boardsize 19
komi 7.0
kata-get-rules
kata-set-rules chinese
kata-get-param playoutDoublingAdvantage
kata-set-param analysisWideRootNoise 0
kata-set-param numSearchThreads 8
kata-analyze B 10 ownership true movesOwnership false rootInfo true
play B D4
kata-analyze interval 10 ownership true pvVisits true
kata-analyze W 10 allow W Q4,R4 1 ownership true
kata-time_settings none
kata-genmove_analyze W 10 ownership true
"""
# GoGui asks whether `# interrupt` stops a search, and sends the clocks before each move.
GOGUI = """
protocol_version
name
version
list_commands
gogui-interrupt
komi 6.5
boardsize 13
clear_board
time_settings 600 30 5
time_left b 600 0
genmove b
# interrupt
play w d4
time_left b 12 3
reg_genmove b
undo
final_score
final_status_list dead
"""
GOGUI_TWOGTP = """
protocol_version
name
version
list_commands
komi 6.5
boardsize 9
clear_board
genmove b
play w E5
genmove b
play w PASS
final_score
cputime
quit
"""
GOMILL = """
protocol_version
list_commands
known_command gomill-genmove_ex
name
version
boardsize 9
clear_board
komi 7.5
fixed_handicap 2
genmove w
known_command gomill-explain_last_move
play b d4
genmove w
known_command gomill-cpu_time
gomill-cpu_time
final_score
quit
"""
KGS = """
list_commands
name
version
boardsize 19
kgs-rules japanese
komi 6.5
clear_board
kgs-time_settings byoyomi 600 30 5
place_free_handicap 2
time_left white 600 0
genmove w
play b Q10
time_left w 30 5
genmove w
kgs-genmove_cleanup w
final_status_list dead
quit
"""
GTP2OGS = """
list_commands
kata-list_time_settings
boardsize 19
clear_board
komi 5.5
kata-set-rules japanese
set_free_handicap D4 Q16 D16
kata-time_settings fischer-capped 300.5 30 600 -1
time_left black 300.25 0
time_left white 299.75 0
genmove white
play black C3
showboard
quit
"""
# CGOS and reviewers analyse single moves and take them back.
REVIEW = """
clear_cache
kata-set-param maxVisits 100
kata-set-param maxTime 2.500
kata-get-param maxVisits
kata-genmove_analyze b maxmoves 5
undo
kata-genmove_analyze b allow b D4 1
kata-search_analyze white 50 minmoves 3 maxmoves 3
"""
CONVERSATIONS = {
    "lizzie": LIZZIE,
    "lizzieyzy": LIZZIEYZY,
    "gogui": GOGUI,
    "gogui-twogtp": GOGUI_TWOGTP,
    "gomill": GOMILL,
    "kgsGtp": KGS,
    "gtp2ogs": GTP2OGS,
    "review": REVIEW,
}


class Player(FakeEngine):
    """Plays the first of a few points that is free."""

    def _result(self, word: str) -> SearchResult:
        assert self.position is not None
        empty = (v for v in ("H8", "F6", "G3", "H2", "J6") if self.position.is_legal(v))
        return super()._result(next(empty))


@pytest.mark.parametrize("client", CONVERSATIONS)
def test_each_command_of_a_front_end_is_answered(client: str) -> None:
    session = session_of(Player(), size=19)
    for line in CONVERSATIONS[client].strip().splitlines():
        session.lines = InputQueue()
        answer = talk(session, line)
        if line.startswith("#"):
            assert answer == ""
            continue
        number = re.match(r"\d*", line)[0]  # type: ignore[index]
        assert answer.startswith(f"={number}") and answer.count("\n\n") == 1, (line, answer)
        assert not answer[1 + len(number) :][:1].isdigit()
        if "analyze" in line:
            assert "\ninfo move " in answer
    if client == "lizzie":
        assert session.game.komi == 0 and session.game.size == 19
    if client == "gogui":
        assert (session.game.komi, session.game.size) == (6.5, 13)

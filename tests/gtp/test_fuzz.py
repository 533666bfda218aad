"""Any lines at all: each command gets one well-formed answer, and none brings the session down."""

from __future__ import annotations

from gtp_fakes import FakeEngine, session_of, talk
from hypothesis import given, settings
from hypothesis import strategies as st

from tengen.gtp.commands import COMMANDS
from tengen.gtp.parse import parse_line
from tengen.gtp.streams import InputQueue

# Not these: they read and write files, or end the session.
NAMES = sorted(set(COMMANDS) - {"loadsgf", "printsgf", "quit"})
WORDS = ["b", "w", "white", "D4", "e5", "pass", "A1", "J9", "0", "1", "2", "9", "-3", "7.5", "1e9", "chinese", "none"]
WORDS += [
    "all",
    "maxVisits",
    "cpuctExploration",
    "c_puct",
    '{"maxVisits":1}',
    "9:9",
    "7:9",
    "pvVisits",
    "movesOwnership",
]
WORDS += ["interval", "minmoves", "avoid", "allow", "D4,E5", "true", "dead", "seki", '{"ko":', '"SIMPLE"}', "byoyomi"]

commands = st.builds(
    lambda number, name, args: " ".join([*number, name, *args]),
    st.sampled_from([[], ["1"], ["42"]]),
    st.sampled_from([*NAMES, "play", "genmove", "unknown"]),
    st.lists(st.sampled_from(WORDS), max_size=5),
)


@settings(max_examples=150)
@given(st.lists(commands | st.text(max_size=20).filter(lambda s: "\n" not in s), max_size=12))
def test_each_command_gets_one_answer(lines: list[str]) -> None:
    session = session_of(FakeEngine(["D4", "E5", "pass", "C3"] * 10, reports=0))
    for line in lines:
        session.lines = InputQueue()
        command = parse_line(line)
        if command is not None and command.name in ("quit", "loadsgf", "printsgf"):
            continue
        try:
            answer = talk(session, line)
        except Exception as error:
            raise AssertionError(f"{line!r} brought the session down") from error
        if command is None:
            assert answer == ""
        else:
            assert answer.count("\n\n") == 1 and answer.endswith("\n\n") and answer[0] in "=?", (line, answer)
            assert answer[1:].startswith(command.id or ""), (line, answer)
            assert "internal error" not in answer, (line, answer)

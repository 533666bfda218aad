"""Fake GTP programs that behave badly in one way each: `python hostile.py KIND [MOVE]`, at the third move unless told.

`plays:C3,D4` plays these moves and then passes; `lacks:komi,genmove` does not know these commands, `refuses:komi` lists
them and answers with a question mark; `version:1.2` has this version. What else there is stands in the tables at the
end. Tests import their command lines from here.
"""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

PROGRAM = Path(__file__)
ARGUMENTS = sys.argv[1:] if __name__ == "__main__" else [""]
KIND, _, WORDS = ARGUMENTS[0].partition(":")
MOVE = int(ARGUMENTS[1]) if len(ARGUMENTS) > 1 else 3
LISTED = set(WORDS.split(",")) if KIND in ("lacks", "refuses") else set()
COMMANDS = ["name", "version", "list_commands", "boardsize", "clear_board", "komi", "play", "genmove", "quit"]
SLEEPER = "import time; time.sleep(600)"


def command_line(kind: str, move: int = 3) -> str:
    """Starts a program of this kind."""
    return shlex.join([sys.executable, str(PROGRAM), kind, str(move)])


def command_line_once(folder: Path) -> str:
    """Starts a program that dies at its third move, the first time alone: its file in the folder is gone then."""
    path = folder / "once.py"
    run = f"sys.argv[1:] = ['dies']\nexec(open({str(PROGRAM)!r}).read())"
    path.write_text(f"import os, sys\nos.remove(__file__)\n{run}\n")
    return shlex.join([sys.executable, str(path)])


def say(text: str) -> None:
    print(text, flush=True)


def complain(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def sleep() -> str:
    complain("thinking deeply")
    time.sleep(600)
    return ""


def die() -> str:
    complain("out of memory, goodbye")
    sys.exit(1)


def kill_itself() -> str:
    complain("something is wrong")
    os.kill(os.getpid(), signal.SIGKILL)
    return ""


def ignore_sigterm() -> str:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return sleep()


def close_stdout() -> str:
    complain("my pipe is gone")
    os.close(1)
    return sleep()


def leave_a_child(**options: object) -> str:
    subprocess.Popen([sys.executable, "-c", SLEEPER], **options)  # type: ignore[call-overload]
    return "= pass"


def leave_a_daemon() -> str:
    silent = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    return leave_a_child(start_new_session=True, **silent)


def die_and_leave_a_child() -> str:
    leave_a_child()  # which holds our pipes open
    return die()


def flood(stream: int, line: bytes = b"thinking " * 100 + b"\n") -> str:
    while True:
        os.write(stream, line)


def flood_stderr() -> str:
    for i in range(200_000):
        print("noise", i, file=sys.stderr)
    return "= pass"


def answer_late() -> str:
    time.sleep(1)
    return "= pass"


def talk_nonsense() -> str:
    for word in ("pass", "I pass!", "===== pass ====="):
        say(word)
    return sleep()


def send_garbage() -> str:
    os.write(1, bytes(range(256)) * 64 + b"\n= \xff\xfe\x00\x01\n\n")
    return ""


def answer_twice() -> str:
    say("= pass\n")
    return "= E5"


def think_aloud() -> str:
    complain(" pass ->    25 (V: 56.47%) (N: 13.26%) PV: pass\n42 visits, 900 nodes, 17 playouts, 220 n/s")
    return "= pass"


def never_end() -> str:
    say("= pass")
    return sleep()


def never_stop() -> str:
    say("= pass")
    return flood(1)


AT_START: dict[str, Callable[[], str]] = {
    "hangs-at-start": sleep,
    "dies-at-start": die,
    "kills-itself-at-start": kill_itself,
    "garbage-at-start": lambda: flood(1, bytes(range(128, 256)) * 8),
    "slow-start": answer_late,
    "ignores-sigterm-at-start": ignore_sigterm,
}
AT_MOVE: dict[str, Callable[[], str]] = {
    "hangs": sleep,
    "dies": die,
    "kills-itself": kill_itself,
    "ignores-sigterm": ignore_sigterm,
    "closes-stdout": close_stdout,
    "leaves-a-child": leave_a_child,
    "leaves-a-daemon": leave_a_daemon,
    "dies-and-leaves-a-child": die_and_leave_a_child,
    "floods-stdout": lambda: flood(1),
    "floods-stdout-in-one-line": lambda: flood(1, b"thinking " * 100),
    "floods-stderr": flood_stderr,
    "floods-stderr-for-ever": lambda: flood(2),
    "late": answer_late,
    "nonsense": talk_nonsense,
    "nonsense-move": lambda: "= the one beside my cat",
    "empty-move": lambda: "=",
    "off-the-board": lambda: "= T19",
    "garbage": send_garbage,
    "twice": answer_twice,
    "never-ends": never_end,
    "never-stops": never_stop,
    "stone-on-stone": lambda: "= A1",
    "refuses-to-move": lambda: "? cannot think",
    "resigns": lambda: "= Resign",
}
AT_COMMAND: dict[str, tuple[str, Callable[[], str]]] = {
    "hangs-at-play": ("play", sleep),
    "dies-at-count": ("final_status_list", die),
    "hangs-at-count": ("final_status_list", sleep),
    "names-no-stones": ("final_status_list", lambda: "= A1 E5"),
    "names-nonsense": ("final_status_list", lambda: "= all of them"),
    "names-nothing": ("final_status_list", lambda: "= "),
    "counts": ("final_score", lambda: "= B+3.5"),
    "counts-a-draw": ("final_score", lambda: "= 0"),
    "counts-nonsense": ("final_score", lambda: "= a good game"),
    "thinks-aloud": ("genmove", think_aloud),
}


def answer(words: list[str], moves: int) -> str:
    """What the program says to a command, without the empty line."""
    command = words[0] if words else ""
    if command in LISTED:
        return f"? {command} is unknown to me"
    if command == "boardsize" and KIND == "only-9x9" and words[1] != "9":
        return "? unacceptable size"
    if KIND in AT_COMMAND and command == AT_COMMAND[KIND][0]:
        return AT_COMMAND[KIND][1]()
    if command == "genmove":
        if KIND in AT_MOVE and moves >= MOVE:
            return AT_MOVE[KIND]()
        if KIND == "plays" and moves <= len(WORDS.split(",")):
            return f"= {WORDS.split(',')[moves - 1]}"
        return "= pass"
    if command == "version" and KIND == "version":
        return f"= {WORDS}"
    if command == "name":
        return f"\n\nsome chatter\n=1 {KIND}"
    if command == "list_commands":
        known = [*COMMANDS, AT_COMMAND[KIND][0]] if KIND in AT_COMMAND else COMMANDS
        others = [word for word in known if word not in LISTED]
        return "= " + "\n".join([*others, *LISTED] if KIND == "refuses" else others)
    return "="


def main() -> None:
    moves = 0
    if KIND in AT_START:
        AT_START[KIND]()
    for line in sys.stdin:
        words = line.split()
        moves += words[:1] == ["genmove"]
        if words[:1] == ["quit"] and KIND == "will-not-quit":
            sleep()
        text = answer(words, moves)
        if KIND == "dos":
            sys.stdout.write(text.replace("\n", "\r\n") + "\r\n\r\n")
            sys.stdout.flush()
        elif KIND == "own-ids" and text[0] in "=?":
            say(text[:1] + str(7 * moves) + text[1:] + "\n")
        else:
            say(text + "\n")
        if words[:1] == ["quit"]:
            return
    if KIND == "will-not-quit":
        sleep()


if __name__ == "__main__":
    main()

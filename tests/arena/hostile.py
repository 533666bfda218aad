"""Fake GTP programs that behave badly in one way each: `python hostile.py KIND`."""

from __future__ import annotations

import subprocess
import sys
import time

KIND = sys.argv[1]


def say(text: str) -> None:
    print(text, flush=True)


def misbehave(moves: int) -> str | None:
    """What the program answers to its next genmove, or None for a polite pass."""
    if KIND == "hangs" and moves == 3:
        time.sleep(600)
    if KIND == "dies" and moves == 3:
        print("out of memory, goodbye", file=sys.stderr, flush=True)
        sys.exit(1)
    if KIND == "stone-on-stone":
        return "= A1"
    if KIND == "nonsense-move":
        return "= the one beside my cat"
    if KIND == "refuses":
        return "? cannot think"
    if KIND == "resigns":
        return "= resign"
    return None


def flood() -> None:
    while KIND == "floods-stdout":
        print("thinking " * 100)
    if KIND == "floods-stderr":
        for i in range(200_000):
            print("noise", i, file=sys.stderr)


def main() -> None:
    moves = 0
    if KIND == "slow-start":
        time.sleep(1)
    if KIND == "hangs-at-start":
        time.sleep(600)
    if KIND == "leaves-a-child":
        subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
    for line in sys.stdin:
        words = line.split()
        command = words[0] if words else ""
        if command == "genmove":
            moves += 1
            flood()
            say((misbehave(moves) or "= pass") + "\n")
        elif command == "name":
            say(f"\n\nsome chatter\n=1 {KIND}\n")
        elif command == "list_commands":
            say("= name\nlist_commands\nboardsize\nclear_board\nkomi\nplay\ngenmove\nquit\n")
        elif command == "boardsize" and KIND == "only-9x9" and words[1] != "9":
            say("? unacceptable size\n")
        elif command == "quit" and KIND == "will-not-quit":
            time.sleep(600)
        elif command == "quit":
            say("=\n")
            return
        else:
            say("=\n")
    if KIND == "will-not-quit":
        time.sleep(600)


main()

"""The report of an import: games by verdict and reason, as text and JSON."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tengen.data.rows import DROPPED, FILTERED, PART, UNREADABLE, Note
from tengen.disk import size_text

REPORT_TEXT, REPORT_JSON, NOTES = "report.txt", "report.json", "not-whole.tsv"
DUPLICATE = "duplicate"
SAMPLED = "not in the sample"
EXCLUDED = "in an excluded store"

_EXAMPLES = 5
_VERDICTS = (PART, DROPPED, FILTERED, UNREADABLE)


@dataclass
class ImportReport:
    """Numbers of games by verdict and reason, with the first few places of each.

    games: trees read. kept: rows stored, including games kept in part. counted: complete games with a score and a known
    komi, whose final ownership was computed. owned: those of them where it agrees with the score.
    """

    games: int = 0
    kept: int = 0
    moves: int = 0
    bytes: int = 0
    counted: int = 0
    owned: int = 0
    seconds: float = 0.0
    reasons: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: dict[tuple[str, str], list[Note]] = field(default_factory=dict)

    def add(self, note: Note) -> None:
        """Count a game that is not kept in full, or a file that cannot be read."""
        key = (note.verdict, note.reason)
        self.reasons[key] += 1
        shown = self.examples.setdefault(key, [])
        if len(shown) < _EXAMPLES:
            shown.append(note)

    def number(self, verdict: str) -> int:
        """Games (or files, for UNREADABLE) of one verdict."""
        return sum(count for (name, _), count in self.reasons.items() if name == verdict)

    @property
    def rate(self) -> float:
        """Games read per second."""
        return self.games / self.seconds if self.seconds else 0.0

    def as_dict(self) -> dict[str, Any]:
        """Everything but the time taken, in a form for JSON."""
        return {
            "games": self.games,
            "kept": self.kept,
            "kept_in_part": self.number(PART),
            "dropped": self.number(DROPPED),
            "filtered_out": self.number(FILTERED),
            "files_not_read": self.number(UNREADABLE),
            "moves": self.moves,
            "counted": self.counted,
            "with_ownership": self.owned,
            "bytes": self.bytes,
            "reasons": [
                {
                    "verdict": verdict,
                    "reason": reason,
                    "count": count,
                    "examples": [{"place": n.place, "detail": n.detail} for n in self._shown(verdict, reason)],
                }
                for (verdict, reason), count in self._ordered()
            ],
        }

    def text(self) -> str:
        """The report as text."""
        share = 100 * self.kept / self.games if self.games else 0.0
        lines = [
            f"{self._games_read}, {self.kept:,} kept ({share:.2f}%), {self.moves:,} moves",
            f"  of these kept in part {self.number(PART):,}; dropped {self.number(DROPPED):,}; "
            f"filtered out {self.number(FILTERED):,}; files not read {self.number(UNREADABLE):,}",
        ]
        if self.counted:
            owned = 100 * self.owned / self.counted
            lines.append(f"  owners known for {self.owned:,} of {self.counted:,} counted games ({owned:.1f}%)")
        if self.kept:
            lines.append(f"  {size_text(self.bytes)} on disk, {self.bytes / self.kept:,.0f} bytes a game")
        for verdict in _VERDICTS:
            lines += self._section(verdict)
        return "\n".join(lines) + "\n"

    def summary(self) -> str:
        """One line: the number of games of each verdict and reason."""
        parts = [f"{verdict}: {reason} ({count:,})" for (verdict, reason), count in self._ordered()]
        return f"{self._games_read}, {self.kept:,} kept" + "".join(f"; {part}" for part in parts)

    @property
    def _games_read(self) -> str:
        return f"{self.games:,} {'game' if self.games == 1 else 'games'} read"

    def _section(self, verdict: str) -> list[str]:
        lines = []
        for (name, reason), count in self._ordered():
            if name == verdict:
                lines.append(f"  {count:>8,}  {reason}")
                shown = self._shown(name, reason)
                lines += [f"{'':12}{n.place}{': ' if n.detail else ''}{n.detail}" for n in shown]
        return [f"{verdict}:", *lines] if lines else []

    def _shown(self, verdict: str, reason: str) -> list[Note]:
        return self.examples.get((verdict, reason), [])

    def _ordered(self) -> list[tuple[tuple[str, str], int]]:
        return sorted(self.reasons.items(), key=lambda item: (_VERDICTS.index(item[0][0]), -item[1], item[0][1]))


class NoteFile:
    """Lists every game that is not kept in full, one per line: verdict, reason, place and detail, separated by tabs.

    Games that the filters or the sample leave out are not listed.
    """

    def __init__(self, folder: Path) -> None:
        self._file = (folder / NOTES).open("w", encoding="utf-8", errors="backslashreplace")

    def add(self, note: Note) -> None:
        """Write one line, unless the game was filtered out."""
        if note.verdict != FILTERED:
            fields = (" ".join(value.split()) for value in note)
            self._file.write("\t".join(fields) + "\n")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

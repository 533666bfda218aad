"""Commands that show a search while it runs: `lz-analyze`, `kata-analyze`, and those that play at its end."""

from __future__ import annotations

from collections.abc import Callable

from tengen.engine.limits import Limits
from tengen.engine.positions import with_turn
from tengen.engine.result import SearchResult
from tengen.errors import GtpError
from tengen.game import Game
from tengen.gtp.moves import play_result
from tengen.gtp.parse import Arguments, is_color, parse_color, parse_vertex
from tengen.gtp.report import Format, Wishes, kata_line, leela_line
from tengen.gtp.session import Emit, Restriction, Session, Stream

# KataGo's further requests, which programs send to any engine: understood, and left unanswered.
_UNANSWERED = ("ownershipstdev", "movesownership", "movesownershipstdev", "pvvisits", "pvedgevisits", "noresultvalue")
_LONGEST_INTERVAL = 360_000


def analyze(form: Format) -> Callable[[Session, Arguments], Stream]:
    """[COLOUR] [CENTISECONDS] KEY VALUE ...: search until the next line of input, printing a line each interval."""

    def command(session: Session, args: Arguments) -> Stream:
        color, wishes = read_wishes(args, session.game.size, session.game.to_play)
        game = with_turn(session.game, color)
        restricted = restriction(wishes, session.game, color)

        def run(emit: Emit) -> str:
            session.engine.set_position(game, *restricted)
            session.engine.think(
                Limits(early_stop=False),
                _printer(form, wishes, game.size, emit),
                until=session.lines.pending,
                every=wishes.every,
            )
            return ""

        return Stream(run)

    return command


def genmove_analyze(form: Format) -> Callable[[Session, Arguments], Stream]:
    """The same arguments: think about a move within its limits, printing lines, then play it: `play D4`."""

    def command(session: Session, args: Arguments) -> Stream:
        color, wishes = read_wishes(args, session.game.size, session.game.to_play)
        size, restricted = session.game.size, restriction(wishes, session.game, color)

        def run(emit: Emit) -> str:
            show = _printer(form, wishes, size, emit)
            result = session.search(color, show, every=wishes.every, restricted=restricted)
            show(result)
            return f"play {play_result(session, color, result)}"

        return Stream(run)

    return command


def _printer(form: Format, wishes: Wishes, size: int, emit: Emit) -> Callable[[SearchResult], None]:
    """Prints a result as a line; none before a move has a visit, since an empty line would end the answer."""

    def show(result: SearchResult) -> None:
        if text := form(result, wishes, size):
            emit(text)

    return show


lz_analyze, kata_analyze = analyze(leela_line), analyze(kata_line)
lz_genmove_analyze, kata_genmove_analyze = genmove_analyze(leela_line), genmove_analyze(kata_line)


def read_wishes(args: Arguments, size: int, to_play: int) -> tuple[int, Wishes]:
    """The colour to search for and what to show. Raises GtpError for an unknown key or a bad value."""
    words = list(args.words)
    color = parse_color(words.pop(0)) if words and is_color(words[0]) else to_play
    if words and words[0][:1].isdigit():
        words.insert(0, "interval")
    reader = _Reader(words, size, color)
    while reader.words:
        reader.read_key()
    return color, Wishes(**reader.found)  # type: ignore[arg-type]


def restriction(wishes: Wishes, game: Game, color: int) -> Restriction:
    """The moves to allow alone, and those to avoid. Raises GtpError when no legal move would be left."""
    legal = {*game.legal_points(color), game.size**2}
    if not (legal & wishes.allow if wishes.allow else legal) - wishes.avoid:
        raise GtpError("no legal move is left by allow and avoid")
    return sorted(wishes.allow), sorted(wishes.avoid)


class _Reader:
    """Takes the keys of an analysis command off a list of words, one after the other."""

    def __init__(self, words: list[str], size: int, color: int) -> None:
        self.words, self.size, self.color = words, size, color
        self.found: dict[str, object] = {}

    def read_key(self) -> None:
        key = self._next("a key").lower()
        match key:
            case "interval":
                self.found["every"] = self._integer(key, _LONGEST_INTERVAL) / 100
            case "minmoves":
                self.found["least"] = self._integer(key, self.size**2 + 1)
            case "maxmoves":
                self.found["most"] = self._integer(key, self.size**2 + 1)
            case "allow" | "avoid":
                self._read_points(key)
            case "rootinfo":
                self.found["root_info"] = self._boolean(key)
            case "ownership":
                self.found["ownership"] = self._boolean(key)
            case _ if key in _UNANSWERED:
                self._boolean(key)
            case _:
                raise GtpError(f"unknown key {key} of the analysis")

    def _read_points(self, key: str) -> None:
        """COLOUR VERTEX,VERTEX... DEPTH: it holds for the first move, so only if it is about the colour to move."""
        color = parse_color(self._next(f"the colour of {key}"))
        words = self._next(f"the moves of {key}").split(",")
        points = frozenset(parse_vertex(word, self.size) for word in words if word)
        self._integer(f"the depth of {key}", 1_000_000)
        if color == self.color:
            already = self.found.get(key, frozenset())
            assert isinstance(already, frozenset)
            self.found[key] = already | points

    def _integer(self, key: str, most: int) -> int:
        value = self._argument(key).integer(0)
        if not 0 <= value <= most:
            raise GtpError(f"{key} {value} is out of range: 0 to {most} expected")
        return value

    def _boolean(self, key: str) -> bool:
        return self._argument(key).boolean(0)

    def _argument(self, key: str) -> Arguments:
        return Arguments((self._next(f"a value of {key}"),))

    def _next(self, what: str) -> str:
        if not self.words:
            raise GtpError(f"syntax error: {what} expected")
        return self.words.pop(0)

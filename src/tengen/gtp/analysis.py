"""The analysis commands of Leela Zero, KataGo and Sabaki, those that search or play a move."""

from __future__ import annotations

from collections.abc import Callable

from tengen.engine.katago_view import Viewpoint
from tengen.engine.limits import Limits
from tengen.engine.positions import with_turn
from tengen.engine.result import SearchResult
from tengen.engine.symmetries import root_symmetries
from tengen.game import Game
from tengen.gtp.analysis_lines import Format, View, kata_line, leela_line
from tengen.gtp.analysis_options import AnalyzeOptions, read_options
from tengen.gtp.parse import Arguments
from tengen.gtp.play import Cancel, play_result, searched
from tengen.gtp.session import Emit, GtpSession, Stream


def analyze(form: Format, whole: bool = False) -> Callable[[GtpSession, Arguments], Stream]:
    """[COLOR] [CENTISECONDS] KEY VALUE ...: search until the next input line, with an output line each interval."""

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options, game = _asked(session, args)
        session.set_position(
            color,
            game,
            restrictions=options.restrictions,
            overrides=options.overrides(session),
        )

        def run(emit: Emit) -> str:
            session.engine.think(
                Limits(early_stop=False),
                _printer(form, options, _view(session, game, options, whole), emit),
                until=session.lines.pending,
                every=options.every,
                decide=False,
                pv_length=session.settings.pv_moves,
            )
            return ""

        return Stream(run)

    return command


def genmove_analyze(
    form: Format, *, whole: bool = False, play: bool = True, cancellable: bool = False
) -> Callable[[GtpSession, Arguments], Stream]:
    """The same arguments: search a move within its limits with output lines, and play it unless told not to.

    The last line is `play D4`, or `play cancelled` where a line of input has ended a cancellable search.
    """

    def command(session: GtpSession, args: Arguments) -> Stream:
        color, options, game = _asked(session, args)
        # What the search cannot do is an error before the answer begins.
        session.set_position(
            color,
            restrictions=options.restrictions,
            overrides=options.overrides(session),
        )

        def run(emit: Emit) -> str:
            show = _printer(form, options, _view(session, game, options, whole), emit)
            cancel = Cancel(session) if cancellable else None
            result = session.search(
                color,
                show,
                every=options.every,
                restrictions=options.restrictions,
                overrides=options.overrides(session),
                until=cancel,
            )
            show(result)
            move = play_result(session, color, result) if play else searched(session, color, result, cancel)
            return f"play {move}"

        return Stream(run)

    return command


def _asked(session: GtpSession, args: Arguments) -> tuple[int, AnalyzeOptions, Game]:
    """The color to search for, the options and the position. What cannot be searched is an error before the answer."""
    color, options = read_options(args, session.game)
    session.engine.evaluator.on(session.game.size)
    return color, options, with_turn(session.game, color)


def _view(session: GtpSession, game: Game, options: AnalyzeOptions, whole: bool) -> View:
    """Values are those of the side to move unless `reportAnalysisWinratesAs` names a color."""
    merged = session.engine.params_on(game.size).merge_symmetric
    return View(
        game.size,
        session.engine.ownership_below,
        root_symmetries(game, options.restrictions) if merged else (),
        Viewpoint.of(session.settings.perspective, game.to_play),
        whole,
    )


def _printer(form: Format, options: AnalyzeOptions, view: View, emit: Emit) -> Callable[[SearchResult], None]:
    """Print results as lines; nothing before a move has a visit, since an empty line would end the answer."""

    def show(result: SearchResult) -> None:
        if text := form(result, options, view):
            emit(text)

    return show


lz_analyze, lz_genmove_analyze = analyze(leela_line, whole=True), genmove_analyze(leela_line, whole=True)
kata_analyze, kata_genmove_analyze = analyze(kata_line), genmove_analyze(kata_line)
# Sabaki 0.60 reads these rates in 1/10000; older ones do so where a number has no decimal point.
sabaki_analyze, sabaki_genmove_analyze = analyze(kata_line, whole=True), genmove_analyze(kata_line, whole=True)
kata_search_analyze = genmove_analyze(kata_line, play=False)
kata_search_analyze_cancellable = genmove_analyze(kata_line, play=False, cancellable=True)

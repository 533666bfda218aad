"""Warnings about known failures of self-play, each with its evidence and a remedy."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass

from tengen.selfplay.config import LearnConfig, SelfPlayConfig
from tengen.selfplay.events import Event, at, games, number
from tengen.statistics import wilson

YOUNG = 5
"""Cycles after which a network must have learned something; checks of its quality begin then."""

_LASTING = 3  # consecutive cycles required of evidence that chance could produce once
_MIN_GAMES = 30  # below which a share is not significant
_NO_CORRELATION = 0.1  # of root values and results; a sound network of a few cycles is above 0.3
_CONSTANT = 0.01  # deviation of root values that are all the same
_ONE_SIGN = 0.95  # share of values of one sign
_DUPLICATES = 0.2  # share of the games
_FEW_OPENINGS = 0.25  # distinct openings after ten moves, as a share of the games
_FEW_BATCHES = 20  # batches that fit into the window
_REUSE = 1.5  # times the reuse that was asked for
_OVERFIT_VALUE = (1.5, 0.15)  # squared error on new games: factor and difference to that on games trained on
_OVERFIT_POLICY = 0.3  # nats of surprise on new games above that on games trained on
_BATCH, _MODE = 0.05, 0.1  # change of outputs by batch or mode; bf16 of a sound network gives 0.002
_RESIGN = 2.0  # times the false positives that were asked for
_AT_LIMIT = 0.5  # share of the games
_ONE_COLOR = 0.9  # share of the games at the fair komi that one color wins


@dataclass(frozen=True)
class RunWarning:
    """A failure by name, its evidence and its remedy."""

    kind: str
    text: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.text} {self.remedy}"

    def as_dict(self) -> dict[str, str]:
        return asdict(self)


def diagnose(history: Sequence[Event], config: SelfPlayConfig, only_itself: str | None = None) -> list[RunWarning]:
    """The warnings after the last cycle of `history`, one event `cycle` each, oldest first.

    `only_itself` is what the ratings say of a run that beats nobody but itself (`rating_book.only_beats_itself`).
    Figures that an event lacks, or that are None, raise no warning.
    """
    if not history:
        return []
    found = [check(history, config) for check in _CHECKS] + [_only_itself(only_itself)]
    return [warning for warning in found if warning is not None]


def _value_collapse(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    recent = _recent(history)
    if len(history) < YOUNG or len(recent) < _LASTING:
        return None
    movers = [number(event, 0.5, "statistics", "values", "mover_ahead") for event in recent]
    if min(movers) > _ONE_SIGN:
        sign = "it gives the side to move a winrate above 50% at nearly every move, for both colors"
    elif max(movers) < 1 - _ONE_SIGN:
        sign = "it gives the side to move a winrate below 50% at nearly every move, for both colors"
    elif all(_one_sided(e) for e in recent):
        ahead, won = (at(recent[-1], "statistics", *path) for path in (("values", "black_ahead"), ("black_share",)))
        sign = f"it has Black ahead at {ahead:.0%} of the moves, but Black won {won:.0%} of the games"
    else:
        correlations = [_correlation(event) for event in recent]
        if max(correlations) >= _NO_CORRELATION or not _both_win(recent[-1]):
            return None
        sign = f"its values do not correlate with the results (correlation {correlations[-1]:.2f})"
    return RunWarning(
        "value collapse",
        f"The value head has collapsed: {sign}, for {_LASTING} cycles.",
        "Lower the learning rate, raise the weight of the value loss or the window, and see that komi gives both sides "
        "a chance.",
    )


def _one_sided(event: Event) -> bool:
    """Whether nearly all values favour one color although the other wins games too."""
    ahead = number(event, 0.5, "statistics", "values", "black_ahead")
    won = number(event, 0.5, "statistics", "black_share")
    return (ahead > _ONE_SIGN and won < 0.7) or (ahead < 1 - _ONE_SIGN and won > 0.3)


def _correlation(event: Event) -> float:
    """The correlation of root values and results; 0 for values that are all the same, 1 where nothing is known."""
    constant = number(event, 1.0, "statistics", "values", "deviation") < _CONSTANT
    return 0.0 if constant else number(event, 1.0, "statistics", "values", "correlation")


def _both_win(event: Event) -> bool:
    return 0.05 < number(event, 0.0, "statistics", "black_share") < 0.95


def _duplicate_openings(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    last = history[-1]
    same, repeated = (number(last, 0.0, "statistics", name) for name in ("duplicates", "repeated"))
    openings = number(last, 1.0, "statistics", "distinct_openings", "10")
    if games(last) < _MIN_GAMES:
        return None
    if same > _DUPLICATES:
        sign = f"{same:.0%} of the games of the cycle repeat another one move for move (up to symmetry)"
    elif repeated > _DUPLICATES:
        sign = f"{repeated:.0%} of the games were played before, move for move (up to symmetry)"
    elif openings < _FEW_OPENINGS:
        sign = f"its {games(last)} games have only {round(openings * games(last))} different openings of ten moves"
    else:
        return None
    return RunWarning(
        "duplicate openings",
        f"The games are too much alike: {sign}.",
        "Raise opening.moves_mean, opening.temperature or the temperature of the search, add root noise, or start a "
        "share of the games from archived positions (opening.high_surprise).",
    )


def _starving_window(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    last, batch = history[-1], config.learn.batch_size
    positions, reuse = last.get("window_positions"), _reuse(last, config.learn)
    if positions is not None and positions < _FEW_BATCHES * batch:
        text = f"The window holds {positions:,} positions, only {positions / batch:.1f} batches of {batch}."
        return RunWarning(
            "starving window",
            text,
            "Play more games a cycle, raise learn.window.min_positions, or make batches smaller; until then each batch "
            "repeats the same few games.",
        )
    if reuse is not None and reuse > _REUSE * config.learn.reuse:
        text = f"Every new position is drawn {reuse:.1f} times, not {config.learn.reuse:g} times as asked for."
        return RunWarning("starving window", text, "Play more games a cycle or learn fewer steps.")
    return None


def _reuse(event: Event, learn: LearnConfig) -> float | None:
    """How often each new position was drawn, on average: without the share of the batches that were records."""
    steps, fresh = at(event, "steps"), at(event, "fresh_positions")
    own = 1 - learn.records.share_in(int(event["cycle"])) if learn.records else 1.0
    return None if steps is None or not fresh else own * steps * learn.batch_size / fresh


def _overfit(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    if len(history) < _LASTING or not all(map(_overfitted, _recent(history))):
        return None
    last = history[-1]
    fresh, seen = last["fresh"], last["seen"]
    return RunWarning(
        "overfit",
        "The network predicts the games that it was trained on far better than new ones: value error "
        f"{fresh['value']:.2f} on new games, {seen['value']:.2f} on old ones; policy surprise "
        f"{fresh['surprise']:.2f} and {seen['surprise']:.2f} nats.",
        "Lower learn.reuse, enlarge the window, play more games a cycle, or take a smaller network.",
    )


def _overfitted(event: Event) -> bool:
    (value, policy), (seen_value, seen_policy) = (
        [number(event, 0.0, part, name) for name in ("value", "surprise")] for part in ("fresh", "seen")
    )
    if at(event, "seen", "value") is None or at(event, "fresh", "value") is None:
        return False  # no training yet
    times, above = _OVERFIT_VALUE
    return (value > times * seen_value and value > seen_value + above) or policy > seen_policy + _OVERFIT_POLICY


def _normalisation(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    batch, mode = (number(history[-1], 0.0, "normalisation", name) for name in ("batch", "training"))
    if batch > _BATCH:
        sign = f"its outputs change by up to {batch:.2f} with what else is in the batch"
    elif mode > _MODE:
        sign = f"the network file and the network in training mode differ in their outputs, by {mode:.2f} on average"
    else:
        return None
    return RunWarning(
        "normalisation mode",
        f"The network's normalisation runs in the wrong mode: {sign}.",
        "Take a family without batch statistics (residual standardises its weights instead), or estimate the running "
        "statistics again before the export.",
    )


def _resign(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    if config.resign is None:
        return None
    share, played = (at(history[-1], "statistics", "resign", name) for name in ("false_positives", "played_out"))
    asked = config.resign.false_positives
    if share is None or not played or played < _MIN_GAMES or share <= _RESIGN * asked:
        return None
    if wilson(share * played, played)[0] <= asked:
        return None  # within what chance gives
    return RunWarning(
        "resign false positives",
        f"{share:.1%} of the {played} games that were played out would have been resigned by their winner; {asked:.1%} "
        "are asked for.",
        "Lower resign.max_threshold or raise resign.turns; resigned won games are wrong value targets.",
    )


def _move_limit(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    ended = at(history[-1], "statistics", "endings", "move limit") or 0
    played = games(history[-1])
    if played < _MIN_GAMES or ended <= _AT_LIMIT * played or len(history) < YOUNG:
        return None
    return RunWarning(
        "move limit",
        f"{ended / played:.0%} of the games end at the limit of moves, not by passes.",
        "Turn game.settle on and set game.pass_policy=free so that finished games end, or raise game.max_moves; "
        "games cut short are counted with dead stones on the board.",
    )


def _one_color(history: Sequence[Event], config: SelfPlayConfig) -> RunWarning | None:
    recent = _recent(history)
    if len(history) < YOUNG or len(recent) < _LASTING:
        return None
    for size, fair in (at(recent[-1], "statistics", "fair") or {}).items():
        parts = [at(event, "statistics", "fair", size) or {} for event in recent]
        played = sum(part.get("games") or 0 for part in parts)
        wins = sum((part.get("black_share") or 0.0) * (part.get("games") or 0) for part in parts)
        if played < _MIN_GAMES or 1 - _ONE_COLOR <= wins / played <= _ONE_COLOR:
            continue
        winner, share = ("Black", wins / played) if wins > played / 2 else ("White", 1 - wins / played)
        remedy = (
            "The fair komi lags behind: draw komi more widely (game.komi.deviation, tail), or play more games a cycle."
            if config.at(recent[-1]["cycle"]).game.komi.learn
            else "Komi is fixed: turn game.komi.learn on, or give a game.komi.start that both sides can win at."
        )
        return RunWarning(
            "one color wins",
            f"{winner} wins {share:.0%} of the {size}x{size} games at the estimated fair komi ({fair['komi']:g}), so "
            "results say little about moves.",
            remedy,
        )
    return None


def _only_itself(sign: str | None) -> RunWarning | None:
    if not sign:
        return None
    return RunWarning(
        "only beats itself",
        f"{sign[0].upper()}{sign[1:].rstrip('.')}.",
        "Make the games differ more (openings, noise, komi), and look at the sample games: such a run often plays one "
        "line again and again.",
    )


_Check = Callable[[Sequence[Event], SelfPlayConfig], RunWarning | None]
_CHECKS: tuple[_Check, ...] = (
    _value_collapse,
    _one_color,
    _duplicate_openings,
    _starving_window,
    _overfit,
    _normalisation,
    _resign,
    _move_limit,
)


def _recent(history: Sequence[Event]) -> Sequence[Event]:
    return history[-_LASTING:]

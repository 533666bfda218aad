"""Rating a network of a run: games against its anchors, and Elo of all networks from all games so far."""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tengen.data.split import derive
from tengen.engine.params import SearchParams
from tengen.errors import TengenError
from tengen.evaluators.evaluation import Evaluation, InputBatch
from tengen.evaluators.evaluator import BatchEvaluator, Evaluator, WrappingEvaluator
from tengen.evaluators.load import load_evaluator
from tengen.match.batch import Opening, Terms, duel
from tengen.match.batch_player import Player
from tengen.match.batch_programs import failures, play_program, points, program_rules
from tengen.match.conditions import Conditions
from tengen.selfplay.anchors import Anchor, find_anchors, network_name
from tengen.selfplay.config import GameConfig, SelfPlayConfig
from tengen.selfplay.rating_book import Pairing, RatingBook, RatingEvent, blunt_anchors, only_beats_itself

logger = logging.getLogger(__name__)

Load = Callable[[Path], Evaluator]
Check = Callable[[], None]
_DEFAULT = SearchParams()
_BYTES = 4096  # of a search's memory for a visit, more than a node of 19x19 takes


@dataclass(frozen=True)
class Match:
    """How a network meets its anchors: `games` against each on a board of `size` with `komi`, both colours equally.

    `visits` 1 is the raw policy, more search by `params`; the first `opening` moves of each pair of games are drawn
    from the network's policy. `threads` gather and scatter searches, and so many programs think at a time.
    `program_games`, where given, are the games against a program. With `never_pass` networks of the run pass only when
    no sensible move is left, as in a run whose games forbid passes.
    """

    terms: Terms
    games: int = 100
    visits: int = 1
    params: SearchParams = _DEFAULT
    opening: int = 4
    threads: int = 2
    move_seconds: float = 60.0
    program_games: int | None = None
    never_pass: bool = False


def _go_on() -> None:
    pass


def load_for_now(path: Path) -> Evaluator:
    """A network that lives for some cycles: its compiled models are not kept for later processes."""
    return load_evaluator(path, remember=False)


def rated_size(game: GameConfig) -> int:
    """The board size of a run's ratings: the most frequent one, of equals the largest."""
    return max(game.sizes, key=lambda size: (game.sizes[size], size))


def match_of(config: SelfPlayConfig, komi: float, threads: int = 2) -> Match:
    """How networks of this run are rated, at the fair komi of `rated_size`: without noise or chance in the search.

    A whole komi is lowered by half a point: where the whole board is the fair komi, as on 5x5, nobody could beat
    anybody with Black.
    """
    komi = komi - 0.5 if komi == int(komi) else komi
    params = config.search.search_params(full=False)
    sober = {"gumbel_scale": 0.0, "noise_weight": 0.0, "forced_playouts": 0.0, "root_temperature": 1.0}
    game, rating = config.game, config.rating
    terms = Terms(rated_size(game), game.rules, komi, game.max_moves, game.settle, params.simulate_to_end)
    params = params.model_copy(update={**sober, "memory": max(params.memory, rating.visits * _BYTES)})
    return Match(
        terms,
        rating.games,
        rating.visits,
        params,
        rating.opening,
        threads,
        program_games=rating.program_games,
        never_pass=game.forbid_pass,
    )


def rate(
    folder: Path,
    config: SelfPlayConfig,
    number: int,
    networks: Mapping[int, Path],
    komi: float,
    *,
    games: int = 0,
    hours: float = 0.0,
    threads: int = 2,
    load: Load = load_for_now,
    check: Check = _go_on,
) -> RatingEvent:
    """Rate network `number` of a run: play the pairings that `folder`/ratings.json lacks, and fit all ratings anew.

    `networks` are the run's network files by number, at least this one's; `komi` is the fair komi of `rated_size`;
    `games` and `hours` say where the run stands. The file is replaced after each pairing, so that a run that was killed
    goes on with the next; every pairing is a function of (the run's seed, number, anchor). Anchors that cannot play are
    left out, and the event says why. `check` is called before each batch and may raise, to stop. Raises TengenError
    when the network itself cannot be loaded, or the book cannot be read or written.
    """
    book = RatingBook.read(folder)
    match = match_of(config, komi, threads)
    if number == config.cycles:
        match = replace(match, program_games=None)
    done = book.event(number)
    if done is not None and done.done:
        return done
    player = network_name(number, match.visits)
    size = match.terms.size
    komi = match.terms.komi
    event = done or RatingEvent(number=number, games=games, hours=hours, player=player, size=size, komi=komi)
    before = [other.number for other in book.events]
    anchors, left_out = find_anchors(config.rating.anchors, number, networks, before, match.visits)
    ours = load(networks[number]).wrapped(partial(_Checked, check=check))
    for anchor in anchors:
        if anchor.name in [pairing.anchor for pairing in event.pairings]:
            continue
        try:
            pairing = play(anchor, ours, player, match, pairing_seed(config.seed, number, anchor.name), load)
        except TengenError as error:
            left_out.append(f"{anchor.word} is left out: {error}")
            continue
        logger.info("%s", pairing)
        event = event.model_copy(update={"pairings": (*event.pairings, pairing)})
        book = book.with_event(event)
        book.write(folder)
    book = book.with_event(event.model_copy(update={"left_out": tuple(left_out), "done": True})).fitted()
    event = _warned(book, number)
    book.with_event(event).write(folder)
    for sentence in filter(None, (*event.left_out, *event.warnings, event.only_beats_itself)):
        logger.warning("%s", sentence)
    return event


def play(anchor: Anchor, ours: Evaluator, name: str, match: Match, seed: int, load: Load = load_evaluator) -> Pairing:
    """The games of a network, filed under `name`, against an anchor. Raises TengenError when the anchor cannot play."""
    player = Player(ours, match.params, match.visits, never_pass=match.never_pass)
    about = {"player": name, "anchor": anchor.name, "word": anchor.word, "own": anchor.own, "number": anchor.number}
    if anchor.kind == "program":
        terms = match.terms
        rules = program_rules(terms.rules)
        conditions = Conditions(size=terms.size, komi=terms.komi, rules=rules, opening=match.opening, seed=seed)
        played = play_program(
            player,
            anchor.command,
            conditions,
            match.program_games or match.games,
            thinking=match.threads,
            move_seconds=match.move_seconds,
            threads=match.threads,
        )
        black, white = (points(played.outcomes, black) for black in (True, False))
        trouble = "; ".join(filter(None, [failures(played.outcomes), played.trouble]))
        distinct, seconds = played.distinct, played.seconds
    else:
        theirs = None if anchor.network is None else load(anchor.network)
        opponent = anchor.player(theirs, match.params, match.never_pass and anchor.own)
        opening = Opening(match.opening, 1.0, ours)
        result = duel(player, opponent, match.terms, match.games, seed, opening=opening, threads=match.threads)
        black, white = ((t.wins, t.draws, t.losses) for t in (result.black, result.white))
        distinct = len({record.moves.tobytes() for record in result.records})
        seconds, trouble = result.seconds, ""
    return Pairing(**about, black=black, white=white, distinct=distinct, seconds=round(seconds, 2), trouble=trouble)


def pairing_seed(seed: int, number: int, anchor: str) -> int:
    """What decides the games of network `number` against this anchor."""
    word = int.from_bytes(hashlib.sha256(anchor.encode()).digest()[:8], "little")
    return derive(seed, number, word)


class _Checked(WrappingEvaluator):
    """An evaluator that asks before each batch whether to go on."""

    def __init__(self, inner: BatchEvaluator, check: Check) -> None:
        super().__init__(inner)
        self._check = check

    def infer(self, batch: InputBatch) -> Evaluation:
        self._check()
        return self.inner.infer(batch)


def _warned(book: RatingBook, number: int) -> RatingEvent:
    """The event of this number with all that should be said about it."""
    event = book.event(number)
    assert event is not None
    told = [f"{pairing.anchor}: {pairing.trouble}" for pairing in event.pairings if pairing.trouble]
    for pairing in event.pairings:
        if pairing.distinct < pairing.tally.games / 2:
            told.append(
                f"only {pairing.distinct} of {pairing.tally.games} games against {pairing.anchor} differ: their "
                "interval is too narrow (rating.opening draws more moves)"
            )
    upto = [other for other in book.events if other.number <= number]
    told += filter(None, [blunt_anchors(event)])
    return event.model_copy(update={"only_beats_itself": only_beats_itself(upto), "warnings": tuple(told)})

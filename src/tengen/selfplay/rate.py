"""Rating a network of a run: games against its anchors, and Elo of all networks from all games so far."""

from __future__ import annotations

import hashlib
import logging
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from tengen.cluster import Cluster
from tengen.data.seeds import derive
from tengen.errors import ClusterError, TengenError
from tengen.match.batch import Check, never_stop
from tengen.match.conditions import Conditions
from tengen.match.folder import read_folder
from tengen.match.outcome import FAILURES, Outcome
from tengen.match.settings import MatchSettings
from tengen.match.spec import PlayerSpec
from tengen.ratings.duplicate_games import distinct_games
from tengen.rules import Rules
from tengen.runs.interruption import ShutdownFlag
from tengen.selfplay.anchors import Anchor, RunPlayers, find_anchors, network_name
from tengen.selfplay.conditions import CycleConditions
from tengen.selfplay.config import SelfPlayConfig
from tengen.selfplay.folder import SelfPlayFolder
from tengen.selfplay.matches import (
    Load,
    PlayerOpener,
    load_temporary,
    play_run_match,
    run_conditions,
    run_pass_policy,
    run_search_params,
    tallies_by_color,
)
from tengen.selfplay.rating_book import AnchorResult, RatingBook, RatingEvent, only_beats_itself, saturated_opponents

logger = logging.getLogger(__name__)

_MOVE_SECONDS = 60.0  # that a program may take
_THREADS = 2  # of the searches, and copies of a program that compute at once


@dataclass(frozen=True)
class RatingMatch:
    """How the networks of a run meet their anchors. `program_games` are the games against a program, where given."""

    conditions: Conditions
    players: RunPlayers
    games: int = 100
    program_games: int | None = None

    def settings(self, player: PlayerSpec, opponent: PlayerSpec, seed: int) -> MatchSettings:
        """The match of a network against an anchor; games are rounded up to both colors equally."""
        conditions, games = self.conditions, self.games
        if opponent.kind == "program":
            games = self.program_games or games
            conditions = Conditions(
                size=conditions.size,
                komi=conditions.komi,
                rules=program_rules(conditions.rules),
                opening=conditions.opening,
            )
            opponent = opponent.model_copy(update={"move_seconds": _MOVE_SECONDS})
        fields = {"conditions": conditions.model_copy(update={"seed": seed}), "games": games + games % 2}
        return MatchSettings.of(player, opponent, **fields)


def program_rules(rules: str) -> str:
    """The rules of a game against a program, for a run under these rules.

    Area scoring becomes `chinese`, under which the players agree on dead stones: under Tromp-Taylor rules a program
    that passes before it has captured all dead stones, as all do, would lose by them.
    """
    return "chinese" if Rules.parse(rules).scoring == "area" else rules


def match_of(config: SelfPlayConfig, komi: float) -> RatingMatch:
    """How networks of this run are rated, at the fair komi of `GameConfig.main_size` and with a search without noise.

    A whole komi is lowered by half a point: where the whole board is the fair komi, as on 5x5, Black could beat nobody.
    """
    komi = komi - 0.5 if komi == int(komi) else komi
    game, rating = config.game, config.rating
    params = run_search_params(config, rating.visits)
    conditions = run_conditions(game, params, game.main_size, komi, opening=rating.opening)
    conditions = conditions.model_copy(update={"opening": conditions.drawn})
    players = RunPlayers(rating.visits, params, run_pass_policy(game), config.device)
    return RatingMatch(conditions, players, rating.games, rating.program_games)


def rate(
    folder: Path,
    config: SelfPlayConfig,
    number: int,
    networks: Mapping[int, Path],
    komi: float,
    *,
    games: int = 0,
    hours: float = 0.0,
    load: Load | None = None,
    check: Check = never_stop,
    cluster: Cluster | None = None,
) -> RatingEvent:
    """Rate network `number` of a run: play the games that `folder`/matches lacks, and fit all ratings anew.

    `networks` are the run's network files by number, at least this one's; `komi` is the fair komi of
    `GameConfig.main_size`; `games` and `hours` say where the run stands. ratings.json is written at the end; a run that
    was killed continues with the games that are missing. Every game is a function of (the run's seed, number, anchor,
    game). Anchors that cannot play are left out, and the event says why. `check` is called before each batch and may
    raise, to stop. A `cluster` plays all games but those against programs, which are on this machine, by its CPU.
    Raises TengenError when the network itself cannot be loaded, ratings.json cannot be read or written, or the cluster
    fails (ClusterError).
    """
    book = RatingBook.read(folder)
    if (done := book.event(number)) is not None:
        return done
    match = match_of(config, komi)
    if number == config.cycles:
        match = replace(match, program_games=None)
    before = [other.number for other in book.events]
    anchors, left_out = find_anchors(config.rating.anchors, number, networks, before, match.players)
    # The device is that of the cluster's workers: this process may have none, and holds no share of one.
    load = load or partial(load_temporary, device=config.device if cluster is None else "cpu")
    opener = PlayerOpener({f"network {k}": path for k, path in networks.items()}, load, check, cluster)
    opener.evaluator(f"network {number}")
    pairings = []
    for anchor in anchors:
        try:
            pairings.append(play_anchor(folder, anchor, number, match, config.seed, opener))
        except ClusterError:  # the anchor is not to blame, and a rating is for good
            raise
        except TengenError as error:
            left_out.append(f"{anchor.word} is left out: {error}")
            continue
        logger.info("%s", pairings[-1])
    event = RatingEvent(
        number=number,
        games=games,
        hours=hours,
        player=network_name(number, match.players.visits),
        size=match.conditions.size,
        komi=match.conditions.komi,
        pairings=tuple(pairings),
        left_out=tuple(left_out),
    )
    book = book.with_event(event).fitted()
    event = _warned(book, number)
    book.with_event(event).write(folder)
    for sentence in filter(None, (*event.left_out, *event.warnings, event.only_beats_itself)):
        logger.warning("%s", sentence)
    return event


def rate_network(
    config: SelfPlayConfig,
    folder: SelfPlayFolder,
    number: int,
    conditions: CycleConditions,
    hours: float,
    stop: ShutdownFlag,
    cluster: Cluster | None = None,
) -> RatingEvent:
    """Rate a network of a run, `hours` after its beginning, at the fair komi of its cycle.

    Raises KeyboardInterrupt on a requested shutdown.
    """
    komi = conditions.fair_komi[config.game.main_size]
    games = number * config.games_per_cycle
    networks = dict(folder.networks())
    return rate(
        folder.path, config, number, networks, komi, games=games, hours=hours, check=stop.check, cluster=cluster
    )


def play_anchor(
    folder: Path, anchor: Anchor, number: int, match: RatingMatch, seed: int, opener: PlayerOpener
) -> AnchorResult:
    """The games of network `number` against an anchor, played in `folder`/matches/rating-NUMBER-vs-ANCHOR.

    Games in which a program failed do not count. Raises TengenError when the anchor cannot play.
    """
    started = time.perf_counter()
    player = match.players.network(number)
    settings = match.settings(player, anchor.player, pairing_seed(seed, number, anchor.name))
    place = folder / "matches" / f"rating-{number:05d}-vs-{_slug(anchor.name)}"
    program = anchor.player.kind == "program"
    trouble = []
    try:
        outcomes = play_run_match(settings, place, opener.execution(_THREADS, program))
    except TengenError as error:
        if not program or not place.exists() or not (outcomes := read_folder(place)[1]):
            raise
        trouble.append(str(error))
    fair = [outcome for outcome in outcomes if outcome.reason not in FAILURES]
    black, white = ((t.wins, t.draws, t.losses) for t in tallies_by_color(fair, player.name))
    return AnchorResult(
        player=player.name,
        anchor=anchor.name,
        word=anchor.word,
        own=anchor.number is not None,
        number=anchor.number,
        black=black,
        white=white,
        distinct=distinct_games(place, fair),
        seconds=round(time.perf_counter() - started, 2),
        trouble="; ".join(filter(None, [failures(outcomes), *trouble])),
    )


def failures(outcomes: list[Outcome]) -> str:
    """The games in which a program failed, in words; empty if none."""
    broken = [outcome for outcome in outcomes if outcome.reason in FAILURES]
    if not broken:
        return ""
    words = f" ({broken[0].last_words[-1]})" if broken[0].last_words else ""
    return f"{len(broken)} of {len(outcomes)} games do not count, the program failed: {broken[0].detail}{words}"


def pairing_seed(seed: int, number: int, anchor: str) -> int:
    """The seed of the games of network `number` against this anchor."""
    word = int.from_bytes(hashlib.sha256(anchor.encode()).digest()[:8], "little")
    return derive(seed, number, word)


def _slug(name: str) -> str:
    """A name for a folder, which differs for names that differ."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    return slug if slug == name else f"{slug}-{hashlib.sha256(name.encode()).hexdigest()[:6]}"


def _warned(book: RatingBook, number: int) -> RatingEvent:
    """The event of this number with its warnings."""
    event = book.event(number)
    assert event is not None
    warnings = [f"{pairing.anchor}: {pairing.trouble}" for pairing in event.pairings if pairing.trouble]
    for pairing in event.pairings:
        if pairing.distinct < pairing.tally.games / 2:
            warnings.append(
                f"only {pairing.distinct} of {pairing.tally.games} games against {pairing.anchor} differ: their "
                "interval is too narrow (rating.opening draws more moves)"
            )
    upto = [other for other in book.events if other.number <= number]
    warnings += filter(None, [saturated_opponents(event)])
    return event.model_copy(update={"only_beats_itself": only_beats_itself(upto), "warnings": tuple(warnings)})

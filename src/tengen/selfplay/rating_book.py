"""The ratings of a run in ratings.json: the result of every pairing, and Elo fitted to all of them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError

from tengen.disk import json_text, write_text
from tengen.errors import TengenError, os_reason, refused_value
from tengen.ratings.elo import Rating, Ratings, fit
from tengen.ratings.score import Score
from tengen.statistics import Tally

FILE = "ratings.json"
_FORMAT = 1
_ANCHORS = ("GNU Go level 10", "random")  # whose rating is 0: the first that took part
_WINDOW = 5  # events over which a run is watched for beating itself alone
_MIN_EVENTS = 3
_NEWEST = 20  # ratings whose players get new intervals: to find those of all takes half a minute for 800 networks


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")


class Standing(_Row):
    """Elo with its 95% interval; an end that no game bounds is None."""

    elo: float
    low: float | None
    high: float | None

    @classmethod
    def of(cls, rating: Rating) -> Standing:
        low = None if rating.open_low else _finite(rating.low)
        return cls(elo=round(rating.elo, 1), low=low, high=None if rating.open_high else _finite(rating.high))

    def moved_to(self, rating: Rating) -> Standing:
        """The same interval around the Elo of another fit."""
        elo = round(rating.elo, 1)
        low, high = (None if end is None else round(end + elo - self.elo, 1) for end in (self.low, self.high))
        return Standing(elo=elo, low=None if rating.open_low else low, high=None if rating.open_high else high)

    def __str__(self) -> str:
        low, high = ("?" if end is None else f"{end:+.0f}" for end in (self.low, self.high))
        return f"{self.elo:+.0f} [{low} to {high}]"


class AnchorResult(_Row):
    """The games of a network against an anchor. `black`, `white`: the network's wins, draws, losses as that color.

    `own` says that the anchor is a network of the run too, the one of this `number`. `distinct` counts different games;
    `trouble` says in words what else should be known.
    """

    player: str
    anchor: str
    word: str
    own: bool
    number: int | None = None
    black: tuple[int, int, int]
    white: tuple[int, int, int]
    distinct: int
    seconds: float = 0.0
    trouble: str = ""

    @property
    def tally(self) -> Tally:
        """The network's wins, draws and losses with both colors."""
        return Tally(*(one + other for one, other in zip(self.black, self.white, strict=True)))

    def scores(self) -> Iterator[Score]:
        wins, draws, losses = self.black
        yield Score(self.player, self.anchor, wins, draws, losses)
        wins, draws, losses = self.white
        yield Score(self.anchor, self.player, losses, draws, wins)

    def figures(self) -> dict[str, Any]:
        """Score with its 95% interval, and by color."""
        low, high = self.tally.interval()
        return {
            "score": round(self.tally.score, 4),
            "low": round(low, 4),
            "high": round(high, 4),
            "games": self.tally.games,
            "as_black": round(Tally(*self.black).score, 4),
            "as_white": round(Tally(*self.white).score, 4),
            "own": self.own,
        }

    def __str__(self) -> str:
        low, high = self.tally.interval()
        share = f"{self.tally.score:.1%} [{low:.1%} to {high:.1%}]"
        return f"{self.player} against {self.anchor}: {share} of {self.tally.games} games"


class RatingEvent(_Row):
    """One rating: network `number` of the run after `games` of self-play and `hours`, on a board with fair komi.

    `elo` is fitted to all games of the run, `outside` to those against players outside it alone; both are of the newest
    fit, to all events so far. `only_beats_itself`, `left_out` and `warnings` are sentences.
    """

    number: int
    games: int
    hours: float
    player: str
    size: int
    komi: float
    pairings: tuple[AnchorResult, ...] = ()
    elo: Standing | None = None
    outside: Standing | None = None
    only_beats_itself: str | None = None
    left_out: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def past(self) -> AnchorResult | None:
        """The games against the network that was rated before."""
        return next((pairing for pairing in self.pairings if pairing.word == "past"), None)

    def point(self) -> dict[str, Any]:
        """The event as plain figures, for logs and charts.

        `cycle` is the one (from 0) that the rating followed, so `network` is the next number. `anchors` holds score and
        95% interval (Wilson) by opponent; the network that was rated before is `past`, whichever it was.
        """
        fields = self.model_dump(include={"games", "hours", "player", "size", "komi", "left_out", "warnings"})
        return {
            "cycle": self.number - 1,
            "network": self.number,
            **fields,
            **(self.elo.model_dump() if self.elo else {"elo": None, "low": None, "high": None}),
            "outside": self.outside.model_dump() if self.outside else None,
            "anchors": {
                "past" if pairing.word == "past" else pairing.anchor: pairing.figures() for pairing in self.pairings
            },
            "only_beats_itself": self.only_beats_itself,
        }

    def __str__(self) -> str:
        against = ", ".join(f"{pairing.tally.score:.0%} against {pairing.anchor}" for pairing in self.pairings)
        return f"{self.player}: Elo {self.elo or 'unknown'}; {against or 'no games'}"


class RatingBook(_Row):
    """All events of a run, in order, and the ratings of the players that it met; `anchor` has 0.

    The file also holds the `points` of the events (`RatingEvent.point`), for charts.
    """

    format: int = _FORMAT
    anchor: str | None = None
    events: tuple[RatingEvent, ...] = ()
    players: dict[str, Standing] = {}
    warnings: tuple[str, ...] = ()

    @classmethod
    def read(cls, folder: Path) -> RatingBook:
        """The book in a run's folder, empty if there is none; TengenError for a file that is none."""
        path = folder / FILE
        if not path.exists():
            return cls()
        try:
            book = cls.model_validate_json(path.read_bytes())
        except (OSError, ValidationError) as error:
            reason: object = error
            if isinstance(error, ValidationError):
                first = error.errors()[0]
                reason = refused_value(first, ".".join(map(str, first["loc"])))
            raise TengenError(f"{path} cannot be read as ratings: {reason}; move it away to rate anew") from error
        if book.format != _FORMAT:
            raise TengenError(f"{path} has format {book.format}, this version reads {_FORMAT}")
        return book

    def write(self, folder: Path) -> None:
        """Replace the file as a whole: a kill or a full disk leaves the old one. Raises TengenError on a full disk."""
        path = folder / FILE
        points = [event.point() for event in self.events]
        try:
            write_text(path, json_text({**self.model_dump(), "points": points}, indent=1) + "\n")
        except OSError as error:
            raise TengenError(f"{path} cannot be written: {os_reason(error)}") from error

    @property
    def alarm(self) -> str | None:
        """The sentence of the newest rating about a run that only beats itself; None where all is well."""
        return self.events[-1].only_beats_itself if self.events else None

    def event(self, number: int) -> RatingEvent | None:
        return next((event for event in self.events if event.number == number), None)

    def networks(self) -> set[int]:
        """Numbers of the run's networks that later ratings may need: those rated, and those met as anchors."""
        met = (pairing.number for event in self.events for pairing in event.pairings)
        return {event.number for event in self.events} | {number for number in met if number is not None}

    def with_event(self, event: RatingEvent) -> RatingBook:
        """The book with an event added or replaced; ratings as they were."""
        others = [other for other in self.events if other.number != event.number]
        events = tuple(sorted([*others, event], key=lambda event: event.number))
        return self.model_copy(update={"events": events})

    def fitted(self) -> RatingBook:
        """The book with all ratings fitted to all its games.

        Only the players of the newest ratings get new intervals. Those of others, who have no new games, move with
        their Elo.
        """
        pairings = [pairing for event in self.events for pairing in event.pairings if pairing.tally.games]
        if not pairings:
            return self
        apart = [pairing for pairing in pairings if not pairing.own]
        met = [pairing.anchor for pairing in (*apart, pairings[0])]
        anchor = next(name for name in (*_ANCHORS, *met) if name in met)
        # Whose intervals are known and stay?
        newest = [*self.events[-_NEWEST:], *(event for event in self.events if event.elo is None)]
        changed = {name for event in newest for pairing in event.pairings for name in (pairing.player, pairing.anchor)}
        of_all, outside = (
            {name: at for name, at in found.items() if at is not None and name not in changed and anchor == self.anchor}
            for found in (self.players, {event.player: event.outside for event in self.events})
        )
        # The two fits.
        scores = [score for pairing in pairings for score in pairing.scores()]
        wanted = {name for pairing in pairings for name in (pairing.player, pairing.anchor)} - of_all.keys()
        whole = fit(scores, anchor, intervals=wanted)
        players, seen = _standings(whole, of_all), {}
        if apart:
            scores = [score for pairing in apart for score in pairing.scores()]
            wanted = {event.player for event in self.events} - outside.keys()
            seen = _standings(fit(scores, anchor, intervals=wanted), outside)
        events = [
            event.model_copy(update={"elo": players.get(event.player), "outside": seen.get(event.player)})
            for event in self.events
        ]
        fields = {"anchor": anchor, "events": tuple(events), "players": players, "warnings": whole.warnings}
        return self.model_copy(update=fields)


def _standings(ratings: Ratings, known: Mapping[str, Standing]) -> dict[str, Standing]:
    """The standings of all players; the intervals of those in `known` are kept."""
    return {
        rating.player: known[rating.player].moved_to(rating) if rating.player in known else Standing.of(rating)
        for rating in ratings.players
    }


def only_beats_itself(history: Sequence[RatingEvent]) -> str | None:
    """A sentence when the run's networks beat each other and nobody else, else None.

    What the last network gained on the first of the last events, by all games among networks of the run, is compared
    with what players outside the run have seen of it: the alarm is given when even the high end of the latter is less
    than half of the low end of the former. The steps from each network to the next do not suffice, since strength is
    not transitive: their sum was +623 where the same networks had gained +224 on early ones (zero-7x7). Anchors that
    every network beats, or that none does, see nothing, and give no alarm.
    """
    events = [event for event in history if event.pairings][-_WINDOW:]
    while len(events) > 1 and any(event.past is None for event in events[1:]):
        events = events[1:]
    if len(events) < _MIN_EVENTS:
        return None
    first, last = events[0].player, events[-1].player
    claimed, seen = (_gain(_scores(events, own), first, last) for own in (True, False))
    if claimed is None or seen is None or claimed.low <= 0 or seen.high >= claimed.low / 2:
        return None
    return (
        f"the last {len(events)} rated networks gained {claimed} Elo among networks of the run, but only "
        f"{seen} against players outside the run: it learns to beat itself alone (more variety of openings, komi and "
        "opponents helps)"
    )


def saturated_opponents(event: RatingEvent) -> str | None:
    """A sentence when the network won every game against players outside the run, which then measure no progress."""
    outside = [pairing.tally for pairing in event.pairings if not pairing.own and pairing.tally.games]
    if outside and all(tally.points == tally.games for tally in outside):
        return "every game against players outside the run was won: only stronger anchors could see progress"
    return None


def _scores(events: Sequence[RatingEvent], own: bool) -> list[Score]:
    """The scores of the games against networks of the run, or against players outside it."""
    pairings = [pairing for event in events for pairing in event.pairings if pairing.own == own]
    return [score for pairing in pairings for score in pairing.scores()]


def _gain(scores: Sequence[Score], first: str, last: str) -> Rating | None:
    names = {name for score in scores if score.games for name in (score.black, score.white)}
    if not {first, last} <= names:
        return None
    return fit(scores, first, intervals=[last]).get(last)


def _finite(value: float) -> float | None:
    return round(value, 1) if math.isfinite(value) else None

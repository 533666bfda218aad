"""The book of a run's ratings: what is written comes back, and who beats only himself is found out."""

from __future__ import annotations

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tengen.errors import TengenError
from tengen.ratings.elo import Ratings, fit
from tengen.selfplay import rating_book
from tengen.selfplay.rating_book import (
    FILE,
    AnchorResult,
    RatingBook,
    RatingEvent,
    only_beats_itself,
    saturated_opponents,
)

Split = tuple[int, int, int]


def pairing(player: str, anchor: str, black: Split, white: Split, word: str = "", own: bool = False) -> AnchorResult:
    games = sum(black) + sum(white)
    return AnchorResult(
        player=player, anchor=anchor, word=word or anchor, own=own, black=black, white=white, distinct=games
    )


def event(number: int, *pairings: AnchorResult) -> RatingEvent:
    player = f"network {number}"
    return RatingEvent(
        number=number, games=100 * number, hours=number / 4, player=player, size=7, komi=9, pairings=pairings
    )


BOOK = RatingBook(
    events=(
        event(5, pairing("network 5", "random", (40, 1, 9), (30, 0, 20))),
        event(
            10,
            pairing("network 10", "random", (49, 0, 1), (48, 1, 1)),
            pairing("network 10", "network 5", (35, 0, 15), (30, 2, 18), "past", own=True),
        ),
    )
)


def test_the_fit_is_that_of_all_games_of_both_colors() -> None:
    book = BOOK.fitted()
    ratings = fit([score for e in BOOK.events for p in e.pairings for score in p.scores()], "random")
    assert book.anchor == "random"
    assert set(book.players) == {"random", "network 5", "network 10"}
    assert book.players["random"].elo == 0
    for e in book.events:
        assert e.elo is not None and e.elo.low is not None and e.elo.high is not None
        assert e.elo.elo == pytest.approx(ratings[e.player].elo, abs=0.1)
        assert e.elo.low < e.elo.elo < e.elo.high
    outside = [p for e in BOOK.events for p in e.pairings if not p.own]
    alone = fit([score for p in outside for score in p.scores()], "random")
    assert book.events[1].outside is not None
    assert book.events[1].outside.elo == pytest.approx(alone["network 10"].elo, abs=0.1)
    assert book.events[1].outside.elo != pytest.approx(book.events[1].elo.elo if book.events[1].elo else 0, abs=0.1)


@pytest.mark.slow
def test_intervals_of_the_newest_alone_are_found_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all took half a minute for 800 rated networks. Those that are kept are as good, within their fit."""
    rng, asked = np.random.default_rng(7), list[int]()
    whole = rating_book.fit

    def counted(scores: Any, anchor: str, *, intervals: Collection[str]) -> Ratings:
        asked.append(len(intervals))
        return whole(scores, anchor, intervals=intervals)

    monkeypatch.setattr(rating_book, "fit", counted)
    climbing = [1200 * i / (i + 20) for i in range(60)]
    book, alone = RatingBook(), RatingBook()
    for one in history(rng, climbing, climbing):
        book, alone = book.with_event(one).fitted(), alone.with_event(one)
    assert max(asked) <= 24
    for one, expected in zip(book.events, alone.fitted().events, strict=True):
        for found, wanted in ((one.elo, expected.elo), (one.outside, expected.outside)):
            assert found is not None and wanted is not None and found.elo == wanted.elo
            for end, exact in ((found.low, wanted.low), (found.high, wanted.high)):
                assert end is not None and exact is not None and end == pytest.approx(exact, abs=2)


def test_gnugo_level_10_is_zero_where_it_took_part() -> None:
    games = pairing("network 15", "GNU Go level 10", (5, 0, 20), (2, 0, 23))
    book = BOOK.with_event(event(15, games, pairing("network 15", "random", (25, 0, 0), (25, 0, 0)))).fitted()
    assert book.anchor == "GNU Go level 10" and book.players["GNU Go level 10"].elo == 0
    assert book.players["random"].elo < 0


def test_without_games_there_is_nothing_to_fit() -> None:
    book = RatingBook(events=(event(5),)).fitted()
    assert book.anchor is None and book.events[0].elo is None


def test_a_book_survives_its_file(tmp_path: Path) -> None:
    assert RatingBook.read(tmp_path) == RatingBook()
    book = BOOK.fitted()
    book.write(tmp_path)
    assert RatingBook.read(tmp_path) == book
    assert [path.name for path in tmp_path.iterdir()] == [FILE]


def test_a_half_written_file_is_never_the_book(tmp_path: Path) -> None:
    BOOK.write(tmp_path)
    whole = (tmp_path / FILE).read_bytes()
    (tmp_path / f"{FILE}.part").write_bytes(whole[: len(whole) // 2])  # killed while it wrote the next one
    assert RatingBook.read(tmp_path) == BOOK
    (tmp_path / FILE).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(TengenError, match=r"ratings\.json cannot be read"):
        RatingBook.read(tmp_path)
    (tmp_path / FILE).write_text('{"format": 99}')
    with pytest.raises(TengenError, match="format 99"):
        RatingBook.read(tmp_path)


def test_points_for_logs_and_charts(tmp_path: Path) -> None:
    BOOK.fitted().write(tmp_path)
    points = json.loads((tmp_path / FILE).read_text())["points"]
    assert [(point["cycle"], point["network"], point["games"]) for point in points] == [(4, 5, 500), (9, 10, 1000)]
    last = points[1]
    assert last["low"] < last["elo"] < last["high"]
    assert set(last["anchors"]) == {"random", "past"}
    past = last["anchors"]["past"]
    assert past["score"] == 0.66 and past["games"] == 100 and past["own"] and past["low"] < 0.66 < past["high"]
    assert (past["as_black"], past["as_white"]) == (0.7, 0.62)
    assert last["only_beats_itself"] is None


def test_the_alarm_is_that_of_the_newest_rating() -> None:
    assert RatingBook().alarm is None
    sick = event(15).model_copy(update={"only_beats_itself": "it beats itself alone"})
    assert BOOK.with_event(sick).alarm == "it beats itself alone"
    assert BOOK.with_event(sick).with_event(event(20)).alarm is None


def test_networks_that_must_be_kept() -> None:
    early = AnchorResult(
        player="network 20",
        anchor="network 4",
        word="early",
        own=True,
        number=4,
        black=(1, 0, 0),
        white=(1, 0, 0),
        distinct=2,
    )
    assert BOOK.with_event(event(20, early)).networks() == {4, 5, 10, 20}


def history(
    rng: np.random.Generator,
    inside: list[float],
    outside: list[float],
    early: list[float] | None = None,
    games: int = 100,
) -> list[RatingEvent]:
    """Ratings of a run whose networks have these strengths to each other, and these to the players outside.

    `early` are their strengths to the first network, where they meet it.
    """

    def split(difference: float) -> tuple[Split, Split]:
        chance = 1 / (1 + 10 ** (-difference / 400))
        wins = rng.binomial(games // 2, chance, 2)
        return (int(wins[0]), 0, games // 2 - int(wins[0])), (int(wins[1]), 0, games // 2 - int(wins[1]))

    events = []
    for i, strength in enumerate(outside):
        player = f"network {5 * i + 5}"
        met = [
            pairing(player, name, *split(strength - at)) for name, at in (("random", 0.0), ("GNU Go level 1", 700.0))
        ]
        if i:
            met.append(pairing(player, f"network {5 * i}", *split(inside[i] - inside[i - 1]), word="past", own=True))
        if early is not None:
            met.append(pairing(player, "network 1", *split(early[i]), word="early", own=True))
        events.append(event(5 * i + 5, *met))
    return events


def test_a_run_that_only_beats_itself_is_seen() -> None:
    rng = np.random.default_rng(3)
    climbing = [200.0 * i for i in range(8)]
    stuck = [300.0 for _ in climbing]
    found = [only_beats_itself(history(rng, climbing, stuck)) for _ in range(40)]
    assert sum(sentence is not None for sentence in found) >= 38
    sentence = next(sentence for sentence in found if sentence)
    assert sentence.startswith("the last 5 rated networks gained +") and "against players outside" in sentence


def test_a_run_that_learns_gives_no_alarm() -> None:
    rng = np.random.default_rng(4)
    climbing = [150.0 * i for i in range(8)]
    # Gains against others are two thirds of those against itself, as is usual.
    seen = [2 / 3 * strength for strength in climbing]
    for inside, outside in ((climbing, climbing), (climbing, seen), ([300.0] * 8, [300.0] * 8)):
        found = [only_beats_itself(history(rng, inside, outside)) for _ in range(40)]
        assert sum(sentence is not None for sentence in found) <= 1


def test_games_against_the_same_early_networks_count_as_much_as_the_chain_of_steps() -> None:
    """Each network beats the one before as if it were 150 Elo stronger, but what it gained on the first is a quarter
    of that, and outsiders say the same: strength is not transitive, and the run learns.
    """
    rng = np.random.default_rng(6)
    chain, direct, seen = ([step * i for i in range(5)] for step in (150.0, 37.5, 35.0))
    outside = [300 + gain for gain in seen]
    found = [only_beats_itself(history(rng, chain, outside, direct, games=200)) for _ in range(10)]
    assert not any(found)
    alone = [only_beats_itself(history(rng, chain, outside, games=200)) for _ in range(10)]
    assert sum(sentence is not None for sentence in alone) >= 8  # by the chain alone they are suspected


def test_nothing_is_said_where_nothing_can_be_seen() -> None:
    rng = np.random.default_rng(5)
    climbing = [200.0 * i for i in range(8)]
    beyond = [5000.0 + strength for strength in climbing]  # all anchors lose every game
    events = history(rng, climbing, beyond)
    assert only_beats_itself(events) is None
    assert "stronger anchors" in (saturated_opponents(events[-1]) or "")
    assert saturated_opponents(history(rng, climbing, climbing)[1]) is None
    assert only_beats_itself(events[:2]) is None
    assert only_beats_itself([]) is None
    assert saturated_opponents(event(5)) is None


def test_an_end_that_no_game_bounds_is_none() -> None:
    """A network that won all of its games may be any number of points stronger."""
    found = (
        RatingBook(events=(event(5, pairing("network 5", "random", (50, 0, 0), (50, 0, 0))),)).fitted().events[0].elo
    )
    assert found is not None and found.low is not None and found.high is None
    assert str(found).endswith(" to ?]")

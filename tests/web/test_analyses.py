"""What a game of a page keeps of the searches of its positions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from web_engine import FakeEngine

from tengen.engine.result import RootEvaluation, score_lead
from tengen.web.analyses import search_result
from tengen.web.components import candidate_rows
from tengen.web.players import PEOPLE
from tengen.web.session import GameSession
from tengen.web.settings import GameSettings


def analysis() -> GameSession:
    return GameSession(GameSettings(size=9, players=PEOPLE))


def test_analyses_are_kept_from_blacks_side_and_the_deeper_one_stays() -> None:
    session = analysis()
    engine = FakeEngine()
    session.analyses.add(session.node, engine.result(session.game, 100))
    session.play(40)
    session.analyses.add(session.node, engine.result(session.game, 100))
    session.analyses.add(session.node, engine.result(session.game, 10))
    (_, black), (_, white) = session.line_analyses()
    assert (black.winrate, black.score_lead) == (0.6, 2.5)
    assert (white.winrate, white.score_lead, white.visits) == (0.4, -2.5, 100)


def test_the_moves_that_a_search_did_not_try_are_not_kept() -> None:
    """They were nine tenths of the memory of an analyzed position."""
    session = analysis()
    found = FakeEngine().result(session.game, 100)
    others = tuple(replace(found.candidates[0], point=point, visits=0) for point in range(50, 80))
    for tried in (0, len(found.candidates)):
        session.analyses.add(session.node, replace(found, candidates=found.candidates[:tried] + others))
        kept = search_result(session.node)
        assert kept is not None and kept.candidates == (found.candidates[:tried] or others[:1])


def test_the_networks_own_evaluation_is_not_kept() -> None:
    """Nothing shows it, and it has a policy and an ownership for each position of a review."""
    session = analysis()
    raw = RootEvaluation(np.full(82, 1 / 82, np.float32), 0.0, None)
    session.analyses.add(session.node, replace(FakeEngine().result(session.game, 100), raw=raw))
    kept = search_result(session.node)
    assert kept is not None and kept.raw is None and kept.visits == 100


def test_the_lead_of_a_network_that_knows_it_stands_before_the_score_that_self_play_would_give() -> None:
    session = analysis()
    found = replace(FakeEngine().result(session.game, 100), score=4.0, lead=1.5)
    session.analyses.add(session.node, found)
    assert session.node.analysis is not None
    assert session.node.analysis.score_lead == score_lead(found) == 1.5
    best = replace(found.candidates[0], score=4.0, lead=1.5)
    assert candidate_rows(replace(found, candidates=(best,)))[0]["score"] == 1.5


def test_a_search_that_began_before_all_was_forgotten_is_not_kept() -> None:
    session = analysis()
    key, found = session.analyses.search_key(session.node), FakeEngine().result(session.game, 100)
    session.analyses.add(session.node, found, key)
    session.analyses.forget()
    session.analyses.add(session.node, found, key)
    assert search_result(session.node) is None
    session.analyses.add(session.node, found, session.analyses.search_key(session.node))
    assert search_result(session.node) is not None

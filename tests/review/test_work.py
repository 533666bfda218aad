"""The review of games as work that may be done on another machine."""

import pickle

from review.reviewed_game import RECORD

from tengen.evaluators.portable_network import PortableNetwork
from tengen.review.work import FinishedReview, ReviewWork


def test_work_and_result_travel_and_progress_is_told() -> None:
    made = ReviewWork(PortableNetwork("zero-7x7"), "0", 2, ["sgf", "json"], at_once=2, threads=1, device="cpu")
    work: ReviewWork = pickle.loads(pickle.dumps(made))
    assert work.source(RECORD) == made.source(RECORD)
    seen: list[tuple[int, int]] = []
    work.open()
    try:
        found = work.review("a", RECORD, lambda done, total: seen.append((done, total)))
        assert work.review("b", b"no game") == "no game tree in the text"
    finally:
        work.close()
    assert seen == [(done, 8) for done in range(9)]
    assert isinstance(found, FinishedReview) and pickle.loads(pickle.dumps(found)) == found
    assert (list(found.files), found.moves, found.problems) == (["sgf", "json"], 7, ())
    assert [(of.player, of.summary.moves) for of in found.figures] == [("Ann", 4), ("Bo", 3)]
    assert work.source(RECORD).encode() in found.files["sgf"]

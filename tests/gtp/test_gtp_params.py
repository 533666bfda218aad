"""Settings of the search over GTP and on the command line of `tengen gtp`."""

from __future__ import annotations

import pytest
from gtp_fakes import FakeEngine

from tengen.engine.params import SearchParams
from tengen.errors import GtpError, RecipeError, TengenError
from tengen.game import Game
from tengen.gtp.commands import COMMANDS
from tengen.gtp.parse import Arguments
from tengen.gtp.server import Settings, run
from tengen.gtp.session import GtpSession


@pytest.fixture
def session() -> GtpSession:
    return GtpSession(FakeEngine(), Game(9))


def ask(session: GtpSession, line: str) -> str:
    name, *words = line.split()
    answer = COMMANDS[name](session, Arguments(tuple(words)))
    assert isinstance(answer, str)
    return answer


def test_every_setting_can_be_read_and_set_again(session: GtpSession) -> None:
    for name in ask(session, "kata-list-params").split():
        before = session.engine.params
        ask(session, f"kata-set-param {name} {ask(session, f'kata-get-param {name}')}")
        assert session.engine.params == before


def test_a_setting_changes_the_search(session: GtpSession) -> None:
    ask(session, "kata-set-param c_puct 0.7")
    ask(session, "kata-set-param prune_eyes false")
    assert session.engine.params == SearchParams(c_puct=0.7, prune_eyes=False)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ("c_pukt 1", "did you mean c_puct"),
        ("c_puct one", "found 'one'"),
        ("c_puct -1", "greater than or equal to 0"),
        ("selection best", "'puct'"),
        ("playout_weight 0.5", "need playouts"),
        ("playouts 1000001", "less than or equal to 1000"),
        ("memory 99999999999999999999999", "less than"),
        ("rave_equivalence 1e50", "less than or equal to 1000000000"),
        ("priors nobody", "choose uniform, local"),
    ],
)
def test_what_cannot_work_is_named_and_changes_nothing(session: GtpSession, words: str, reason: str) -> None:
    with pytest.raises(TengenError, match=reason):
        ask(session, f"kata-set-param {words}")
    assert session.engine.params == SearchParams()


def test_a_wrong_value_is_told_once(session: GtpSession) -> None:
    with pytest.raises(RecipeError) as refused:
        ask(session, "kata-set-param playout nobody")
    assert str(refused.value).count("'nobody'") == 1


def test_an_unknown_setting_has_no_value(session: GtpSession) -> None:
    with pytest.raises(GtpError, match="unknown search setting 'komi'"):
        ask(session, "kata-get-param komi")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        (Settings(net="none", playouts="clever"), "'clever' is unknown: choose uniform, local"),
        (Settings(playouts="local"), "--playouts needs --net none"),
        (Settings(net="none", preset="gumbel"), "--preset needs a network"),
        (Settings(net="none", weaken=1.0), "--weaken 1 needs a network; with --net none"),
        (Settings(net="none", backend="onnxruntime"), "--backend onnxruntime needs a network; --net none has none"),
        (Settings(net="none", batch=16), "--batch 16 needs a network"),
        (Settings(preset="leela"), "unknown search preset 'leela'; did you mean leela-zero"),
        (Settings(net="none", params=("c_puct",)), "write NAME=VALUE"),
        (Settings(net="none", params=("c_puct=x",)), "c_puct"),
    ],
)
def test_a_command_line_that_cannot_work_is_refused(settings: Settings, reason: str) -> None:
    with pytest.raises(RecipeError, match=reason):
        run(settings)

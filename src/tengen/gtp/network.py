"""Commands about the network: which one plays, and what it says of the position without search."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tengen.engine.params import set_params
from tengen.engine.positions import with_turn
from tengen.errors import GtpError
from tengen.evaluators.evaluator import Evaluator
from tengen.evaluators.human import HumanNetwork
from tengen.evaluators.raw import raw_outputs
from tengen.evaluators.symmetric import SYMMETRIES
from tengen.game import Game
from tengen.gtp.parse import Arguments, is_color, parse_color
from tengen.gtp.session import GtpSession


def get_models(session: GtpSession, args: Arguments) -> str:
    """The network of this board size as KataGo describes its networks: a JSON list, empty without a network."""
    args.expect(0)
    size, engine, options = session.game.size, session.engine, session.options
    if not engine.params_on(size).uses_network:
        return "[]"
    network = engine.evaluator.on(size)
    return json.dumps(models(network, session.human, net=options.net, batch=options.batch or network.search_batch))


def models(network: Evaluator, human: HumanNetwork | None, *, net: str, batch: int) -> list[dict[str, Any]]:
    """What KataGo's protocols say of the networks: of the one that searches, named `net` by the user, then of the
    human-style one. `batch` is the largest batch of the first; `version` is that of KataGo's file format.
    """
    described: list[tuple[Evaluator | HumanNetwork, str, int]] = [(network, net or network.name, batch)]
    if human is not None:
        described.append((human, human.name, 1))
    return [
        {
            "name": name,
            "internalName": model.name,
            "maxBatchSize": size,
            "usesHumanSLProfile": model is human,
            "version": model.katago_format,
            "usingFP16": "auto",
        }
        for model, name, size in described
    ]


def raw_nn(session: GtpSession, args: Arguments) -> str:
    """[COLOR] SYMMETRY [OPTIMISM]: the outputs of the network for the position in one of the symmetries 0..7 or in all.

    COLOR is the side to move, OPTIMISM (0..1) the share of the optimistic policy of networks that have one, by default
    the setting rootPolicyOptimism.
    """
    args.expect(1, 3)
    game, symmetries, rest = _raw_arguments(session, args)
    if len(rest) > 1:
        raise GtpError("syntax error: [COLOR] SYMMETRY [OPTIMISM] expected")
    params = set_params(session.engine.params_on(game.size), session.overrides(game.to_play))
    optimism = Arguments(rest).number(0) if rest else params.root_policy_optimism
    if not 0 <= optimism <= 1:
        raise GtpError(f"no optimism {optimism:g}: 0 to 1 expected")
    if not params.uses_network:
        raise GtpError("there is no network: playouts evaluate")
    advantage = params.playout_doubling_advantage
    outputs = raw_outputs(session.engine.evaluator, game, symmetries, optimism, advantage)
    return "\n".join(raw.text() for raw in outputs)


def raw_human_nn(session: GtpSession, args: Arguments) -> str:
    """[COLOR] SYMMETRY: what the human-style network says of the position for the setting humanSLProfile."""
    args.expect(1, 2)
    game, symmetries, rest = _raw_arguments(session, args)
    if rest:
        raise GtpError("syntax error: [COLOR] SYMMETRY expected")
    if session.human is None:
        raise GtpError("Cannot run kata-raw-human-nn, -human-model was not provided")
    if not (profile := session.settings.human_profile):
        raise GtpError("Cannot run kata-raw-human-nn, humanSLProfile parameter was not set")
    return "\n".join(raw.text(human=True) for raw in session.human.outputs(game, profile, symmetries))


def _raw_arguments(session: GtpSession, args: Arguments) -> tuple[Game, Sequence[int], tuple[str, ...]]:
    """The position with its turn, the symmetries, and further arguments of [COLOR] SYMMETRY ..."""
    words = args.words
    color, words = (parse_color(words[0]), words[1:]) if is_color(words[0]) else (session.game.to_play, words)
    if not words:
        raise GtpError("syntax error: [COLOR] SYMMETRY expected")
    symmetries = range(SYMMETRIES) if words[0].lower() == "all" else [Arguments(words).integer(0)]
    if not 0 <= symmetries[0] < SYMMETRIES:
        raise GtpError(f"no symmetry {symmetries[0]}: all or 0 to {SYMMETRIES - 1} expected")
    return with_turn(session.game, color), symmetries, words[1:]

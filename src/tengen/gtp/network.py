"""Commands about the network: which one plays, and what it says of the position without search."""

from __future__ import annotations

import json

from tengen.engine.positions import with_turn
from tengen.errors import GtpError
from tengen.evaluators.evaluator import RAW_OPTIMISM
from tengen.evaluators.raw import raw_outputs
from tengen.evaluators.symmetric import SYMMETRIES
from tengen.gtp.parse import Arguments, is_color, parse_color
from tengen.gtp.session import GtpSession


def get_models(session: GtpSession, args: Arguments) -> str:
    """The network of this board size as KataGo describes its networks: a JSON list, empty without a network."""
    args.expect(0)
    size, engine = session.game.size, session.engine
    if not engine.params_on(size).asks_network:
        return "[]"
    name = engine.name_on(size)
    return json.dumps([{"name": name, "internalName": name, "usesHumanSLProfile": False, "usingFP16": "false"}])


def raw_nn(session: GtpSession, args: Arguments) -> str:
    """[COLOR] SYMMETRY [OPTIMISM]: the outputs of the network for the position in one of the symmetries 0..7 or in all.

    COLOR is the side to move, OPTIMISM (0..1) the share of the optimistic policy of networks that have one.
    """
    args.expect(1, 3)
    words = list(args.words)
    color = parse_color(words.pop(0)) if is_color(words[0]) else session.game.to_play
    if not words or len(words) > 2:
        raise GtpError("syntax error: [COLOR] SYMMETRY [OPTIMISM] expected")
    rest = Arguments(tuple(words))
    symmetries = range(SYMMETRIES) if words[0].lower() == "all" else [rest.integer(0)]
    optimism = rest.number(1) if len(rest) > 1 else RAW_OPTIMISM
    if not 0 <= symmetries[0] < SYMMETRIES:
        raise GtpError(f"no symmetry {symmetries[0]}: all or 0 to {SYMMETRIES - 1} expected")
    if not 0 <= optimism <= 1:
        raise GtpError(f"no optimism {optimism:g}: 0 to 1 expected")
    if not session.engine.params_on(session.game.size).asks_network:
        raise GtpError("there is no network: playouts evaluate")
    game = with_turn(session.game, color)
    return "\n".join(raw.text() for raw in raw_outputs(session.engine.evaluator, game, symmetries, optimism))

"""From the raw outputs of a network file to an Evaluation: the one place where logits become probabilities."""

import numpy as np

from tengen.evaluators.protocol import Evaluation, Floats


def softmax(logits: Floats) -> Floats:
    """Softmax over the last axis; an entry of minus infinity gets probability 0."""
    powers = np.exp(logits - logits.max(axis=-1, keepdims=True))
    result: Floats = powers / powers.sum(axis=-1, keepdims=True)
    return result


def board_softmax(logits: Floats, mask: Floats) -> Floats:
    """Probabilities [B, A] of the board's points and pass, from logits [B, A] and mask [B, H, W]."""
    batch = len(mask)
    playable = np.ones(logits.shape, bool)
    playable[:, :-1] = mask.reshape(batch, -1) > 0
    return softmax(np.where(playable, logits, np.float32(-np.inf)))


def evaluation_from_outputs(
    policy: Floats, value: Floats, score: Floats, ownership: Floats, mask: Floats
) -> Evaluation:
    """Read policy logits [B, A], value logits [B, 3] (win, draw, loss), score [B] in points, ownership [B, H, W]."""
    outcome = softmax(value.astype(np.float32))
    return Evaluation(
        policy=board_softmax(policy.astype(np.float32), mask),
        value=outcome[:, 0] - outcome[:, 2],
        score=score.astype(np.float32).reshape(len(mask)),
        ownership=np.clip(ownership.astype(np.float32), -1, 1) * (mask > 0),
    )

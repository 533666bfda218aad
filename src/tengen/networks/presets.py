"""The published networks by name: the fields of their families. docs/reference/networks.md lists them with their sizes.

A recipe names one as `network: {preset: bakago-v3, ...}`; further fields replace those of the preset. Where a source
leaves something open, the comment beside the preset says what we chose.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tengen.errors import NetworkError, unknown_name

Fields = dict[str, Any]

_FLAT: Fields = {"kind": "dense", "channels": 0}
_WIN_LOSS: Fields = {"kind": "pool", "hidden": 50, "output": "win-loss"}
_WITH_PASS: Fields = {"kind": "dense", "channels": 2, "pass_move": True}


def _alphago(filters: int) -> Fields:
    """Silver et al. 2016: the last convolution has no bias but one number for each point."""
    return {
        "family": "plain",
        "plane_set": "alphago48",
        "board_size": 19,
        "convs": (f"5x5x{filters}", f"11 * 3x3x{filters}"),
        "policy": {"kind": "conv", "bias": "point"},
    }


def _a0(blocks: int, filters: int, **fields: Any) -> Fields:
    """Cazenave 2020: the first convolution has edge 1, the value is one logit from the means of the channels."""
    return {
        "family": "a0",
        "plane_set": "golois21",
        "board_size": 19,
        "blocks": blocks,
        "filters": filters,
        "stem": 1,
        "value": _WIN_LOSS,
        "init": "xavier",
        **fields,
    }


def _mobile(blocks: int, filters: int, inner: int, **fields: Any) -> Fields:
    return {
        "family": "mobile",
        "plane_set": "golois21",
        "board_size": 19,
        "blocks": blocks,
        "filters": filters,
        "inner": inner,
        "value": _WIN_LOSS,
        "init": "xavier",
        **fields,
    }


def _zero(plane_set: str, blocks: int) -> Fields:
    """Silver et al. 2017."""
    return {
        "family": "a0",
        "plane_set": plane_set,
        "board_size": 19,
        "blocks": blocks,
        "policy": _WITH_PASS,
        "value": {"kind": "dense"},
    }


def _betago_valid(layers: int) -> Fields:
    return {
        **_BETAGO,
        "convs": (f"{layers} * 3x3x32",),
        "padding": "valid",
        "pool": 2,
        "dropout": 0.25,
        "policy": {**_FLAT, "hidden": 256, "dropout": 0.5},
    }


_ROCALPHAGO_INIT = round(0.05 / 3**0.5, 4)
_BETAGO: Fields = {"family": "plain", "plane_set": "betago7", "board_size": 19, "init": "xavier"}
_BETAGO_LARGE = ("7x7x64", "2 * 5x5x64", "2 * 5x5x48", "2 * 5x5x32")
_BOOK_AGENT: Fields = {**_BETAGO, "plane_set": "betago11-simple", "convs": _BETAGO_LARGE, "dense": 1024}
_BAKAGO: Fields = {"plane_set": "bakago39", "board_size": 19}
_ROLLOUT: Fields = {**_BAKAGO, "family": "plain", "activation": "tanh", "init": "xavier"}
_DARKFOREST: Fields = {"family": "plain", "plane_set": "darkforest25", "board_size": 19, "batch_norm": "after"}
_DEEPGO: Fields = {
    "family": "plain",
    "plane_set": "deepgo8",
    "board_size": 19,
    "policy": {"kind": "conv", "kernel": 3, "bias": "map"},
    "init": 0.01,
    "init_bias": 0.01,
}
# 5x5x92 first; the exact network is unknown, this one has 0.67 million weights as the size of its file suggests.
_PLAN_B: Fields = {
    "family": "preact",
    "plane_set": "darkforest25",
    "board_size": 19,
    "filters": 92,
    "stem": 5,
    "policy": {"kind": "conv", "kernel": 3, "bias": "map", "maps": 3},
}

PRESETS: dict[str, Fields] = {
    # Pumperla's BetaGo; the small and the large one pad their boards. Its network of three layers has no published
    # widths: a third convolution like the two.
    **{f"betago-{layers}": _betago_valid(layers) for layers in (2, 3)},
    "betago-small": {**_BETAGO, "convs": ("7x7x48", "3 * 5x5x32"), "policy": {**_FLAT, "hidden": 512}},
    # Of the book by BetaGo's author.
    "betago-medium": {**_BETAGO, "convs": ("2 * 5x5x64", "3 * 3x3x64"), "policy": {**_FLAT, "hidden": 512}},
    "betago-large": {
        **_BETAGO,
        "convs": _BETAGO_LARGE,
        "policy": {**_FLAT, "hidden": 1024},
    },
    # Its agents that learn from games with themselves. The policy and the value of the one share the dense layer.
    "betago-actor-critic": {
        **_BOOK_AGENT,
        "policy": {**_FLAT, "hidden": 512},
        "value": {**_FLAT, "hidden": 512},
    },
    "betago-q": {**_BOOK_AGENT, "policy": {"kind": "action-value", "hidden": 512}},
    # BakaGo. Of df_small only 11 convolutions of 32 filters are stated; the 5x5 first one is DarkForest's.
    "bakago-df-small": {
        **_BAKAGO,
        "family": "plain",
        "convs": ("5x5x32", "10 * 3x3x32"),
        "batch_norm": "after",
        "policy": {"kind": "conv", "kernel": 3, "bias": "map"},
    },
    "bakago-v1": {
        **_BAKAGO,
        "family": "plain",
        "convs": ("6 * 3x3x32",),
        "batch_norm": "after",
        "norm_epsilon": 1e-6,
        "dropout": 0.25,
        "policy": {**_FLAT, "hidden": 256, "dropout": 0.5},
        "init": "xavier",
    },
    # The rates of dropout and the edges of the poolings are not published.
    "bakago-v2": {
        **_BAKAGO,
        "family": "preact",
        "filters": 32,
        "units": 2,
        "convs": 4,
        "pool": 2,
        "average_pool": 2,
        "dropout": 0.25,
        "spatial_dropout": 0.1,
        "policy": _FLAT,
    },
    "bakago-v3": {**_BAKAGO, "family": "preact", "policy": _FLAT},
    "bakago-v3-32": {**_BAKAGO, "family": "preact", "filters": 32, "policy": _FLAT},
    "bakago-v3-3k": {**_BAKAGO, "family": "preact", "policy": {**_FLAT, "hidden": 3000}},
    "bakago-rollout-1": {**_ROLLOUT, "convs": ("3x3x32",), "policy": _FLAT},
    "bakago-rollout-1-96": {**_ROLLOUT, "convs": ("3x3x96",), "policy": _FLAT},
    # Its widths are not published.
    "bakago-rollout-2": {
        **_ROLLOUT,
        "convs": ("2 * 3x3x32",),
        "batch_norm": "after",
        "dropout": 0.25,
        "policy": {**_FLAT, "hidden": 256},
    },
    "plan-b": _PLAN_B,
    "plan-b-1": {**_PLAN_B, "policy": {**_PLAN_B["policy"], "maps": 1}},
    "plan-b-128": {**_PLAN_B, "filters": 128, "stem": 3},
    # Tian and Zhu 2015, with the batch norm of the open version.
    "darkforest": {
        **_DARKFOREST,
        "convs": ("5x5x92", "10 * 3x3x384"),
        "policy": {"kind": "conv", "kernel": 3, "bias": "map", "maps": 3},
    },
    # The medium one is said to have five convolutions; with the last one it has six here.
    "deepgo-small": {**_DEEPGO, "convs": ("3 * 5x5x64", "2 * 5x5x48")},
    "deepgo-medium": {**_DEEPGO, "convs": ("5x5x92", "4 * 5x5x384")},
    "deepgo-large": {**_DEEPGO, "convs": ("5x5x92", "10 * 5x5x384")},
    **{f"alphago-policy-{filters}": _alphago(filters) for filters in (128, 192, 256, 384)},
    "alphago-value": {**_alphago(192), "plane_set": "alphago49", "policy": None, "value": {"kind": "dense"}},
    # The open copy. Its layers begin evenly between -0.05 and 0.05: here normal, of the same deviation. A bias of one
    # map besides that of each point, and a ReLU on the one channel before the dense layers of the value, are left out.
    "rocalphago-policy": {**_alphago(128), "init": _ROCALPHAGO_INIT},
    "rocalphago-resnet": {
        "family": "preact",
        "plane_set": "alphago48",
        "board_size": 19,
        "units": 19,
        "convs": 1,
        "stem": 5,
        "stem_norm": False,
        "final_activation": True,
        "policy": {"kind": "conv", "bias": "point"},
        "init": _ROCALPHAGO_INIT,
    },
    "rocalphago-value": {
        **_alphago(128),
        "plane_set": "alphago49",
        "convs": ("5x5x128", "12 * 3x3x128"),
        "policy": None,
        "value": {"kind": "dense"},
        "init": _ROCALPHAGO_INIT,
    },
    # Full blocks, as public copies count them; in the paper the first convolution is one of the 20 or 40.
    "alphago-zero-20": _zero("agz17", 20),
    "alphago-zero-40": _zero("agz17", 40),
    "elf": _zero("elf18", 20),
    "leela-zero-20": _zero("leela18", 20),
    "leela-zero-40": _zero("leela18", 40),
    # Cazenave 2020. The ReLU on the policy map of its appendix is off: `policy: {kind: conv, relu: true}`.
    "a0.small": _a0(10, 63),
    "a0.8.66": _a0(8, 66),
    "a0.small.conv": _a0(13, 64, batch_norm="after-addition", policy={"kind": "conv"}),
    **{f"a0.{blocks}.256": _a0(blocks, 256) for blocks in (5, 10, 15, 20, 30, 40)},
    "mobile.small": _mobile(25, 64, 200, policy={"kind": "dense"}),
    "mobile.small.conv": _mobile(33, 64, 200, policy={"kind": "conv"}),
    **{f"mobile.{blocks}": _mobile(blocks, 128, 512, policy={"kind": "conv"}) for blocks in (10, 20, 40)},
}
"""Every name that `network.preset` may have."""


def with_preset(data: Mapping[str, Any]) -> Fields:
    """The fields of a network; where `preset` names one of PRESETS, those that `data` leaves out are its own.

    A head without a `kind` changes single fields of the preset's head. Raises NetworkError for an unknown preset, and
    for one of another family than `data` names.
    """
    own = dict(data)
    if (name := own.pop("preset", None)) is None:
        return own
    if name not in PRESETS:
        raise NetworkError(unknown_name("network preset", str(name), PRESETS))
    preset = PRESETS[name]
    if (family := own.get("family", preset["family"])) != preset["family"]:
        raise NetworkError(
            f"the network preset {name} is of the family {preset['family']}, not {family}: give the preset alone, as "
            f"in --set 'network={{preset: {name}}}'"
        )
    for key, head in own.items():
        if isinstance(head, Mapping) and "kind" not in head and isinstance(preset.get(key), Mapping):
            own[key] = {**preset[key], **head}
    return {**preset, **own}

"""Searches of published systems, as far as their settings are known. docs/reference/search.md lists their sources.

Constants for win rates in 0..1 are doubled for utilities in -1..1, and so are first-play reductions.
"""

from __future__ import annotations

from typing import Any

# Search on the winrate alone, the move with the most visits.
_PLAIN: dict[str, Any] = {"score_weight": 0.0, "lcb": False}
# What self-play adds to a search for play, as AlphaGo Zero had it
_SELF_PLAY: dict[str, Any] = {"noise_weight": 0.25, "temperature": 1.0}

_BAKAGO: dict[str, Any] = {
    **_PLAIN,
    "selection": "uct",
    "uct_exploration": 2**0.5,  # 0.5 sqrt(2 ln N / n) for win rates
    "playout": "bakago-published",
    "playouts": 3,
    "playout_weight": 1.0,
    "playout_slope": 1.0,
    "playout_decay": 0.98,
    # Simulations that reach a move again are abandoned, without any count, until it was tried 32 times. This takes
    # time but changes no tree, so the network is asked at once here.
    "expand_visits": 1,
    "candidate_mass": 0.8,
    "candidate_mass_middle": 0.87,
    "candidate_mass_late": 0.95,
    "candidate_share": 0.125,
    "candidate_min": 2,
    "raw_priors": True,
    "prune_true_eyes": True,
    "prune_self_atari": True,
}
_DARKFOREST: dict[str, Any] = {
    **_PLAIN,
    "selection": "puct-darkforest",
    "c_puct": 10.0,
    "puct_noise": 0.2,
    "candidate_mass": 0.8,
    "candidate_max": 20,
    "raw_priors": True,
    "playout": "linear",
    "playout_temperature": 0.125,
    "playouts": 1,
    "playout_weight": 1.0,
    "playout_slope": 1.0,
}
# Silver et al. 2017
_ALPHAGO_ZERO: dict[str, Any] = {
    **_PLAIN,
    "selection": "puct-alphago",
    "c_puct": 1.0,
    "fpu": "absolute",
    "root_fpu": "absolute",
    "leaf_symmetry": "random",
}
# Silver et al. 2018: c grows from 1.25
_ALPHAZERO: dict[str, Any] = {**_PLAIN, "fpu": "absolute", "root_fpu": "absolute"}
_ELF: dict[str, Any] = {
    **_PLAIN,
    # c P sqrt(1 + sum n) / (1 + n): the visits of a position are those of its moves and its own
    "selection": "puct",
    "c_puct_factor": 0.0,
    # Its code takes a mean that counts each tried move once, whatever its visits; the parent's mean is close to that.
    "fpu": "reduction",
    "fpu_reduction": 0.0,
    "root_fpu": "reduction",
    "root_fpu_reduction": 0.0,
    "noise_total": 10.83,  # 0.03 a point of 19x19
    "leaf_symmetry": "random",
}

PRESETS: dict[str, dict[str, Any]] = {
    # Silver et al. 2016: c 5, virtual loss 3, untried moves a draw, half of the leaf value from a playout, moves below
    # a move after 40 visits of it, softmax temperature 0.67 of the priors (here p^(1 / 0.67); some readers take p^0.67:
    # set 1.4925)
    "alphago": {
        **_PLAIN,
        "selection": "puct-alphago",
        "c_puct": 5.0,
        "virtual_loss": 3.0,
        "fpu": "absolute",
        "root_fpu": "absolute",
        "playout": "linear",
        "playouts": 1,
        "playout_weight": 0.5,
        "expand_visits": 40,
        "policy_temperature": 0.67,
        "leaf_symmetry": "random",
    },
    # AlphaGo Zero: the same rule without playouts; its c is not published, 1 is the 7x7 system's. In play without the
    # noise and the temperature of its self-play, as AlphaZero's.
    "alphago-zero": _ALPHAGO_ZERO,
    "alphago-zero-selfplay": {**_ALPHAGO_ZERO, **_SELF_PLAY},
    "alphazero": _ALPHAZERO,
    "alphazero-selfplay": {**_ALPHAZERO, **_SELF_PLAY},
    # Leela Zero 0.17
    "leela-zero": {
        "score_weight": 0.0,
        "selection": "puct-leela-zero",
        "c_puct": 1.0,
        "virtual_loss": 3.0,
        "fpu": "network",
        "fpu_reduction": 0.5,
        "root_fpu": "network",
        "root_fpu_reduction": 0.5,
        "lcb_share": 0.1,
        "lcb_probability": 1e-5,
        "leaf_symmetry": "random",
    },
    # BakaGo 2016, as its code has it. It compares the number of children with that of the candidates that are left, so
    # that the better half of a list is tried and no more.
    "bakago": {**_BAKAGO, "candidate_tried": 0.5},
    # BakaGo 2016, as its report has it: the whole list, other figures for playouts (and for the tries, 16)
    "bakago-report": {**_BAKAGO, "playouts": 10},
    # Tian and Zhu 2015, open version of 2016; RAVE (rave_beta 100) and dynamic komi (dynamic_komi) are its options
    "darkforest": _DARKFOREST,
    # The same as it played in formal matches
    "darkforest-formal": {
        **_DARKFOREST,
        "virtual_games": 5,
        "candidate_mass": 1.0,
        "candidate_max": 7,
        "candidate_min": 1,
        "playout_temperature": 0.5,
    },
    # ELF OpenGo: its flags for play, and those of its self-play
    "elf": {**_ELF, "c_puct": 1.5, "virtual_loss": 1.0},
    "elf-selfplay": {**_ELF, **_SELF_PLAY, "c_puct": 0.85, "virtual_loss": 5.0},
    # The tournament of mobile networks (Cazenave 2020): PUCT, and the second move half of the time where it has more
    # than half of the visits of the best one. Its constant is not published; 1 is ours.
    "mobile": {
        **_PLAIN,
        "selection": "puct-alphago",
        "c_puct": 1.0,
        "fpu": "absolute",
        "root_fpu": "absolute",
        "diversity": 0.5,
    },
    # KataGo 1.17 in play and analysis; networks of KataGo bring it as their advice
    "katago": {
        "selection": "puct-katago",
        "c_puct": 1.0,
        "c_puct_factor": 0.45,
        "c_puct_base": 500.0,
        "c_puct_stdev_scale": 0.85,
        "fpu_mass_power": 2.0,
        "static_score_utility": 0.1,
        "dynamic_score_utility": 0.3,
        "uncertainty": 0.25,
        "value_weight_exponent": 0.25,
        "noise_pruning": 0.15,
        "value_bias": 0.45,
        "leaf_symmetry": "random",
        "transpositions": True,
        "catch_up": 1.0,
        "merge_symmetric": True,
        "prune_useless": True,
        "root_policy_optimism": 0.2,
        "ending_bonus": 0.5,
        "encore": True,
    },
    # Its self-play, as far as an incremental search has it
    "katago-selfplay": {
        "c_puct": 1.1,
        "c_puct_factor": 0.0,
        "score_weight": 0.29,
        "root_fpu_reduction": 0.0,
        "noise_weight": 0.25,
        "noise_shaped": 0.5,
        "root_temperature": 1.1,
        "forced_playouts": 2.0,
        "lcb": False,
    },
    # Danihelka et al. 2022: 16 considered moves, c_visit 50, c_scale 1; for play without chance set gumbel_scale 0
    "gumbel": {"score_weight": 0.0, "selection": "gumbel"},
    # The AlphaGo-Zero-like 7x7 system of cody2007: games of 32 turns a side (Game.limit_moves(64)) without passes, each
    # simulation played to the end, moves drawn in proportion to the visits, no noise. 800 simulations a move grow trees
    # of 20 MB.
    "cody-7x7": {
        **_PLAIN,
        "selection": "puct-alphago",
        "c_puct": 1.0,
        "fpu": "absolute",
        "root_fpu": "absolute",
        "simulate_to_end": True,
        "pass_policy": "no-legal-move",
        "prune_eyes": False,
        "temperature": 1.0,
    },
}

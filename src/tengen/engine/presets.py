"""Searches of published systems, as far as their settings are known. docs/reference/search.md lists their sources.

Constants for win rates in 0..1 are doubled for utilities in -1..1, and so are first-play reductions.
"""

from __future__ import annotations

from typing import Any

# Search on the winrate alone, the move with the most visits.
_PLAIN: dict[str, Any] = {"score_weight": 0.0, "lcb": False}
_SELF_PLAY_NOISE: dict[str, Any] = {"noise_weight": 0.25}

PRESETS: dict[str, dict[str, Any]] = {
    # Silver et al. 2016: c 5, virtual loss 3, untried moves a draw, half of the leaf value from a
    # playout, a node after 40 visits
    "alphago": {
        **_PLAIN,
        "selection": "puct-alphago",
        "c_puct": 5.0,
        "virtual_loss": 3.0,
        "fpu": "absolute",
        "root_fpu": "absolute",
        "playouts": 1,
        "playout_weight": 0.5,
        "expand_visits": 40,
    },
    # Silver et al. 2017: the same rule without playouts; its c is not published, 1 is the 7x7 system's
    "alphago-zero": {
        **_PLAIN,
        **_SELF_PLAY_NOISE,
        "selection": "puct-alphago",
        "c_puct": 1.0,
        "fpu": "absolute",
        "root_fpu": "absolute",
    },
    # Silver et al. 2018: c grows from 1.25
    "alphazero": {**_PLAIN, **_SELF_PLAY_NOISE, "fpu": "absolute", "root_fpu": "absolute"},
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
    },
    # BakaGo 2016: UCT, three playouts a leaf, the network asked after 32 visits, its list cut at 0.80 of the mass (0.87
    # and 0.95 later in the game, which this search does not follow) and an eighth of the board
    "bakago": {
        **_PLAIN,
        "selection": "uct",
        "uct_exploration": 2**0.5,
        "playout": "bakago",
        "playouts": 3,
        "playout_weight": 1.0,
        "playout_slope": 1.0,
        "playout_decay": 0.98,
        "expand_visits": 32,
        "candidate_mass": 0.8,
        "candidate_max": 45,
        "candidate_min": 2,
    },
    # Tian and Zhu 2015, open version of 2016
    "darkforest": {
        **_PLAIN,
        "selection": "puct-darkforest",
        "c_puct": 10.0,
        "puct_noise": 0.2,
        "candidate_mass": 0.8,
        "candidate_max": 20,
        "playouts": 1,
        "playout_weight": 1.0,
        "playout_slope": 1.0,
    },
    # KataGo's settings in play that this search knows, and those of its self-play
    "katago": {
        "c_puct": 1.0,
        "c_puct_factor": 0.45,
        "c_puct_base": 500.0,
        "score_weight": 0.29,
        "lcb": True,
        "stop_futile": True,
    },
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

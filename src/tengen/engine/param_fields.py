"""The fields of a search's settings, written by `make stub` from native/search/params.def: do not edit."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, Field


class SearchParamFields(BaseModel):
    selection: Annotated[
        Literal["puct", "puct-alphago", "puct-leela-zero", "puct-darkforest", "puct-katago", "gumbel", "uct", "rave"],
        Field(description="selection rule of a simulation"),
    ] = "puct"
    c_puct: Annotated[
        float, Field(ge=0, le=1e9, description="exploration constant: weight of the prior in every form of PUCT")
    ] = 1.25
    c_puct_base: Annotated[
        float, Field(gt=0, le=1e9, description="puct: visits at which exploration begins to grow")
    ] = 19652.0
    c_puct_factor: Annotated[
        float, Field(ge=0, le=1e9, description="puct: growth of exploration with the logarithm of the visits")
    ] = 1.0
    puct_noise: Annotated[
        float, Field(ge=0, le=10, description="puct-darkforest: width of the uniform noise on every score")
    ] = 0.0
    virtual_games: Annotated[
        int,
        Field(
            ge=0,
            le=1000,
            description="puct-darkforest: games of random result that a move starts with (then without noise)",
        ),
    ] = 0
    rave_beta: Annotated[
        float,
        Field(
            ge=0,
            le=1e9,
            description="puct-darkforest: k of the share sqrt(k / (N + k)) of the all-moves-as-first mean; 0 is none",
        ),
    ] = 0.0
    c_puct_stdev_scale: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago: share in which exploration follows the standard deviation of the utility "
            "below a node",
        ),
    ] = 0.0
    c_puct_stdev_prior: Annotated[
        float,
        Field(
            gt=0,
            le=10,
            description="puct-katago: prior for the standard deviation of the utility; exploration is unscaled at "
            "this value",
        ),
    ] = 0.4
    c_puct_stdev_weight: Annotated[
        float, Field(ge=0, le=100, description="puct-katago: observations that c_puct_stdev_prior counts as")
    ] = 2.0
    fpu_mass_power: Annotated[
        float,
        Field(
            ge=0,
            le=5,
            description="puct-katago: untried moves count as the parent's mean with the share (prior mass that was "
            "tried) ^ this, else as its own evaluation; 0 is the mean alone",
        ),
    ] = 0.0
    fpu_loss: Annotated[
        float, Field(ge=0, le=1, description="puct-katago: share of a loss in the value of an untried move")
    ] = 0.0
    root_fpu_loss: Annotated[float, Field(ge=0, le=1, description="fpu_loss at the root")] = 0.0
    uncertainty: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago: weight of an evaluation is this / (expected short-term error of the utility ^"
            " uncertainty_exponent + this / uncertainty_max_weight); 0 weighs all alike",
        ),
    ] = 0.0
    uncertainty_exponent: Annotated[float, Field(ge=0, le=2, description="see uncertainty")] = 1.0
    uncertainty_max_weight: Annotated[
        float, Field(ge=1, le=100, description="see uncertainty; also the weight of a finished game")
    ] = 8.0
    value_weight_exponent: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago: moves count in a mean by the power of this of the chance that they are better"
            " than it",
        ),
    ] = 0.0
    noise_pruning: Annotated[
        float,
        Field(
            ge=0,
            le=10,
            description="puct-katago: utility by which a move must be worse to lose 63% of the weight that it has "
            "above twice its share by the prior; 0 is off",
        ),
    ] = 0.0
    value_bias: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago: share of the mean error of the evaluation in the same surroundings that "
            "corrects it",
        ),
    ] = 0.0
    value_bias_exponent: Annotated[
        float, Field(ge=0, le=1, description="puct-katago: exponent of a node's weight in the subtree value bias")
    ] = 0.85
    value_bias_free: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago: share of a node's contribution removed from the value bias when the node is "
            "freed",
        ),
    ] = 0.8
    wide_root_noise: Annotated[
        float,
        Field(
            ge=0,
            le=5,
            description="puct-katago: width of a random bonus for half of the moves at each visit of the root, for "
            "wider analysis",
        ),
    ] = 0.0
    fpu: Annotated[
        Literal["reduction", "network", "absolute"],
        Field(
            description="value of an untried move: the parent's mean - fpu_reduction x sqrt(prior mass that was "
            "tried), the same from the parent's own evaluation, or fpu_value"
        ),
    ] = "reduction"
    fpu_reduction: Annotated[float, Field(ge=0, le=1e9, description="see fpu; 0 is the parent's value itself")] = 0.2
    fpu_value: Annotated[
        float, Field(ge=-1, le=10, description="see fpu: 0 a draw, -1 a loss; above 1 tries every move once")
    ] = 0.0
    root_fpu: Annotated[Literal["reduction", "network", "absolute"], Field(description="fpu at the root")] = "reduction"
    root_fpu_reduction: Annotated[float, Field(ge=0, le=1e9, description="fpu_reduction at the root")] = 0.1
    root_fpu_value: Annotated[float, Field(ge=-1, le=10, description="fpu_value at the root")] = 0.0
    gumbel_moves: Annotated[int, Field(ge=1, le=626, description="gumbel: moves that the root considers")] = 16
    gumbel_scale: Annotated[
        float, Field(ge=0, le=10, description="gumbel: scale of the draws; 0 plays without chance")
    ] = 1.0
    gumbel_c_visit: Annotated[
        float, Field(ge=0, le=1e9, description="gumbel: sigma(q) = (c_visit + maximum visits) x c_scale x q, q in 0..1")
    ] = 50.0
    gumbel_c_scale: Annotated[float, Field(ge=0, le=1e9, description="gumbel: see gumbel_c_visit")] = 1.0
    uct_exploration: Annotated[
        float, Field(ge=0, le=1e9, description="UCT's weight of sqrt(log N / n), for values in -1..1")
    ] = 0.5
    rave_equivalence: Annotated[
        float, Field(gt=0, le=1e9, description="visits that all-moves-as-first counts for at the maximum")
    ] = 3500.0
    rave_exploration: Annotated[
        float, Field(ge=0, le=1e9, description="RAVE's weight of the prior, as c_puct is PUCT's")
    ] = 2.5
    virtual_loss: Annotated[float, Field(ge=0, le=1e9, description="losses that a pending simulation counts for")] = 1.0
    draw_value: Annotated[float, Field(ge=-1, le=1, description="value of a draw for White; playouts know 0 alone")] = (
        0.0
    )
    score_weight: Annotated[float, Field(ge=0, le=1, description="share of the score in the utility")] = 0.05
    score_scale: Annotated[
        float, Field(gt=0, le=1e9, description="points of lead at which half of the score's share is reached")
    ] = 10.0
    win_utility: Annotated[float, Field(ge=0, le=1, description="puct-katago: weight of the value")] = 1.0
    static_score_utility: Annotated[
        float, Field(ge=0, le=1, description="puct-katago: weight of the score around 0")
    ] = 0.0
    dynamic_score_utility: Annotated[
        float, Field(ge=0, le=1, description="puct-katago: weight of the score around that of the root")
    ] = 0.0
    score_center_pull: Annotated[
        float, Field(ge=0, le=1, description="puct-katago: share by which that center is pulled to 0")
    ] = 0.2
    score_center_scale: Annotated[
        float, Field(ge=0.2, le=5, description="puct-katago: scale of dynamic_score_utility, in board sizes")
    ] = 0.75
    no_result_utility: Annotated[
        float, Field(ge=-1, le=1, description="puct-katago: utility of no result for White")
    ] = 0.0
    priors: Annotated[str, Field(description="source of the priors: network, or a playout policy")] = "network"
    playout: Annotated[str, Field(description="playout policy of the leaves")] = "local"
    playout_temperature: Annotated[
        float,
        Field(gt=0, le=100, description="linear playouts: moves are drawn by their weights to the power 1 / this"),
    ] = 1.0
    playout_weight: Annotated[
        float, Field(ge=0, le=1, description="share of the playouts in a leaf's value; the rest is the network's")
    ] = 0.0
    playouts: Annotated[int, Field(ge=0, le=1000, description="playouts from a leaf")] = 0
    playout_slope: Annotated[
        float, Field(ge=0, le=1e9, description="0: a playout is won or lost; above: tanh(this / 2 x score)")
    ] = 0.0
    playout_decay: Annotated[
        float, Field(gt=0, le=1, description="factor on the slope for every move of a playout")
    ] = 1.0
    dynamic_komi: Annotated[
        float,
        Field(
            ge=0,
            le=1000,
            description="points of komi that playouts add for Black's winrate before the last move: this x (winrate"
            " - 0.5)",
        ),
    ] = 0.0
    leaf_symmetry: Annotated[
        Literal["none", "random"],
        Field(
            description="random: each position is evaluated under one of the eight symmetries, drawn by the seed "
            "and the position"
        ),
    ] = "none"
    root_symmetries: Annotated[
        int,
        Field(
            ge=1, le=8, description="the root is evaluated under so many different symmetries, and is worth their mean"
        ),
    ] = 1
    expand_visits: Annotated[
        int, Field(ge=0, le=2147483647, description="visits of a move before moves below it are searched")
    ] = 0
    policy_optimism: Annotated[
        float, Field(ge=0, le=1, description="share of a network's optimistic policy in the priors, where it has one")
    ] = 1.0
    root_policy_optimism: Annotated[float, Field(ge=0, le=1, description="policy_optimism at the root")] = 1.0
    playout_doubling_advantage: Annotated[
        float,
        Field(
            ge=-3,
            le=3,
            description="doublings of the visits that the network is told the side to move at the root has over the"
            " other",
        ),
    ] = 0.0
    candidate_mass: Annotated[float, Field(ge=0, le=1, description="prior mass of the moves that a node keeps")] = 1.0
    candidate_mass_middle: Annotated[
        float,
        Field(
            ge=0, le=1, description="candidate_mass of positions after more than 100 moves (19x19); 0 is candidate_mass"
        ),
    ] = 0.0
    candidate_mass_late: Annotated[
        float,
        Field(
            ge=0, le=1, description="candidate_mass of positions after more than 200 moves (19x19); 0 is candidate_mass"
        ),
    ] = 0.0
    candidate_max: Annotated[
        int, Field(ge=0, le=1000, description="maximum number of moves that a node keeps; 0 is no limit")
    ] = 0
    candidate_share: Annotated[
        float,
        Field(ge=0, le=1, description="the same as a share of the points of the board, rounded down; 0 is no limit"),
    ] = 0.0
    candidate_min: Annotated[int, Field(ge=1, le=1000, description="minimum number of moves that a node keeps")] = 1
    candidate_tried: Annotated[
        float,
        Field(
            gt=0,
            le=1,
            description="share of the moves with that mass and minimum that a node keeps, the best first, rounded up",
        ),
    ] = 1.0
    raw_priors: Annotated[
        bool,
        Field(
            description="priors and candidate_mass as the policy has them: what it gives to other moves is not "
            "shared among those that a node keeps"
        ),
    ] = False
    policy_temperature: Annotated[
        float, Field(gt=0, le=100, description="a network's priors to the power 1 / this, in every node")
    ] = 1.0
    root_temperature: Annotated[float, Field(gt=0, le=100, description="priors of the root to the power 1 / this")] = (
        1.0
    )
    noise_weight: Annotated[
        float, Field(ge=0, le=1, description="share of Dirichlet noise in the priors of the root")
    ] = 0.0
    noise_total: Annotated[float, Field(gt=0, le=1e9, description="sum of the noise's alphas over the moves")] = 10.83
    noise_shaped: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="share of noise_total that follows the log priors; the rest is the same for all moves",
        ),
    ] = 0.0
    planned_visits: Annotated[
        int,
        Field(ge=1, le=2147483647, description="simulations that a search plans when it is not told how many it has"),
    ] = 400
    stop_futile: Annotated[
        bool,
        Field(
            description="no visits for a root move that cannot be chosen any more, if the budget is exact (forms of"
            " PUCT)"
        ),
    ] = False
    forced_playouts: Annotated[
        float,
        Field(
            ge=0,
            le=1e9,
            description="k: a tried root move has sqrt(k x prior x visits) visits or more, which the policy target "
            "leaves out (forms of PUCT; KataGo)",
        ),
    ] = 0.0
    merge_symmetric: Annotated[
        bool, Field(description="of root moves that a symmetry of the position exchanges search and report one")
    ] = False
    transpositions: Annotated[
        bool, Field(description="positions reached by different orders of moves share a node")
    ] = False
    catch_up: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="puct-katago with transpositions: chance that a visit of a move, below which other moves "
            "have brought more visits, counts these instead of going on below it",
        ),
    ] = 0.0
    simulate_to_end: Annotated[
        bool,
        Field(
            description="each simulation continues to the end of the game, and every position on its way counts for"
            " the moves of its side above; with puct-alphago and a network alone"
        ),
    ] = False
    pass_policy: Annotated[
        Literal["free", "no-legal-move", "no-useful-move"],
        Field(
            description="free; no-legal-move: pass only where nothing else is legal, in the whole tree; no-useful-"
            "move: at the root only useful moves, and pass where there is none"
        ),
    ] = "free"
    ending_bonus: Annotated[
        float,
        Field(
            ge=-1,
            le=1,
            description="puct-katago: points that a root move loses which fills sure points of a side, or passes "
            "before dame are filled under territory scoring",
        ),
    ] = 0.0
    hide_history: Annotated[
        bool,
        Field(
            description="the network does not see the moves before the root, as in KataGo's analysis; its tree "
            "serves no other root"
        ),
    ] = False
    encore: Annotated[
        bool,
        Field(
            description="territory scoring: after the passes the tree goes on with the encore, for networks that "
            "are trained with it as those of KataGo; else the network judges the position after the "
            "passes"
        ),
    ] = False
    conservative_pass: Annotated[bool, Field(description="a pass at the root never ends the game")] = False
    prune_eyes: Annotated[bool, Field(description="never fill an own true eye inside own pass-alive area")] = True
    prune_true_eyes: Annotated[bool, Field(description="never fill an own true eye, in the whole tree")] = False
    prune_self_atari: Annotated[
        bool,
        Field(
            description="no self-atari that captures nothing, in the whole tree; at the root only while another "
            "move is left"
        ),
    ] = False
    prune_pass_alive: Annotated[
        bool, Field(description="no move inside area that is pass-alive at the root, in the whole tree (area scoring)")
    ] = False
    prune_useless: Annotated[
        bool, Field(description="no root move inside pass-alive area after four passes of the opponent in a row")
    ] = False
    ownership: Annotated[bool, Field(description="keep the mean ownership of the evaluated positions")] = False
    node_ownership: Annotated[
        bool, Field(description="keep the ownership of every position, for its mean and deviation below each move")
    ] = False
    memory: Annotated[
        int,
        Field(ge=1048576, le=281474976710655, description="bytes that the tree may take; a full tree stops growing"),
    ] = 536870912
    temperature: Annotated[
        float, Field(ge=0, le=100, description="above 0 the move is drawn by visits ^ (1 / this)")
    ] = 0.0
    diversity: Annotated[
        float,
        Field(
            ge=0,
            le=1,
            description="chance of the second most visited move where it has more than half of the maximum visits "
            "(Cazenave 2020)",
        ),
    ] = 0.0
    lcb: Annotated[bool, Field(description="play the best lower confidence bound, not the most visited move")] = True
    lcb_deviations: Annotated[float, Field(ge=0, le=1e9, description="standard errors below the mean")] = 5.0
    lcb_probability: Annotated[
        float,
        Field(
            ge=0,
            le=0.5,
            description="above 0, instead of lcb_deviations: the quantile of Student's t that is exceeded with this"
            " probability, by the visits of the move (Leela Zero: 1e-5); not for puct-katago",
        ),
    ] = 0.0
    lcb_share: Annotated[
        float, Field(ge=0, le=1, description="share of the maximum visits that a move needs for it")
    ] = 0.15

// The plan, the parameters and the record of a game of self-play.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "board/game.h"
#include "search/params.h"

namespace tengen {

// All that makes one game differ from the others.
struct GamePlan {
    std::int64_t index = 0;
    std::uint64_t seed = 0;
    int size = 0;
    Rules rules;
    float komi = 0;
    std::vector<std::uint16_t> start;  // stored moves that were played before
    int opening_moves = 0;             // drawn from the raw policy, after the start
    bool may_resign = false;
};

// The game as it stands when play begins. Throws std::invalid_argument for a size, a komi or a number of opening moves
// out of range, and for a start that is no legal game or ends it.
Game start_of(const GamePlan& plan);

// How all games are played. A full search goes on until its root has `visits`, a cheap one until it has `cheap_visits`
// (playout-cap randomisation: Wu 2019, section 3.1); with Gumbel search what was kept of an earlier search does not
// count. With 1 visit the move is drawn from the raw policy.
//
// The move is drawn by visits (Gumbel: by the improved policy) to the power 1 / t, t = late + (temperature - late) *
// 0.5^(moves so far / (halflife * size)); with Gumbel search and t below 0.1 it is the one that the search chose.
struct PlayParams {
    SearchParams full, cheap;  // may differ in what Search::change() allows
    int visits = 32, cheap_visits = 8;
    float cheap_share = 0;  // of the moves
    // Of the moves in a game that is decided: the last `decided_turns` root values, of both sides, gave one of them a
    // winrate of `decided_winrate` or more; 0 turns is never (KataGo's self-play thins out such positions too).
    float decided_cheap_share = 0, decided_winrate = 1;
    int decided_turns = 0;
    float temperature = 0.8f, temperature_late = 0.2f, temperature_halflife = 1;
    float opening_temperature = 1;  // an opening move is drawn by priors to the power 1 / this, and is a pass only
                                    // where nothing else is legal
    bool reuse = true;              // keep the tree below the move that was played
    float resign_winrate = 0;       // a side resigns whose winrate, (root value + 1) / 2, was below this for
    int resign_turns = 3;           // this many of its searched turns in a row; 0 is never
    bool settle = true;             // a game under area scoring ends when every point is pass-alive area
    PassPolicy pass_policy = PassPolicy::free;  // of the moves that are played; see also SearchParams::pass_policy
    int max_moves = 0;                          // limit at which a game is counted; 0: 2 * size * size

    // Throws std::invalid_argument that names what is out of range.
    void check() const;
};

// A finished game. All vectors but `ownership` have an entry for each move, those of the start included.
struct PlayedGame {
    std::int64_t index = 0;
    int size = 0;
    int given = 0;                     // moves of the start
    std::vector<std::uint16_t> moves;  // stored moves
    // The policy target of a full search, as Search::policy_weights: a point in the low 16 bits, its weight above:
    // visits, or an improved policy or weights of sum 1 x 10000, rounded; those of 0 are left out. Empty where no full
    // search was made.
    std::vector<std::vector<std::uint32_t>> targets;
    std::vector<float> root_values;  // -1 to 1 for the side to move, after the search; NaN where there was none
    std::vector<float> surprises;    // KL(target || raw policy) in nats; NaN where there is no target
    float score = 0;                 // Black minus White in points, with komi; NaN where the game was not counted
    int winner = -1;                 // 0 black, 1 white, 2 draw, -1 no result
    std::string ending;              // "passes", "resignation", "move limit", "long cycle" or "settled"
    // Of the points on the final board, stones in pass-alive territory of the opponent being dead: 0 black, 1 white,
    // 2 neutral. Empty where the game was not counted.
    std::vector<std::uint8_t> ownership;
    std::int64_t evaluations = 0;  // positions that the network evaluated
};

}  // namespace tengen

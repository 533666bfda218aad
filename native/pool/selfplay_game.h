// One slot of self-play: plays games one after another, up to the next position that needs an evaluation.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "board/game_end.h"
#include "pool/leaf_arrays.h"
#include "pool/selfplay_plan.h"
#include "search/search.h"

namespace tengen {

// A policy target as it is recorded, point | weight << 16 for each move with a weight above 0. Weights that are `whole`
// numbers stay as they are, up to 65535 for the largest: beyond that all shrink alike. Others sum to about 10000.
std::vector<std::uint32_t> packed_target(std::span<const float> weights, bool whole);

// A game depends on its plan, on the params and on the results for its positions alone, not on the games before it.
// At most one position waits at a time, so that every simulation knows the results of all before it.
class SelfPlayGame {
  public:
    // `params` are checked, and must outlive the game. Throws std::invalid_argument as Search does.
    explicit SelfPlayGame(const PlayParams& params);

    // The next game. Throws std::invalid_argument as start_of() does, and then plays none.
    void begin(const GamePlan& plan);
    bool playing() const { return game_.has_value() && !over_; }
    bool over() const { return over_; }
    PlayedGame take();  // the game that is over

    // Searches and plays on until a position waits, which is written to the first row of `out`; false when the game is
    // over. Throws std::logic_error while a position waits.
    bool gather(const PlaneSet& set, int edge, const LeafArrays& out);
    // The result for that position. What can be played now is played. Throws as Search::scatter does.
    void scatter(const LeafResults& results, int edge);
    bool waiting() const { return search_.waiting() > 0; }
    void forget_waiting() { search_.forget_waiting(); }

    std::size_t bytes() const;  // about: of the tree, the boards and the record

  private:
    enum class Turn : std::uint8_t { opening, cheap, full };

    void begin_turn();
    void play_on();  // while the search has its visits
    void end_turn();
    float temperature() const;
    std::vector<float> weights_for_policy() const;
    Point choose(std::span<const float> weights);
    std::vector<float> raw_policy() const;
    Point draw_from_priors(float temperature);
    Point draw(std::span<const float> weights, float temperature);
    bool resigns(float value);
    void note_winner(float value);
    bool is_decided() const;
    void record_target(std::span<const float> weights);
    void play(Point point);
    void next_turn();
    void finish(const GameEnd& end);
    void set_root();

    const PlayParams& params_;
    Search search_;
    Random random_{0};
    std::optional<Game> game_;
    PlayedGame played_;
    bool may_resign_ = false, over_ = false;
    int opening_left_ = 0;
    Turn turn_ = Turn::full;
    std::uint32_t goal_ = 0;                 // visits of the root
    std::array<int, 2> losing_turns_ = {};   // turns in a row, by color
    std::array<int, 2> winning_turns_ = {};  // turns of both in a row at which this color was as good as the winner
};

}  // namespace tengen

// Many games of self-play at once: one batch of positions from all of them, one batch of results for all.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "pool/leaf_arrays.h"
#include "pool/selfplay_game.h"
#include "pool/workers.h"

namespace tengen {

// A queue of plans, and slots that each play a game of it to the end and then begin the next. A game depends on its
// plan, the params and the results for its own rows: not on the slots, the threads or the other games. Boards may
// differ in size.
class SelfPlay {
  public:
    // Throws std::invalid_argument for params out of range or fewer than one slot or thread.
    SelfPlay(const PlayParams& params, int slots, int threads = 1);
    SelfPlay(const SelfPlay&) = delete;
    SelfPlay& operator=(const SelfPlay&) = delete;

    // Queues a game. Throws std::invalid_argument as start_of() does.
    void add(GamePlan plan);

    // One position of every game that is played, in the order of the slots without gaps; `out` needs a row for each
    // slot. Returns their number: 0 when all games that were added are over. Throws std::logic_error while positions
    // wait, std::invalid_argument when a board is larger than `edge`.
    int gather(const PlaneSet& set, int edge, const LeafArrays& out);

    // The results for these rows. Throws std::logic_error when their number differs, and std::invalid_argument when a
    // result is not finite: then the positions of such games still wait, all others have their results.
    void scatter(const LeafResults& results, int edge);

    // Gives up the positions of the last gather, as when their evaluation failed; the next gather finds them again.
    void forget_waiting();

    std::vector<PlayedGame> take();  // games that are over since the last call, by their index

    int slots() const { return static_cast<int>(games_.size()); }
    int threads() const { return workers_.threads(); }
    int playing() const;
    int queued() const { return static_cast<int>(queue_.size()); }
    int waiting() const;
    std::size_t bytes() const;  // of all slots, about

  private:
    int fill(const PlaneSet& set, int edge, const LeafArrays& out, const GameRange& range);
    void collect(SelfPlayGame& game);
    bool start_next(SelfPlayGame& game);

    const PlayParams params_;
    std::vector<std::unique_ptr<SelfPlayGame>> games_;
    std::vector<GameRange> ranges_;
    std::deque<GamePlan> queue_;
    std::vector<PlayedGame> over_;
    int largest_ = 0;   // board that was ever added
    std::mutex mutex_;  // of the queue and of `over_`, for the threads
    Workers workers_;
};

}  // namespace tengen

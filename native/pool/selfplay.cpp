#include "pool/selfplay.h"

#include <algorithm>
#include <exception>
#include <stdexcept>
#include <string>
#include <utility>

namespace tengen {

namespace {

const PlayParams& checked(const PlayParams& params) {
    params.check();
    return params;
}

}  // namespace

SelfPlay::SelfPlay(const PlayParams& params, int slots, int threads) : params_(checked(params)), workers_(threads) {
    if (slots < 1) throw std::invalid_argument("self-play needs a slot or more, not " + std::to_string(slots));
    for (int i = 0; i < slots; ++i) games_.push_back(std::make_unique<SelfPlayGame>(params_));
    ranges_ = make_game_ranges(slots, threads);
}

void SelfPlay::add(GamePlan plan) {
    start_of(plan);
    largest_ = std::max(largest_, plan.size);
    queue_.push_back(std::move(plan));
}

int SelfPlay::gather(const PlaneSet& set, int edge, const LeafArrays& out) {
    if (waiting()) throw std::logic_error("positions still wait for the results of the last gather");
    if (largest_ > edge)
        throw std::invalid_argument("a board of " + std::to_string(largest_) + " is too large for arrays of edge " +
                                    std::to_string(edge));
    for (GameRange& range : ranges_) range.first_row = range.begin;
    try {
        workers_.run(static_cast<int>(ranges_.size()),
                     [&](int i) { ranges_[i].rows = fill(set, edge, out, ranges_[i]); });
    } catch (...) {
        forget_waiting();
        throw;
    }
    return compact_rows(ranges_, set, edge, out);
}

int SelfPlay::fill(const PlaneSet& set, int edge, const LeafArrays& out, const GameRange& range) {
    int row = range.first_row;
    for (int i = range.begin; i < range.end; ++i) {
        SelfPlayGame& game = *games_[i];
        while (game.playing() || start_next(game)) {
            if (game.gather(set, edge, out.from(set, edge, row))) {
                ++row;
                break;
            }
            collect(game);
        }
    }
    return row - range.first_row;
}

bool SelfPlay::start_next(SelfPlayGame& game) {
    GamePlan plan;
    {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) return false;
        plan = std::move(queue_.front());
        queue_.pop_front();
    }
    game.begin(plan);
    if (game.over()) collect(game);  // its start is a finished game: the slot takes the next one
    return true;
}

void SelfPlay::collect(SelfPlayGame& game) {
    if (!game.over()) return;
    PlayedGame played = game.take();
    const std::lock_guard lock(mutex_);
    over_.push_back(std::move(played));
}

void SelfPlay::scatter(const LeafResults& results, int edge) {
    int row = 0;
    for (GameRange& range : ranges_) {
        range.first_row = row;
        for (int i = range.begin; i < range.end; ++i) row += games_[i]->waiting();
    }
    results.check(row, edge);
    workers_.run(static_cast<int>(ranges_.size()), [&](int i) {
        std::size_t at = ranges_[i].first_row;
        std::exception_ptr failure;
        for (int k = ranges_[i].begin; k < ranges_[i].end; ++k) {
            SelfPlayGame& game = *games_[k];
            if (!game.waiting()) continue;
            try {
                game.scatter(results.rows(at, 1), edge);
                collect(game);
            } catch (...) {
                if (!failure) failure = std::current_exception();
            }
            ++at;
        }
        if (failure) std::rethrow_exception(failure);
    });
}

void SelfPlay::forget_waiting() {
    for (const auto& game : games_) game->forget_waiting();
}

std::vector<PlayedGame> SelfPlay::take() {
    std::sort(over_.begin(), over_.end(), [](const PlayedGame& a, const PlayedGame& b) { return a.index < b.index; });
    return std::exchange(over_, {});
}

int SelfPlay::playing() const {
    return static_cast<int>(std::count_if(games_.begin(), games_.end(), [](const auto& g) { return g->playing(); }));
}

int SelfPlay::waiting() const {
    return static_cast<int>(std::count_if(games_.begin(), games_.end(), [](const auto& g) { return g->waiting(); }));
}

std::size_t SelfPlay::bytes() const {
    std::size_t total = 0;
    for (const auto& game : games_) total += game->bytes();
    return total;
}

}  // namespace tengen

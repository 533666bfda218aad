// Simulations that go on to the end of the game, as those of the AlphaGo-Zero-like 7x7 system of cody2007 did.
//
// A simulation passes a row of positions, the root first. Each after the root adds its network value, as one visit, to
// every move above that its own side to move made; the end of the game adds its result to all moves above. So a move
// has more visits than simulations, and holds the values of its own side's positions alone. Positions that the tree
// knows are not evaluated again. The final board is counted as it stands. At the root, which no move leads to, one
// simulation is one visit: the mean of what such a move would have received.
#include <array>

#include "search/leaf.h"
#include "search/search.h"

namespace tengen {

int Search::gather_to_end(const std::function<void(int, const Game&)>& visit, int limit) {
    Simulation& sim = *simulations_[0];
    int done = waiting();  // the root may wait for its ownership
    // True when no simulation of this gather can go on from the root.
    const auto go_on = [&](bool is_new) {
        const End end = advance(sim);
        if (end == End::waiting) visit(waiting() - 1, sim.game);
        if (end == End::terminal) finish(sim);
        if (end != End::collision) return false;
        if (sim.path.empty()) return true;
        // Its last step leads to a position that waits for another simulation: a new one begins again later.
        sim.path.pop_back();
        if (!is_new) add_pending(sim.path, 1), in_progress_.push_back(sim.path);
        return is_new;
    };
    std::vector<Path> held;
    held.swap(in_progress_);
    for (Path& path : held) {
        if (done++ >= limit) {
            in_progress_.push_back(std::move(path));
            continue;
        }
        start(sim);
        sim.path = std::move(path);
        add_pending(sim.path, -1);
        go_on(false);
    }
    while (done++ < limit && root_visits() < kMaxVisits) {
        start(sim);
        if (go_on(true)) break;
    }
    return waiting();
}

// From the end of the path on: to a new position, which then waits, to one that waits already, or to the end of the
// game. A full memory ends a simulation where it would need more.
Search::End Search::advance(Simulation& sim) {
    const End end = descend(sim);
    if (end != End::leaf) return end;
    prepare_leaf(sim);
    examine_leaf(sim);
    Node* const node = add_node(sim);
    if (!node || node->ready) return End::terminal;
    add_pending(sim.path, 1);
    waiting_.push_back({sim.path, node, sim.outcome, sim.key, false});
    return End::waiting;
}

// Adds the values of the positions of a simulation to the moves above them.
void Search::finish(const Simulation& sim) {
    struct Sums {
        std::uint32_t count = 0;
        double utility = 0, square = 0, value = 0, score = 0;
    };
    std::array<Sums, 2> sums;  // of the values for the side to move at an even, an odd distance from the root
    const auto record = [&](std::size_t depth, Outcome outcome) {
        Sums& own = sums[depth % 2];
        const double utility = utility_of(outcome.value, outcome.score, params_);
        ++own.count, own.utility += utility, own.square += utility * utility;
        own.value += outcome.value, own.score += outcome.score;
    };
    for (std::size_t depth = sim.path.size(); depth-- > 0;) {
        EdgeStats& stats = sim.path[depth].stats();
        if (const Node* const node = stats.node) {
            record(depth + 1, {node->value, node->score});
            if (node->terminal) record(depth, {-node->value, -node->score});
        }
        const Sums& own = sums[depth % 2];
        stats.add_sums(own.count, own.utility, own.square, own.value, own.score);
    }
    const Node& root = *tree_.root().node;
    if (sums[1].count == 0) record(1, {-root.value, -root.score});  // nothing may be tried
    const Sums& other = sums[1];
    tree_.root().add(other.utility / other.count, other.value / other.count, other.score / other.count);
}

// Where no limit of moves is agreed, a game without passes might never end.
bool Search::is_long_enough(const Game& game) {
    return game.move_limit() == 0 && static_cast<int>(game.moves().size()) >= 2 * game.board().points();
}

void Search::drop_in_progress() {
    for (const Path& path : in_progress_) add_pending(path, -1);
    in_progress_.clear();
}

}  // namespace tengen

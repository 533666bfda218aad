// Searches by playouts alone: simulations in native threads over one tree.
#include <chrono>
#include <exception>
#include <stdexcept>

#include "processor/threads.h"
#include "search/search.h"

namespace tengen {

// One simulation by playouts alone. The tree is locked but while the end of the path is explored.
void Search::visit(Simulation& sim, std::unique_lock<std::mutex>& tree) {
    start(sim);
    for (;;) {
        if (descend(sim) == End::terminal) return backup_end(sim.path);
        prepare_leaf(sim);
        add_pending(sim.path, 1);
        tree.unlock();
        examine_leaf(sim);
        tree.lock();
        add_pending(sim.path, -1);
        if (!sim.last_move_illegal) break;
        reject_last_move(sim);
    }
    EdgeStats& end = last_edge(sim.path);
    if (!end.node && tree_.is_graph()) end.node = tree_.known(sim.key);
    if (!end.node) add_node(sim);  // another thread may have been here meanwhile
    backup(sim.path, sim.outcome);
    if (!sim.over) record_playout(sim);
}

std::int64_t Search::run(std::int64_t simulations, int threads, double seconds) {
    game();
    if (params_.uses_network()) throw std::logic_error("this search uses a network: call gather and scatter");
    if (!waiting_.empty()) throw std::logic_error("the leaves of the last gather still wait for scatter");
    if (threads < 1) throw std::invalid_argument("a search needs a thread, not " + std::to_string(threads));
    if (simulations < 1 || root_visits() >= kMaxVisits) return 0;
    while (static_cast<int>(simulations_.size()) < threads) add_simulation();

    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    std::int64_t begun = 0;
    std::exception_ptr error;
    const auto work = [&](Simulation& sim) {
        std::unique_lock tree(lock_);
        try {
            while (!error && begun < simulations && root_visits() < kMaxVisits) {
                if (begun > 0 && std::chrono::steady_clock::now() >= end) break;
                ++begun;
                visit(sim, tree);
            }
        } catch (...) {
            if (!tree.owns_lock()) tree.lock();
            error = std::current_exception();
        }
    };
    if (!tree_.root().node) {  // one thread makes the root that the others start from
        std::unique_lock tree(lock_);
        ++begun;
        visit(*simulations_[0], tree);
    }
    {
        const auto others = start_threads(threads - 1, [&](int i) { work(*simulations_[i + 1]); });
        work(*simulations_[0]);
    }
    if (error) {
        tree_.clear();
        plan(0);
        std::rethrow_exception(error);
    }
    return begun;
}

}  // namespace tengen

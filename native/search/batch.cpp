// The interface to the network: gather() and scatter().
#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "board/symmetry.h"
#include "search/priors.h"
#include "search/search.h"

namespace tengen {

namespace {

bool finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// Positions that wait do not know each other's values, which costs a small tree the most: visits of a tree that counts
// by weights for each position of a batch. Two positions cost it nothing that a match could show, and two cores compute
// them sooner than one after the other.
constexpr std::uint32_t kVisitsPerPosition = 16;
constexpr std::uint32_t kPositionsOfSmallTree = 2;

}  // namespace

int Search::gather(const std::function<void(int, const Game&)>& visit, int limit) {
    game();
    if (!waiting_.empty()) throw std::logic_error("the leaves of the last gather still wait for scatter");
    if (root_visits() >= kMaxVisits) return 0;
    if (params_.is_weighted())
        limit = std::min(limit, static_cast<int>(std::max(root_visits() / kVisitsPerPosition, kPositionsOfSmallTree)));
    for (; root_.refresh > 0 && waiting() < limit; --root_.refresh) {
        waiting_.push_back({{}, tree_.root().node, {0, 0}, 0, true});
        visit(waiting() - 1, *game_);
    }
    if (params_.root_symmetries > 1 && waiting() > 0) return waiting();  // nothing goes on before the root is known
    if (params_.simulate_to_end) return gather_to_end(visit, limit);
    // A simulation that meets a waiting leaf is cancelled at the end. Until then its virtual loss diverts the next
    // ones.
    std::vector<Path> collided;
    Simulation& sim = *simulations_[0];
    start(sim);
    for (int done = waiting(); done < limit && static_cast<int>(collided.size()) < limit;) {
        End end = descend(sim);
        if (end == End::leaf) end = expand(sim);
        if (end == End::retry) continue;
        if (end == End::waiting) visit(waiting() - 1, sim.game);
        if (end == End::terminal) backup_end(sim.path);
        if (end == End::caught_up) backup_weighted(sim.path, false);
        if (end == End::collision) {
            if (sim.path.empty()) break;  // the root itself waits
            add_pending(sim.path, 1);
            collided.push_back(sim.path);
        } else {
            ++done;
        }
        start(sim);
    }
    for (const Path& taken : collided) add_pending(taken, -1);
    return waiting();
}

// Evaluates the end of the path, or makes a node there that waits for it.
Search::End Search::expand(Simulation& sim) {
    prepare_leaf(sim);
    examine_leaf(sim);
    if (sim.last_move_illegal) return reject_last_move(sim), End::retry;
    if (Node* const known = tree_.is_graph() ? tree_.known(sim.key) : nullptr) {
        if (!known->ready) return End::collision;
        last_edge(sim.path).node = known;
        if (!is_superko_illegal(sim.path)) return End::retry;  // goes on below it
        return reject_last_move(sim), End::retry;
    }
    if (const Node* const known = last_edge(sim.path).node) {  // below the threshold of expansion, or judged
        if (!sim.over) record_playout(sim);
        backup(sim.path, mixed(*known, sim.outcome));
        return End::backed_up;
    }
    Node* const node = add_node(sim);
    if (!node && (params_.is_weighted() || (!sim.counted && params_.playouts == 0))) {
        start(sim);  // the memory is full, and nothing will be opened any more
        return End::retry;
    }
    if (!sim.over) record_playout(sim);
    if (!node || node->ready) {
        backup(sim.path, sim.outcome);
        return End::backed_up;
    }
    add_pending(sim.path, 1);
    waiting_.push_back({sim.path, node, sim.outcome, sim.key, false});
    return End::waiting;
}

int Search::gather(const PlaneSet& set, int edge, float* planes, float* scalars, float* mask, int limit) {
    plays_encore_ = params_.encore && !params_.simulate_to_end && params_.playouts == 0 &&
                    game().rules().scoring == Scoring::territory &&
                    std::ranges::any_of(set.scalars, [](const Scalar& scalar) { return scalar.name == "encore"; });
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const auto write = [&](int row, const Game& game) {
        const int nth = waiting_[row].refresh ? static_cast<int>(root_.symmetric.size()) + row : 0;
        const int symmetry = waiting_[row].symmetry = symmetry_for(game, nth);
        FeatureContext context(game);
        if (params_.hide_history) context.hidden_moves = static_cast<int>(game_->moves().size());
        context.pass_goes_on = params_.conservative_pass && waiting_[row].path.empty();
        if (params_.draw_value != 0 && has_draws(game)) context.draw_points = params_.draw_value / 2;
        encode(set, context, Layout(game.board().size(), symmetry, edge), planes + row * set.planes.size() * area,
               scalars + row * set.scalars.size(), mask + row * area);
        if (params_.playout_doubling_advantage != 0)
            write_advantage_inputs(set, game, scalars + row * set.scalars.size());
    };
    return gather(write, limit);
}

// The inputs that networks of KataGo have for playout_doubling_advantage.
void Search::write_advantage_inputs(const PlaneSet& set, const Game& leaf, float* scalars) const {
    const float own = params_.playout_doubling_advantage * (leaf.to_play() == game_->to_play() ? 1.0f : -1.0f);
    for (std::size_t i = 0; i < set.scalars.size(); ++i) {
        if (set.scalars[i].name == "playout_advantage") scalars[i] = 1;
        if (set.scalars[i].name == "playout_advantage_size") scalars[i] = own / 2;
    }
}

// Drawn from the position and not from a stream, so that a leaf that was dropped is encoded the same way again. Of the
// evaluations of one position the nth ones differ.
int Search::symmetry_for(const Game& leaf, int nth) const {
    SplitMix64 draws(salt_ ^ (leaf.board().hash() + leaf.moves().size()));
    const int first = params_.leaf_symmetry == LeafSymmetry::none ? 0 : static_cast<int>(draws.below(kSymmetries));
    if (nth == 0) return first;
    std::array<int, kSymmetries> order;
    std::iota(order.begin(), order.end(), 0);
    std::swap(order[0], order[first]);
    for (int i = 1; i <= nth; ++i) std::swap(order[i], order[i + static_cast<int>(draws.below(kSymmetries - i))]);
    return order[nth];
}

void Search::scatter(const LeafResults& results, int edge) {
    check(results, edge);
    if (waiting_.empty()) return;  // such results tell nothing of the network
    const auto leaves = std::move(waiting_);
    waiting_.clear();
    has_pass_ = results.has_pass(edge);
    network_scores_ = !results.score.empty();
    has_score_ = network_scores_ || params_.playout_weight > 0;
    for (std::size_t row = 0; row < leaves.size(); ++row) {
        const Waiting& leaf = leaves[row];
        const LeafResults result = results.rows(row, 1);
        const Layout layout(game_->board().size(), leaf.symmetry, edge);
        const bool again = leaf.refresh && !root_.symmetric.empty();
        if (params_.ownership && !result.ownership.empty() && !again) add_ownership(leaf, result.ownership, layout);
        if (leaf.path.empty()) root_.evaluation = evaluation_of(result, layout);
        if (leaf.path.empty() && params_.root_symmetries > 1) root_.symmetric.push_back(*root_.evaluation);
        if (leaf.refresh) {
            refresh_root(leaf, result, layout);
        } else {
            apply_evaluation(leaf, result, layout);
        }
    }
}

// Another evaluation of a root that has one.
void Search::refresh_root(const Waiting& leaf, const LeafResults& result, const Layout& layout) {
    if (params_.root_symmetries > 1) {
        if (std::ssize(root_.symmetric) == params_.root_symmetries) average_root();
    } else if (params_.root_policy_optimism != params_.policy_optimism && !prior_policy_) {
        replace_priors(*leaf.node, result.policy, layout, params_.policy_temperature, params_.raw_priors);
        prepare_root();
    } else {
        prepare_bonus();
    }
}

// The first evaluation of a node: its priors and values, and the way up.
void Search::apply_evaluation(const Waiting& leaf, const LeafResults& result, const Layout& layout) {
    Node& node = *leaf.node;
    if (!prior_policy_)
        set_priors_from_policy(node, result.policy, layout, params_.policy_temperature, params_.raw_priors);
    if (!node.terminal && (prior_policy_ || !leaf.path.empty() || params_.root_symmetries == 1))
        keep_candidates(node, leaf.path.size());
    node.value = std::clamp(result.value[0], -1.0f, 1.0f);
    node.score = network_scores_ ? result.score[0] : 0;
    const Outcome outcome = mixed(node, leaf.playouts);
    // Where moves wait for their visits, and at the end of a game, each visit mixes the network's judgement with a
    // playout of its own.
    const bool is_mixed_anew = node.terminal ? is_judged(node) : params_.evaluates_before_expanding();
    if (!is_mixed_anew) node.value = outcome.value, node.score = outcome.score;
    node.ready = true;
    if (params_.is_weighted()) set_own(node, result);
    if (params_.node_ownership && !result.ownership.empty()) keep_ownership(node, result.ownership, layout);

    if (params_.simulate_to_end) {
        in_progress_.push_back(leaf.path);
    } else {
        add_pending(leaf.path, -1);
        backup(leaf.path, outcome);
    }
    if (leaf.path.empty()) {
        root_.refresh = params_.root_symmetries - 1;
        prepare_root();
    }
}

namespace {

std::span<const float> as_column(const std::optional<float>& output) {
    return output ? std::span(&*output, 1) : std::span<const float>();
}

}  // namespace

// The root is worth the mean of its evaluations in several symmetries. A new root counts it as its one visit; a kept
// one takes its priors, and where nodes count by weights its value.
void Search::average_root() {
    const Board& board = game_->board();
    for (RootEvaluation& part : root_.symmetric) {
        for (int p = 0; p < board.points(); ++p)
            if (!game_->is_legal(static_cast<Point>(p))) part.policy[p] = 0;
        const float total = std::accumulate(part.policy.begin(), part.policy.end(), 0.0f);
        if (total > 0)
            for (float& x : part.policy) x /= total;
    }
    root_.evaluation = mean_of(root_.symmetric);
    root_.symmetric.clear();
    const RootEvaluation& mean = *root_.evaluation;
    const Layout layout(board.size(), 0, board.size());
    LeafResults row{.policy = std::span(mean.policy).first(mean.policy.size() - (has_pass_ ? 0 : 1)),
                    .value = {&mean.value, 1},
                    .ownership = mean.ownership};
    for (std::size_t i = 0; i < LeafResults::kOptional.size(); ++i)
        row.*LeafResults::kOptional[i].column = as_column(mean.optional[i]);

    EdgeStats& root = tree_.root();
    Node& node = *root.node;
    const bool is_new = root.visits == 1 && node.edge_count == 0;
    if (!prior_policy_ && is_new) {
        set_priors_from_policy(node, row.policy, layout, params_.policy_temperature, params_.raw_priors);
        keep_candidates(node, 0);
    } else if (!prior_policy_) {
        replace_priors(node, row.policy, layout, params_.policy_temperature, params_.raw_priors);
    }
    if (params_.node_ownership && !row.ownership.empty()) keep_ownership(node, row.ownership, layout);
    if (is_new || params_.is_weighted()) {
        node.value = std::clamp(mean.value, -1.0f, 1.0f);
        node.score = row.score.empty() ? 0 : row.score[0];
    }
    if (params_.is_weighted()) replace_own(node, row, is_new);
    if (is_new) {
        root = EdgeStats{.node = &node};
        backup({}, {node.value, node.score});
    }
    prepare_root();
}

void Search::check(const LeafResults& results, int edge) const {
    if (edge < game().board().size()) throw std::invalid_argument("the results are for a smaller board");
    results.check(waiting_.size(), edge);
    const bool optional_finite =
        std::ranges::all_of(LeafResults::kOptional, [&](const auto& output) { return finite(results.*output.column); });
    if (!finite(results.policy) || !finite(results.value) || !finite(results.ownership) || !optional_finite)
        throw std::invalid_argument("an evaluation is not finite");
}

RootEvaluation Search::evaluation_of(const LeafResults& row, const Layout& layout) const {
    RootEvaluation found{.policy = {}, .ownership = {}, .value = row.value[0], .optional = {}};
    for (std::size_t i = 0; i < LeafResults::kOptional.size(); ++i)
        if (const auto column = row.*LeafResults::kOptional[i].column; !column.empty()) found.optional[i] = column[0];
    for (int p = 0; p <= layout.points(); ++p) {
        const std::size_t at = layout.policy_index(static_cast<Point>(p));
        found.policy.push_back(at < row.policy.size() ? row.policy[at] : 0);
        if (p < layout.points() && !row.ownership.empty())
            found.ownership.push_back(row.ownership[layout[static_cast<Point>(p)]]);
    }
    return found;
}

// For the side to move there.
void Search::keep_ownership(Node& node, std::span<const float> ownership, const Layout& layout) {
    std::vector<float> kept;
    for (int p = 0; p < layout.points(); ++p) kept.push_back(ownership[layout[static_cast<Point>(p)]]);
    tree_.keep_ownership(node, kept);
}

void Search::add_ownership(const Waiting& leaf, std::span<const float> ownership, const Layout& layout) {
    const double sign = leaf.path.size() % 2 ? -1 : 1;
    root_.ownership.resize(layout.points(), 0.0);
    for (int p = 0; p < layout.points(); ++p) root_.ownership[p] += sign * ownership[layout[static_cast<Point>(p)]];
    ++root_.ownership_count;
}

}  // namespace tengen

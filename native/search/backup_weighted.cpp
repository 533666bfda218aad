// Searches that count by weights: the statistics of a node are computed anew from its moves at each visit below it.
#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "search/search.h"
#include "search/weights.h"

namespace tengen {

ScoreUtility Search::utility_at(std::size_t depth) const {
    const Color side = depth % 2 ? opponent(game_->to_play()) : game_->to_play();
    return {params_, game_->board().size(), side, side == Color::black ? root_.score_center : -root_.score_center};
}

// `expected`: the score for the side to move at the root. Returns whether the center moved.
bool Search::set_score_center(float expected) {
    const float center = score_center(expected, game_->board().size(), params_);
    const float before = root_.score_center;
    root_.score_center = game_->to_play() == Color::black ? center : -center;
    return root_.score_center != before;
}

// The own evaluation of a new node from its network outputs.
void Search::set_own(Node& node, const LeafResults& row) {
    NodeStats& stats = node.stats();
    const auto first = [](std::span<const float> column, float missing) {
        return column.empty() ? missing : column[0];
    };
    const float stdev = first(row.score_stdev, 0);
    stats.own = {.value = node.value,
                 .no_result = first(row.no_result, 0),
                 .score = node.score,
                 .score_square = node.score * node.score + stdev * stdev,
                 .lead = first(row.lead, node.score)};
    stats.value_error = first(row.value_error, -1);
    stats.score_error = first(row.score_error, -1);
    has_moments_ = !row.score_stdev.empty();
    has_errors_ = !row.value_error.empty();
}

// A finished game. A score in whole points is one of two half points, as komi would decide; by the value of a draw one
// of them is the more likely.
void Search::set_own(Node& node, const Simulation& sim) {
    const auto [value, score] = sim.outcome;
    const bool no_result = sim.game.is_no_result(), whole = !no_result && score == std::floor(score);
    const float draw = whole ? draw_value(sim.game) : 0;
    node.stats().own = {.value = value,
                        .no_result = no_result ? 1.0f : 0.0f,
                        .score = score + draw / 2,
                        .score_square = score * score + (whole ? 0.25f + score * draw : 0),
                        .lead = score + draw / 2};
}

float Search::own_weight(const Node& node, const ScoreUtility& utility) const {
    // Where all evaluations count alike a finished game is one of them.
    if (node.counted) return has_errors_ ? ScoreUtility::end_weight(params_) : 1;
    return utility.weight(node.stats());
}

// The statistics of a node from those of its moves and its own evaluation; the visits stay.
void Search::recompute(Node& node, std::size_t depth) {
    NodeStats& stats = node.stats();
    const ScoreUtility utility = utility_at(depth);
    stats.own.utility = utility.of(stats.own);
    const float weight = own_weight(node, utility);
    const bool noised = depth == 0 && static_cast<int>(root_.priors.size()) == node.move_count;

    // The moves, and what their weights become.
    weighted_.clear();
    float whole = 0;
    for (int i = 0; i < node.edge_count; ++i) {
        const EdgeStats& edge = node.edges[i];
        if (!edge.node || !edge.visits || !edge.node->stats().visits) continue;
        const NodeStats& below = edge.node->stats();
        const float prior = noised ? root_.priors[i] : node.moves()[i].prior.value();
        weighted_.push_back({edge_weight(edge.visits, below), -below.mean.utility, std::max(prior, 1e-30f), &below});
        whole += weighted_.back().weight;
    }
    // Not summed again below, so that rounding does not add up: a weight may be compared with whole visits.
    const float weights = params_.noise_pruning > 0 ? prune_noise(weighted_, params_.noise_pruning) : whole;
    favor_good_moves(weighted_, params_.value_weight_exponent);

    Moments sum;
    float squares = 0;
    for (const WeightedMove& move : weighted_) {
        const float part = move.weight / move.stats->weight;
        sum.add(-move.stats->mean, move.weight);
        squares += part * part * move.stats->weight_square;
    }

    // Its own evaluation, corrected by what evaluations in the same surroundings missed.
    Moments own = stats.own;
    if (stats.bias) {
        if (weights > 1e-10f) {
            const float counts = std::pow(whole, params_.value_bias_exponent);
            const float difference = (sum.utility / weights - own.utility) * counts;
            stats.bias->difference += difference - stats.bias_difference;
            stats.bias->weight += counts - stats.bias_weight;
            stats.bias_difference = difference;
            stats.bias_weight = counts;
        }
        own.utility += params_.value_bias * stats.bias->mean();
    }
    own.utility_square = own.utility * own.utility;
    // Where nothing may be tried every visit is the node's own.
    const float visits = weighted_.empty() ? static_cast<float>(std::max(stats.visits, 1u)) : 1;
    sum.add(own, visits * weight);
    stats.weight = weights + visits * weight;
    stats.weight_square = squares + visits * weight * weight;
    sum.scale(1 / stats.weight);
    stats.mean = sum;
}

namespace {

// What an edge shows of the node below it, for the player who moved there.
void sync_edge_stats(EdgeStats& edge) {
    const Moments mean = -edge.node->stats().mean;
    edge.utility = mean.utility, edge.square = mean.utility_square, edge.value = mean.value, edge.score = mean.score;
}

}  // namespace

// Another evaluation of the root; a new one forgets its one visit.
void Search::replace_own(Node& root, const LeafResults& row, bool is_new) {
    NodeStats& stats = root.stats();
    set_own(root, row);
    if (!is_new) {
        recompute(root, 0);
        sync_edge_stats(tree_.root());
        return;
    }
    stats.mean = {};
    stats.weight = stats.weight_square = 0;
    stats.visits = 0;
}

// Whether other lines have visited the node below a move more often: then a visit of the move costs no evaluation.
bool Search::may_catch_up(const EdgeStats& edge) {
    if (params_.catch_up <= 0 || !params_.is_weighted() || !tree_.is_graph()) return false;
    return edge.visits + edge.pending < edge.node->stats().visits &&
           (params_.catch_up >= 1 || random_.uniform() < params_.catch_up);
}

// One visit along the path, which ends in a node, and of that node if `is_new`: it counts as its own evaluation.
void Search::backup_weighted(const Path& path, bool is_new) {
    EdgeStats& end = last_edge(path);
    if (path.empty() && !end.visits) set_score_center(end.node->score);
    if (is_new) {
        ++end.node->stats().visits;
        recompute(*end.node, path.size());
    }
    sync_edge_stats(end);
    for (std::size_t depth = path.size(); depth-- > 0;) {
        ++path[depth].stats().visits;
        Node& node = *path[depth].node;
        ++node.stats().visits;
        recompute(node, depth);
        sync_edge_stats(depth ? path[depth - 1].stats() : tree_.root());
    }
    ++tree_.root().visits;
    if (!path.empty()) update_bonus(path[0].edge);
}

// ending_bonus as utility of the root's moves.
void Search::prepare_bonus() {
    root_.bonus.clear();
    root_.bonus_points.clear();
    if (!params_.is_weighted() || params_.ending_bonus == 0 || !root_.evaluation || root_.evaluation->ownership.empty())
        return;
    root_.bonus_points = ending_bonus(*game_, root_.evaluation->ownership, params_.ending_bonus);
    const Node& root = *tree_.root().node;
    root_.bonus.resize(root.move_count);
    for (int i = 0; i < root.edge_count; ++i) update_bonus(i);
}

void Search::update_bonus(int edge) {
    if (root_.bonus.empty()) return;
    const Node& root = *tree_.root().node;
    const float points = root_.bonus_points[root.moves()[edge].point];
    const Node* const below = root.edges[edge].node;
    if (points != 0 && below && below->ready) root_.bonus[edge] = utility_at(0).gain(-below->stats().mean, points);
}

// All nodes, from the leaves up, after what utilities depend on has changed.
void Search::recompute_tree() {
    struct Visit {
        Node* node;
        std::size_t depth;
        int next;
    };
    std::unordered_set<const Node*> done;
    std::vector<Visit> open{{tree_.root().node, 0, 0}};
    while (!open.empty()) {
        Visit& top = open.back();
        if (top.next < top.node->edge_count) {
            Node* const below = top.node->edges[top.next++].node;
            if (below && below->ready && done.insert(below).second) open.push_back({below, top.depth + 1, 0});
            continue;
        }
        recompute(*top.node, top.depth);
        for (int i = 0; i < top.node->edge_count; ++i)
            if (EdgeStats& edge = top.node->edges[i]; edge.node && edge.node->ready) sync_edge_stats(edge);
        open.pop_back();
    }
    sync_edge_stats(tree_.root());
}

// --- What was found ---

RootMove Search::weighted_move(Point point, float prior, const EdgeStats& edge, float bonus) const {
    const bool visited = edge.node && edge.visits && edge.node->stats().visits;
    const EdgeStats& root = tree_.root();
    const NodeStats& below = visited ? edge.node->stats() : root.node->stats();
    const Moments mean = visited ? -below.mean : below.mean;
    const Bound bound = weighted_lower_bound(edge.visits, visited ? &below : nullptr, bonus, params_);
    const float radius = bound.radius * params_.win_utility / std::max(utility_radius(params_), 1e-20f);
    RootMove found{.point = point,
                   .visits = edge.visits,
                   .utility_lcb = bound.lower,
                   .prior = prior,
                   .weight = visited ? edge_weight(edge.visits, below) : 0,
                   .value_lcb = mean.value - radius,
                   .node_visits = tree_.node_visits(edge),
                   .node_weight = visited ? below.weight : 0};
    show_means(found, mean);
    return found;
}

void Search::show_means(RootMove& move, const Moments& mean) const {
    const auto known = [](bool is_known, float x) { return is_known ? x : kUnknown; };
    move.utility = mean.utility, move.value = mean.value, move.score = mean.score, move.no_result = mean.no_result;
    move.score_stdev = known(has_moments_, std::sqrt(std::max(0.0f, mean.score_square - mean.score * mean.score)));
    move.lead = known(has_score_, mean.lead);
}

// The means of the root with the weights that its moves keep in retrospect (KataGo's pruned root values): moves that
// noise at the root alone has explored count for little.
Moments Search::pruned_root() const {
    const Node& root = *tree_.root().node;
    const std::vector<float> weights = katago_selection_weights(at_root(), params_);
    float total = own_weight(root, utility_at(0));
    Moments sum;
    sum.add(root.stats().own, total);
    bool moved = false;
    for (int i = 0; i < root.edge_count; ++i) {
        if (weights[i] <= 0) continue;
        sum.add(-root.edges[i].node->stats().mean, weights[i]);
        total += weights[i];
        moved = true;
    }
    sum.scale(1 / total);
    return moved ? sum : root.stats().mean;
}

// The weights by which the moves of a node are played, by edge.
std::vector<float> Search::play_weights(const SelectionContext& at) const {
    std::vector<float> weights = katago_selection_weights(at, params_);
    const int explored = katago_best_explored(at);
    if (!params_.lcb || explored < 0) return weights;
    std::vector<Bound> bounds;
    for (int i = 0; i < at.node.edge_count; ++i) {
        const EdgeStats& edge = at.node.edges[i];
        const float bonus = at.root_bonus ? at.root_bonus[i] : 0;
        bounds.push_back(weighted_lower_bound(edge.visits, edge.node ? &edge.node->stats() : nullptr, bonus, params_));
    }
    favor_lower_bound(weights, bounds, params_.lcb_share * weights[explored]);
    return weights;
}

// The move that would be played at a node below the root; -1 where none was visited.
int Search::played_edge(const Node& node) const {
    const std::vector<float> weights =
        play_weights({.node = node, .self = tree_.root(), .root_priors = nullptr, .may_expand = false});
    const auto best = std::ranges::max_element(weights);
    return best == weights.end() || *best <= 0 ? -1 : static_cast<int>(best - weights.begin());
}

}  // namespace tengen

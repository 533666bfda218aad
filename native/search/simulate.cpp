// One simulation: descend the tree, examine the leaf, back up the result.
#include <algorithm>

#include "search/graph.h"
#include "search/priors.h"
#include "search/search.h"

namespace tengen {

void Search::start(Simulation& sim) {
    sim.path.clear();
    sim.superko_illegal.clear();
}

// Continues from the end of the path. Selection needs no board: only a new leaf replays the moves.
Search::End Search::descend(Simulation& sim) {
    for (;;) {
        const EdgeStats& self = last_edge(sim.path);
        if (!self.node) return End::leaf;
        Node& node = *self.node;
        if (!node.ready) return End::collision;
        if (!sim.path.empty() && may_catch_up(self)) return End::caught_up;
        if (params_.evaluates_before_expanding() && !node.terminal && is_below_expand_threshold(sim.path))
            return End::leaf;
        if (!sim.path.empty() && is_judged(node)) return End::leaf;
        const int edge = node.terminal ? -1 : next_edge(sim, node, self);
        if (edge < 0) return End::terminal;
        sim.path.push_back({&node, edge});
        if (tree_.is_graph() && is_superko_illegal(sim.path)) reject_last_move(sim);
    }
}

int Search::next_edge(Simulation& sim, Node& node, const EdgeStats& self) {
    const bool is_root = sim.path.empty();
    const bool merges = tree_.is_graph() && !params_.is_weighted();
    const EdgeStats shared = merges ? merged_stats(node) : EdgeStats{};
    for (bool may_add = true;;) {
        SelectionContext context = selection_at(node, merges ? shared : self, sim.path.size());
        if (std::any_of(sim.superko_illegal.begin(), sim.superko_illegal.end(),
                        [&](const Step& step) { return step.node == &node; })) {
            sim.masked_priors.clear();
            for (int i = 0; i < node.move_count; ++i) sim.masked_priors.push_back(context.prior(i));
            for (const Step& step : sim.superko_illegal)
                if (step.node == &node) sim.masked_priors[step.edge] = -1;
            context.masked_priors = sim.masked_priors.data();
        }
        context.may_add_edge = may_add;
        const int edge = select_(context, params_);
        if (edge < node.edge_count) return edge;
        if (edge > node.edge_count) {
            tree_.bring_forward(node, edge);
            if (is_root) std::swap(root_.priors[edge], root_.priors[node.edge_count]);
            if (is_root && !root_.bonus.empty()) std::swap(root_.bonus[edge], root_.bonus[node.edge_count]);
        }
        if (tree_.add_edge(node)) return node.edge_count - 1;
        may_add = false;  // choose among what is there
    }
}

// The statistics of a node of a graph over all lines to it, for the player who moved there.
EdgeStats Search::merged_stats(const Node& node) const {
    EdgeStats stats = node.sum(utility_of(node.value, node.score, params_));
    stats.utility = -stats.utility, stats.value = -stats.value, stats.score = -stats.score;
    return stats;
}

// Whether the last move of a path, which leads to a node that other lines made, repeats a position of this line.
bool Search::is_superko_illegal(const Path& path) const {
    const Node* const node = path.back().stats().node;
    if (!node || game_->rules().ko == Ko::simple) return false;
    if (path.back().node->moves()[path.back().edge].point == game_->board().pass()) return false;
    if (reaches_encore(path)) return false;  // its positions are no others' repetitions
    const auto stones = tree_.stones(*node);
    const bool odd = path.size() % 2;
    // No position from before the button was taken may count.
    std::size_t first = 0;
    if (game_->button_left()) {
        const auto takes = [&](const Step& step) {
            return step.node->moves()[step.edge].point == game_->board().pass();
        };
        const auto taken = std::ranges::find_if(path, takes);
        if (taken != path.end()) first = static_cast<std::size_t>(taken - path.begin()) + 1;
    }
    if (!first && game_->was_there(stones, odd ? opponent(game_->to_play()) : game_->to_play())) return true;
    for (std::size_t depth = std::max<std::size_t>(first, 1); depth < path.size(); ++depth) {
        const bool same_turn = game_->rules().ko == Ko::positional || depth % 2 == odd;
        if (same_turn && tree_.stones(*path[depth].node) == stones) return true;
    }
    return false;
}

// Whether a line lies in the encore at its end, under superko.
bool Search::reaches_encore(const Path& path) const {
    if (game_->encore().phase > 0) return true;
    if (!plays_encore_ && !game_->encore_from()) return false;
    int passes = game_->passes() - game_->button_left();
    for (const Step& step : path) {
        passes = step.node->moves()[step.edge].point == game_->board().pass() ? passes + 1 : std::min(passes, 0);
        if (passes >= 2) return true;
    }
    return false;
}

void Search::reject_last_move(Simulation& sim) {
    sim.superko_illegal.push_back(sim.path.back());
    sim.path.pop_back();
}

// Whether a visit of the last move of a path only plays it out.
bool Search::is_below_expand_threshold(const Path& path) const {
    if (path.empty()) return false;
    const EdgeStats& end = path.back().stats();
    if (end.visits + end.pending >= params_.expand_visits) return false;
    return end.node || !params_.evaluates_before_expanding();
}

// Reads from the tree what examine_leaf() needs, which runs without the lock.
void Search::prepare_leaf(Simulation& sim) {
    sim.below_expand_threshold = is_below_expand_threshold(sim.path);
    sim.line.clear();
    for (const Step& step : sim.path) sim.line.push_back(step.node->moves()[step.edge].point);
}

// The key of the position after `move`; 0 for the first move of a game.
static std::uint64_t bias_key(const Game& game, Point move) {
    if (game.moves().empty()) return 0;
    return value_bias_key(game.board(), game.to_play(), game.moves().back().point, move);
}

// The position at the end of the path: its state, moves and priors, and the result of its playouts. Of what threads
// share it reads what does not change while they run: `game_`, the params, `prior_policy_`, and what is known of the
// root before (`root_.settled`, `root_.unpruned`, `root_.restrictions` and their depth).
void Search::examine_leaf(Simulation& sim) {
    sim.game = *game_;
    if (plays_encore_) sim.game.set_encore(true);
    sim.last_move_illegal = false;
    sim.bias_key = 0;
    for (const Point& move : sim.line) {
        const bool is_stone = move != sim.game.board().pass() && sim.game.board().at(move) == Color::empty;
        if (params_.value_bias > 0 && &move == &sim.line.back() && is_stone) sim.bias_key = bias_key(sim.game, move);
        sim.last_move_illegal =
            tree_.is_graph() && !sim.game.is_legal(move);  // of the last one alone, see is_superko_illegal()
        if (sim.last_move_illegal) return;
        sim.game.play(move);
    }
    sim.key = tree_.is_graph() ? position_key(sim.game) : 0, sim.stones = sim.game.board().hash();
    // No node of a graph belongs to two restricted depths.
    if (static_cast<int>(sim.line.size()) < root_.restricted_depth) sim.key = hash64(sim.key + sim.line.size() + 1);
    const bool is_root = sim.line.empty();
    // A root is searched even after the game.
    const bool passed = params_.conservative_pass && sim.line.size() == 1 && sim.line[0] == sim.game.board().pass();
    // Under territory scoring players agree on the dead stones after their passes. A count that takes all stones for
    // alive which are not in pass-alive area is far from that, so the network judges, and without one every visit plays
    // the position out anew. A game with an encore goes on, and ends with a count.
    const bool agreed = sim.game.rules().scoring == Scoring::territory && sim.game.ending() == Ending::passes &&
                        !params_.simulate_to_end && !sim.game.encore_from();
    const bool is_played_out = agreed && !is_root && !params_.uses_network();
    if (is_played_out) sim.below_expand_threshold = true;
    const bool goes_on = passed || is_played_out;
    sim.over = !is_root && ((sim.game.is_over() && !goes_on) || (params_.simulate_to_end && is_long_enough(sim.game)));
    // Play may go on after passes at the root, so a finished game shares no node with the same stones before its end.
    if (sim.over) sim.key = ~sim.key;
    sim.counted = sim.over && !agreed;
    sim.moves.clear();
    sim.outcome = {0, 0};
    if (sim.counted) {
        sim.outcome = game_outcome(sim.game, params_.dead_stones());
        const bool draw = sim.outcome.value == 0 && !sim.game.is_no_result();
        if (draw && params_.draw_value != 0) sim.outcome.value = draw_value(sim.game);
        return;
    }
    if (sim.over) {
        if (params_.playouts > 0) sim.outcome = sim.playouts.play(sim.game);
        return;
    }
    if (!sim.below_expand_threshold) {
        candidate_moves(sim.game, params_.prune_eyes, sim.moves, !tree_.is_graph());
        prune_moves(sim.game.board(), sim.game.to_play(), params_, sim.moves);
        if (!root_.settled.empty()) std::erase_if(sim.moves, [&](Point p) { return root_.settled.contains(p); });
        if (is_root &&
            std::none_of(sim.moves.begin(), sim.moves.end(), [&](Point p) { return root_.unpruned.test(p); }))
            candidate_moves(sim.game, false, sim.moves, !tree_.is_graph());
        // Restrictions of the root are kept in `root_.unpruned`, so that its node serves others too.
        const auto depth = static_cast<int>(sim.line.size());
        if (!is_root && depth < root_.restricted_depth)
            std::erase_if(sim.moves, [&](Point p) { return !permits(depth, sim.game.to_play(), p); });
        // The pass is the last, unless a restriction took it.
        if (params_.pass_policy == PassPolicy::no_legal_move && !is_root && sim.moves.size() > 1 &&
            sim.moves.back() == sim.game.board().pass())
            sim.moves.pop_back();
    }
    if (prior_policy_ && !sim.below_expand_threshold) {
        sim.playouts.shuffle(sim.moves);  // moves of equal weight are tried in random order
        sim.weights.resize(sim.moves.size());
        prior_policy_->weigh(sim.game.board(), sim.game.to_play(), sim.game.moves(), sim.moves, sim.weights);
    }
    if (params_.playouts > 0) sim.outcome = sim.playouts.play(sim.game);
}

// The network's judgement of a node and the playouts of a visit, by their shares.
Outcome Search::mixed(const Node& node, Outcome playouts) const {
    const float own = 1 - params_.playout_weight, played = params_.playout_weight;
    return {own * node.value + played * playouts.value, network_scores_ ? own * node.score + played * playouts.score
                                                        : played > 0    ? playouts.score
                                                                        : 0};
}

// Whether a node is the end of a game that the network judges, by playouts too: each visit has its own. In a graph a
// node has one value for all.
bool Search::is_judged(const Node& node) const {
    return node.terminal && !node.counted && params_.playouts > 0 && params_.uses_network() && !tree_.is_graph();
}

// The value of a draw for the side to move.
float Search::draw_value(const Game& game) const {
    return game.to_play() == Color::white ? params_.draw_value : -params_.draw_value;
}

// A new node for the end of the path; null where the memory is full or the move stays without one.
Node* Search::add_node(Simulation& sim) {
    if (sim.below_expand_threshold) return nullptr;
    Node* const node = tree_.make_node(sim.moves);
    if (!node) return nullptr;
    last_edge(sim.path).node = node;
    if (tree_.is_graph()) tree_.enter(sim.key, sim.stones, *node);
    if (params_.is_weighted() && sim.bias_key && !sim.over) tree_.join_bias(*node, sim.bias_key);
    if (sim.over) {
        node->terminal = true;
        node->counted = sim.counted;
        if (params_.is_weighted() && sim.counted) set_own(*node, sim);
    } else if (prior_policy_) {
        set_priors_from_weights(*node, sim.weights);
        if (!params_.uses_network())
            keep_candidates(*node, sim.path.size());  // else with the result, which says whether passes go by rule
    }
    if (sim.counted || !params_.uses_network()) {
        node->value = sim.outcome.value;
        node->score = sim.outcome.score;
        node->ready = true;
        if (sim.path.empty()) prepare_root();
    }
    return node;
}

void Search::add_pending(const Path& path, int change) {
    tree_.root().pending += change;
    for (const Step& step : path) step.stats().pending += change;
}

// One visit along the path. The outcome is for the side to move at its end; edges hold it for the player who moved
// there.
void Search::backup(const Path& path, Outcome outcome) {
    if (params_.is_weighted()) return backup_weighted(path);
    float utility = utility_of(outcome.value, outcome.score, params_);
    const auto add = [&](EdgeStats& stats) {
        utility = -utility, outcome.value = -outcome.value, outcome.score = -outcome.score;
        stats.add(utility, outcome.value, outcome.score);
        if (!tree_.is_graph() || !stats.node) return;
        const EdgeStats all = merged_stats(*stats.node);
        stats.utility = all.utility, stats.square = all.square, stats.value = all.value, stats.score = all.score;
    };
    for (auto step = path.rbegin(); step != path.rend(); ++step) add(step->stats());
    add(tree_.root());
}

// A visit of a finished game, or of a node below which nothing may be tried.
void Search::backup_end(const Path& path) {
    const Node& node = *last_edge(path).node;
    backup(path, {node.value, node.score});
}

// The statistics of a simulation's playouts beside their outcome: AMAF and ownership.
void Search::record_playout(const Simulation& sim) {
    for (const PlayoutResult& end : sim.playouts.ends()) {
        if (tree_.has_amaf()) backup_amaf(sim.path, end);
        if (!params_.ownership || params_.playout_weight < 1) continue;
        root_.ownership.resize(game_->board().points(), 0.0);
        const double sign = game_->to_play() == Color::black ? 1 : -1;
        end.area[0].for_each([&](Point p) { root_.ownership[p] += sign; });
        end.area[1].for_each([&](Point p) { root_.ownership[p] -= sign; });
        ++root_.ownership_count;
    }
}

// All-moves-as-first: every position of the path is updated for the moves that its player was the first to make, in the
// rest of the path or in the playout.
void Search::backup_amaf(const Path& path, const PlayoutResult& end) {
    auto first = end.trace.first;
    const Point pass = game_->board().pass();
    const std::array<float, 2> utility = {utility_of(end.black.value, end.black.score, params_),
                                          utility_of(-end.black.value, -end.black.score, params_)};
    for (std::size_t depth = path.size(); depth-- > 0;) {
        const Color mover = depth % 2 ? opponent(game_->to_play()) : game_->to_play();
        Node& node = *path[depth].node;
        const MovePrior* const moves = node.moves();
        const Point move = moves[path[depth].edge].point;
        if (move != pass) first[move] = mover;
        Amaf* const amaf = node.amaf();
        for (int i = 0; i < node.move_count; ++i)
            if (moves[i].point != pass && first[moves[i].point] == mover) amaf[i].add(utility[index(mover)]);
    }
}

}  // namespace tengen

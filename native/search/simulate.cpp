// One simulation: down the tree, a look at its end, and back up.
#include <algorithm>

#include "search/graph.h"
#include "search/priors.h"
#include "search/search.h"

namespace tengen {

void Search::start(Simulation& sim) {
    sim.path.clear();
    sim.barred.clear();
}

// From the end of the path on. Selection needs no board: only a new leaf replays the moves.
Search::End Search::descend(Simulation& sim) {
    for (;;) {
        const Link& self = end_of(sim.path);
        if (!self.node) return End::open;
        Node& node = *self.node;
        if (!node.ready) return End::blocked;
        const int edge = node.terminal ? -1 : next_edge(sim, node, self);
        if (edge < 0) return End::finished;
        sim.path.push_back({&node, edge});
        if (tree_.is_graph() && is_barred(sim.path)) bar_last(sim);
    }
}

int Search::next_edge(Simulation& sim, Node& node, const Link& self) {
    const bool is_root = sim.path.empty();
    const Link shared = tree_.is_graph() ? link_to(node) : Link{};
    for (;;) {
        Junction junction{node,
                          tree_.is_graph() ? shared : self,
                          is_root ? root_priors_.data() : nullptr,
                          !tree_.full(),
                          params_.playouts > 0,
                          salt_,
                          is_root ? &plan_ : nullptr};
        if (std::any_of(sim.barred.begin(), sim.barred.end(), [&](const Step& step) { return step.node == &node; })) {
            sim.masked.clear();
            for (int i = 0; i < node.edge_count; ++i) sim.masked.push_back(junction.prior(i));
            for (const Step& step : sim.barred)
                if (step.node == &node) sim.masked[step.edge] = -1;
            junction.masked = sim.masked.data();
        }
        const int edge = select_(junction, params_);
        if (edge < node.link_count) return edge;
        if (edge > node.link_count) {
            tree_.bring_forward(node, edge);
            if (is_root) std::swap(root_priors_[edge], root_priors_[node.link_count]);
        }
        if (tree_.make_link(node)) return node.link_count - 1;
        // The memory is full: choose among what is there.
    }
}

// What all lines to a node of a graph know of it together, for who moved there.
Link Search::link_to(const Node& node) const {
    Link link = node.sum(utility_of(node.value, node.score, params_));
    link.utility = -link.utility, link.value = -link.value, link.score = -link.score;
    return link;
}

// Whether the last move of a path, which leads to a node that other lines made, repeats a position of this line.
bool Search::is_barred(const Path& path) const {
    const Node* const node = path.back().link().node;
    if (!node || game_->rules().ko == Ko::simple) return false;
    if (path.back().node->edges()[path.back().edge].move == game_->board().pass()) return false;
    const auto stones = tree_.stones(*node);
    const bool odd = path.size() % 2;
    if (game_->was_there(stones, odd ? opponent(game_->to_play()) : game_->to_play())) return true;
    for (std::size_t depth = 1; depth < path.size(); ++depth) {
        const bool same_turn = game_->rules().ko == Ko::positional || depth % 2 == odd;
        if (same_turn && tree_.stones(*path[depth].node) == stones) return true;
    }
    return false;
}

void Search::bar_last(Simulation& sim) {
    sim.barred.push_back(sim.path.back());
    sim.path.pop_back();
}

// What of the tree explore() needs to know.
void Search::begin(Simulation& sim) {
    const Link& end = end_of(sim.path);
    sim.young = !sim.path.empty() && end.visits + end.pending < params_.expand_visits;
    sim.line.clear();
    for (const Step& step : sim.path) sim.line.push_back(step.node->edges()[step.edge].move);
}

// What is at the end of the path, and what playouts say about it. Touches nothing that threads share but `game_`.
void Search::explore(Simulation& sim) {
    sim.game = *game_;
    PositionKeys keys(sim.game);
    sim.illegal = false;
    for (const Point move : sim.line) {
        sim.illegal = tree_.is_graph() && !sim.game.is_legal(move);  // of the last one alone, see is_barred()
        if (sim.illegal) return;
        sim.game.play(move);
        if (tree_.is_graph()) keys.follow(sim.game);
    }
    sim.key = keys.key(), sim.stones = sim.game.board().hash();
    const bool is_root = sim.line.empty();
    // A root is searched even after the game.
    sim.over = !is_root && (sim.game.is_over() || (params_.full_games && is_long_enough(sim.game)));
    sim.moves.clear();
    sim.outcome = {0, 0};
    if (sim.over) {
        sim.outcome = outcome_of(sim.game, params_.full_games);
        return;
    }
    if (!sim.young) {
        moves_of(sim.game, params_.prune_eyes, sim.moves, !tree_.is_graph());
        if (!settled_.empty()) std::erase_if(sim.moves, [&](Point p) { return settled_.contains(p); });
        if (is_root && std::none_of(sim.moves.begin(), sim.moves.end(), [&](Point p) { return allowed_.test(p); }))
            moves_of(sim.game, false, sim.moves, !tree_.is_graph());
        if (params_.forbid_pass && !is_root && sim.moves.size() > 1) sim.moves.pop_back();  // pass is the last
    }
    if (prior_policy_ && !sim.young) {
        sim.playouts.shuffle(sim.moves);  // those of equal weight are tried in any order
        sim.weights.resize(sim.moves.size());
        prior_policy_->weigh(sim.game.board(), sim.game.to_play(), sim.game.moves(), sim.moves, sim.weights);
    }
    if (params_.playouts > 0) sim.outcome = sim.playouts.play(sim.game);
}

// A new node for the end of the path; null where the memory is full or the move stays without one.
Node* Search::place(Simulation& sim) {
    if (sim.young) return nullptr;
    Node* const node = tree_.make_node(sim.moves);
    if (!node) return nullptr;
    end_of(sim.path).node = node;
    if (tree_.is_graph()) tree_.enter(sim.key, sim.stones, *node);
    if (sim.over) {
        node->terminal = true;
    } else if (prior_policy_) {
        take_weights(*node, sim.weights);
        cut(*node, sim.path.empty());
    }
    if (sim.over || !params_.asks_network()) {
        node->value = sim.outcome.value;
        node->score = sim.outcome.score;
        node->ready = true;
        if (sim.path.empty()) prepare_root();
    }
    return node;
}

void Search::add_pending(const Path& path, int change) {
    tree_.root().pending += change;
    for (const Step& step : path) step.link().pending += change;
}

// One visit along the path. The outcome is for the side to move at its end; links hold it for who moved there.
void Search::count(const Path& path, Outcome outcome) {
    float utility = utility_of(outcome.value, outcome.score, params_);
    const auto add = [&](Link& link) {
        utility = -utility, outcome.value = -outcome.value, outcome.score = -outcome.score;
        link.add(utility, outcome.value, outcome.score);
        if (!tree_.is_graph() || !link.node) return;
        const Link all = link_to(*link.node);
        link.utility = all.utility, link.square = all.square, link.value = all.value, link.score = all.score;
    };
    for (auto step = path.rbegin(); step != path.rend(); ++step) add(step->link());
    add(tree_.root());
}

// A visit of a finished game, or of a node below which nothing may be tried.
void Search::count_again(const Path& path) {
    const Node& node = *end_of(path).node;
    count(path, {node.value, node.score});
}

// What the playouts of a simulation tell beside its outcome.
void Search::learn(const Simulation& sim) {
    for (const PlayoutEnd& end : sim.playouts.ends()) {
        if (tree_.has_amaf()) spread(sim.path, end);
        if (!params_.ownership || params_.playout_weight < 1) continue;
        ownership_.resize(game_->board().points(), 0.0);
        const double sign = game_->to_play() == Color::black ? 1 : -1;
        end.area[0].for_each([&](Point p) { ownership_[p] += sign; });
        end.area[1].for_each([&](Point p) { ownership_[p] -= sign; });
        ++ownership_count_;
    }
}

// All moves as first: every position of the path hears of the moves that its player was the first to make, in the
// rest of the path or in the playout.
void Search::spread(const Path& path, const PlayoutEnd& end) {
    auto first = end.trace.first;
    const Point pass = game_->board().pass();
    const std::array<float, 2> utility = {utility_of(end.black.value, end.black.score, params_),
                                          utility_of(-end.black.value, -end.black.score, params_)};
    for (std::size_t depth = path.size(); depth-- > 0;) {
        const Color mover = depth % 2 ? opponent(game_->to_play()) : game_->to_play();
        Node& node = *path[depth].node;
        const Edge* const edges = node.edges();
        const Point move = edges[path[depth].edge].move;
        if (move != pass) first[move] = mover;
        Amaf* const amaf = node.amaf();
        for (int i = 0; i < node.edge_count; ++i)
            if (edges[i].move != pass && first[edges[i].move] == mover) amaf[i].add(utility[index(mover)]);
    }
}

}  // namespace tengen

#include "search/search.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "search/leaf.h"

namespace tengen {

namespace {

bool same_start(const Game& a, const Game& b) {
    return a.board().size() == b.board().size() && a.rules() == b.rules() && a.komi() == b.komi() &&
           a.first_to_play() == b.first_to_play() && a.setup_stones() == b.setup_stones();
}

bool finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float x) { return std::isfinite(x); });
}

// Priors of the legal moves, scaled to sum 1 and sorted; equal where the policy gives them nothing.
void take_policy(Node& node, std::span<const float> policy, const Layout& layout) {
    const std::span<Edge> edges(node.edges(), node.edge_count);
    const auto mass = [&](const Edge& e) { return std::max(policy[layout.policy_index(e.move)], 0.0f); };
    float total = 0;
    for (const Edge& e : edges) total += mass(e);
    for (Edge& e : edges) e.prior = Prior(total > 0 ? mass(e) / total : 1.0f / static_cast<float>(edges.size()));
    std::sort(edges.begin(), edges.end(),
              [](const Edge& a, const Edge& b) { return a.prior != b.prior ? b.prior < a.prior : a.move < b.move; });
}

}  // namespace

Search::Search(const SearchParams& params, std::uint64_t seed)
    : params_(params),
      select_(selection_rule(params.selection)),
      random_(seed),
      tree_(params.memory),
      leaf_(kMinSize, {}, 0) {
    if (params.memory < kLeastMemory)
        throw std::invalid_argument("a search needs memory of " + std::to_string(kLeastMemory) + " bytes or more");
}

const Game& Search::game() const {
    if (!game_) throw std::logic_error("the search has no root yet");
    return *game_;
}

// --- The root
// ---------------------------------------------------------------------------------------------------------

void Search::set_root(const Game& game, std::span<const Point> allow, std::span<const Point> avoid) {
    const MoveSet allowed = allowed_moves(allow, avoid);
    moves_of(game, false, moves_);
    if (std::none_of(moves_.begin(), moves_.end(), [&](Point p) { return allowed.test(p); }))
        throw std::invalid_argument("none of the moves that the search may play at the root is legal");

    forget_waiting();
    const auto played = continuation(game);
    if (!played || !tree_.descend(*played)) tree_.clear();
    game_ = game;
    allowed_ = allowed;
    ownership_.clear();
    ownership_count_ = 0;
    // A kept node may lack an allowed move because it fills an eye, which is pruned below the root.
    if (tree_.root().node && !allows_any(*tree_.root().node)) tree_.clear();
    refresh_ = params_.ownership && tree_.root().node;
    if (tree_.root().node) prepare_root();
}

// The moves that lead from the old root to `next`, if it goes on from there with the colours in turn.
std::optional<std::vector<Point>> Search::continuation(const Game& next) const {
    if (!game_ || !same_start(*game_, next)) return std::nullopt;
    const auto &before = game_->moves(), &after = next.moves();
    if (after.size() < before.size() || !std::equal(before.begin(), before.end(), after.begin())) return std::nullopt;
    std::vector<Point> moves;
    Color turn = game_->to_play();
    for (auto move = after.begin() + before.size(); move != after.end(); ++move, turn = opponent(turn)) {
        if (move->color != turn) return std::nullopt;
        moves.push_back(move->point);
    }
    return moves;
}

bool Search::allows_any(const Node& node) const {
    return std::any_of(node.edges(), node.edges() + node.edge_count,
                       [&](const Edge& e) { return allowed_.test(e.move); });
}

void Search::prepare_root() { root_priors_ = root_priors(*tree_.root().node, allowed_, params_, random_); }

void Search::forget_waiting() {
    for (const Waiting& leaf : waiting_) {
        if (leaf.refresh) continue;
        add_pending(leaf.path, -1);
        (leaf.path.empty() ? tree_.root() : leaf.path.back().link()).node = nullptr;
        tree_.drop_node(leaf.node);
    }
    waiting_.clear();
}

// --- Out: simulations that find leaves
// --------------------------------------------------------------------------------

int Search::gather(const std::function<void(int, const Game&)>& visit, int limit) {
    game();
    if (!waiting_.empty()) throw std::logic_error("the leaves of the last gather still wait for scatter");
    if (root_visits() >= kMostVisits) return 0;
    if (refresh_ && limit > 0) {
        refresh_ = false;
        visit(0, *game_);
        waiting_.push_back({{}, tree_.root().node, true});
    }
    // A simulation that meets a waiting leaf is taken back at the end. Until then its virtual loss drives the next ones
    // elsewhere.
    std::vector<Path> blocked;
    Path path;
    for (int done = waiting(); done < limit && static_cast<int>(blocked.size()) < limit;) {
        const End end = simulate(path);
        if (end == End::leaf) visit(waiting() - 1, leaf_);
        if (end != End::blocked) {
            ++done;
            continue;
        }
        if (path.empty()) break;  // the root itself waits
        add_pending(path, 1);
        blocked.push_back(path);
    }
    for (const Path& taken : blocked) add_pending(taken, -1);
    return waiting();
}

int Search::gather(const PlaneSet& set, int edge, float* planes, float* scalars, float* mask, int limit) {
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const auto write = [&](int row, const Game& game) {
        encode(set, game, 0, edge, planes + row * set.planes.size() * area, scalars + row * set.scalars.size(),
               mask + row * area);
    };
    return gather(write, limit);
}

// Selection needs no board: only a simulation that opens a new node replays the moves.
Search::End Search::simulate(Path& path) {
    path.clear();
    const Link* self = &tree_.root();
    if (!self->node) return open(path);
    for (;;) {
        Node& node = *self->node;
        if (!node.ready) return End::blocked;
        const Junction junction{node, *self, path.empty() ? root_priors_.data() : nullptr, !tree_.full()};
        const int edge = node.terminal ? -1 : select_(junction, params_);
        if (edge < 0) {
            count(path, node.value, node.score);
            return End::counted;
        }
        if (edge == node.link_count && !tree_.make_link(node))
            continue;  // the memory is full: choose among what is there
        path.push_back({&node, edge});
        self = &node.links[edge];
        if (!self->node) return open(path);
    }
}

// Makes the node that the path leads to.
Search::End Search::open(Path& path) {
    leaf_ = *game_;
    for (const Step& step : path) leaf_.play(step.node->edges()[step.edge].move);
    const bool is_root = path.empty(), over = !is_root && leaf_.is_over();  // a root is searched even after the game
    if (over)
        moves_.clear();
    else
        moves_of(leaf_, params_.prune_eyes, moves_);
    if (is_root && std::none_of(moves_.begin(), moves_.end(), [&](Point p) { return allowed_.test(p); }))
        moves_of(leaf_, false, moves_);
    Node* const node = tree_.make_node(moves_);
    if (!node) return simulate(path);  // the memory is full now, so this one will open nothing
    (is_root ? tree_.root() : path.back().link()).node = node;
    if (!over) {
        add_pending(path, 1);
        waiting_.push_back({path, node, false});
        return End::leaf;
    }
    const Outcome outcome = outcome_of(leaf_);
    node->value = outcome.value;
    node->score = outcome.score;
    node->terminal = node->ready = true;
    count(path, node->value, node->score);
    return End::counted;
}

void Search::add_pending(const Path& path, int change) {
    tree_.root().pending += change;
    for (const Step& step : path) step.link().pending += change;
}

// One visit along the path. Value and score are for the side to move at its end; links hold them for who moved there.
void Search::count(const Path& path, float value, float score) {
    float utility = utility_of(value, score, params_);
    const auto add = [&](Link& link) {
        utility = -utility, value = -value, score = -score;
        link.add(utility, value, score);
    };
    for (auto step = path.rbegin(); step != path.rend(); ++step) add(step->link());
    add(tree_.root());
}

// --- Back: results
// ----------------------------------------------------------------------------------------------------

void Search::scatter(const LeafResults& results, int edge) {
    check(results, edge);
    const std::size_t area = static_cast<std::size_t>(edge) * edge;
    const Layout layout(game_->board().size(), 0, edge);
    const auto leaves = std::move(waiting_);
    waiting_.clear();
    for (std::size_t row = 0; row < leaves.size(); ++row) {
        const Waiting& leaf = leaves[row];
        if (params_.ownership) take_ownership(leaf, results.ownership.subspan(row * area, area), layout);
        if (leaf.refresh) continue;
        take_policy(*leaf.node, results.policy.subspan(row * (area + 1), area + 1), layout);
        leaf.node->value = std::clamp(results.value[row], -1.0f, 1.0f);
        leaf.node->score = results.score[row];
        leaf.node->ready = true;
        add_pending(leaf.path, -1);
        count(leaf.path, leaf.node->value, leaf.node->score);
        if (leaf.path.empty()) prepare_root();
    }
}

void Search::check(const LeafResults& results, int edge) const {
    const std::size_t area = static_cast<std::size_t>(edge) * edge, n = waiting_.size();
    if (edge < game().board().size()) throw std::invalid_argument("the results are for a smaller board");
    if (results.value.size() != n || results.score.size() != n || results.policy.size() != n * (area + 1) ||
        results.ownership.size() != n * area)
        throw std::logic_error(std::to_string(n) + " leaves wait, results came for " +
                               std::to_string(results.value.size()));
    if (!finite(results.policy) || !finite(results.value) || !finite(results.score) || !finite(results.ownership))
        throw std::invalid_argument("an evaluation is not finite");
}

void Search::take_ownership(const Waiting& leaf, std::span<const float> ownership, const Layout& layout) {
    const double sign = leaf.path.size() % 2 ? -1 : 1;
    ownership_.resize(layout.points(), 0.0);
    for (int p = 0; p < layout.points(); ++p) ownership_[p] += sign * ownership[layout[static_cast<Point>(p)]];
    ++ownership_count_;
}

// --- What was found
// ---------------------------------------------------------------------------------------------------

std::vector<float> Search::root_ownership() const {
    std::vector<float> mean(ownership_.begin(), ownership_.end());
    for (float& x : mean) x /= static_cast<float>(ownership_count_);
    return mean;
}

std::vector<RootMove> Search::root_moves() const {
    std::vector<RootMove> moves;
    const Link& root = tree_.root();
    if (!root.node || !root.node->ready) return moves;
    for (int i = 0; i < root.node->edge_count; ++i) {
        const Edge edge = root.node->edges()[i];
        if (!allowed_.test(edge.move)) continue;
        const Link link = i < root.node->link_count ? root.node->links[i] : Link{};
        const bool visited = link.visits > 0;
        moves.push_back({edge.move, link.visits, visited ? link.value : root_value(),
                         visited ? link.score : root_score(), visited ? link.utility : -root.utility,
                         lower_bound(link, params_), edge.prior.value()});
    }
    std::stable_sort(moves.begin(), moves.end(), [](const RootMove& a, const RootMove& b) {
        return a.visits != b.visits ? a.visits > b.visits : a.prior > b.prior;
    });
    return moves;
}

Point Search::choose(std::optional<float> temperature) {
    SearchParams params = params_;
    params.temperature = temperature.value_or(params.temperature);
    return choose_move(root_moves(), params, random_);
}

std::vector<Point> Search::line(Point first, int length) const {
    std::vector<Point> moves;
    const Node* node = tree_.root().node;
    while (node && static_cast<int>(moves.size()) < length) {
        int best = -1;
        for (int i = 0; i < node->link_count; ++i) {
            const std::uint32_t visits = node->links[i].visits;
            const bool fits = !moves.empty() || node->edges()[i].move == first;
            if (fits && visits && (best < 0 || visits > node->links[best].visits)) best = i;
        }
        if (best < 0) break;
        moves.push_back(node->edges()[best].move);
        node = node->links[best].node;
    }
    return moves;
}

}  // namespace tengen

#include "search/search.h"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>

#include "search/gumbel.h"
#include "search/leaf.h"
#include "search/priors.h"

namespace tengen {

namespace {

bool same_start(const Game& a, const Game& b) {
    return a.board().size() == b.board().size() && a.rules() == b.rules() && a.komi() == b.komi() &&
           a.first_to_play() == b.first_to_play() && a.setup_stones() == b.setup_stones() &&
           a.move_limit() == b.move_limit() && a.at_limit() == b.at_limit() && a.encore_from() == b.encore_from();
}

// What decides how a node is made, and so whether two settings can share a tree.
auto node_settings(const SearchParams& p) {
    return std::tuple(
        p.memory, p.has_amaf(), p.transpositions, p.priors, p.playout, p.playout_temperature, p.playout_weight,
        p.playouts, p.playout_slope, p.playout_decay, p.expand_visits, p.candidate_mass, p.candidate_mass_middle,
        p.candidate_mass_late, p.candidate_max, p.candidate_share, p.candidate_min, p.candidate_tried, p.raw_priors,
        p.policy_temperature, p.prune_eyes, p.prune_true_eyes, p.prune_self_atari, p.prune_pass_alive,
        p.pass_policy == PassPolicy::no_legal_move, p.simulate_to_end, p.is_weighted(), p.has_node_stats(),
        p.value_bias > 0, p.value_bias_free, p.policy_optimism, p.playout_doubling_advantage, p.encore, p.hide_history);
}

// Names of the settings that forbid sharing a tree: those that change how nodes are made, each by itself; where only a
// combination does, all that differ.
std::string differing_settings(const SearchParams& given, const SearchParams& present) {
    std::string alone, all;
    const auto add = [](std::string& names, const char* name) {
        names += (names.empty() ? "" : ", ") + std::string(name);
    };
#define SEARCH_PARAM(type, name, ...)                                            \
    if (given.name != present.name) {                                            \
        SearchParams changed = present;                                          \
        changed.name = given.name;                                               \
        add(all, #name);                                                         \
        if (node_settings(changed) != node_settings(present)) add(alone, #name); \
    }
#include "search/params.def"
#undef SEARCH_PARAM
    return alone.empty() ? all : alone;
}

std::uint64_t salt_of(std::uint64_t seed) { return hash64(seed ^ 0x5e1ec7ULL); }

}  // namespace

Search::Search(const SearchParams& params, std::uint64_t seed)
    : params_(params),
      select_(selection_rule(params.selection)),
      random_(seed),
      salt_(salt_of(seed)),
      seeds_(~seed),
      tree_(params.memory,
            {.amaf = params.has_amaf(), .weighted = params.has_node_stats(), .graph = params.transpositions},
            params.is_weighted() && params.value_bias > 0 ? std::optional(params.value_bias_free) : std::nullopt) {
    params.check();
    if (params.priors != "network") prior_policy_ = playout_policy(params.priors);
    add_simulation();
}

// Its chance is its own, so that what the root draws does not depend on the number of threads.
void Search::add_simulation() {
    simulations_.push_back(std::make_unique<Simulation>(params_, seeds_.next()));
    simulations_.back()->playouts.add_komi(root_.added_komi);
}

void Search::restart(std::uint64_t seed) {
    clear();
    random_ = Random(seed);
    salt_ = salt_of(seed);
    seeds_ = SplitMix64(~seed);
    simulations_.clear();
    add_simulation();
}

void Search::clear() {
    has_score_ = network_scores_ = has_pass_ = true;
    waiting_.clear();
    in_progress_.clear();
    tree_.clear();
    game_.reset();
    root_ = {};
}

void Search::change(const SearchParams& params) {
    params.check();
    if (node_settings(params) != node_settings(params_))
        throw std::invalid_argument("settings that share a tree must agree in " + differing_settings(params, params_));
    params_ = params;
    select_ = selection_rule(params.selection);
    changed_ = true;
}

const Game& Search::game() const {
    if (!game_) throw std::logic_error("the search has no root yet");
    return *game_;
}

// --- The root ---

void Search::set_root(const Game& game, std::span<const MoveRestriction> restrictions) {
    // The moves that may be played at the root.
    std::vector<Point> moves;
    candidate_moves(game, false, moves);
    const MoveSet named = permitted_moves(game, restrictions);
    MoveSet allowed = named & to_move_set(moves);
    apply_pass_policy(game, allowed);
    if (allowed.none()) throw std::invalid_argument("none of the moves that the search may play at the root is legal");

    // The part of the tree that can be kept.
    forget_waiting();
    drop_in_progress();
    const auto played = continuation(game);
    set_komi(played);
    const bool same = played && played->empty() && std::ranges::equal(root_.restrictions, restrictions);
    if (!holds_after(played, game, named, restrictions) || !tree_.descend(*played) || wasted_by_restrictions(named))
        tree_.clear();
    root_.unrestricted = named;
    root_.restrictions.assign(restrictions.begin(), restrictions.end());
    root_.restricted_depth = 0;
    for (const MoveRestriction& r : root_.restrictions)
        if (r.until_depth > 1) root_.restricted_depth = std::max(root_.restricted_depth, r.until_depth);
    if (!same || !tree_.root().node) root_.evaluation.reset();

    // The root itself.
    if (params_.simulate_to_end) tree_.root() = EdgeStats{tree_.root().node};
    game_ = game;
    root_.unpruned = allowed;
    prune_settled(moves);
    root_.searched = root_.unpruned;
    root_.ownership.clear();
    root_.ownership_count = 0;
    const bool by_name = std::ranges::any_of(restrictions, [&](const MoveRestriction& r) {
        return r.allow && r.player == game.to_play() && r.until_depth > 0;
    });
    if (const Node* const root = tree_.root().node) {
        // A kept node may lack an allowed move because it fills an eye, which is pruned below the root.
        const bool ended = params_.conservative_pass && ended_by_pass(*root, !played->empty());
        if (ended || !allows_any(*root) || lacks_candidate(*root, by_name)) tree_.clear();
    }
    root_.refresh = refreshes_root() && tree_.root().node ? params_.root_symmetries : 0;
    root_.symmetric.clear();
    root_.plan.draw(game.board().points(), params_, random_);
    if (tree_.root().node) prepare_root();
    if (params_.is_weighted() && tree_.root().visits) {
        const bool moved = set_score_center(tree_.root().node->stats().mean.score);
        // Value bias: as KataGo, whose entries have lost the nodes that left the tree.
        const bool is_stale = (moved && params_.dynamic_score_utility > 0) || params_.value_bias > 0;
        if (is_stale || changed_) recompute_tree();
    }
    changed_ = false;
    plan(0);
}

// Whether the tree may be kept for a game that goes on from its root by these moves, with these moves at the root.
bool Search::holds_after(const std::optional<std::vector<Point>>& played, const Game& game, const MoveSet& named,
                         std::span<const MoveRestriction> restrictions) const {
    if (!played) return false;
    const bool same_root = played->empty();
    // Its visits say nothing about moves that could have none.
    if (same_root && named != root_.unrestricted) return false;
    const auto goes_deeper = [](const MoveRestriction& r) { return r.until_depth > 1; };
    const bool restricted = root_.restricted_depth > 1 || std::ranges::any_of(restrictions, goes_deeper);
    if (restricted && !(same_root && std::ranges::equal(root_.restrictions, restrictions))) return false;
    // Its positions were evaluated in another phase, for the other side's advantage, or with moves that are hidden now.
    if (plays_encore_ && lies_in_encore(*played, game)) return false;
    if (params_.playout_doubling_advantage != 0 && played->size() % 2) return false;
    return !params_.hide_history || same_root;
}

// Whether more than a tenth of a kept root's visits are of moves that are forbidden now: they count for a limit of
// visits and tell nothing of the other moves.
bool Search::wasted_by_restrictions(const MoveSet& named) const {
    const EdgeStats& root = tree_.root();
    if (!root.node) return false;
    std::uint32_t forbidden = 0;
    for (int i = 0; i < root.node->edge_count; ++i)
        if (!named.test(root.node->moves()[i].point)) forbidden += root.node->edges[i].visits;
    return forbidden > root.visits / 10;
}

// Whether a root that was kept is evaluated again: for what is of roots alone.
bool Search::refreshes_root() const {
    const bool has_own_priors = params_.root_policy_optimism != params_.policy_optimism;
    const bool has_bonus = params_.is_weighted() && params_.ending_bonus != 0;
    return params_.uses_network() && (params_.ownership || has_own_priors || has_bonus || params_.root_symmetries > 1);
}

// The dynamic komi of the playouts. Black's winrate is that of the last root of this game.
void Search::set_komi(const std::optional<std::vector<Point>>& played) {
    if (!played) root_.added_komi = 0;
    if (played && !played->empty())
        root_.added_komi = params_.dynamic_komi * root_value() / 2 * (game_->to_play() == Color::black ? 1.0f : -1.0f);
    for (const auto& sim : simulations_) sim->playouts.add_komi(root_.added_komi);
}

void Search::apply_pass_policy(const Game& game, MoveSet& allowed) const {
    const Point pass = game.board().pass();
    if (params_.pass_policy == PassPolicy::no_legal_move && allowed.count() > 1) allowed.reset(pass);
    if (params_.pass_policy != PassPolicy::no_useful_move) return;
    MoveSet useful;
    useful_moves(game, params_.dead_stones()).for_each([&](Point p) { useful.set(p); });
    if (useful.none()) useful.set(pass);
    if ((allowed & useful).any()) allowed &= useful;
}

// For networks without a pass logit.
void Search::pass_by_rule() {
    const Point pass = game_->board().pass();
    const Node& root = *tree_.root().node;
    MoveSet rest = root_.searched;
    if (useful_moves(*game_, params_.dead_stones()).empty()) {
        if (root_.searched.test(pass) && root.find(pass) < root.move_count) root_.searched.reset().set(pass);
        return;
    }
    rest.reset(pass);
    std::swap(root_.searched, rest);
    if (!allows_any(root)) root_.searched = rest;  // all other moves are forbidden or pruned
}

bool Search::permits(int depth, Color to_play, Point move) const {
    return std::ranges::all_of(root_.restrictions,
                               [&](const MoveRestriction& r) { return r.permits(depth, to_play, move); });
}

void Search::plan(int simulations) { root_.plan.begin(tree_.root().node, simulations, params_); }

// The moves that lead from the old root to `next`, if it goes on from there with the colors in turn.
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
    return std::any_of(node.moves(), node.moves() + node.move_count,
                       [&](const MovePrior& e) { return root_.searched.test(e.point); });
}

// Whether candidates left out a move of a kept root that is allowed by name, or a pass by rule.
bool Search::lacks_candidate(const Node& root, bool by_name) const {
    if (!params_.has_candidates()) return false;
    MoveSet missing = root_.unpruned;
    for (int i = 0; i < root.move_count; ++i) missing.reset(root.moves()[i].point);
    const bool rule = passes_by_rule() && missing.test(game_->board().pass());
    return by_name ? missing.any() : rule && useful_moves(*game_, params_.dead_stones()).empty();
}

// Whether a kept root was searched with a pass as the end of the game, and evaluated by a network that knew so, as it
// is below a root. `moved`: the node was no root before.
bool Search::ended_by_pass(const Node& root, bool moved) const {
    if (moved && game_->pass_ends()) return true;
    const int edge = root.find(game_->board().pass());
    return edge < root.edge_count && root.edges[edge].node && root.edges[edge].node->terminal;
}

// Whether these moves led the tree to a phase of the encore that the game, which may play none, has not come to.
bool Search::lies_in_encore(std::span<const Point> played, const Game& next) const {
    Game game = *game_;
    game.set_encore(true);
    for (const Point move : played) game.play(move);
    return game.encore().phase != next.encore().phase;
}

// A list of candidates at the root is the best of what may be played there, and no list for other restrictions. A pass
// by rule stays beside it.
void Search::keep_candidates(Node& node, std::size_t depth) {
    MovePrior* const end = node.moves() + node.move_count;
    const auto allowed = [&](const MovePrior& e) { return root_.unpruned.test(e.point); };
    if (depth == 0) std::stable_partition(node.moves(), end, allowed);
    const Point pass = game_->board().pass();
    const Point kept = depth == 0 && passes_by_rule() && root_.unpruned.test(pass) ? pass : kNoPoint;
    cut_candidates(tree_, node, params_, game_->board().points(), game_->moves().size() + depth, kept);
}

namespace {

// Whether the last four moves of the opponent were passes.
bool has_passed_often(const Game& game) {
    const auto& moves = game.moves();
    if (moves.size() < 7) return false;
    for (std::size_t back = 1; back <= 7; back += 2) {
        const auto& move = moves[moves.size() - back];
        if (move.color != opponent(game.to_play()) || move.point != game.board().pass()) return false;
    }
    return true;
}

}  // namespace

// Not where nothing else is left.
void Search::prune_settled(std::span<const Point> legal) {
    const bool useless = params_.prune_useless && has_passed_often(*game_);
    const PointSet settled = params_.prune_pass_alive || useless ? settled_area(*game_) : PointSet();
    root_.settled = params_.prune_pass_alive ? settled : PointSet();
    MoveSet rest = root_.unpruned;
    settled.for_each([&](Point p) { rest.reset(p); });
    if (std::any_of(legal.begin(), legal.end(), [&](Point p) { return rest.test(p); })) root_.unpruned = rest;
}

void Search::prepare_root() {
    Node& root = *tree_.root().node;
    root_.searched = root_.unpruned;
    if (passes_by_rule()) pass_by_rule();
    root_.representative.clear();
    if (params_.merge_symmetric)
        root_.representative = representatives(*game_, root, root_.searched, root_.restrictions);
    for (std::size_t p = 0; p < root_.representative.size(); ++p)
        if (root_.representative[p] != static_cast<Point>(p)) root_.searched.reset(p);
    Amaf* const amaf = tree_.has_amaf() ? root.amaf() : nullptr;
    root_.priors = root_priors(root, root_.searched, root_.representative, params_, random_, amaf);
    prepare_bonus();
}

void Search::forget_waiting() {
    for (const Waiting& leaf : waiting_) {
        if (leaf.refresh) {
            ++root_.refresh;
            continue;
        }
        add_pending(leaf.path, -1);
        last_edge(leaf.path).node = nullptr;
        tree_.forget(leaf.key);
        tree_.drop_node(leaf.node);
    }
    waiting_.clear();
}

// --- What was found ---

std::vector<float> Search::root_ownership() const {
    std::vector<float> mean(root_.ownership.begin(), root_.ownership.end());
    for (float& x : mean) x /= static_cast<float>(root_.ownership_count);
    return mean;
}

RootMove Search::root_as_move() const {
    const EdgeStats& root = tree_.root();
    if (params_.is_weighted() && root.visits) {
        RootMove found = weighted_move(kNoPoint, 1, EdgeStats{}, 0);
        show_means(found, pruned_root());
        found.visits = root.visits;
        found.weight = root.node->stats().weight;
        return found;
    }
    return {.point = kNoPoint,
            .visits = root.visits,
            .value = root_value(),
            .score = root_score(),
            .utility = static_cast<float>(-root.utility),
            .utility_lcb = -1,
            .prior = 1,
            .weight = static_cast<float>(root.visits),
            .value_lcb = -1};
}

std::vector<RootMove> Search::root_moves() const {
    std::vector<RootMove> moves;
    const EdgeStats& root = tree_.root();
    if (!root.node || !root.node->ready) return moves;
    const bool weighted = params_.is_weighted() && root.visits;
    const std::vector<float> play = weighted ? play_weights(at_root()) : std::vector<float>();
    for (int i = 0; i < root.node->move_count; ++i) {
        const MovePrior move = root.node->moves()[i];
        if (!root_.searched.test(move.point)) continue;
        const EdgeStats stats = i < root.node->edge_count ? root.node->edges[i] : EdgeStats{};
        if (weighted) {
            const float bonus = root_.bonus.empty() ? 0 : root_.bonus[i];
            moves.push_back(weighted_move(move.point, move.prior.value(), stats, bonus));
            moves.back().play_weight = play[i];
            continue;
        }
        const bool visited = stats.visits > 0;
        const float bound = lower_bound(stats, params_);
        moves.push_back({.point = move.point,
                         .visits = stats.visits,
                         .value = static_cast<float>(visited ? stats.value : root_value()),
                         .score = static_cast<float>(visited ? stats.score : root_score()),
                         .utility = static_cast<float>(visited ? stats.utility : -root.utility),
                         .utility_lcb = bound,
                         .prior = move.prior.value(),
                         .weight = static_cast<float>(stats.visits),
                         .value_lcb = bound,
                         .play_weight = static_cast<float>(stats.visits),
                         .node_visits = tree_.node_visits(stats),
                         .node_weight = static_cast<float>(tree_.node_visits(stats))});
    }
    std::stable_sort(moves.begin(), moves.end(), [](const RootMove& a, const RootMove& b) {
        return a.visits != b.visits ? a.visits > b.visits : a.prior > b.prior;
    });
    return moves;
}

SelectionContext Search::selection_at(const Node& node, const EdgeStats& self, std::size_t depth) const {
    const bool is_root = depth == 0;
    return {.node = node,
            .self = self,
            .root_priors = is_root ? root_.priors.data() : nullptr,
            .may_expand = !tree_.full(),
            .may_revisit = params_.playouts > 0,
            .salt = salt_,
            .plan = is_root ? &root_.plan : nullptr,
            .root_bonus = is_root && !root_.bonus.empty() ? root_.bonus.data() : nullptr,
            .to_play = depth % 2 ? opponent(game_->to_play()) : game_->to_play()};
}

SelectionContext Search::at_root() const { return selection_at(*tree_.root().node, tree_.root(), 0); }

Point Search::choose(std::optional<float> temperature) {
    SearchParams params = params_;
    params.temperature = temperature.value_or(params.temperature);
    if (temperature) params.diversity = 0;
    const Point pass = game_ ? game_->board().pass() : kNoPoint;  // without a root no move has a visit
    if (params.selection == Selection::gumbel && params.temperature == 0 && root_visits() > 0)
        if (const int survivor = gumbel_choice(at_root(), params); survivor >= 0)
            return diversify(root_moves(), tree_.root().node->moves()[survivor].point, params.diversity, pass, random_);
    return choose_move(root_moves(), params, pass, random_);
}

std::vector<float> Search::policy_target() const {
    std::vector<float> target = policy_weights();
    const float total = std::accumulate(target.begin(), target.end(), 0.0f);
    if (!(total > 0)) throw std::logic_error("no allowed move has a visit that could tell a policy anything");
    for (float& weight : target) weight /= total;
    return target;
}

std::vector<float> Search::policy_weights() const {
    const std::uint32_t minimum = params_.simulate_to_end ? 1 : 2;  // else the first visit is the root's own evaluation
    if (root_visits() < minimum) throw std::logic_error("no move has a visit that could tell a policy anything");
    const Node& root = *tree_.root().node;
    const std::vector<float> weights = target_rule(params_.selection)(at_root(), params_);
    std::vector<float> target(game_->board().points() + 1);
    for (int i = 0; i < root.move_count; ++i) target[root.moves()[i].point] = weights[i];
    if (root_.representative.empty()) return target;
    std::vector<float> members(target.size());
    for (int i = 0; i < root.move_count; ++i) ++members[root_.representative[root.moves()[i].point]];
    const std::vector<float> merged = target;
    for (int i = 0; i < root.move_count; ++i) {
        const Point move = root.moves()[i].point, standing = root_.representative[move];
        target[move] = merged[standing] / members[standing];
    }
    return target;
}

std::vector<LineMove> Search::line(Point first, int length) const {
    std::vector<LineMove> moves;
    Path path;
    Node* node = tree_.root().node;
    std::optional<Game> position;
    if (plays_encore_) position.emplace(*game_).set_encore(true);
    while (node && static_cast<int>(moves.size()) < length) {
        int best = -1;
        if (params_.is_weighted() && !moves.empty())
            best = played_edge(*node);
        else
            for (int i = 0; i < node->edge_count; ++i) {
                const std::uint32_t visits = node->edges[i].visits;
                const bool fits = !moves.empty() || node->moves()[i].point == first;
                if (fits && visits && (best < 0 || visits > node->edges[best].visits)) best = i;
            }
        if (best < 0) break;
        path.push_back({node, best});
        if (tree_.is_graph() && is_superko_illegal(path)) break;  // other lines through this node may play it
        const EdgeStats& edge = node->edges[best];
        moves.push_back({node->moves()[best].point, edge.visits, tree_.node_visits(edge)});
        node = edge.node;
        if (position) position->play(moves.back().point);
        if (position && position->encore().phase > game_->encore().phase) break;
    }
    return moves;
}

}  // namespace tengen

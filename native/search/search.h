// One tree search: gather() hands out the positions that need an evaluation in batches, scatter() takes the results.
#pragma once

#include <algorithm>
#include <functional>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "board/game.h"
#include "features/encode.h"
#include "search/choose.h"
#include "search/leaf_results.h"
#include "search/params.h"
#include "search/playouts.h"
#include "search/root.h"
#include "search/select_katago.h"
#include "search/tree.h"

namespace tengen {

inline constexpr std::uint32_t kMaxVisits = std::uint32_t{1} << 31;  // of a root; a full tree gets there within hours

// The mean ownership of positions by point and its standard deviation, for the side to move at the root.
struct OwnershipMoments {
    std::vector<float> mean, stdev;
};

// A move of a line, its visits and those of the position after it, by all lines that lead there.
struct LineMove {
    Point point;
    std::uint32_t visits, node_visits;
};

// For one thread at a time; run() has threads of its own. With one thread in run() everything depends on the games, the
// calls and the seed alone.
class Search {
  public:
    // Throws std::invalid_argument as SearchParams::check does.
    Search(const SearchParams& params, std::uint64_t seed);

    // The state of a new search with this seed. Frees the memory of the tree.
    void restart(std::uint64_t seed);
    // Drops the tree and the root.
    void clear();
    // Other settings, in force from the next set_root on, which must come before anything else; the tree stays. Throws
    // std::invalid_argument, and changes nothing, where they contradict each other or would make nodes in another way;
    // the message names the settings that must stay the same.
    void change(const SearchParams& params);

    // The position to search. Keeps the part of the tree below it when `game` goes on from the last root by any number
    // of moves (or none); leaves that wait are forgotten. A position below the root that the `restrictions` leave no
    // move is worth its own evaluation. A tree with restricted positions is kept only for the same position and the
    // same restrictions, and for the same position only with the same moves at the root: what has visits says nothing
    // about moves that could have none. A tree is dropped too where moves that are forbidden now have more than a tenth
    // of its visits, and where a pass at the root ended the game against params.conservative_pass, or led to the
    // encore. Throws std::invalid_argument, and keeps the old root, when the restrictions leave no legal move at the
    // root.
    void set_root(const Game& game, std::span<const MoveRestriction> restrictions = {});

    // Runs up to `limit` simulations. Those that end in a new position stop there: `visit` is called with its row (from
    // 0 on) and its game, and it waits for scatter. Those that end in a finished game, or find the memory full, count
    // at once. Returns the number of positions that wait: fewer than `limit` when simulations run into positions that
    // wait already, 0 when every simulation counted at once; the visits have grown all the same (up to kMaxVisits,
    // where nothing moves any more). With puct-katago `limit` is at most one for 16 visits of the root, or 2 where
    // that is less. Throws std::logic_error without a root or while leaves wait.
    //
    // With params.simulate_to_end a simulation waits once for each new position on its way to the end of the game:
    // those under way go on first, and new ones begin up to `limit` together. They count when they end.
    int gather(const std::function<void(int, const Game&)>& visit, int limit);
    // The same with positions encoded into planes [limit, C, edge, edge], scalars [limit, S], mask [limit, edge, edge],
    // each turned as params.leaf_symmetry says; scatter turns the results back.
    int gather(const PlaneSet& set, int edge, float* planes, float* scalars, float* mask, int limit);

    // The results for all waiting leaves, in tensors of `edge`. Policy of illegal moves is dropped, the rest scaled to
    // sum 1. Without a pass logit the prior of a pass is 0, and the root passes by rule: only where it has no useful
    // move. Without score the score counts as 0 in the utility, without ownership none is kept. Throws std::logic_error
    // when the number of leaves differs, std::invalid_argument when a result is not finite; the leaves then still wait.
    void scatter(const LeafResults& results, int edge);

    // Searches by playouts alone in `threads` threads, until `simulations` more have counted or `seconds` are over
    // (looked at between simulations; at least one counts); returns how many counted. Throws std::logic_error without a
    // root, while leaves wait, or when the params use a network. If the system gives fewer threads, those search.
    // When a thread fails (no memory is left) all stop, the tree is dropped and the error is thrown. An error of the
    // visit that makes the root, before the threads begin, is thrown alone.
    std::int64_t run(std::int64_t simulations, int threads, double seconds);

    // How many simulations will follow, for rules that divide them up or stop early; 0 or less, as after every
    // set_root, stands for params.planned_visits. More may follow all the same.
    void plan(int simulations);

    // Drops the leaves of the last gather, for example because their evaluation failed.
    void forget_waiting();

    const Game& game() const;
    // How many of the positions that wait are the root itself, which is first among them: several with
    // root_symmetries.
    int root_waits() const {
        return static_cast<int>(std::ranges::count_if(waiting_, [](const Waiting& w) { return w.path.empty(); }));
    }
    int waiting() const { return static_cast<int>(waiting_.size()); }
    std::uint32_t root_visits() const {
        return tree_.root().visits;
    }  // with simulate_to_end: simulations since set_root
    float root_value() const { return -tree_.root().value; }  // for the side to move; 0 without visits
    float root_score() const { return -tree_.root().score; }
    bool has_score() const { return has_score_; }  // false once results came without score; scores then mean nothing
    // The network's own output for the root; nothing where the root was kept from an earlier search or has not been
    // evaluated yet.
    const std::optional<RootEvaluation>& root_evaluation() const { return root_.evaluation; }
    // Mean over the positions evaluated since set_root, for the side to move; empty without params.ownership or
    // positions.
    std::vector<float> root_ownership() const;
    // With params.node_ownership: of all positions below a root move, or kNoPoint for the root, by their weights. Empty
    // where none is known.
    OwnershipMoments ownership_below(Point move) const;
    // The root as if it were a move of the side to move; its point and prior mean nothing.
    RootMove root_as_move() const;
    std::vector<RootMove> root_moves() const;  // allowed moves, by falling visits
    // Whether a move is allowed at the root, itself or by the one that stands for all that are the same by a symmetry.
    bool may_play(Point move) const {
        return root_.searched.test(root_.representative.empty() ? move : root_.representative[move]);
    }
    // The line that was visited most, from `first` on (a root move), at most `length` moves and not into the encore.
    std::vector<LineMove> line(Point first, int length) const;
    // The move to play, by params.temperature and params.diversity, or by another temperature alone; kNoPoint if no
    // move has a visit.
    Point choose(std::optional<float> temperature = {});
    // The policy target of the search: a probability for each point and pass. By the selection rule: the visits,
    // without forced ones, or the improved policy of Gumbel search; symmetric moves have equal shares. Throws
    // std::logic_error when no move has a visit.
    std::vector<float> policy_target() const;
    // The same before it is scaled to sum 1: visits, or the improved policy.
    std::vector<float> policy_weights() const;

    const Tree& tree() const { return tree_; }
    // Memory in bytes, approximately: what the tree has taken from the system, and all that is as large for every tree.
    std::size_t bytes() const { return sizeof *this + simulations_.size() * sizeof(Simulation) + tree_.held(); }

  private:
    // How a descent ends: at a finished game or where nothing may be tried, at a move without a node, at a node that
    // waits, at a node that other lines have visited more often. And the result of expanding that move: it was counted,
    // it waits, or the descent must be repeated.
    enum class End { terminal, leaf, collision, caught_up, backed_up, waiting, retry };
    using Path = std::vector<Step>;

    // A simulation in progress, with the memory that it needs. One for each thread.
    struct Simulation {
        Simulation(const SearchParams& params, std::uint64_t seed) : game(kMinSize, {}, 0), playouts(params, seed) {}
        Path path;
        Path superko_illegal;  // moves that superko forbids on this line, with the nodes of it that they lead from
        std::vector<float> masked_priors;  // priors of a node without them
        std::vector<Point> line;           // the moves of the path
        Game game;                         // at its end
        bool below_expand_threshold;       // the visit only plays the position out
        bool over;
        bool counted;               // a game that is over has the outcome of a count
        bool last_move_illegal;     // superko forbids its last move
        std::uint64_t key, stones;  // of the position, for a graph
        std::uint64_t bias_key;     // of its ValueBias; 0 where it has none
        std::vector<Point> moves;
        std::vector<float> weights;  // of the moves, where priors come from a playout policy
        Outcome outcome;             // for the side to move at the end
        LeafPlayouts playouts;
    };
    struct Waiting {
        Path path;
        Node* node;
        Outcome playouts;
        std::uint64_t key;
        bool refresh;      // an evaluated root once more, for its ownership or in another symmetry
        int symmetry = 0;  // in which it was encoded
    };

    // What belongs to one root. set_root() keeps what holds for the next one too, clear() drops all.
    struct RootState {
        std::vector<MoveRestriction> restrictions;
        int restricted_depth = 0;  // positions from this depth on are free; 0 where the root alone is restricted
        MoveSet unrestricted;      // the moves that `restrictions` leave, legal or not
        MoveSet unpruned;          // of these the ones that are legal and not pruned
        MoveSet searched;  // of these the ones to be searched: passes by rule, a move for all that are symmetric
        std::vector<Point> representative;  // of each move; empty if each stands for itself
        PointSet settled;                   // points where no move is searched
        std::optional<RootEvaluation> evaluation;
        std::vector<RootEvaluation> symmetric;  // the evaluations so far, with root_symmetries
        int refresh = 0;  // evaluations that are still needed: it was kept without its ownership, or root_symmetries
        std::vector<float> priors;  // by edge, with temperature and noise
        RootPlan plan;
        std::vector<float> bonus_points;  // of the score of its moves, by point and pass; empty where there is none
        std::vector<float> bonus;         // the same as utility, by edge
        std::vector<double> ownership;    // sum over positions
        int ownership_count = 0;
        float added_komi = 0;    // of playouts
        float score_center = 0;  // for Black, of dynamic_score_utility
    };

    // simulate.cpp. All but examine_leaf() need the lock of the tree where threads share it.
    void start(Simulation& sim);
    End descend(Simulation& sim);
    int next_edge(Simulation& sim, Node& node, const EdgeStats& self);
    EdgeStats merged_stats(const Node& node) const;
    bool is_superko_illegal(const Path& path) const;
    bool reaches_encore(const Path& path) const;
    void reject_last_move(Simulation& sim);
    bool is_below_expand_threshold(const Path& path) const;
    void prepare_leaf(Simulation& sim);
    void examine_leaf(Simulation& sim);
    Outcome mixed(const Node& node, Outcome playouts) const;
    bool is_judged(const Node& node) const;
    float draw_value(const Game& game) const;
    Node* add_node(Simulation& sim);
    EdgeStats& last_edge(const Path& path) { return path.empty() ? tree_.root() : path.back().stats(); }
    void add_pending(const Path& path, int change);
    void backup(const Path& path, Outcome outcome);
    void backup_end(const Path& path);
    void record_playout(const Simulation& sim);
    void backup_amaf(const Path& path, const PlayoutResult& end);

    // simulate_to_end.cpp
    int gather_to_end(const std::function<void(int, const Game&)>& visit, int limit);
    End advance(Simulation& sim);
    void finish(const Simulation& sim);
    static bool is_long_enough(const Game& game);
    void drop_in_progress();

    // backup_weighted.cpp
    ScoreUtility utility_at(std::size_t depth) const;
    bool set_score_center(float expected);
    void set_own(Node& node, const LeafResults& row);
    void set_own(Node& node, const Simulation& sim);
    float own_weight(const Node& node, const ScoreUtility& utility) const;
    void replace_own(Node& root, const LeafResults& row, bool is_new);
    void recompute(Node& node, std::size_t depth);
    void backup_weighted(const Path& path, bool is_new = true);
    bool may_catch_up(const EdgeStats& edge);
    void recompute_tree();
    void prepare_bonus();
    void update_bonus(int edge);
    RootMove weighted_move(Point point, float prior, const EdgeStats& edge, float bonus) const;
    void show_means(RootMove& move, const Moments& mean) const;
    Moments pruned_root() const;
    std::vector<float> play_weights(const SelectionContext& at) const;
    int played_edge(const Node& node) const;

    // run.cpp
    void visit(Simulation& sim, std::unique_lock<std::mutex>& tree);

    // batch.cpp
    End expand(Simulation& sim);
    int symmetry_for(const Game& leaf, int nth = 0) const;
    void refresh_root(const Waiting& leaf, const LeafResults& result, const Layout& layout);
    void apply_evaluation(const Waiting& leaf, const LeafResults& result, const Layout& layout);
    void average_root();
    void add_ownership(const Waiting& leaf, std::span<const float> ownership, const Layout& layout);
    void write_advantage_inputs(const PlaneSet& set, const Game& leaf, float* scalars) const;
    void keep_ownership(Node& node, std::span<const float> ownership, const Layout& layout);
    void check(const LeafResults& results, int edge) const;
    RootEvaluation evaluation_of(const LeafResults& row, const Layout& layout) const;

    void add_simulation();
    bool allows_any(const Node& node) const;
    bool lacks_candidate(const Node& root, bool by_name) const;
    bool ended_by_pass(const Node& root, bool moved) const;
    bool lies_in_encore(std::span<const Point> played, const Game& next) const;
    bool passes_by_rule() const { return !has_pass_ && params_.pass_policy == PassPolicy::free; }
    bool holds_after(const std::optional<std::vector<Point>>& played, const Game& game, const MoveSet& named,
                     std::span<const MoveRestriction> restrictions) const;
    bool wasted_by_restrictions(const MoveSet& named) const;
    bool refreshes_root() const;
    void set_komi(const std::optional<std::vector<Point>>& played);
    void keep_candidates(Node& node, std::size_t depth);
    void prune_settled(std::span<const Point> legal);
    void apply_pass_policy(const Game& game, MoveSet& allowed) const;
    void pass_by_rule();
    bool permits(int depth, Color to_play, Point move) const;
    void prepare_root();
    SelectionContext selection_at(const Node& node, const EdgeStats& self, std::size_t depth) const;
    SelectionContext at_root() const;
    std::optional<std::vector<Point>> continuation(const Game& next) const;

    SearchParams params_;
    SelectionRule select_;
    Random random_;
    std::uint64_t salt_;                                    // for selection rules that draw
    SplitMix64 seeds_;                                      // of the simulations
    std::shared_ptr<const PlayoutPolicy> prior_policy_;     // null where the network gives the priors
    std::vector<std::unique_ptr<Simulation>> simulations_;  // the first for gather and the first thread of run
    Tree tree_;
    std::optional<Game> game_;  // at the root
    RootState root_;
    bool plays_encore_ = false;  // params.encore, under rules and by a network that have one
    bool has_score_ = true, network_scores_ = true, has_pass_ = true, has_moments_ = false, has_errors_ = false;
    bool changed_ = false;                // settings since the tree was computed
    std::vector<WeightedMove> weighted_;  // for recompute()
    std::vector<Waiting> waiting_;
    std::vector<Path> in_progress_;  // of simulations to the end that wait for no result
    std::mutex lock_;                // of all above, while run() runs
};

}  // namespace tengen

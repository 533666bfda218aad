#include "search/root.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "board/pass_alive.h"
#include "board/symmetry.h"
#include "search/priors.h"

namespace tengen {

namespace {

constexpr float kForbidden = -1;

float allowed_mass(const std::vector<float>& priors) {
    float total = 0;
    for (const float p : priors) total += std::max(p, 0.0f);
    return total;
}

// Makes the entries that are not negative sum to `mass`; equal, of sum 1, if all are 0.
void normalize(std::vector<float>& priors, float mass) {
    const float total = allowed_mass(priors);
    const auto count = static_cast<float>(std::ranges::count_if(priors, [](float p) { return p >= 0; }));
    for (float& p : priors)
        if (p >= 0) p = total > 0 ? p * mass / total : 1 / count;
}

// The alphas of the noise for priors without negative entries: alike, but a share of their total follows what the
// logarithm of a prior has above the mean logarithm, so that moves which the policy nearly likes are tried more often
// (KataGo, where the share is a half and priors count as 0.01 at most).
std::vector<double> noise_alphas(const std::vector<float>& priors, const SearchParams& params) {
    std::vector<double> above;
    for (const float p : priors) above.push_back(std::log(std::min(double{p}, 0.01) + 1e-20));
    const double count = double(priors.size()), mean = std::accumulate(above.begin(), above.end(), 0.0) / count;
    for (double& x : above) x = std::max(x - mean, 0.0);
    const double total = std::accumulate(above.begin(), above.end(), 0.0);
    const double shaped = total > 0 ? double{params.noise_shaped} : 0;
    for (double& x : above)
        x = params.noise_total * (1 - shaped) / count + (shaped > 0 ? params.noise_total * shaped * x / total : 0);
    return above;
}

// Dirichlet noise for the allowed entries, computed from logarithms so that a tiny alpha does not end in 0 / 0.
void add_noise(std::vector<float>& priors, const SearchParams& params, Random& random) {
    std::vector<float> allowed;
    std::copy_if(priors.begin(), priors.end(), std::back_inserter(allowed), [](float p) { return p >= 0; });
    std::vector<double> noise = noise_alphas(allowed, params);
    for (double& x : noise) x = x > 0 ? random.log_gamma_variate(x) : -std::numeric_limits<double>::infinity();
    const double largest = *std::max_element(noise.begin(), noise.end());
    for (double& x : noise) x = std::exp(x - largest);
    const double total = std::accumulate(noise.begin(), noise.end(), 0.0);
    auto next = noise.begin();
    for (float& p : priors)
        if (p >= 0) p = (1 - params.noise_weight) * p + params.noise_weight * static_cast<float>(*next++ / total);
}

// The untried edges by falling prior, and with each edge what belongs to it.
void sort_untried(Node& root, std::vector<float>& priors, Amaf* amaf) {
    std::vector<int> order(root.move_count);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin() + root.edge_count, order.end(), [&](int a, int b) { return priors[a] > priors[b]; });
    const std::vector<MovePrior> edges(root.moves(), root.moves() + root.move_count);
    const std::vector<float> old = priors;
    const std::vector<Amaf> all_moves(amaf, amaf ? amaf + root.move_count : amaf);
    for (std::size_t i = 0; i < order.size(); ++i) {
        root.moves()[i] = edges[order[i]];
        priors[i] = old[order[i]];
        if (amaf) amaf[i] = all_moves[order[i]];
    }
}

}  // namespace

MoveSet to_move_set(std::span<const Point> moves) {
    MoveSet set;
    for (const Point p : moves) set.set(p);
    return set;
}

namespace {

// Whether a symmetry leaves all that matters in its place; `kind` has a number for each point.
bool keeps(std::span<const int> kind, int size, int symmetry) {
    for (int p = 0; p < size * size; ++p)
        if (kind[p] != kind[transform(static_cast<Point>(p), size, symmetry)]) return false;
    return true;
}

// Until which depth below the root the player may not play each point; 0 where he may.
std::vector<int> forbidden_until(const Board& board, Color player, std::span<const MoveRestriction> restrictions) {
    std::vector<int> until(board.points());
    for (const MoveRestriction& r : restrictions)
        for (int p = 0; p < board.points() && r.until_depth > 1; ++p)
            if (!r.permits(1, player, static_cast<Point>(p))) until[p] = std::max(until[p], r.until_depth);
    return until;
}

bool captures(const Board& board, Point p, Color player) {
    return std::ranges::any_of(board.neighbors(p),
                               [&](Point q) { return board.at(q) == opponent(player) && board.liberties(q) == 1; });
}

bool connects_unsettled(const Board& board, Point p, Color player, const PointSet& alive) {
    std::vector<Point> chains;
    bool unsettled = false;
    for (const Point q : board.neighbors(p))
        if (board.at(q) == player) chains.push_back(board.chain(q)), unsettled |= !alive.contains(q);
    return unsettled && std::ranges::any_of(chains, [&](Point chain) { return chain != chains[0]; });
}

}  // namespace

std::vector<float> ending_bonus(const Game& game, std::span<const float> ownership, float points) {
    constexpr float kSure = 0.95f;
    const Board& board = game.board();
    const Color player = game.to_play();
    const bool area = game.rules().scoring == Scoring::area;
    std::vector<float> bonus(board.points() + 1);
    if (!area) bonus[board.pass()] = -points * 2 / 3;
    if (area && game.button_left()) bonus[board.pass()] = -points / 2;  // dame first
    if (board.ko() != kNoPoint) return bonus;
    const PointSet alive = pass_alive(board, player, game.rules().suicide).area();
    board.empty_points().for_each([&](Point p) {
        const float own = ownership[p];
        const bool touches =
            std::ranges::any_of(board.neighbors(p), [&](Point q) { return board.at(q) == opponent(player); });
        const bool spared =
            own < 0 ? area && captures(board, p, player) : touches || connects_unsettled(board, p, player, alive);
        if (!spared) bonus[p] = -points * std::max(std::abs(own) - kSure, 0.0f) / (1 - kSure);
    });
    return bonus;
}

MoveSet permitted_moves(const Game& game, std::span<const MoveRestriction> restrictions) {
    MoveSet permitted;
    for (int p = 0; p <= game.board().pass(); ++p) {
        const auto move = static_cast<Point>(p);
        permitted.set(p, std::ranges::all_of(restrictions, [&](const MoveRestriction& r) {
                          return r.permits(0, game.to_play(), move);
                      }));
    }
    return permitted;
}

std::vector<int> kept_symmetries(const Game& game, const MoveSet& allowed,
                                 std::span<const MoveRestriction> restrictions) {
    if (game.encore().phase > 0) return {};  // what is blocked and what counts are not the stones alone
    const Board& board = game.board();
    std::vector<int> kind(board.points()), found;
    for (int i = 0; i < board.points(); ++i) {
        const auto p = static_cast<Point>(i);
        kind[i] = board.stones(Color::black).contains(p)   ? 1
                  : board.stones(Color::white).contains(p) ? 2
                  : !game.is_legal(p)                      ? 3
                  : allowed.test(p)                        ? 4
                                                           : 5;
    }
    const std::vector<int> black = forbidden_until(board, Color::black, restrictions),
                           white = forbidden_until(board, Color::white, restrictions);
    for (int s = 1; s < kSymmetries; ++s)
        if (keeps(kind, board.size(), s) && keeps(black, board.size(), s) && keeps(white, board.size(), s))
            found.push_back(s);
    return found;
}

std::vector<Point> representatives(const Game& game, const Node& root, const MoveSet& allowed,
                                   std::span<const MoveRestriction> restrictions) {
    const std::vector<int> kept = kept_symmetries(game, allowed, restrictions);
    if (kept.empty()) return {};
    const int size = game.board().size();
    std::vector<Point> first(size * size + 1);
    std::iota(first.begin(), first.end(), Point{0});
    for (Point& p : first)
        for (const int s : kept) p = std::min(p, transform(p, size, s));

    const auto visits = [&](int edge) { return edge < root.edge_count ? root.edges[edge].visits : 0; };
    std::vector<int> best(first.size(), -1);  // edge, by the first point of a class
    for (int i = 0; i < root.move_count; ++i) {
        const MovePrior move = root.moves()[i];
        int& b = best[first[move.point]];
        if (b < 0 || visits(i) > visits(b) || (visits(i) == visits(b) && root.moves()[b].prior < move.prior)) b = i;
    }
    std::vector<Point> standing(first.size());
    for (std::size_t p = 0; p < first.size(); ++p)
        standing[p] = best[first[p]] < 0 ? static_cast<Point>(p) : root.moves()[best[first[p]]].point;
    return standing;
}

std::vector<float> root_priors(Node& root, const MoveSet& allowed, std::span<const Point> representative,
                               const SearchParams& params, Random& random, Amaf* amaf) {
    std::vector<float> mass(kMaxPoints + 1, 0.0f);
    for (int i = 0; i < root.move_count; ++i) {
        const MovePrior move = root.moves()[i];
        mass[representative.empty() ? move.point : representative[move.point]] += move.prior.value();
    }
    std::vector<float> priors(root.move_count, kForbidden);
    for (int i = 0; i < root.move_count; ++i)
        if (const Point move = root.moves()[i].point; allowed.test(move)) priors[i] = mass[move];
    const float kept = params.raw_priors ? allowed_mass(priors) : 1;
    const float largest = priors.empty() ? 0 : *std::ranges::max_element(priors);
    for (float& p : priors)
        if (p >= 0) p = tempered(p, largest, params.root_temperature);
    normalize(priors, kept);
    if (params.noise_weight > 0) add_noise(priors, params, random);
    sort_untried(root, priors, amaf);
    return priors;
}

}  // namespace tengen

#include "search/priors.h"

#include <algorithm>
#include <cmath>

#include "playout/bakago.h"

namespace tengen {

namespace {

std::span<MovePrior> edges_of(Node& node) { return {node.moves(), node.move_count}; }

// `mass(edge, index)` is what an edge has before the sum is made 1. `elsewhere` is what moves have that are not there.
template <class F>
void scale(std::span<MovePrior> edges, F mass, float elsewhere = 0) {
    float total = 0;
    for (std::size_t i = 0; i < edges.size(); ++i) total += mass(edges[i], i);
    const float whole = total + elsewhere;
    for (std::size_t i = 0; i < edges.size(); ++i)
        edges[i].prior = Prior(total > 0 ? mass(edges[i], i) / whole : 1.0f / static_cast<float>(edges.size()));
}

float wanted_mass(const SearchParams& params, int points, int moves) {
    const bool middle = moves > moves_for(points, 100), late = moves > moves_for(points, 200);
    if (late && params.candidate_mass_late > 0) return params.candidate_mass_late;
    if (middle && !late && params.candidate_mass_middle > 0) return params.candidate_mass_middle;
    return params.candidate_mass;
}

}  // namespace

void replace_priors(Node& node, std::span<const float> policy, const Layout& layout, float temperature, bool raw) {
    const auto mass = [&](const MovePrior& e) {
        const std::size_t at = layout.policy_index(e.point);
        return at < policy.size() ? std::max(policy[at], 0.0f) : 0;  // a policy may lack the pass
    };
    float largest = 1;
    if (temperature != 1) {
        largest = 0;
        for (const MovePrior& e : edges_of(node)) largest = std::max(largest, mass(e));
    }
    const auto own = [&](const MovePrior& e) { return tempered(mass(e), largest, temperature); };
    float elsewhere = 0;
    if (raw) {
        for (int p = 0; p <= layout.points(); ++p) elsewhere += own(MovePrior{static_cast<Point>(p), Prior()});
        for (const MovePrior& e : edges_of(node)) elsewhere -= own(e);
    }
    scale(edges_of(node), [&](const MovePrior& e, std::size_t) { return own(e); }, std::max(elsewhere, 0.0f));
}

void set_priors_from_policy(Node& node, std::span<const float> policy, const Layout& layout, float temperature,
                            bool raw) {
    replace_priors(node, policy, layout, temperature, raw);
    std::sort(node.moves(), node.moves() + node.move_count, [](const MovePrior& a, const MovePrior& b) {
        return a.prior != b.prior ? b.prior < a.prior : a.point < b.point;
    });
}

void set_priors_from_weights(Node& node, std::span<const float> weights) {
    scale(edges_of(node), [&](const MovePrior&, std::size_t i) { return weights[i]; });
    std::stable_sort(node.moves(), node.moves() + node.move_count,
                     [](const MovePrior& a, const MovePrior& b) { return b.prior < a.prior; });
}

void cut_candidates(Tree& tree, Node& node, const SearchParams& params, int points, std::size_t moves, Point beside) {
    const std::span<MovePrior> edges = edges_of(node);
    const std::size_t minimum = params.candidate_min;
    std::size_t maximum = edges.size();
    if (params.candidate_max) maximum = std::min<std::size_t>(maximum, params.candidate_max);
    if (params.candidate_share > 0)
        maximum = std::min(maximum, static_cast<std::size_t>(params.candidate_share * static_cast<float>(points)));
    std::size_t kept = edges.size();
    const auto wanted = wanted_mass(params, points, static_cast<int>(moves));
    if (wanted < 1) {
        float mass = 0;
        for (std::size_t i = 0; i < kept; ++i)
            if ((mass += edges[i].prior.value()) >= wanted) kept = i + 1;
    }
    kept = std::min(std::max(kept, minimum), edges.size());
    if (params.candidate_tried < 1)
        kept = static_cast<std::size_t>(std::ceil(params.candidate_tried * static_cast<float>(kept)));
    kept = std::min(kept, std::max(maximum, minimum));
    if (beside != kNoPoint)
        if (const auto at = static_cast<std::size_t>(node.find(beside)); at >= kept && at < edges.size())
            std::swap(edges[kept++], edges[at]);
    if (kept == edges.size()) return;
    tree.keep_moves(node, static_cast<int>(kept));
    if (!params.raw_priors) scale(edges_of(node), [](const MovePrior& e, std::size_t) { return e.prior.value(); });
}

}  // namespace tengen

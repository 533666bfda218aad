// The tree alone: simulations with an evaluator that costs nothing, and the memory of a position.
#include <cstdio>

#include "bench/measure.h"
#include "search/search.h"

namespace tengen::bench {

namespace {

struct Figures {
    double rate;            // simulations a second
    double bytes_per_node;  // edges and priors included
};

Figures grow(int size, int batch, double seconds) {
    Search search(SearchParams{}, 1);
    search.set_root(Game(size, Rules{}, 7.5f));
    const std::size_t area = static_cast<std::size_t>(size) * size;
    const std::vector<float> policy(batch * (area + 1), 1.0f), zeros(batch * area, 0.0f);
    const auto nothing = [](int, const Game&) {};
    const double start = cpu_seconds();
    double now = start;
    while ((now = cpu_seconds()) - start < seconds && !search.tree().full()) {
        for (int i = 0; i < 256 / batch; ++i) {
            const std::size_t n = search.gather(nothing, batch);
            const std::span<const float> none(zeros.data(), n);
            search.scatter({{policy.data(), n * (area + 1)}, none, none, {zeros.data(), n * area}}, size);
        }
    }
    return {search.root_visits() / (now - start),
            static_cast<double>(search.tree().bytes()) / static_cast<double>(search.tree().nodes())};
}

}  // namespace

void bench_tree(double seconds) {
    for (const int size : {7, 9, 13, 19}) {
        double single = 0;
        for (const int batch : {1, 8, 32}) {
            const auto [rate, bytes] = grow(size, batch, seconds);
            if (batch == 1) single = rate;
            std::printf(
                "{\"benchmark\": \"tree\", \"size\": %d, \"batch\": %d, \"simulations_per_second\": %.0f, "
                "\"against_batch_1\": %.2f, \"bytes_per_node\": %.0f}\n",
                size, batch, rate, rate / single, bytes);
            std::fflush(stdout);
        }
    }
}

}  // namespace tengen::bench

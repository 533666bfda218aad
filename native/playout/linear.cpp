#include "playout/linear.h"

#include <filesystem>
#include <map>
#include <mutex>
#include <stdexcept>
#include <system_error>

#include "playout/candidates.h"
#include "playout/linear_moves.h"

namespace tengen {

namespace {

// The weights of a file that some policy still uses, as the file was when they were read.
struct Loaded {
    std::weak_ptr<const LinearWeights> weights;
    std::filesystem::file_time_type written;
};

struct WeightsCache {
    std::mutex lock;
    std::filesystem::path path;
    std::shared_ptr<const LinearWeights> standard;
    std::map<std::filesystem::path, Loaded> others;
};

WeightsCache& weights_cache() {
    static WeightsCache cache;
    return cache;
}

std::shared_ptr<const LinearWeights> load(const std::filesystem::path& path) {
    return std::make_shared<const LinearWeights>(read_linear_weights(path));
}

// Reads a file only where nobody has its weights yet. Needs the lock.
std::shared_ptr<const LinearWeights> shared(WeightsCache& cache, const std::filesystem::path& path) {
    std::error_code missing;  // then load() says what is wrong
    const auto written = std::filesystem::last_write_time(path, missing);
    if (const auto found = cache.others.find(path); found != cache.others.end() && found->second.written == written)
        if (auto weights = found->second.weights.lock(); weights && !missing) return weights;
    auto weights = load(path);
    std::erase_if(cache.others, [](const auto& other) { return other.second.weights.expired(); });
    cache.others[path] = {weights, written};
    return weights;
}

}  // namespace

std::array<Point, 2> last_two(std::span<const Move> moves) {
    const std::size_t count = moves.size();
    return {count > 0 ? moves[count - 1].point : kNoPoint, count > 1 ? moves[count - 2].point : kNoPoint};
}

int LinearPolicy::play(Board& board, Color to_play, std::span<const Move> before, SplitMix64& random,
                       PlayoutTrace* trace) const {
    const auto [last, second] = last_two(before);
    LinearMoves moves(*weights_, board, last, second);
    return play_moves(
        board, to_play, trace, 3 * board.points(),
        [&](Color color) { return moves.draw(board, color, random, power_); },
        [&](Point p, Color color) { moves.play(board, p, color); });
}

void LinearPolicy::weigh(const Board& board, Color to_play, std::span<const Move> before, std::span<const Point> moves,
                         std::span<float> weights) const {
    const auto [last, second] = last_two(before);
    LinearMoves all(*weights_, board, last, second);
    all.weigh(board, to_play);
    bool any = false;
    board.empty_points().for_each([&](Point p) { any |= all.weight(p) > 0.0f; });
    for (std::size_t i = 0; i < moves.size(); ++i)
        weights[i] = moves[i] == board.pass() ? (any ? 0.0f : 1.0f) : all.weight(moves[i]);
}

void set_linear_path(std::filesystem::path path) {
    const std::lock_guard lock(weights_cache().lock);
    weights_cache().path = std::move(path);
    weights_cache().standard.reset();
}

bool has_linear_path() {
    const std::lock_guard lock(weights_cache().lock);
    return !weights_cache().path.empty();
}

std::shared_ptr<const PlayoutPolicy> linear_policy(std::string_view name, float temperature) {
    WeightsCache& cache = weights_cache();
    const std::lock_guard lock(cache.lock);
    if (name == "linear") {
        if (cache.path.empty())
            throw std::invalid_argument("playout policy 'linear': no file of weights is named; give linear:PATH");
        if (!cache.standard) cache.standard = load(cache.path);
        return std::make_shared<const LinearPolicy>(cache.standard, temperature);
    }
    const auto path = name.substr(std::string_view("linear:").size());
    return std::make_shared<const LinearPolicy>(shared(cache, std::u8string(path.begin(), path.end())), temperature);
}

}  // namespace tengen

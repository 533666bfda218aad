#include "convolution/chain.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace tengen {

ConvolutionChain::ConvolutionChain(int given, std::vector<Step> steps, std::vector<int> results)
    : given_(given), steps_(std::move(steps)), results_(std::move(results)) {
    constexpr std::size_t kMaxReads = 4;
    if (given < 0 || static_cast<std::size_t>(given) > kMaxReads * steps_.size())
        throw std::invalid_argument("the steps cannot read " + std::to_string(given) + " values");
    values_.assign(given_, {Kind::images, 0});
    for (const Step& step : steps_) {
        const int made = static_cast<int>(values_.size());
        read(step.input, made, {Kind::images, step.kernel->inputs()});
        if (step.residual) read(*step.residual, made, {Kind::images, step.kernel->outputs()});
        if (step.input_bias) read(*step.input_bias, given_, {Kind::bias, step.kernel->inputs()});
        if (step.input_mask) read(*step.input_mask, given_, {Kind::mask, 1});
        values_.push_back({Kind::images, step.kernel->outputs()});
    }
    for (int i = 0; i < given_; ++i)
        if (!values_[i].channels) throw std::invalid_argument("no step reads value " + std::to_string(i));
    for (const int result : results_)
        if (result < given_ || result >= std::ssize(values_))
            throw std::invalid_argument("no step makes value " + std::to_string(result));
    for (const int result : results_)
        if (std::ranges::count(results_, result) > 1)
            throw std::invalid_argument("value " + std::to_string(result) + " is asked for twice");
    assign_places();
}

void ConvolutionChain::read(int value, int before, Value as) {
    if (value < 0 || value >= before)
        throw std::invalid_argument("value " + std::to_string(value) + " is not known before its step");
    Value& known = values_[value];
    if (known.channels && known != as)
        throw std::invalid_argument("value " + std::to_string(value) + " is read in two ways");
    known = as;
}

// A value keeps its place until its last reader is through, so that few places stay in the cache.
void ConvolutionChain::assign_places() {
    std::vector<int> last(values_.size(), -1);
    for (int k = 0; k < std::ssize(steps_); ++k) {
        last[steps_[k].input] = k;
        if (steps_[k].residual) last[*steps_[k].residual] = k;
    }
    place_.assign(values_.size(), -1);
    std::vector<int> until;  // of each place: the last reader of the value that it holds
    for (int k = 0; k < std::ssize(steps_); ++k) {
        const int made = given_ + k;
        if (std::ranges::count(results_, made)) continue;
        const auto free = std::ranges::find_if(until, [&](int reader) { return reader < k; });
        place_[made] = static_cast<int>(free - until.begin());
        if (free == until.end()) until.push_back(0);
        until[place_[made]] = last[made];
        widest_ = std::max(widest_, values_[made].channels);
    }
    places_ = static_cast<int>(until.size());
}

void ConvolutionChain::run(std::span<const Given> given, std::span<float* const> results, int batch, int rows,
                           int columns) const {
    const std::size_t place = (static_cast<std::size_t>(widest_) * batch * rows * columns + kColumns - 1) / kColumns;
    static thread_local std::vector<WinogradLine> space;
    if (space.size() <= place * places_) space.resize(place * places_ + 1);
    std::vector<float*> made(steps_.size());
    for (int k = 0; k < std::ssize(steps_); ++k)
        if (const int at = place_[given_ + k]; at >= 0) made[k] = space[place * at].at;
    for (std::size_t i = 0; i < results_.size(); ++i) made[results_[i] - given_] = results[i];
    const auto data = [&](int value) { return value < given_ ? given[value].data : made[value - given_]; };
    for (int k = 0; k < std::ssize(steps_); ++k) {
        const Step& step = steps_[k];
        WinogradInput before{.relu = step.input_relu};
        if (step.input_bias) {
            before.bias = data(*step.input_bias);
            before.bias_of_image = given[*step.input_bias].of_image;
        }
        if (step.input_mask) before.mask = data(*step.input_mask);
        step.kernel->run(data(step.input), step.residual ? data(*step.residual) : nullptr, step.relu, made[k], batch,
                         rows, columns, false, before);
    }
}

}  // namespace tengen

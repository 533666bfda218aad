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

// A value has a place from its step, a given one from its first reader, until its last reader is through: few places
// stay in the cache.
void ConvolutionChain::assign_places() {
    std::vector<int> last(values_.size(), -1);
    for (int k = 0; k < std::ssize(steps_); ++k) {
        last[steps_[k].input] = k;
        if (steps_[k].residual) last[*steps_[k].residual] = k;
    }
    place_.assign(values_.size(), -1);
    std::vector<int> until;  // of each place: the last reader of the value that it holds
    for (int k = 0; k < std::ssize(steps_); ++k) {
        const auto place = [&](int value) {
            if (place_[value] >= 0) return;
            const auto free = std::ranges::find_if(until, [&](int reader) { return reader < k; });
            place_[value] = static_cast<int>(free - until.begin());
            if (free == until.end()) until.push_back(0);
            until[place_[value]] = std::max(last[value], k);
            widest_ = std::max(widest_, values_[value].channels);
        };
        place(steps_[k].input);
        if (steps_[k].residual) place(*steps_[k].residual);
        place(given_ + k);
    }
    places_ = static_cast<int>(until.size());
}

void ConvolutionChain::run(std::span<const Given> given, std::span<float* const> results, int batch, int rows,
                           int columns) const {
    const int points = rows * columns;
    const std::size_t lines = batch * block_size(widest_, points) / kColumns;
    static thread_local std::vector<WinogradLine> space;
    if (space.size() <= lines * places_) space.resize(lines * places_ + 1);
    const auto blocks = [&](int value) { return space[lines * place_[value]].at; };
    std::vector<bool> copied(given_);
    for (int k = 0; k < std::ssize(steps_); ++k) {
        const Step& step = steps_[k];
        const int made = given_ + k;
        const auto images = [&](int value) -> const float* {
            if (value < given_ && !copied[value]) {
                step.kernel->to_blocks(given[value].data, blocks(value), batch, values_[value].channels, points);
                copied[value] = true;
            }
            return blocks(value);
        };
        WinogradInput before{.relu = step.input_relu};
        if (step.input_bias) {
            before.bias = given[*step.input_bias].data;
            before.bias_of_image = given[*step.input_bias].of_image;
        }
        if (step.input_mask) before.mask = given[*step.input_mask].data;
        step.kernel->run(images(step.input), step.residual ? images(*step.residual) : nullptr, step.relu, blocks(made),
                         batch, rows, columns, ImageLayout::blocks, before);
        const auto result = std::ranges::find(results_, made);
        if (result != results_.end())
            step.kernel->from_blocks(blocks(made), results[result - results_.begin()], batch, values_[made].channels,
                                     points);
    }
}

}  // namespace tengen

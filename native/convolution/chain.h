#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "convolution/winograd.h"

namespace tengen {

// Convolutions that follow each other, as one call. Images that they read and make lie in memory of the thread, in
// blocks, which need no change of order between two steps.
//
// The values that they read and make have numbers: first the given ones, then what each step makes.
class ConvolutionChain {
  public:
    struct Step {
        std::shared_ptr<const Winograd> kernel;
        int input;
        std::optional<int> residual, input_bias, input_mask;  // given values but for the residual
        bool relu = false, input_relu = false;                // as in Winograd::run and WinogradInput
    };

    // What a value is, with its channels; those of a mask are 1.
    enum class Kind { images, bias, mask };
    struct Value {
        Kind kind;
        int channels;
        bool operator==(const Value&) const = default;
    };

    // A given value of a call; a bias may have a row for each image.
    struct Given {
        const float* data;
        bool of_image = false;
    };

    // `results` are the numbers of the values that a call gives. Throws std::invalid_argument for a number of no value
    // that is known before its step, for one that is read as two kinds or with two numbers of channels, for a
    // given value that no step reads, and for a result that is named twice.
    ConvolutionChain(int given, std::vector<Step> steps, std::vector<int> results);

    // The given values, and the channels of the results.
    std::span<const Value> given() const { return std::span(values_).first(given_); }
    int result_channels(int i) const { return values_[results_[i]].channels; }
    int results() const { return static_cast<int>(results_.size()); }

    // Computes `results` from `given`, images [batch][channels][rows][columns]; no result may overlap another array.
    // Runs on the calling thread. May be called by several threads.
    void run(std::span<const Given> given, std::span<float* const> results, int batch, int rows, int columns) const;

  private:
    void read(int value, int before, Value as);
    void assign_places();

    int given_;
    std::vector<Step> steps_;
    std::vector<int> results_;
    std::vector<Value> values_;
    std::vector<int> place_;  // in memory of the thread of each value, -1 for what is no images
    int places_ = 0, widest_ = 0;
};

}  // namespace tengen

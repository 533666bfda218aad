#include "playout/linear_weights.h"

#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace tengen {

namespace {

constexpr std::string_view kMagic = "TENGENLP";
constexpr std::uint32_t kFormat = 1;

std::uint32_t checksum(std::string_view bytes) {  // FNV-1a
    std::uint32_t hash = 2166136261u;
    for (const char byte : bytes) hash = (hash ^ static_cast<std::uint8_t>(byte)) * 16777619u;
    return hash;
}

void append(std::string& bytes, std::uint32_t number) {
    bytes.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// In UTF-8, for messages.
std::string text_of(const std::filesystem::path& path) {
    const std::u8string text = path.u8string();
    return {text.begin(), text.end()};
}

void check_count(std::size_t steps) {
    if (steps != kFeatures)
        throw std::invalid_argument("linear playout weights: " + std::to_string(kFeatures) + " are needed, not " +
                                    std::to_string(steps));
}

// Takes the file apart from the front.
class Reader {
  public:
    Reader(std::string path, std::string_view bytes) : path_(std::move(path)), rest_(bytes) {}

    std::string_view take(std::size_t count) {
        if (count > rest_.size()) refuse("it was cut short");
        const auto taken = rest_.substr(0, count);
        rest_.remove_prefix(count);
        return taken;
    }
    std::uint32_t number() {
        std::uint32_t value;
        std::memcpy(&value, take(sizeof value).data(), sizeof value);
        return value;
    }
    bool at_end() const { return rest_.empty(); }
    [[noreturn]] void refuse(const std::string& why) const {
        throw std::invalid_argument(path_ + " is no file of linear playout weights: " + why);
    }

  private:
    std::string path_;
    std::string_view rest_;
};

}  // namespace

LinearWeights::LinearWeights(std::vector<std::int8_t> steps) : steps_(std::move(steps)) {
    check_count(steps_.size());
    for (int sum = -kMaxSteps; sum <= kMaxSteps; ++sum)
        powers_[sum + kMaxSteps] = std::exp(static_cast<float>(sum) / kWeightScale);
    const auto expand = [this](Feature first, int situations, std::vector<Lattice>& out) {
        out.assign(situations, Lattice{});
        for (int i = 0; i < situations; ++i)
            for (int row = 0; row <= kMiddle; ++row)
                for (int column = -kMiddle; column <= kMiddle; ++column)
                    out[i][row * kRowStride + kMiddle + column] =
                        power(step(first + i * kOffsets + offset_index(row, std::abs(column))));
    };
    expand(kReply.first, kReplies, replies_);
    expand(kFollow.first, kFollows, follows_);
}

LinearWeights read_linear_weights(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::invalid_argument(text_of(path) + " cannot be read: " + std::strerror(errno));
    std::string bytes;
    try {
        bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    } catch (const std::ios_base::failure& error) {  // a folder opens, and then cannot be read
        throw std::invalid_argument(text_of(path) + " cannot be read: " + error.what());
    }
    Reader reader(text_of(path), bytes);
    if (bytes.size() < kMagic.size() || reader.take(kMagic.size()) != kMagic) reader.refuse("it begins otherwise");
    if (const auto format = reader.number(); format != kFormat)
        reader.refuse("its format is " + std::to_string(format) + ", this version reads " + std::to_string(kFormat));
    reader.take(reader.number());
    if (const auto count = reader.number(); count != kFeatures)
        reader.refuse("it has " + std::to_string(count) + " weights, this version uses " + std::to_string(kFeatures));
    const auto steps = reader.take(kFeatures);
    const std::string_view covered(bytes.data(), steps.data() + steps.size());
    if (reader.number() != checksum(covered)) reader.refuse("it is damaged");
    if (!reader.at_end()) reader.refuse("something follows its end");
    return LinearWeights(std::vector<std::int8_t>(steps.begin(), steps.end()));
}

void write_linear_weights(const std::filesystem::path& path, const std::string& card,
                          std::span<const std::int8_t> steps) {
    check_count(steps.size());
    std::string bytes(kMagic);
    append(bytes, kFormat);
    append(bytes, static_cast<std::uint32_t>(card.size()));
    bytes += card;
    append(bytes, kFeatures);
    bytes.append(reinterpret_cast<const char*>(steps.data()), steps.size());
    append(bytes, checksum(bytes));
    std::ofstream file(path, std::ios::binary | std::ios::trunc);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    file.flush();
    if (!file) throw std::invalid_argument(text_of(path) + " cannot be written");
}

}  // namespace tengen

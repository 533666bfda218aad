// Drives the fuzz target without libFuzzer: `tengen_fuzz [RUNS [SEED]]` with random bytes, or `tengen_fuzz FILE` with
// those of a file. The bytes of a run that fails are left in the file fuzz-crash for the second form.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include "board/random.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

int main(int argc, char** argv) {
    const std::string first = argc > 1 ? argv[1] : "20000";
    if (std::ifstream file(first, std::ios::binary); file) {
        const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
        return LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    }
    const long runs = std::stol(first);
    tengen::SplitMix64 random(argc > 2 ? std::stoull(argv[2]) : 1);
    std::vector<std::uint8_t> bytes;
    for (long run = 0; run < runs; ++run) {
        bytes.resize(random.below(1 + random.below(600)));
        for (auto& byte : bytes) byte = static_cast<std::uint8_t>(random.next());
        // Written before the run, which may not come back from it.
        std::ofstream("fuzz-crash", std::ios::binary)
            .write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
        LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
    }
    std::remove("fuzz-crash");
    std::cout << runs << " runs of random bytes, nothing violated\n";
}

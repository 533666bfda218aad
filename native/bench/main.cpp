// Benchmarks of the native core that no Python may slow down; benchmarks/*.py feed and call this program.
//
//     tengen_bench board < GAMES      tengen_bench ladders [NODES] < GAMES      tengen_bench tree [SECONDS]
//
// GAMES: a line a game, its size and then its moves as points, Black first.
#include <cstdlib>
#include <iostream>
#include <sstream>
#include <string>

#include "bench/measure.h"
#include "board/ladder.h"

namespace {

std::vector<tengen::bench::Record> read_records() {
    std::vector<tengen::bench::Record> records;
    for (std::string line; std::getline(std::cin, line);) {
        std::istringstream words(line);
        auto& record = records.emplace_back();
        words >> record.size;
        for (int point; words >> point;) record.moves.push_back(static_cast<tengen::Point>(point));
    }
    return records;
}

}  // namespace

int main(int argc, char** argv) {
    const std::string subject = argc > 1 ? argv[1] : "";
    if (subject == "board")
        tengen::bench::bench_board(read_records());
    else if (subject == "ladders")
        tengen::bench::bench_ladders(read_records(), argc > 2 ? std::atoi(argv[2]) : tengen::kLadderNodes);
    else if (subject == "tree")
        tengen::bench::bench_tree(argc > 2 ? std::atof(argv[2]) : 1.0);
    else {
        std::cerr << "usage: tengen_bench board | ladders [NODES] | tree [SECONDS]\n";
        return 2;
    }
}

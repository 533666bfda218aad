// Time of this thread's processor, so that other work on the machine counts little, and lines of JSON.
#pragma once

#include <time.h>

#include <algorithm>
#include <vector>

#include "board/game.h"

namespace tengen::bench {

inline double cpu_seconds() {
    timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// Seconds of the fastest of `rounds`.
template <class F>
double best_seconds(int rounds, F work) {
    double best = 1e300;
    for (int i = 0; i < rounds; ++i) {
        const double start = cpu_seconds();
        work();
        best = std::min(best, cpu_seconds() - start);
    }
    return best;
}

// The value below which a share of them lies.
inline double quantile(std::vector<double> values, double share) {
    const auto at = values.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), at, values.end());
    return *at;
}

// A whole game from the empty board, Black first and in turn.
struct Record {
    int size;
    std::vector<Point> moves;
};

// Each reads what it needs from `records` and prints a line of JSON a measurement.
void bench_board(const std::vector<Record>& records);
void bench_ladders(const std::vector<Record>& records, int nodes);
void bench_tree(double seconds);

}  // namespace tengen::bench

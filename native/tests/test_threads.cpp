// Work in parts on several threads.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "processor/threads.h"
#include "tests/check.h"

using namespace tengen;

TEST(threads_parallel_for_does_every_task_once) {
    for (const int threads : {1, 2, 7}) {
        std::vector<std::atomic<int>> done(20);
        parallel_for(done.size(), threads, [&](std::size_t i) { ++done[i]; });
        for (const auto& times : done) CHECK_EQ(times.load(), 1);
    }
}

TEST(threads_parallel_for_throws_what_the_smallest_task_threw) {
    using namespace std::chrono_literals;
    for (const std::size_t last : {0, 1}) {
        std::atomic<int> begun = 0;
        std::string caught;
        try {
            parallel_for(2, 2, [&](std::size_t i) {
                ++begun;
                // Both fail; the wait has an end, because the system may give no second thread.
                const auto end = std::chrono::steady_clock::now() + 1s;
                while (begun < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
                if (i == last) std::this_thread::sleep_for(20ms);
                throw std::runtime_error(std::to_string(i));
            });
        } catch (const std::runtime_error& error) {
            caught = error.what();
        }
        CHECK_EQ(caught, "0");
    }
}

// Threads for work in parts, on all systems.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace tengen {

// A thread that its end waits for: std::jthread, which the libraries of Apple and of Clang before 20 lack.
class JoiningThread {
  public:
    template <class Task>
    explicit JoiningThread(Task&& task) : thread_(std::forward<Task>(task)) {}
    JoiningThread(JoiningThread&&) = default;
    ~JoiningThread() {
        if (thread_.joinable()) thread_.join();
    }

  private:
    std::thread thread_;
};

// Starts threads that call task(0) to task(count - 1), each with a copy of `task`. Where the system gives no more
// threads there are fewer: the caller's own does the rest.
template <class Task>
std::vector<JoiningThread> start_threads(int count, const Task& task) {
    std::vector<JoiningThread> threads;
    threads.reserve(static_cast<std::size_t>(count));
    try {
        for (int i = 0; i < count; ++i) threads.emplace_back([task, i] { task(i); });
    } catch (const std::exception&) {
    }
    return threads;
}

// Calls task(0) to task(count - 1), each once, on up to `threads` threads, the caller's own among them. After a failure
// no further task begins; then what the task of the smallest number threw is thrown again. Tasks begin in order, so
// that this is the same failure for any number of threads.
template <class Task>
void parallel_for(std::size_t count, int threads, const Task& task) {
    std::atomic<std::size_t> next{0};
    std::mutex failing;
    std::exception_ptr failure;
    std::size_t failed = 0;
    const auto work = [&](int) {
        for (std::size_t i; (i = next.fetch_add(1)) < count;) {
            try {
                task(i);
            } catch (...) {
                next = count;
                const std::lock_guard lock(failing);
                if (!failure || i < failed) failure = std::current_exception(), failed = i;
            }
        }
    };
    {
        const auto helpers = start_threads(threads - 1, work);
        work(0);
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tengen

// Threads for work in parts, on all systems.
#pragma once

#include <exception>
#include <thread>
#include <utility>
#include <vector>

namespace tengen {

/// A thread that its end waits for: std::jthread, which the libraries of Apple and of Clang before 20 lack.
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

/// Starts threads that call task(0) to task(count - 1), each with a copy of `task`. Where the system gives no more
/// threads there are fewer: the caller's own does the rest.
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

}  // namespace tengen

#pragma once

#include <thread>
#include <utility>

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

}  // namespace tengen

// Threads that stay, for work that comes many times a second in small parts.
#pragma once

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <vector>

#include "processor/threads.h"

namespace tengen {

class Workers {
  public:
    // `threads` in all, the caller's own among them; fewer where the system gives no more. Throws std::invalid_argument
    // for fewer than one.
    explicit Workers(int threads);
    ~Workers();
    Workers(const Workers&) = delete;
    Workers& operator=(const Workers&) = delete;

    int threads() const { return static_cast<int>(helpers_.size()) + 1; }

    // Calls task(0) to task(count - 1), each once, on any of the threads, and returns when all are done. What the task
    // of the smallest number throws is thrown again then. For one caller at a time.
    void run(int count, const std::function<void(int)>& task);

  private:
    void serve();
    void work(std::unique_lock<std::mutex>& lock);

    std::mutex mutex_;
    std::condition_variable begin_, end_;
    const std::function<void(int)>* task_ = nullptr;  // null while there is nothing to do
    int count_ = 0, next_ = 0, done_ = 0;
    bool stop_ = false;
    int failed_ = 0;  // number of the task that `failure_` comes from
    std::exception_ptr failure_;
    std::vector<JoiningThread> helpers_;  // last, so that the threads see everything above
};

}  // namespace tengen

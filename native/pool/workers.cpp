#include "pool/workers.h"

#include <stdexcept>
#include <string>
#include <utility>

namespace tengen {

Workers::Workers(int threads) {
    if (threads < 1) throw std::invalid_argument("threads must be 1 or more, not " + std::to_string(threads));
    helpers_ = start_threads(threads - 1, [this](int) { serve(); });
}

Workers::~Workers() {
    {
        const std::lock_guard lock(mutex_);
        stop_ = true;
    }
    begin_.notify_all();
}

void Workers::run(int count, const std::function<void(int)>& task) {
    std::unique_lock lock(mutex_);
    task_ = &task;
    count_ = count;
    next_ = done_ = 0;
    begin_.notify_all();
    work(lock);
    end_.wait(lock, [&] { return done_ == count_; });
    task_ = nullptr;
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Workers::serve() {
    std::unique_lock lock(mutex_);
    for (;;) {
        begin_.wait(lock, [&] { return stop_ || (task_ && next_ < count_); });
        if (stop_) return;
        work(lock);
    }
}

// Takes tasks while there are any; the lock is held only in between.
void Workers::work(std::unique_lock<std::mutex>& lock) {
    while (next_ < count_) {
        const int number = next_++;
        std::exception_ptr thrown;
        lock.unlock();
        try {
            (*task_)(number);
        } catch (...) {
            thrown = std::current_exception();
        }
        lock.lock();
        if (thrown && (!failure_ || number < failed_)) failure_ = thrown, failed_ = number;
        if (++done_ == count_) end_.notify_one();
    }
}

}  // namespace tengen

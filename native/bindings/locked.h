// A native object that several threads of Python may call.
#pragma once

#include <nanobind/nanobind.h>

#include <concepts>
#include <mutex>
#include <utility>

namespace tengen::bindings {

// Every call releases the GIL and takes the lock.
template <class T>
class Locked {
  public:
    template <class... Args>
        requires std::constructible_from<T, Args...>
    explicit Locked(Args&&... args) : value_(std::forward<Args>(args)...) {}

    template <class F>
    auto with(F f) {
        const nanobind::gil_scoped_release release;
        const std::lock_guard lock(mutex_);
        return f(value_);
    }

  private:
    T value_;
    std::mutex mutex_;
};

}  // namespace tengen::bindings

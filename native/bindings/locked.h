// A native object that several threads of Python may call.
#pragma once

#include <nanobind/nanobind.h>

#include <concepts>
#include <memory>
#include <mutex>
#include <utility>

namespace tengen::bindings {

// Every call releases the GIL and takes the lock, so that statistics can be read while another thread gathers.
template <class T>
class Locked {
  public:
    template <class... Args>
        requires std::constructible_from<T, Args...>
    explicit Locked(Args&&... args)
        : value_(std::make_shared<T>(std::forward<Args>(args)...)), mutex_(std::make_shared<std::mutex>()) {}

    template <class F>
    auto with(F f) {
        const nanobind::gil_scoped_release release;
        const std::lock_guard lock(*mutex_);
        return f(*value_);
    }

    // The part that part_of(value) refers to, under the same lock. It keeps the whole alive.
    template <class F>
    auto part(F part_of) {
        auto& found = part_of(*value_);
        using Part = std::remove_reference_t<decltype(found)>;
        return Locked<Part>(std::shared_ptr<Part>(value_, &found), mutex_);
    }

  private:
    template <class U>
    friend class Locked;
    Locked(std::shared_ptr<T> value, std::shared_ptr<std::mutex> mutex)
        : value_(std::move(value)), mutex_(std::move(mutex)) {}

    std::shared_ptr<T> value_;
    std::shared_ptr<std::mutex> mutex_;
};

}  // namespace tengen::bindings

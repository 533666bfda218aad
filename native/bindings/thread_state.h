// Calls of Python from threads that it did not start.
#pragma once

#include <nanobind/nanobind.h>

namespace tengen::bindings {

// Keeps the state that Python has made for the calling thread.
//
// It makes one for a thread of OpenVINO at every call and deletes it after the call. That maps memory, which
// interrupts the other threads (measured: 40 of 400 microseconds). Some 16 KB stay when the thread ends: a compiled
// model has a thread for each part of a batch.
inline void keep_thread_state() {
    static thread_local const auto kept = PyGILState_Ensure();
    static_cast<void>(kept);
}

}  // namespace tengen::bindings

// Guarded<T>: data and its lock as one object. The only way in is `with`.
//
// The function given to `with` runs under the lock: it must not block, do I/O, or call into another folder.
#pragma once

#include <utility>

#include "base/threads.h"

namespace baton::base {

template <class T>
class Guarded {
 public:
  Guarded() = default;
  template <class... Args>
  explicit Guarded(std::in_place_t, Args&&... args) : value_(std::forward<Args>(args)...) {}

  template <class F>
  auto with(F&& f) {
    std::lock_guard lock(mutex_);
    return std::forward<F>(f)(value_);
  }
  template <class F>
  auto with(F&& f) const {
    std::lock_guard lock(mutex_);
    return std::forward<F>(f)(std::as_const(value_));
  }

 private:
  mutable Mutex mutex_;
  T value_{};
};

}  // namespace baton::base

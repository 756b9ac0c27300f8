// Replaces src/base/promise.h: the same names, on fibers (fibers.h).
#pragma once

#include <optional>
#include <utility>

#include "base/threads.h"

namespace baton::base {

template <class T>
class Promise {
 public:
  class Future {
   public:
    explicit Future(Promise& promise) : promise_(promise) {}
    T get() {
      while (!promise_.value_) simulation::fibers().wait(promise_.list_);
      return std::move(*promise_.value_);
    }

   private:
    Promise& promise_;
  };

  void set_value(T value) {
    value_ = std::move(value);
    simulation::fibers().wake_all(list_);
  }
  Future get_future() { return Future(*this); }

 private:
  std::optional<T> value_;
  simulation::Fibers::WaitList list_;
};

}  // namespace baton::base

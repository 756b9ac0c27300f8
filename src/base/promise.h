// Promise: std::promise, under a name that lets the simulator replace it (base/threads.h).
#pragma once

#include <future>

namespace baton::base {

template <class T>
using Promise = std::promise<T>;

}  // namespace baton::base

// Promise: std::promise, under a name that the simulator can give to its own (base/threads.h).
#pragma once

#include <future>

namespace baton::base {

template <class T>
using Promise = std::promise<T>;

}  // namespace baton::base

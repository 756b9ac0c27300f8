// The names of error codes, as they are stored and shown. They must never change: stored data contains them.
#pragma once

#include <string>

#include "base/error.h"

namespace baton::base {

std::string name_of(ErrorCode code);

}  // namespace baton::base

// The names of error codes, for what is stored or shown of them. They are on users' disks: never changed.
#pragma once

#include <string>

#include "base/error.h"

namespace baton::base {

std::string name_of(ErrorCode code);

}  // namespace baton::base

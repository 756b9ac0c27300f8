// Describes failed calls for the client commands.
#pragma once

#include <string>

#include "cli/endpoint.h"

namespace baton::cli {

// One printable line: the protocol's error with its code, or what happened at which URL.
std::string describe(const CallError& error, const std::string& url);

}  // namespace baton::cli

// What the client commands say of a call that did not work.
#pragma once

#include <string>

#include "cli/endpoint.h"

namespace baton::cli {

// On one line, harmless: what the protocol answered with its number, or what happened at which URL.
std::string describe(const CallError& error, const std::string& url);

}  // namespace baton::cli

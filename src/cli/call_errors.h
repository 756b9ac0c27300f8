// Words what went wrong, or is worth knowing, about a call, for the person at the command line.
#pragma once

#include <string>

#include "client/endpoint.h"

namespace baton::cli {

// One printable line: the protocol's error with its code, or what happened at which URL; and which option may
// help.
std::string describe(const client::CallError& error, const std::string& url);

// Why the agent does not get the token; empty if it does.
std::string token_note(const client::Remote& remote);

}  // namespace baton::cli

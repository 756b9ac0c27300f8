// Base64 files: the Python, Go and Java SDKs of A2A 0.3 put a file's base64 text into the field for its
// bytes, and expect it there. All others have the bytes there, as the schema says.
//
// Threads: any; no state.
#pragma once

#include <string_view>

namespace baton::server::grpc {

// Whether a client with this user agent has base64 text in files, in its requests and in the answers that it
// gets. gRPC sets the user agent, behind what the program adds: it names the language and not the SDK, so
// hand-written clients of those languages count too. The content never decides.
bool has_base64_text(std::string_view user_agent);

}  // namespace baton::server::grpc

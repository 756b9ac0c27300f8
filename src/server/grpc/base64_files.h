// Base64 files: the Python, Go and Java SDKs of A2A 0.3 put a file's base64 text into the field for its
// bytes. The TypeScript SDK and hand-written clients put the bytes there, as the schema requires.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

namespace baton::server::grpc {

// Whether a client with this user agent may use such an SDK. gRPC sets the user agent: it names the language,
// not the SDK, so the content must match too.
bool may_send_base64_text(std::string_view user_agent);

// The base64 of a file from its field. If `may_be_text`, a field that is entirely standard base64 with
// padding is that text already.
std::string base64_of_file(const std::string& field, bool may_be_text);

}  // namespace baton::server::grpc

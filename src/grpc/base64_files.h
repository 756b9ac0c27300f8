// Base64 files: the Python, Go and Java SDKs of A2A 0.3 put a file's base64 text into the field for its
// bytes. The TypeScript SDK and hand-written clients put the bytes there, as the schema requires.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

namespace baton::grpc {

// Whether a client with this user agent may use such an SDK. gRPC sets the user agent: it names the language,
// not the SDK, so the content must match too.
bool may_send_base64_text(std::string_view user_agent);

// Decodes the bytes of each file in the ProtoJSON request that are base64 text. Anything that is not entirely
// standard base64 with padding stays as it is.
std::string with_files_decoded(std::string json);

}  // namespace baton::grpc

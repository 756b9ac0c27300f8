// The SDKs of A2A 0.3 in Python, Go and Java put a file's base64 text into the field that is for its bytes.
// The SDK in TypeScript and hand-written clients put the bytes there, as the schema has it.
//
// Threads: any; no state.
#pragma once

#include <string>
#include <string_view>

namespace baton::grpc {

// Whether the SDK of a client with this user agent is known to do so. The user agent is gRPC's own: it tells
// the language, not the SDK, so the content must agree.
bool may_send_base64_text(std::string_view user_agent);

// The request in ProtoJSON, with the bytes of each file that are base64 text replaced by what the text stands
// for. What is not wholly standard base64 with its padding stays as it is.
std::string with_files_decoded(std::string json);

}  // namespace baton::grpc

// JSON-RPC 2.0: the envelope around A2A requests and answers.
//
// Choices where the specification of JSON-RPC leaves room, or A2A clients deviate from it: the caller decides
// whether a missing `jsonrpc` is accepted, since that depends on the method; a request without `id` is
// answered with id null; batches are refused.
//
// Threads: pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"

namespace baton::protocol {

struct RpcRequest {
  std::string id = "null";  // the bytes of the id, sent back unchanged
  std::string method;
  json::Value params;     // an object, or missing
  bool says_2_0 = false;  // "jsonrpc":"2.0" is there; any other value is refused
};

// A refused request. `id` is the request's if it could be read.
struct RpcRefusal {
  std::string id = "null";
  base::Error error;
};

tl::expected<RpcRequest, RpcRefusal> read_rpc_request(json::Value root);

// {"jsonrpc":"2.0","id":<id>,"result":...}; `result` writes one value.
template <class F>
void write_rpc_result(std::string& out, std::string_view id, F&& result) {
  json::Writer writer(out);
  writer.object([&] {
    writer.member("jsonrpc", "2.0");
    writer.key("id").raw(id);
    writer.key("result");
    result(writer);
  });
}

// The number of an error and its canonical text (protocol/a2a/README.md, 3). Errors that neither JSON-RPC nor
// A2A defines have their HTTP status as number: those lie outside the ranges that both reserve.
struct RpcCode {
  int number;
  std::string_view text;
};
RpcCode rpc_code_of(base::ErrorCode code);
// Seconds after which a refused request may succeed, or 0 if a retry is pointless.
int retry_after_s(base::ErrorCode code);

// Writes {"jsonrpc":"2.0","id":<id>,"error":{...}} with the code and canonical text of A2A before 1.0. The
// exact cause goes into `data.detail`, the seconds to wait before a retry into `data.retryAfter`.
void write_rpc_error(std::string& out, std::string_view id, const base::Error& error);
// Writes only `data`, as a member of an open object; a no-op if there is nothing to say.
void write_error_data(json::Writer& out, const base::Error& error);

}  // namespace baton::protocol

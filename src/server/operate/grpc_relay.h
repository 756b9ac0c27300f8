// GrpcRelay: calls this server's own gRPC port for a page, as browsers cannot speak gRPC.
//
// The program gives it to the routes, because this folder makes no outgoing calls. Threads: any. Nothing
// blocks; the callbacks come on one thread, in order, `on_end` last and once.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "task/ids.h"

namespace baton::server::operate {

struct GrpcCall {
  task::AgentName agent;
  bool streams = true;        // SendStreamingMessage, else SendMessage
  std::string request;        // its SendMessageRequest, in ProtoJSON
  std::string authorization;  // the header of its caller, or what means the same
  int stop_fd = -1;           // the call ends when this becomes readable; stays open until `on_end`
};

// A message on the wire, without the five bytes that gRPC puts before it.
struct GrpcMessage {
  bool is_sent = false;
  std::string_view method;  // "/lf.a2a.v1.A2AService/SendMessage"
  std::string_view bytes, json;
};

// Gets one message. Returns whether to continue.
using OnGrpcMessage = std::function<bool(const GrpcMessage&)>;
// The call's status, as an object in JSON: {"code", "status", "message"}, with {"status": "OK"} for success.
using OnGrpcEnd = std::function<void(std::string_view status)>;
// Begins a call. Returns false if the limit of concurrent calls is reached.
using GrpcRelay = std::function<bool(GrpcCall call, OnGrpcMessage on_message, OnGrpcEnd on_end)>;

}  // namespace baton::server::operate

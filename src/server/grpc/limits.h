// GrpcLimits: limits on gRPC clients beyond those of HTTP.
#pragma once

#include <chrono>
#include <string>

namespace baton::server::grpc {

struct GrpcLimits {
  int calls_per_connection_max = 100;     // concurrent
  int connections_per_address_max = 100;  // 0: no limit
  // Per connection: calls given up unanswered in ten seconds, and refusals that are not taken, of which there
  // may be calls_per_connection_max in any case.
  int resets_max = 200;
  std::chrono::milliseconds first_message{30'000};  // from a call's beginning until its message has arrived
  bool decodes_base64_files = true;                 // text for bytes, see base64_files.h
  std::string key_header;                           // as in ServerOptions
};

}  // namespace baton::server::grpc

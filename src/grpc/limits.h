// What gRPC clients may take up besides what the limits of HTTP say.
#pragma once

#include <chrono>

namespace baton::grpc {

struct GrpcLimits {
  int calls_per_connection_max = 100;     // at the same time
  int connections_per_address_max = 100;  // 0: no limit
  int resets_max = 200;                   // unanswered calls given up within ten seconds of a connection
  std::chrono::milliseconds first_message{30'000};  // from a call's beginning until its message is there
  bool decodes_base64_files = true;                 // of clients known to send a file's bytes as base64 text
};

}  // namespace baton::grpc

#include "server/grpc/call_status.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"
#include "protocol/rpc/json_rpc.h"

namespace baton::server::grpc {
namespace {

using base::ErrorCode;
using task::ProtocolVersion;

constexpr std::array<std::pair<std::string_view, Code>, 12> kOfName{{
    {"INVALID_ARGUMENT", Code::invalid_argument},
    {"DEADLINE_EXCEEDED", Code::deadline_exceeded},
    {"NOT_FOUND", Code::not_found},
    {"ALREADY_EXISTS", Code::already_exists},
    {"PERMISSION_DENIED", Code::permission_denied},
    {"RESOURCE_EXHAUSTED", Code::resource_exhausted},
    {"FAILED_PRECONDITION", Code::failed_precondition},
    {"ABORTED", Code::aborted},
    {"UNIMPLEMENTED", Code::unimplemented},
    {"INTERNAL", Code::internal},
    {"UNAVAILABLE", Code::unavailable},
    {"UNAUTHENTICATED", Code::unauthenticated},
}};

// Clients take headers of 8 KiB and more, and a status has each text twice there.
constexpr std::size_t kTextMax = 1'000;

std::string bounded(std::string_view text) {
  return std::string(base::beginning_of(text, kTextMax));
}

// A2A 0.3 has no table of its own. It uses that of 1.0, except for errors that its clients know only as
// "unimplemented", and for errors that have no number in its JSON-RPC.
Code code_of(ProtocolVersion version, ErrorCode error) {
  const bool is_old = version != ProtocolVersion::v1_0;
  if (error == ErrorCode::too_large) return Code::resource_exhausted;
  if (is_old && (error == ErrorCode::push_not_supported || error == ErrorCode::unsupported)) {
    return Code::unimplemented;
  }
  if (is_old && error == ErrorCode::already_exists) return Code::aborted;
  const auto* found = std::find_if(kOfName.begin(), kOfName.end(), [&](const auto& row) {
    return row.first == protocol::a2a::status_name(error);
  });
  return found == kOfName.end() ? Code::internal : found->second;
}

}  // namespace

CallStatus status_of(ProtocolVersion version, const base::Error& error, const task::TaskId& named) {
  CallStatus status;
  status.code = code_of(version, error.code);
  status.message = bounded(protocol::a2a::message_of(error));
  status.reason = protocol::a2a::reason_of(error.code);
  status.retry_after_s = protocol::retry_after_s(error.code);
  if (version != ProtocolVersion::v1_0) {
    if (error.code == ErrorCode::already_exists)
      status.reason = protocol::a2a::reason_of(ErrorCode::conflict);
    return status;
  }
  if (named.value.size() <= kTextMax) status.task = named;
  if (const auto violation = protocol::a2a::violation_in(error)) {
    status.field = bounded(violation->field);
    status.description = bounded(violation->description);
  }
  return status;
}

}  // namespace baton::server::grpc

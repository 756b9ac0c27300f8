#include "server/grpc/read_requests.h"

#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <optional>

#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_list.h"
#include "protocol/a2a/v1_objects.h"
#include "server/grpc/read_sends.h"

namespace baton::server::grpc {
namespace {

using base::fail;
using base::Result;
using protocol::a2a::PushRef;
using protocol::a2a::take;
using protocol::a2a::wrong;
using server::a2a::Operation;
using server::a2a::Request;
using task::ProtocolVersion;

Result<std::optional<base::Timestamp>> since_in(const Reading& request) {
  using Since = std::optional<base::Timestamp>;
  if (!request.has("status_timestamp_after")) return Since();
  const auto& time = request.as<pb::Timestamp>("status_timestamp_after");
  constexpr std::int64_t kFirst = -62'135'596'800, kLast = 253'402'300'799;  // of the years 1 to 9999
  const bool good =
      time.seconds() >= kFirst && time.seconds() <= kLast && time.nanos() >= 0 && time.nanos() <= 999'999'999;
  if (!good) return wrong("statusTimestampAfter: must be a time such as 2026-01-31T10:00:00Z");
  // Rounded up: what is finer than a millisecond is after it.
  return Since(base::from_ms(time.seconds() * 1000 + (time.nanos() + 999'999) / 1'000'000));
}

Result<protocol::a2a::ListRequest> v1_list(const Reading& request) {
  protocol::a2a::ListRequest read;
  read.depth.history = kAllHistory;
  std::optional<base::Error> bad;
  if ((bad = take(read_id(request, "context_id", "contextId"), read.filter.context.value)) ||
      (bad = take(
           protocol::a2a::read_page_token(protocol::a2a::Param(std::string_view(request.text("page_token")))),
           read.filter.after)) ||
      (bad = take(since_in(request), read.filter.status_since))) {
    return fail(*bad);
  }
  if (const int status = request.enum_number("status"); status != 0) {
    read.filter.state = protocol::v1::state_numbered(status);
    if (!read.filter.state) return wrong("status: must be a task state, such as TASK_STATE_COMPLETED");
  }
  if (request.has("page_size")) read.filter.limit = request.number("page_size");
  if (read.filter.limit < 1 || read.filter.limit > protocol::a2a::kPageMax) {
    return wrong("pageSize: must be a whole number from 1 to 100");
  }
  if (request.has("history_length")) {
    if ((bad = take(history_in(request, "historyLength"), read.depth.history))) return fail(*bad);
  }
  read.depth.artifacts = request.truth("include_artifacts");
  return read;
}

// "tasks/T" or "tasks/T/pushNotificationConfigs/C"; the C may be missing.
std::optional<PushRef> parse_name(std::string_view name) {
  constexpr std::string_view kBelow = "pushNotificationConfigs";
  constexpr std::string_view kPrefix = "tasks/";
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  const std::size_t slash = std::min(name.find('/'), name.size());
  PushRef ref{{std::string(name.substr(0, slash))}, {}};
  if (slash == name.size()) return ref;
  name.remove_prefix(slash + 1);
  if (!name.starts_with(kBelow)) return std::nullopt;
  name.remove_prefix(kBelow.size());
  if (name.empty()) return ref;
  if (name.front() != '/' || name.find('/', 1) != std::string_view::npos) return std::nullopt;
  ref.config.value = name.substr(1);
  return ref;
}

// The task, and with `has_config` the push config, that a request names. Where 1.0 has ids, 0.3 has resource
// names.
Result<PushRef> read_ref(const protocol::grpc::Method& method, const Reading& message, bool has_config) {
  const bool is_v1 = method.version == ProtocolVersion::v1_0;
  const bool has_task_id = is_v1 && message.has_field("task_id");
  std::optional<PushRef> ref;
  if (is_v1) {
    ref = PushRef{{message.text(has_task_id ? "task_id" : "id")}, {}};
    if (has_config) ref->config.value = message.text("id");
  } else {
    ref = parse_name(message.text(message.has_field("name") ? "name" : "parent"));
  }
  if (!ref || ref->task.empty()) {
    if (!is_v1) return wrong("name: must be tasks/{id}");
    return wrong(has_task_id ? "taskId: must not be empty" : "id: must not be empty");
  }
  if (has_config && ref->config.empty()) {
    return wrong(is_v1 ? "id: must not be empty" : "name: must be tasks/{id}/pushNotificationConfigs/{id}");
  }
  return std::move(*ref);
}

Result<protocol::a2a::TaskRequest> read_task_request(const protocol::grpc::Method& method,
                                                     const Reading& message) {
  auto ref = read_ref(method, message, false);
  if (!ref) return fail(ref.error());
  protocol::a2a::TaskRequest read;
  read.history_length = kAllHistory;
  std::optional<base::Error> bad;
  if ((bad = take(protocol::a2a::read_id(protocol::a2a::Param(std::string_view(ref->task.value)), "id"),
                  read.id.value))) {
    return fail(*bad);
  }
  if (!message.has_field("history_length")) return read;
  // In 0.3 an absent length is 0 and means all.
  const bool given = method.version == ProtocolVersion::v1_0 ? message.has("history_length")
                                                             : message.number("history_length") != 0;
  if (given && (bad = take(history_in(message, "historyLength"), read.history_length))) return fail(*bad);
  return read;
}

Result<protocol::a2a::PushRequest> read_push(const protocol::grpc::Method& method, const Reading& message) {
  auto ref = read_ref(method, message, false);
  if (!ref) return fail(ref.error());
  protocol::a2a::PushRequest read;
  read.task = std::move(ref->task);
  std::optional<base::Error> bad;
  if (method.version == ProtocolVersion::v1_0) {
    if ((bad = take(read_config(method.version, message, "params"), read.config))) return fail(*bad);
    return read;
  }
  std::string id;
  const Reading config = message.child("config").child("push_notification_config");
  if ((bad = take(read_id(message, "config_id", "configId"), id)) ||
      (bad = take(read_config(method.version, config, "pushNotificationConfig"), read.config))) {
    return fail(*bad);
  }
  if (read.config.id.empty()) read.config.id.value = id.empty() ? ref->config.value : std::move(id);
  return read;
}

template <class T>
Result<Request> request_of(Result<T> read) {
  if (!read) return fail(std::move(read.error()));
  return Request(std::move(*read));
}

}  // namespace

Result<Request> read_request(const protocol::grpc::Method& method, const Reading& message,
                             bool files_may_be_base64) {
  switch (method.operation) {
    case Operation::send:
    case Operation::send_stream:
      return request_of(read_send(method.version, message, files_may_be_base64));
    case Operation::get:
    case Operation::cancel:
    case Operation::subscribe:
      return request_of(read_task_request(method, message));
    case Operation::list:
      return request_of(v1_list(message));
    case Operation::set_push:
      return request_of(read_push(method, message));
    case Operation::get_push:
    case Operation::delete_push:
      return request_of(read_ref(method, message, true));
    case Operation::list_push:
      return request_of(read_ref(method, message, false));
    case Operation::extended_card:
    case Operation::artifact_bytes:  // no method has these two
    case Operation::message_bytes:
      break;
  }
  return Request(server::a2a::CardRequest{});
}

std::string tenant_in(const protocol::grpc::Method& method, const Reading& message) {
  return method.version == ProtocolVersion::v1_0 ? message.text("tenant") : std::string();
}

}  // namespace baton::server::grpc

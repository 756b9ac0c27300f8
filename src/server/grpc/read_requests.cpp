#include "server/grpc/read_requests.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/timestamp.pb.h>

#include <algorithm>
#include <optional>

#include "base/base64.h"
#include "json/writer.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v0_3_rest_objects.h"
#include "protocol/a2a/v1_list.h"
#include "protocol/a2a/v1_objects.h"
#include "server/grpc/struct_json.h"

namespace baton::server::grpc {
namespace {

using base::fail;
using base::Result;
using protocol::a2a::Fields;
using protocol::a2a::PushRef;
using protocol::a2a::SendRequest;
using protocol::a2a::wrong;
using server::a2a::Operation;
using server::a2a::Request;
using task::Part;
using task::ProtocolVersion;

constexpr std::optional<int> kAllHistory;

// Reads an id, which must not be longer than ids may be.
void read_id(Fields& in, const Reading& message, const char* field, std::string_view name, std::string& to) {
  to = message.text(field);
  if (to.size() > protocol::a2a::kIdMax) in.wrong({name}, "must not be longer than 256 bytes");
}

// The field history_length, which is given.
void read_history(Fields& in, const Reading& message, std::string_view name, std::optional<int>& to) {
  constexpr int kHistoryMax = 1'000'000;
  const int length = message.number("history_length");
  if (length < 0) in.wrong({name}, "must be a whole number of at least 0");
  to = std::min(length, kHistoryMax);
}

Result<task::PushConfig> read_config(ProtocolVersion version, const Reading& config,
                                     const std::string& name) {
  task::PushConfig read;
  read.version = version;
  Fields in;
  read_id(in, config, "id", name + ".id", read.id.value);
  read.url = config.text("url");
  read.token = config.text("token");
  const Reading authentication = config.child("authentication");
  read.credentials = authentication.text("credentials");
  const bool has_one_scheme = version == ProtocolVersion::v1_0;
  if (!has_one_scheme) read.schemes = authentication.texts("schemes");
  if (auto scheme = has_one_scheme ? authentication.text("scheme") : ""; !scheme.empty()) {
    read.schemes = {std::move(scheme)};
  }
  if (in.good()) in.take(protocol::a2a::check_push_config(read, name));
  if (has_one_scheme && config.has("authentication") && read.schemes.empty()) {
    in.wrong({name + ".authentication.scheme"}, "must not be empty");
  }
  return in.result(std::move(read));
}

task::Json metadata_in(const Reading& message, std::string_view without = {}) {
  return message.has("metadata") ? json_of(message.as<pb::Struct>("metadata"), without) : task::Json{};
}

// A request's metadata, which may hold Baton's extension.
Result<void> read_metadata(const Reading& message, SendRequest& read) {
  const task::Json text = metadata_in(message);
  if (text.empty()) return {};
  const auto document = json::Document::parse_view(text.text, {.depth_max = 1000});
  if (!document) return fail(document.error());
  const json::Value metadata = document->root();
  Fields in;
  in.take(protocol::read_send_numbers(metadata, "metadata"), read.numbers);
  in.take(protocol::read_start_time(metadata, "metadata"), read.submission.start_at);
  in.take(protocol::read_budget(metadata, "metadata"), read.submission.budget);
  in.take(protocol::read_hops(metadata, "metadata"), read.submission.hops);
  in.take(protocol::read_ask(metadata, "metadata"), read.submission.ask);
  read.submission.metadata = protocol::without_extension(metadata);
  return in.result();
}

Result<task::Role> role_in(const Reading& message) {
  const int number = message.enum_number("role");
  if (number == 1) return task::Role::user;
  if (number == 2) return task::Role::agent;
  return wrong("message.role: must be ROLE_USER or ROLE_AGENT");
}

// Reads the members that messages of both versions have in the same place.
Result<void> read_names(const Reading& message, task::Submission& submission) {
  task::Message& read = submission.message;
  Fields in;
  read_id(in, message, "message_id", "message.messageId", read.id.value);
  read_id(in, message, "task_id", "message.taskId", submission.task.value);
  read_id(in, message, "context_id", "message.contextId", submission.context.value);
  in.take(role_in(message), read.role);
  if (read.id.empty()) in.wrong({"message.messageId"}, "must not be empty");
  read.metadata = metadata_in(message);
  read.extensions = message.texts("extensions");
  return in.result();
}

// 1.0.

Result<Part> v1_part(const Reading& part) {
  Part read;
  if (part.has("text")) {
    read.content = part.text("text");
  } else if (part.has("raw")) {
    read.kind = Part::Kind::raw;
    read.content = base::encode_base64(part.text("raw"));
  } else if (part.has("url")) {
    read.kind = Part::Kind::url;
    read.content = part.text("url");
  } else if (part.has("data")) {
    read.kind = Part::Kind::data;
    json::Writer out(read.content);
    write_value(out, part.as<pb::Value>("data"));
  } else {
    return wrong("exactly one of text, raw, url and data is required");
  }
  read.filename = part.text("filename");
  read.media_type = part.text("media_type");
  read.metadata = metadata_in(part);
  return read;
}

Result<void> v1_configuration(const Reading& configuration, SendRequest& read) {
  Fields in;
  read.submission.accepted_output_modes = configuration.texts("accepted_output_modes");
  if (configuration.has("history_length")) {
    read_history(in, configuration, "configuration.historyLength", read.history_length);
  }
  if (configuration.truth("return_immediately")) read.waits = false;
  if (configuration.has("task_push_notification_config")) {
    in.take(read_config(ProtocolVersion::v1_0, configuration.child("task_push_notification_config"),
                        "configuration.taskPushNotificationConfig"),
            read.submission.push);
  }
  return in.result();
}

Result<SendRequest> v1_send(const Reading& request) {
  SendRequest read;
  read.history_length = kAllHistory;
  if (!request.has("message")) return wrong("message: is missing");
  const Reading message = request.child("message");
  std::vector<Part>& parts = read.submission.message.parts;
  for (int i = 0; i < message.count("parts"); ++i) {
    auto part = v1_part(message.at("parts", i));
    if (!part) return wrong("message.parts[" + std::to_string(i) + "]: " + part.error().for_caller);
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return wrong("message.parts: must have at least one part");
  Fields in;
  in.take(read_names(message, read.submission));
  for (std::string& id : message.texts("reference_task_ids")) {
    read.submission.message.reference_tasks.push_back({std::move(id)});
  }
  in.take(v1_configuration(request.child("configuration"), read));
  in.take(read_metadata(request, read));
  return in.result(std::move(read));
}

// 0.3.

Result<Part> v03_file(const Reading& file, bool files_are_text) {
  Part read;
  if (file.has("file_with_bytes")) {
    read.kind = Part::Kind::raw;
    const std::string field = file.text("file_with_bytes");
    auto content = files_are_text ? base::normalize_base64(field) : base::encode_base64(field);
    if (!content) {
      return wrong(
          "file.fileWithBytes: must be base64 text, as the A2A 0.3 SDKs for this client's language send it");
    }
    read.content = std::move(*content);
  } else if (!file.text("file_with_uri").empty()) {
    read.kind = Part::Kind::url;
    read.content = file.text("file_with_uri");
  } else {
    return wrong("file: exactly one of fileWithBytes and fileWithUri is required");
  }
  read.filename = file.text("name");
  read.media_type = file.text("mime_type");
  return read;
}

// Data that is no object comes wrapped (protocol/a2a/README.md, 7).
Part v03_data(const Reading& part) {
  const auto& data = part.child("data").as<pb::Struct>("data");
  const auto& marks = part.as<pb::Struct>("metadata").fields();
  const std::string mark(protocol::a2a::kWrapped);
  const bool wrapped = marks.contains(mark) && marks.at(mark).bool_value() && data.fields_size() == 1 &&
                       data.fields().contains("value");
  if (!wrapped) {
    Part read = Part::of_data(json_of(data));
    read.metadata = metadata_in(part);
    return read;
  }
  Part read = Part::of_data({});
  json::Writer out(read.content);
  write_value(out, data.fields().at("value"));
  read.metadata = metadata_in(part, mark);
  return read;
}

Result<Part> v03_part(const Reading& part, bool files_are_text) {
  if (part.has("data")) return v03_data(part);
  auto read = part.has("text")   ? Result<Part>(Part::of_text(part.text("text")))
              : part.has("file") ? v03_file(part.child("file"), files_are_text)
                                 : wrong("text: exactly one of text, file and data is required");
  if (read) read->metadata = metadata_in(part);
  return read;
}

// An absent plain number or bool reads as 0: all of the history, and no waiting.
Result<void> v03_configuration(const Reading& configuration, SendRequest& read) {
  Fields in;
  read.submission.accepted_output_modes = configuration.texts("accepted_output_modes");
  read.waits = configuration.truth("blocking");
  if (configuration.number("history_length") != 0) {
    read_history(in, configuration, "configuration.historyLength", read.history_length);
  }
  if (configuration.has("push_notification")) {
    in.take(read_config(ProtocolVersion::v0_3, configuration.child("push_notification"),
                        "configuration.pushNotification"),
            read.submission.push);
  }
  return in.result();
}

Result<SendRequest> v03_send(const Reading& request, bool files_are_text) {
  SendRequest read;
  read.submission.origin = ProtocolVersion::v0_3;
  read.history_length = kAllHistory;
  if (!request.has("request")) return wrong("message: must be an object");
  const Reading message = request.child("request");
  if (auto good = read_names(message, read.submission); !good) return fail(good.error());
  std::vector<Part>& parts = read.submission.message.parts;
  for (int i = 0; i < message.count("content"); ++i) {
    auto part = v03_part(message.at("content", i), files_are_text);
    if (!part) return wrong("message.content[" + std::to_string(i) + "]." + part.error().for_caller);
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return wrong("message.content: must not be empty");
  Fields in;
  if (request.has("configuration")) in.take(v03_configuration(request.child("configuration"), read));
  in.take(read_metadata(request, read));
  return in.result(std::move(read));
}

Result<std::optional<base::Timestamp>> since_in(const Reading& request) {
  using Since = std::optional<base::Timestamp>;
  if (!request.has("status_timestamp_after")) return Since();
  const auto& time = request.as<pb::Timestamp>("status_timestamp_after");
  constexpr std::int64_t kFirst = -62'135'596'800, kLast = 253'402'300'799;  // of the years 1 to 9999
  const bool good =
      time.seconds() >= kFirst && time.seconds() <= kLast && time.nanos() >= 0 && time.nanos() <= 999'999'999;
  if (!good) return wrong("statusTimestampAfter: must be a time such as 2026-01-31T10:00:00Z");
  // Rounded up: a time with a finer part is later than its millisecond.
  return Since(base::from_ms(time.seconds() * 1000 + (time.nanos() + 999'999) / 1'000'000));
}

Result<protocol::a2a::ListRequest> v1_list(const Reading& request) {
  protocol::a2a::ListRequest read;
  read.depth.history = kAllHistory;
  Fields in;
  read_id(in, request, "context_id", "contextId", read.filter.context.value);
  in.take(protocol::a2a::read_page_token(request.text("page_token")), read.filter.after);
  in.take(since_in(request), read.filter.status_since);
  if (const int status = request.enum_number("status"); status != 0) {
    read.filter.state = protocol::v1::state_numbered(status);
    if (!read.filter.state) in.wrong({"status"}, "must be a task state, such as TASK_STATE_COMPLETED");
  }
  if (request.has("page_size")) read.filter.limit = request.number("page_size");
  if (read.filter.limit < 1 || read.filter.limit > protocol::a2a::kPageMax) {
    in.wrong({"pageSize"}, "must be a whole number from 1 to 100");
  }
  if (request.has("history_length")) read_history(in, request, "historyLength", read.depth.history);
  read.depth.artifacts = request.truth("include_artifacts");
  return in.result(std::move(read));
}

// The task that a request names, and with `has_config` the push config. 1.0 has ids, 0.3 resource names.
Result<PushRef> read_ref(const protocol::grpc::Method& method, const Reading& message, bool has_config) {
  const bool is_v1 = method.version == ProtocolVersion::v1_0;
  const bool has_task_id = is_v1 && message.has_field("task_id");
  std::optional<PushRef> ref;
  if (is_v1) {
    ref = PushRef{{message.text(has_task_id ? "task_id" : "id")}, {}};
    if (has_config) ref->config.value = message.text("id");
  } else {
    ref = protocol::a2a::rest_v0_3::parse_name(message.text(message.has_field("name") ? "name" : "parent"));
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
  Fields in;
  read.id = std::move(ref->task);
  if (read.id.value.size() > protocol::a2a::kIdMax) in.wrong({"id"}, "must not be longer than 256 bytes");
  // In 0.3 an absent length is 0 and means all.
  const bool given = message.has_field("history_length") &&
                     (method.version == ProtocolVersion::v1_0 ? message.has("history_length")
                                                              : message.number("history_length") != 0);
  if (given) read_history(in, message, "historyLength", read.history_length);
  return in.result(std::move(read));
}

Result<protocol::a2a::PushRequest> read_push(const protocol::grpc::Method& method, const Reading& message) {
  auto ref = read_ref(method, message, false);
  if (!ref) return fail(ref.error());
  protocol::a2a::PushRequest read;
  read.task = std::move(ref->task);
  Fields in;
  if (method.version == ProtocolVersion::v1_0) {
    in.take(read_config(method.version, message, "params"), read.config);
    return in.result(std::move(read));
  }
  std::string id;
  const Reading config = message.child("config").child("push_notification_config");
  read_id(in, message, "config_id", "configId", id);
  in.take(read_config(method.version, config, "pushNotificationConfig"), read.config);
  if (read.config.id.empty()) read.config.id.value = id.empty() ? ref->config.value : std::move(id);
  return in.result(std::move(read));
}

Result<PushRef> read_push_list(const protocol::grpc::Method& method, const Reading& message) {
  auto ref = read_ref(method, message, false);
  if (!ref) return ref;
  ref->page_size = message.number("page_size");
  ref->page_token = message.text("page_token");
  if (ref->page_size < 0) return wrong("pageSize: must be a whole number of at least 0");
  return ref;
}

template <class T>
Result<Request> request_of(Result<T> read) {
  if (!read) return fail(std::move(read.error()));
  return Request(std::move(*read));
}

}  // namespace

Result<Request> read_request(const protocol::grpc::Method& method, const Reading& message,
                             bool files_are_text) {
  switch (method.operation) {
    case Operation::send:
    case Operation::send_stream:
      return request_of(method.version == ProtocolVersion::v1_0 ? v1_send(message)
                                                                : v03_send(message, files_are_text));
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
      return request_of(read_push_list(method, message));
    default:  // the extended card; no method has the rest
      break;
  }
  return Request(server::a2a::CardRequest{});
}

std::string tenant_in(const protocol::grpc::Method& method, const Reading& message) {
  return method.version == ProtocolVersion::v1_0 ? message.text("tenant") : std::string();
}

}  // namespace baton::server::grpc

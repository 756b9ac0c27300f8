#include "server/grpc/read_sends.h"

#include <algorithm>

#include "base/base64.h"
#include "json/document.h"
#include "protocol/a2a/members.h"
#include "server/grpc/base64_files.h"
#include "server/grpc/struct_json.h"

namespace baton::server::grpc {

using base::fail;
using base::Result;
using protocol::a2a::SendRequest;
using protocol::a2a::take;
using protocol::a2a::wrong;
using task::Part;
using task::ProtocolVersion;

Result<std::string> read_id(const Reading& message, const char* field, const std::string& name) {
  return protocol::a2a::read_id(protocol::a2a::Param(std::string_view(message.text(field))), name);
}

Result<std::optional<int>> history_in(const Reading& message, const std::string& name) {
  constexpr int kHistoryMax = 1'000'000;
  const int length = message.number("history_length");
  if (length < 0) return wrong(name + ": must be a whole number from 0");
  return std::optional(std::min(length, kHistoryMax));
}

Result<task::PushConfig> read_config(ProtocolVersion version, const Reading& config,
                                     const std::string& name) {
  task::PushConfig read;
  read.version = version;
  if (auto bad = take(read_id(config, "id", name + ".id"), read.id.value)) return fail(*bad);
  read.url = config.text("url");
  read.token = config.text("token");
  const Reading authentication = config.child("authentication");
  read.credentials = authentication.text("credentials");
  const bool has_one_scheme = version == ProtocolVersion::v1_0;
  if (!has_one_scheme) read.schemes = authentication.texts("schemes");
  if (auto scheme = has_one_scheme ? authentication.text("scheme") : ""; !scheme.empty()) {
    read.schemes = {std::move(scheme)};
  }
  if (auto good = protocol::a2a::check_push_config(read, name); !good) return fail(good.error());
  if (has_one_scheme && config.has("authentication") && read.schemes.empty()) {
    return wrong(name + ".authentication.scheme: must not be empty");
  }
  return read;
}

namespace {

task::Json metadata_in(const Reading& message, std::string_view without = {}) {
  return message.has("metadata") ? json_of(message.as<pb::Struct>("metadata"), without) : task::Json{};
}

// A request's metadata, which may hold Baton's extension.
Result<void> read_metadata(const Reading& message, SendRequest& read) {
  const task::Json text = metadata_in(message);
  if (text.empty()) return {};
  const auto document = json::Document::parse_view(text.text, {.depth_max = 1000});
  if (!document) return fail(document.error());
  auto metadata = protocol::a2a::read_metadata(document->root(), "metadata", read.numbers);
  if (!metadata) return fail(metadata.error());
  read.submission.metadata = std::move(*metadata);
  return {};
}

Result<task::Role> role_in(const Reading& message) {
  const int number = message.enum_number("role");
  if (number == 1) return task::Role::user;
  if (number == 2) return task::Role::agent;
  return wrong("message.role: must be ROLE_USER or ROLE_AGENT");
}

// What messages of both versions have in the same place.
Result<void> read_names(const Reading& message, task::Submission& submission) {
  task::Message& read = submission.message;
  std::optional<base::Error> bad;
  if ((bad = take(read_id(message, "message_id", "message.messageId"), read.id.value)) ||
      (bad = take(read_id(message, "task_id", "message.taskId"), submission.task.value)) ||
      (bad = take(read_id(message, "context_id", "message.contextId"), submission.context.value)) ||
      (bad = take(role_in(message), read.role))) {
    return fail(*bad);
  }
  if (read.id.empty()) return wrong("message.messageId: must not be empty");
  read.metadata = metadata_in(message);
  read.extensions = message.texts("extensions");
  return {};
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
    return wrong("exactly one of text, raw, url and data is needed");
  }
  read.filename = part.text("filename");
  read.media_type = part.text("media_type");
  read.metadata = metadata_in(part);
  return read;
}

Result<void> v1_configuration(const Reading& configuration, SendRequest& read) {
  read.submission.accepted_output_modes = configuration.texts("accepted_output_modes");
  if (configuration.has("history_length")) {
    auto bad = take(history_in(configuration, "configuration.historyLength"), read.history_length);
    if (bad) return fail(*bad);
  }
  if (configuration.truth("return_immediately")) read.waits = false;
  if (!configuration.has("task_push_notification_config")) return {};
  auto bad = take(read_config(ProtocolVersion::v1_0, configuration.child("task_push_notification_config"),
                              "configuration.taskPushNotificationConfig"),
                  read.submission.push);
  if (bad) return fail(*bad);
  return {};
}

Result<SendRequest> v1_send(const Reading& request) {
  SendRequest read;
  read.history_length = kAllHistory;
  if (!request.has("message")) return wrong("message: must not be missing");
  const Reading message = request.child("message");
  std::vector<Part>& parts = read.submission.message.parts;
  for (int i = 0; i < message.count("parts"); ++i) {
    auto part = v1_part(message.at("parts", i));
    if (!part) return wrong("message.parts[" + std::to_string(i) + "]: " + part.error().for_caller);
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return wrong("message.parts: at least one part is needed");
  if (auto good = read_names(message, read.submission); !good) return fail(good.error());
  for (std::string& id : message.texts("reference_task_ids")) {
    read.submission.message.reference_tasks.push_back({std::move(id)});
  }
  if (auto good = v1_configuration(request.child("configuration"), read); !good) return fail(good.error());
  if (auto good = read_metadata(request, read); !good) return fail(good.error());
  return read;
}

// 0.3.

Result<Part> v03_file(const Reading& file, bool may_be_base64) {
  Part read;
  if (file.has("file_with_bytes")) {
    read.kind = Part::Kind::raw;
    read.content = base64_of_file(file.text("file_with_bytes"), may_be_base64);
  } else if (!file.text("file_with_uri").empty()) {
    read.kind = Part::Kind::url;
    read.content = file.text("file_with_uri");
  } else {
    return wrong("file: exactly one of fileWithBytes and fileWithUri is needed");
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

Result<Part> v03_part(const Reading& part, bool may_be_base64) {
  if (part.has("data")) return v03_data(part);
  auto read = part.has("text")   ? Result<Part>(Part::of_text(part.text("text")))
              : part.has("file") ? v03_file(part.child("file"), may_be_base64)
                                 : wrong("text: exactly one of text, file and data is needed");
  if (read) read->metadata = metadata_in(part);
  return read;
}

// Of plain numbers and truths an absent one is 0: all of the history, and not to wait.
Result<void> v03_configuration(const Reading& configuration, SendRequest& read) {
  read.submission.accepted_output_modes = configuration.texts("accepted_output_modes");
  read.waits = configuration.truth("blocking");
  if (configuration.number("history_length") != 0) {
    auto bad = take(history_in(configuration, "configuration.historyLength"), read.history_length);
    if (bad) return fail(*bad);
  }
  if (!configuration.has("push_notification")) return {};
  auto bad = take(read_config(ProtocolVersion::v0_3, configuration.child("push_notification"),
                              "configuration.pushNotification"),
                  read.submission.push);
  if (bad) return fail(*bad);
  return {};
}

Result<SendRequest> v03_send(const Reading& request, bool may_be_base64) {
  SendRequest read;
  read.submission.origin = ProtocolVersion::v0_3;
  read.history_length = kAllHistory;
  if (!request.has("request")) return wrong("message: must be an object");
  const Reading message = request.child("request");
  if (auto good = read_names(message, read.submission); !good) return fail(good.error());
  std::vector<Part>& parts = read.submission.message.parts;
  for (int i = 0; i < message.count("content"); ++i) {
    auto part = v03_part(message.at("content", i), may_be_base64);
    if (!part) return wrong("message.content[" + std::to_string(i) + "]." + part.error().for_caller);
    parts.push_back(std::move(*part));
  }
  if (parts.empty()) return wrong("message.content: must not be empty");
  if (request.has("configuration")) {
    auto good = v03_configuration(request.child("configuration"), read);
    if (!good) return fail(good.error());
  }
  if (auto good = read_metadata(request, read); !good) return fail(good.error());
  return read;
}

}  // namespace

Result<SendRequest> read_send(ProtocolVersion version, const Reading& request, bool files_may_be_base64) {
  return version == ProtocolVersion::v1_0 ? v1_send(request) : v03_send(request, files_may_be_base64);
}

}  // namespace baton::server::grpc

#include "protocol/a2a/client/read_objects.h"

#include <algorithm>
#include <cctype>

#include "base/base64.h"
#include "base/clock.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v0_3_rest_objects.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::fail;
using base::Result;
using task::Part;

// The longest id that a server may make, in bytes.
constexpr std::size_t kReadIdMax = 1024;
constexpr std::int64_t kIndexMax = 1'000'000;

// An empty object counts as absent: the SDK for Java writes one in each part, artifact and event without
// metadata.
task::Json object_or_absent(json::Value value) {
  return value.is_object() && value.size() > 0 ? value.json() : task::Json{};
}

Result<Part> read_file_before_v1(json::Value file) {
  if (!file.is_object()) return wrong("file: must be an object");
  Part part;
  part.filename = file["name"].str();
  part.media_type = first_of(file, {"mimeType", "mime_type"}).str();
  const json::Value bytes = first_of(file, {"bytes", "data", "fileWithBytes", "file_with_bytes"});
  const json::Value uri = first_of(file, {"uri", "fileWithUri", "file_with_uri"});
  // Some servers write an empty text for an absent member.
  const bool has_bytes = bytes.is_string() && (!bytes.string().empty() || uri.string().empty());
  if (has_bytes) {
    auto base64 = base::normalize_base64(bytes.string());
    if (!base64) return wrong("file.bytes: must be base64");
    part.kind = Part::Kind::raw;
    part.content = std::move(*base64);
  } else if (uri.is_string()) {
    part.kind = Part::Kind::url;
    part.content = uri.str();
  } else {
    return wrong("file: must have bytes or uri");
  }
  return part;
}

// An object with other members than `data` is the data itself.
json::Value unnested(json::Value data) {
  const json::Value inner = data["data"];
  return data.size() == 1 && !inner.missing() ? inner : data;
}

Result<Part> read_data_part(json::Value data, json::Value metadata, task::Json& kept) {
  // The schemas require an object; any other JSON is kept unchanged.
  if (!data.is_object()) return Part::of_data(data.json());
  return read_data(data, metadata, kept);
}

// Determines the kind by content, not by tag: servers of 0.1 wrote the tag as `type`, as `kind` or not at
// all. `nested`: data is {"data": {...}}. Errors name members within the part.
Result<Part> read_part_before_v1(json::Value value, bool nested) {
  if (!value.is_object()) return wrong("must be an object");
  const json::Value metadata = value["metadata"], data = value["data"];
  task::Json kept = object_or_absent(metadata);
  Result<Part> part = Part{};
  const bool is_empty = value["text"].string().empty() && !(value["file"].absent() && data.absent());
  if (value["text"].is_string() && !is_empty) {
    part = Part::of_text(value["text"].str());
  } else if (!value["file"].absent()) {
    part = read_file_before_v1(value["file"]);
  } else if (!data.missing()) {
    part = read_data_part(nested ? unnested(data) : data, metadata, kept);
  } else {
    return wrong("must have text, file or data");
  }
  if (part) part->metadata = std::move(kept);
  return part;
}

std::vector<std::string> texts_in(json::Value list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const json::Value item : list) {
    if (item.is_string()) texts.push_back(item.str());
  }
  return texts;
}

// Ids are strings, but some servers of 0.1 wrote numbers.
Result<void> read_server_id(json::Value id, const char* name, std::string& to) {
  to = id.is_number() ? id.raw() : id.string();
  if (to.size() > kReadIdMax) return wrong(std::string(name) + ": is too long");
  return {};
}

Result<void> read_names(json::Value owner, std::initializer_list<std::string_view> task_names,
                        task::TaskId& task, task::ContextId& context) {
  auto read = read_server_id(first_of(owner, task_names), "id", task.value);
  if (!read) return read;
  return read_server_id(first_of(owner, {"contextId", "context_id", "sessionId"}), "contextId",
                        context.value);
}

task::State read_state(json::Value state) {
  constexpr task::State kUnknown = task::State::failed;
  if (const auto number = state.integer()) return v1::state_numbered(*number).value_or(kUnknown);
  // Some servers send the names of their enums: "INPUT_REQUIRED", "input_required".
  std::string name = state.str();
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return std::toupper(c); });
  std::ranges::replace(name, '-', '_');
  if (!name.starts_with("TASK_STATE_")) name.insert(0, "TASK_STATE_");
  // The only state name that 0.3 spells differently from 1.0.
  if (name == "TASK_STATE_CANCELLED") return task::State::canceled;
  return v1::state_named(name).value_or(kUnknown);
}

bool is_user(json::Value role) {
  return role.string() == "user" || role.string() == "ROLE_USER" || role.integer() == 1;
}

// Reads each value of a list. Errors name the index.
template <class T, class F>
Result<void> read_each(json::Value list, const std::string& name, std::vector<T>& to, F&& read) {
  if (list.absent()) return {};
  if (!list.is_array()) return wrong(name + ": must be a list");
  for (const json::Value item : list) {
    auto one = read(item);
    if (!one) return wrong(name + "[" + std::to_string(to.size()) + "]: " + one.error().for_caller);
    to.push_back(std::move(*one));
  }
  return {};
}

Result<Update> any(auto read) {
  if (!read) return fail(read.error());
  return Update(std::move(*read));
}

// Some servers of 0.1 have a message's parts under `data`, the proto of 0.3 has them under `content`.
json::Value parts_of(json::Value owner) {
  return first_of(owner, {"parts", "content", "data"});
}

// Counts the elements of a list and the parts of each.
std::size_t items_in(json::Value list) {
  std::size_t items = list.is_array() ? list.size() : 0;
  if (!list.is_array()) return items;
  for (const json::Value item : list) items += parts_of(item).size();
  return items;
}

Result<void> too_many_items(std::size_t most) {
  return fail(base::ErrorCode::too_large,
              "it has more than " + std::to_string(most) + " artifacts, messages and parts");
}

// An event of 0.1 and a Task share `id`, `status` and `metadata`. Only the event has `final`; only a Task has
// `sessionId`, `artifacts` and `history`.
bool is_task_of_v0_1(json::Value value) {
  if (!value["final"].absent()) return false;
  return !value["sessionId"].absent() || !value["artifacts"].absent() || !value["history"].absent();
}

}  // namespace

Result<void> ObjectReader::check_items(json::Value task) const {
  const bool fits = items_in(task["artifacts"]) + items_in(task["history"]) <= items_max_;
  return fits ? Result<void>() : too_many_items(items_max_);
}

Result<std::vector<task::Part>> ObjectReader::read_parts(json::Value owner) const {
  const json::Value list = parts_of(owner);
  // ProtoJSON leaves out empty lists, and so do servers in Go, or write null.
  if (list.absent()) return std::vector<task::Part>();
  if (!list.is_array()) return wrong("parts: must be a list");
  if (list.size() > items_max_) return fail(too_many_items(items_max_).error());
  std::vector<task::Part> parts;
  const auto done = read_each(list, "parts", parts, [&](json::Value part) {
    if (shape_ != PartShape::v1_0) return read_part_before_v1(part, shape_ == PartShape::proto_v0_3);
    auto read = v1::read_part(part);
    if (read) read->metadata = object_or_absent(part["metadata"]);
    return read;
  });
  if (!done) return fail(done.error());
  return parts;
}

Result<MessageReply> ObjectReader::read_message(json::Value value) const {
  if (!value.is_object()) return wrong("message: must be an object");
  auto parts = read_parts(value);
  if (!parts) return wrong("message." + parts.error().for_caller);
  MessageReply read;
  task::Message& message = read.message;
  // A message without a role is the server's own.
  message.role = is_user(value["role"]) ? task::Role::user : task::Role::agent;
  message.parts = std::move(*parts);
  message.metadata = object_or_absent(value["metadata"]);
  message.extensions = texts_in(value["extensions"]);
  for (std::string& id : texts_in(first_of(value, {"referenceTaskIds", "reference_task_ids"}))) {
    message.reference_tasks.push_back({std::move(id)});
  }
  const json::Value id = first_of(value, {"messageId", "message_id"});
  if (auto done = read_server_id(id, "messageId", message.id.value); !done) return fail(done.error());
  auto named = read_names(value, {"taskId", "task_id"}, read.task, read.context);
  if (!named) return wrong("message." + named.error().for_caller);
  return read;
}

Result<task::Status> ObjectReader::read_status(json::Value value) const {
  if (!value.is_object()) return wrong("status: must be an object");
  const json::Value state = value["state"];
  // ProtoJSON leaves out the state 0, which the SDK for Python before 0.3.23 sends for a rejected task.
  const bool is_unspecified = shape_ != PartShape::tagged && state.absent();
  if (!is_unspecified && !state.is_string() && !state.is_number())
    return wrong("status.state: must be a string");
  task::Status status;
  status.state = read_state(state);
  status.at = base::parse_rfc3339(value["timestamp"].string()).value_or(base::Timestamp{});
  const json::Value said = first_of(value, {"message", "update"});
  if (said.absent()) return status;
  auto message = read_message(said);
  if (!message) return wrong("status." + message.error().for_caller);
  status.message = std::move(message->message);
  return status;
}

Result<ArtifactUpdate> ObjectReader::read_artifact(json::Value value) const {
  if (!value.is_object()) return wrong("artifact: must be an object");
  auto parts = read_parts(value);
  if (!parts) return wrong("artifact." + parts.error().for_caller);
  const std::int64_t index = value["index"].integer().value_or(0);
  if (index < 0 || index > kIndexMax) return wrong("artifact.index: is out of range");
  ArtifactUpdate update;
  task::Artifact& artifact = update.artifact;
  const json::Value id = first_of(value, {"artifactId", "artifact_id"});
  if (auto done = read_server_id(id, "artifact.artifactId", artifact.id.value); !done) {
    return fail(done.error());
  }
  artifact.ordinal = static_cast<int>(index);
  artifact.name = value["name"].str();
  artifact.description = value["description"].str();
  artifact.parts = std::move(*parts);
  artifact.metadata = object_or_absent(value["metadata"]);
  artifact.extensions = texts_in(value["extensions"]);
  update.append = value["append"].boolean();
  update.last_chunk = first_of(value, {"lastChunk", "last_chunk"}).boolean();
  return update;
}

Result<task::Task> ObjectReader::read_task(json::Value value) const {
  // Some servers wrap the answer to a get like that to a send.
  if (value["status"].missing() && value["task"].is_object()) value = value["task"];
  if (!value.is_object()) return wrong("the task is not an object");
  if (const auto checked = check_items(value); !checked) return fail(checked.error());
  auto status = read_status(value["status"]);
  if (!status) return fail(status.error());
  task::Task task;
  task.status = std::move(*status);
  if (auto named = read_names(value, {"id"}, task.id, task.context); !named) return fail(named.error());
  task.metadata = object_or_absent(value["metadata"]);
  auto done = read_each(value["artifacts"], "artifacts", task.artifacts, [&](json::Value item) {
    return read_artifact(item).map([](ArtifactUpdate&& update) { return std::move(update.artifact); });
  });
  if (!done) return fail(done.error());
  done = read_each(value["history"], "history", task.history, [&](json::Value item) {
    return read_message(item).map([](MessageReply&& reply) { return std::move(reply.message); });
  });
  if (!done) return fail(done.error());
  return task;
}

Result<Update> ObjectReader::read_status_update(json::Value event) const {
  if (!event.is_object()) return wrong("the event is not an object");
  auto status = read_status(event["status"]);
  if (!status) return fail(status.error());
  StatusUpdate update;
  update.status = std::move(*status);
  if (auto named = read_names(event, {"taskId", "task_id", "id"}, update.task, update.context); !named) {
    return fail(named.error());
  }
  update.final = event["final"].boolean();
  update.metadata = object_or_absent(event["metadata"]);
  return update;
}

Result<Update> ObjectReader::read_artifact_update(json::Value event) const {
  if (!event.is_object()) return wrong("the event is not an object");
  auto update = read_artifact(event["artifact"]);
  if (!update) return fail(update.error());
  if (auto named = read_names(event, {"taskId", "task_id", "id"}, update->task, update->context); !named) {
    return fail(named.error());
  }
  // 0.1 has these in the artifact.
  update->append |= event["append"].boolean();
  update->last_chunk |= first_of(event, {"lastChunk", "last_chunk"}).boolean();
  return *update;
}

// Determines the type by `kind`, or by the members that each type requires.
Result<Update> ObjectReader::read_bare(json::Value item) const {
  const std::string_view kind = item["kind"].string();
  if (kind == "artifact-update" || !item["artifact"].absent()) return read_artifact_update(item);
  if (kind == "task") return any(read_task(item));
  const bool is_message = item["status"].absent() && !first_of(item, {"parts", "content"}).absent();
  if (kind == "message" || is_message) return any(read_message(item));
  const bool is_event = kind == "status-update" || !first_of(item, {"taskId", "task_id"}).absent();
  const bool is_task =
      version_ == task::ProtocolVersion::v0_1 ? is_task_of_v0_1(item) : item["final"].absent();
  if (!is_event && is_task) return any(read_task(item));
  return read_status_update(item);
}

Result<Update> ObjectReader::read_update(json::Value item) const {
  if (!item.is_object()) return wrong("the event is not an object");
  if (item["task"].is_object()) return any(read_task(item["task"]));
  const json::Value status = first_of(item, {"statusUpdate", "status_update"});
  if (status.is_object()) return read_status_update(status);
  const json::Value artifact = first_of(item, {"artifactUpdate", "artifact_update"});
  if (artifact.is_object()) return read_artifact_update(artifact);
  const json::Value message = first_of(item, {"message", "msg"});
  if (message.is_object()) return any(read_message(message));
  return read_bare(item);
}

Result<TaskPage> ObjectReader::read_list(json::Value value) const {
  if (!value.is_object()) return wrong("the list is not an object");
  TaskPage page;
  auto done =
      read_each(value["tasks"], "tasks", page.tasks, [&](json::Value item) { return read_task(item); });
  if (!done) return fail(done.error());
  page.next_page_token = first_of(value, {"nextPageToken", "next_page_token"}).str();
  const std::int64_t total = first_of(value, {"totalSize", "total_size"}).integer().value_or(0);
  page.total = std::max<std::int64_t>(total, 0);
  return page;
}

// {taskId | id | name, pushNotificationConfig}, or flat (1.0), where `id` is the config's.
Result<PushRequest> ObjectReader::read_push(json::Value value) const {
  if (!value.is_object()) return wrong("the push config is not an object");
  const json::Value inner = first_of(value, {"pushNotificationConfig", "push_notification_config"});
  const json::Value config = inner.is_object() ? inner : value;
  auto read_config = read_push_config(config, "config", version_);
  if (!read_config) return fail(read_config.error());
  PushRequest read;
  read.config = std::move(*read_config);
  const bool is_flat = !inner.is_object();
  const json::Value id =
      is_flat ? first_of(value, {"taskId", "task_id"}) : first_of(value, {"taskId", "task_id", "id"});
  if (auto done = read_server_id(id, "taskId", read.task.value); !done) return fail(done.error());
  if (const auto named = rest_v0_3::parse_name(value["name"].string())) {
    if (read.task.empty()) read.task = named->task;
    if (read.config.id.empty()) read.config.id = named->config;
  }
  // Before 1.0 a config without an id has the task's.
  if (read.config.id.empty() && version_ != task::ProtocolVersion::v1_0)
    read.config.id.value = read.task.value;
  const json::Value authentication = config["authentication"];
  if (version_ == task::ProtocolVersion::v0_1 && authentication.is_object()) {
    read.config.authentication_extra = authentication.json();
  }
  return read;
}

Result<std::vector<PushRequest>> ObjectReader::read_pushes(json::Value value) const {
  std::vector<PushRequest> read;
  const json::Value list = value.is_object() ? value["configs"] : value;
  if (!value.is_object() && !value.is_array()) return wrong("configs: must be a list");
  auto done = read_each(list, "configs", read, [&](json::Value item) { return read_push(item); });
  if (!done) return fail(done.error());
  return read;
}

}  // namespace baton::protocol::a2a

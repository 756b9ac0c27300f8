#include "wire/a2a/client_v0_1.h"

#include "wire/base64.h"
#include "wire/json/writer.h"

namespace baton::wire::v0_1_client {
namespace {

using base::ErrorCode;
using base::Result;

auto wrong(const std::string& what) {
  return base::fail(ErrorCode::invalid_argument, what);
}

void write_file(Writer& out, const task::Part& part) {
  out.key("file").object([&] {
    out.optional("name", part.filename).optional("mimeType", part.media_type);
    out.member(part.kind == task::Part::Kind::raw ? "bytes" : "uri", std::string_view(part.content));
  });
}

void write_part(Writer& out, const task::Part& part) {
  using Kind = task::Part::Kind;
  out.object([&] {
    out.member("type", part.kind == Kind::text ? "text" : part.kind == Kind::data ? "data" : "file");
    if (part.kind == Kind::text) {
      out.member("text", std::string_view(part.content));
    } else if (part.kind == Kind::data) {
      out.key("data").raw(part.content);
    } else {
      write_file(out, part);
    }
    out.optional("metadata", part.metadata);
  });
}

void write_message(Writer& out, const task::Message& message) {
  out.object([&] {
    out.member("role", message.role == task::Role::user ? "user" : "agent");
    out.key("parts").array([&] {
      for (const task::Part& part : message.parts) write_part(out, part);
    });
    out.optional("metadata", message.metadata);
  });
}

template <class F>
std::string write_request(std::string_view method, std::int64_t id, F&& params) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("jsonrpc", "2.0").member("id", id).member("method", method);
    out.key("params").object([&] { params(out); });
  });
  return text;
}

task::Json json_or_absent(Value value) {
  return value.absent() ? task::Json{} : value.json();
}

Result<task::Part> read_file_part(Value file) {
  if (!file.is_object()) return wrong("file: must be an object");
  task::Part part;
  part.filename = file["name"].str();
  part.media_type = file["mimeType"].str();
  const Value bytes = file["bytes"].is_string() ? file["bytes"] : file["data"];
  if (bytes.is_string()) {
    auto base64 = normalize_base64(bytes.string());
    if (!base64) return wrong("file.bytes: must be base64");
    part.kind = task::Part::Kind::raw;
    part.content = std::move(*base64);
  } else if (file["uri"].is_string()) {
    part.kind = task::Part::Kind::url;
    part.content = file["uri"].str();
  } else {
    return wrong("file: must have bytes or uri");
  }
  return part;
}

// By content and not by tag, which servers of this time wrote as `type`, as `kind` or not at all.
Result<task::Part> read_part(Value value) {
  if (!value.is_object()) return wrong("must be an object");
  Result<task::Part> part = task::Part{};
  if (value["text"].is_string()) {
    part = task::Part::of_text(value["text"].str());
  } else if (!value["file"].absent()) {
    part = read_file_part(value["file"]);
  } else if (!value["data"].missing()) {
    part = task::Part::of_data(value["data"].json());
  } else {
    return wrong("must have text, file or data");
  }
  if (part) part->metadata = json_or_absent(value["metadata"]);
  return part;
}

Result<std::vector<task::Part>> read_parts(Value owner) {
  const Value list = owner["parts"].is_array() ? owner["parts"] : owner["data"];
  if (!list.is_array()) return wrong("parts: must be a list");
  std::vector<task::Part> parts;
  for (const Value item : list) {
    auto part = read_part(item);
    if (!part) return wrong("parts[" + std::to_string(parts.size()) + "]: " + part.error().for_caller);
    parts.push_back(std::move(*part));
  }
  return parts;
}

Result<task::Message> read_message(Value value) {
  if (!value.is_object()) return wrong("message: must be an object");
  auto parts = read_parts(value);
  if (!parts) return wrong("message." + parts.error().for_caller);
  task::Message message;
  // What a server says without a role, it says itself.
  message.role = value["role"].string() == "user" ? task::Role::user : task::Role::agent;
  message.parts = std::move(*parts);
  message.metadata = json_or_absent(value["metadata"]);
  return message;
}

Result<task::Status> read_status(Value value) {
  if (!value.is_object()) return wrong("status: must be an object");
  if (!value["state"].is_string()) return wrong("status.state: must be a text");
  task::Status status;
  status.state = task::state_named(value["state"].string()).value_or(task::State::failed);
  if (value["message"].absent()) return status;
  auto message = read_message(value["message"]);
  if (!message) return wrong("status." + message.error().for_caller);
  status.message = std::move(*message);
  return status;
}

Result<ArtifactUpdate> read_artifact(Value value) {
  if (!value.is_object()) return wrong("artifact: must be an object");
  auto parts = read_parts(value);
  if (!parts) return wrong("artifact." + parts.error().for_caller);
  const std::int64_t index = value["index"].integer().value_or(0);
  if (index < 0 || index > 1'000'000) return wrong("artifact.index: is out of range");
  ArtifactUpdate update;
  update.artifact.ordinal = static_cast<int>(index);
  update.artifact.name = value["name"].str();
  update.artifact.description = value["description"].str();
  update.artifact.parts = std::move(*parts);
  update.artifact.metadata = json_or_absent(value["metadata"]);
  update.append = value["append"].boolean();
  update.last_chunk = value["lastChunk"].boolean();
  return update;
}

// Ids are texts; some servers wrote numbers.
task::TaskId read_id(Value id) {
  return task::TaskId{id.is_string() ? id.str() : id.is_number() ? std::string(id.raw()) : std::string()};
}

// An event and a Task share `id`, `status` and `metadata`; only the event has `final`, and only a Task the
// rest.
bool is_task(Value value) {
  if (!value["final"].absent()) return false;
  return !value["sessionId"].absent() || !value["artifacts"].absent() || !value["history"].absent();
}

}  // namespace

std::string write_send(std::string_view method, std::int64_t request_id, const SendParams& params) {
  return write_request(method, request_id, [&](Writer& out) {
    out.member("id", std::string_view(params.task.value));
    out.optional("sessionId", params.session.value);
    write_message(out.key("message"), params.message);
    if (params.history) out.member("historyLength", *params.history);
    out.optional("metadata", params.metadata);
  });
}

std::string write_task_request(std::string_view method, std::int64_t request_id, const task::TaskId& task,
                               std::optional<int> history) {
  return write_request(method, request_id, [&](Writer& out) {
    out.member("id", std::string_view(task.value));
    if (history) out.member("historyLength", *history);
  });
}

Result<Answer> read_answer(Value answer) {
  if (!answer.is_object()) return wrong("the answer is not a JSON-RPC object");
  const Value error = answer["error"];
  if (error.absent()) {
    if (answer["result"].missing()) return wrong("the answer has neither result nor error");
    return Answer{answer["result"], std::nullopt};
  }
  if (!error.is_object() || !error["code"].integer()) return wrong("error.code: must be a whole number");
  return Answer{{}, RpcError{*error["code"].integer(), error["message"].str()}};
}

Result<Update> read_update(Value result) {
  if (!result.is_object()) return wrong("the event is not an object");
  if (!result["artifact"].absent()) {
    auto update = read_artifact(result["artifact"]);
    if (!update) return base::fail(update.error());
    update->task = read_id(result["id"]);
    return *update;
  }
  if (is_task(result)) {
    auto task = read_task(result);
    if (!task) return base::fail(task.error());
    return *task;
  }
  auto status = read_status(result["status"]);
  if (!status) return base::fail(status.error());
  return StatusUpdate{read_id(result["id"]), std::move(*status), result["final"].boolean(),
                      json_or_absent(result["metadata"])};
}

Result<task::Task> read_task(Value value) {
  if (!value.is_object()) return wrong("the task is not an object");
  auto status = read_status(value["status"]);
  if (!status) return base::fail(status.error());
  task::Task task;
  task.id = read_id(value["id"]);
  task.context.value = value["sessionId"].str();
  task.status = std::move(*status);
  task.metadata = json_or_absent(value["metadata"]);
  for (const Value item : value["artifacts"]) {
    auto artifact = read_artifact(item);
    if (!artifact)
      return wrong("artifacts[" + std::to_string(task.artifacts.size()) +
                   "]: " + artifact.error().for_caller);
    task.artifacts.push_back(std::move(artifact->artifact));
  }
  for (const Value item : value["history"]) {
    auto message = read_message(item);
    if (!message)
      return wrong("history[" + std::to_string(task.history.size()) + "]: " + message.error().for_caller);
    task.history.push_back(std::move(*message));
  }
  return task;
}

}  // namespace baton::wire::v0_1_client

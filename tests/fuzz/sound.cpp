#include "fuzz/sound.h"

#include "base/base64.h"
#include "base/text.h"
#include "fuzz/target.h"
#include "json/document.h"

namespace baton::fuzz {
namespace {

// Values may be wrapped once more than what was read.
constexpr json::ParseOptions kDeep{.depth_max = 2'000};

}  // namespace

void check_json(const task::Json& json, const char* what) {
  require(json.empty() || json::Document::parse_view(json.text, kDeep).has_value(), what);
}

void check_object(const task::Json& json, const char* what) {
  if (json.empty()) return;
  const auto read = json::Document::parse_view(json.text, kDeep);
  require(read && read->root().is_object(), what);
}

void check_text(std::string_view text, const char* what) {
  require(base::is_utf8(text), what);
}

void check_part(const task::Part& part) {
  check_object(part.metadata, "the metadata of a part is no object");
  check_text(part.filename, "the name of a file is not UTF-8");
  check_text(part.media_type, "a media type is not UTF-8");
  check_text(part.content, "the content of a part is not UTF-8");
  if (part.kind == task::Part::Kind::data) {
    require(!part.content.empty(), "a data part has no value");
    check_json({part.content}, "the data of a part is not JSON");
  }
  if (part.kind == task::Part::Kind::raw) {
    require(base::normalize_base64(part.content) == part.content,
            "the bytes of a part are not normal base64");
  }
}

void check_message(const task::Message& message) {
  for (const task::Part& part : message.parts) check_part(part);
  check_object(message.metadata, "the metadata of a message is no object");
  check_text(message.id.value, "the id of a message is not UTF-8");
}

void check_task(const task::Task& task) {
  if (task.status.message) check_message(*task.status.message);
  for (const task::Message& message : task.history) check_message(message);
  for (const task::Artifact& artifact : task.artifacts) {
    for (const task::Part& part : artifact.parts) check_part(part);
    check_object(artifact.metadata, "the metadata of an artifact is no object");
  }
  check_object(task.metadata, "the metadata of a task is no object");
}

void check_body(const task::EventBody& body) {
  if (const auto* status = std::get_if<task::StatusChanged>(&body)) {
    check_object(status->metadata, "the metadata of a status is no object");
    if (status->status.message) check_message(*status->status.message);
  } else if (const auto* added = std::get_if<task::MessageAdded>(&body)) {
    check_message(added->message);
  } else if (const auto* text = std::get_if<task::TextDelta>(&body)) {
    check_text(text->text, "a text is not UTF-8");
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&body)) {
    for (const task::Part& part : chunk->artifact.parts) check_part(part);
    check_object(chunk->artifact.metadata, "the metadata of an artifact is no object");
  } else if (const auto* call = std::get_if<task::ToolCall>(&body)) {
    check_json(call->arguments, "the arguments of a call are not JSON");
  } else if (const auto* result = std::get_if<task::ToolResult>(&body)) {
    check_json(result->content, "the result of a tool is not JSON");
  } else if (const auto* state = std::get_if<task::StateSnapshot>(&body)) {
    check_json(state->snapshot, "a state is not JSON");
  } else if (const auto* delta = std::get_if<task::StateDelta>(&body)) {
    check_json(delta->patch, "a patch is not JSON");
  } else if (const auto* custom = std::get_if<task::Custom>(&body)) {
    check_json(custom->value, "a value is not JSON");
  } else if (const auto* activity = std::get_if<task::Activity>(&body)) {
    check_json(activity->content, "the content of an activity is not JSON");
    check_json(activity->patch, "the patch of an activity is not JSON");
  } else if (const auto* usage = std::get_if<task::Usage>(&body)) {
    check_json(usage->used, "usage is not JSON");
  }
}

}  // namespace baton::fuzz

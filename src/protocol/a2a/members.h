// Helpers shared by the A2A dialects: members of requests, parts as clients before 1.0 send them, webhook
// configs, and the facts of tool use.
//
// Names in error texts are full paths ("params.message.parts[0].text: must be a string"). Everything here
// fails with invalid_argument. Threads: any; stateless.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/fields.h"
#include "json/writer.h"
#include "protocol/a2a/dialect.h"
#include "task/task.h"

namespace baton::protocol::a2a {

using json::Fields;
using json::first_of;
using json::item_name;
using json::kIdMax;
using json::Source;
using json::wrong;

// Reads the parts of a message or an artifact before 1.0, at least one. They may be tagged by type, by kind
// or not at all, and a file's payload may be under bytes or data. Wrapped data is unwrapped.
base::Result<std::vector<task::Part>> read_parts(json::Value parts, const std::string& name);
// Reads a list of parts in another form: `read_one` reads one part, and its errors name members within the
// part.
using PartReader = base::Result<task::Part> (*)(json::Value part);
base::Result<std::vector<task::Part>> read_parts(json::Value parts, const std::string& name,
                                                 PartReader read_one);

// Reads a file of a part before 1.0, with the names that its media type, its bytes and its link may have.
base::Result<task::Part> read_file(json::Value file, Fields::Names type, Fields::Names bytes,
                                   Fields::Names uri);

// Before 1.0, data is an object. Any other JSON is wrapped as {"value": ...}, with the SDKs' mark in the
// part's metadata. Reading also accepts lists that are not wrapped. If data was wrapped, `kept` becomes the
// metadata without the mark; otherwise it is unchanged.
inline constexpr std::string_view kWrapped = "data_part_compat";  // the mark
base::Result<task::Part> read_data(json::Value data, json::Value metadata, task::Json& kept);
void write_data(json::Writer& out, const task::Part& data);
// Returns a part's metadata, plus the members that have no other place before 1.0: the media type and the
// name of text or data and, if `marks_wrapped`, the mark of wrapped data.
task::Json metadata_before_v1(const task::Part& part, bool marks_wrapped);

// Reads a push config {url, id?, token?, authentication?{schemes | scheme, credentials?}} of any version.
base::Result<task::PushConfig> read_push_config(json::Value config, const std::string& name,
                                                task::ProtocolVersion version);

// Applies the checks of read_push_config to a config that was read elsewhere. `name` is its path.
base::Result<void> check_push_config(const task::PushConfig& config, const std::string& name);

// Reads the requested page of a task's push configs: pageSize and pageToken.
base::Result<void> read_push_page(const Params& params, PushRef& to);

// Reads the `metadata` of a send: the metadata of its task, and Baton's extension.
void read_metadata(Fields& in, SendRequest& read);
// Reads lastEventId and Baton's extension from the `metadata` of a request about a task.
void read_position(Fields& in, TaskRequest& read);

// Returns the object with one more member, or unchanged if it already has that member.
task::Json with_member(const task::Json& object, std::string_view name, std::string_view json);

// Returns the status that shows a tool call or result: a working status whose message has the facts as data,
// because A2A has no event for tool use. Returns nullopt for other events.
std::optional<task::Status> tool_status(const task::TaskId& task, const task::Event& event);

// An event's metadata as shown at this place in the stream.
task::Json shown_metadata(const task::Json& metadata, const InStream& place);

// A piece of a streamed reply as A2A shows it: an artifact of one text part.
task::ArtifactChunk as_chunk(const task::TextDelta& delta);

// Shows an event as a status update or an artifact update: calls on_status(status, metadata, final) or
// on_chunk(chunk, metadata). Returns false for an event that A2A does not show. Messages are not shown
// either: in a stream, a message is the whole answer and ends it.
template <class OnStatus, class OnChunk>
bool show_event(const task::TaskId& task, const task::Event& event, const InStream& place,
                const OnStatus& on_status, const OnChunk& on_chunk) {
  if (const auto* changed = task::status_in(event)) {
    on_status(changed->status, with_usage(shown_metadata(changed->metadata, place), changed->status),
              place.last || task::is_terminal(changed->status.state));
  } else if (const auto* text = std::get_if<task::TextDelta>(&event.body)) {
    if (text->in_status) return false;
    on_chunk(as_chunk(*text), shown_metadata({}, place));
  } else if (const auto* chunk = std::get_if<task::ArtifactChunk>(&event.body)) {
    on_chunk(*chunk, shown_metadata({}, place));
  } else if (const auto tool = tool_status(task, event)) {
    on_status(*tool, shown_metadata({}, place), place.last);
  } else {
    return false;
  }
  return true;
}

// Shows an event as an item of a stream in ProtoJSON, as 0.3 over REST and 1.0 have it: `write_status` and
// `write_artifact` write the version's objects. `says_final`: a status has `final`.
template <class WriteStatus, class WriteArtifact>
bool write_proto_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                       const InStream& place, bool says_final, const WriteStatus& write_status,
                       const WriteArtifact& write_artifact) {
  const auto update = [&](std::string_view name, const task::Json& metadata, const auto& members) {
    out.object([&] {
      out.key(name).object([&] {
        out.member("taskId", names.task.value).optional("contextId", names.context.value);
        members();
        out.optional("metadata", metadata);
      });
    });
  };
  return show_event(
      names.task, event, place,
      [&](const task::Status& status, const task::Json& metadata, bool final) {
        update("statusUpdate", metadata, [&] {
          write_status(out.key("status"), status, names);
          if (final && says_final) out.member("final", true);
        });
      },
      [&](const task::ArtifactChunk& chunk, const task::Json& metadata) {
        update("artifactUpdate", metadata, [&] {
          write_artifact(out.key("artifact"), chunk.artifact);
          if (chunk.append) out.member("append", true);
          if (chunk.last_chunk) out.member("lastChunk", true);
        });
      });
}

}  // namespace baton::protocol::a2a

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
#include "json/writer.h"
#include "protocol/a2a/dialect.h"
#include "task/task.h"

namespace baton::protocol::a2a {

inline constexpr std::size_t kIdMax = 256;  // bytes of an id made by a client

inline tl::unexpected<base::Error> wrong(std::string text) {
  return base::fail(base::ErrorCode::invalid_argument, std::move(text));
}

// Stores a Result's value or returns its error: `if (auto bad = take(read..., to)) return fail(*bad);`
template <class From, class To>
std::optional<base::Error> take(base::Result<From> from, To& to) {
  if (!from) return std::move(from.error());
  to = std::move(*from);
  return std::nullopt;
}

// The first of these members that is neither missing nor null.
json::Value first_of(json::Value object, std::initializer_list<std::string_view> names);

// Absent values read as empty: an empty string, list or Json.
base::Result<std::string> read_string(const Param& value, const std::string& name);
base::Result<std::vector<std::string>> read_strings(json::Value value, const std::string& name);
base::Result<std::vector<task::TaskId>> read_task_ids(json::Value value, const std::string& name);
base::Result<task::Json> read_object(const Param& value, const std::string& name);
// Where a value comes from: in a query, booleans and numbers are text.
enum class Source { json, query };
base::Result<std::optional<bool>> read_truth(const Param& value, const std::string& name,
                                             Source source = Source::json);
// A whole number from 0.
base::Result<std::optional<std::int64_t>> read_count(const Param& value, const std::string& name,
                                                     Source source = Source::json);
// A history length, or `absent` if none is given.
base::Result<std::optional<int>> read_history(const Param& value, const std::string& name,
                                              std::optional<int> absent, Source source = Source::json);
// An id that a client made or repeats: at most kIdMax bytes, empty if absent.
base::Result<std::string> read_id(const Param& value, const std::string& name);
// A required task id. Whole numbers are accepted too: documents of 0.1 have them.
base::Result<task::TaskId> read_task_id(json::Value owner, std::string_view member, const std::string& name);

// Reads the parts of a message or an artifact before 1.0, at least one. They may be tagged by type, by kind
// or not at all, and a file's payload may be under bytes or data. Wrapped data is unwrapped.
base::Result<std::vector<task::Part>> read_parts(json::Value parts, const std::string& name);
// The same for parts in another form. `read_one` names members within its part.
using PartReader = base::Result<task::Part> (*)(json::Value part);
base::Result<std::vector<task::Part>> read_parts(json::Value parts, const std::string& name,
                                                 PartReader read_one);

// Before 1.0, data is an object. Any other JSON is wrapped as {"value": ...}, with a mark in the part's
// metadata as the SDKs have it. Reading also accepts lists that are not wrapped. If data was wrapped, `kept`
// becomes the metadata without the mark; otherwise it is unchanged.
inline constexpr std::string_view kWrapped = "data_part_compat";  // the mark
base::Result<task::Part> read_data(json::Value data, json::Value metadata, task::Json& kept);
void write_data(json::Writer& out, const task::Part& data);
// A part's metadata, plus what has no other place before 1.0: the media type and the name of text or data
// and, if `marks_wrapped`, the mark of wrapped data.
task::Json metadata_before_v1(const task::Part& part, bool marks_wrapped);

// A push config {url, id?, token?, authentication?{schemes | scheme, credentials?}}, as all versions have it.
base::Result<task::PushConfig> read_push_config(json::Value config, const std::string& name,
                                                task::ProtocolVersion version);

// The same checks for a config that is a value already. `name` is its path.
base::Result<void> check_push_config(const task::PushConfig& config, const std::string& name);

// The lastEventId in a request's metadata.
base::Result<std::optional<task::EventNumber>> read_last_event(const Param& metadata);
// Returns a send's metadata for its task, and puts Baton's extension into `numbers`. `name`: the metadata's
// path.
base::Result<task::Json> read_metadata(json::Value metadata, const std::string& name, NumbersWish& numbers);

// The text as a JSON string.
std::string quoted(std::string_view text);
// The object with one more member, or unchanged if it has that member.
task::Json with_member(const task::Json& object, std::string_view name, std::string_view json);
// Left out when empty.
void write_strings(json::Writer& out, std::string_view name, const std::vector<std::string>& strings);

// A2A has no event for tool use: it is shown as a working status whose message has the facts as data. Returns
// nothing for other events.
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
    on_status(changed->status, shown_metadata(changed->metadata, place),
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

}  // namespace baton::protocol::a2a

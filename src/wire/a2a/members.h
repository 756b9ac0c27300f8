// What the dialects of A2A read and write alike: members of requests, parts as clients before 1.0 send them,
// webhook configs, and the facts of tool use.
//
// Names in error texts are the whole path of a member ("params.message.parts[0].text: must be a string").
// Everything here fails with invalid_argument. Threads: any; stateless.
#pragma once

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/task.h"
#include "wire/a2a/dialect.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::a2a {

inline constexpr std::size_t kIdMax = 256;  // bytes of an id that a client makes

inline tl::unexpected<base::Error> wrong(std::string text) {
  return base::fail(base::ErrorCode::invalid_argument, std::move(text));
}

// Stores a Result's value or hands its error over: `if (auto bad = take(read..., to)) return fail(*bad);`
template <class From, class To>
std::optional<base::Error> take(base::Result<From> from, To& to) {
  if (!from) return std::move(from.error());
  to = std::move(*from);
  return std::nullopt;
}

// The first of these members that is given.
Value first_of(Value object, std::initializer_list<std::string_view> names);

// Absent values read as nothing: an empty text, list or Json.
base::Result<std::string> read_string(Value value, const std::string& name);
base::Result<std::vector<std::string>> read_strings(Value value, const std::string& name);
base::Result<std::vector<task::TaskId>> read_task_ids(Value value, const std::string& name);
base::Result<task::Json> read_object(Value value, const std::string& name);
// Where a value stands: a query has truths and numbers as text.
enum class Source { json, query };
base::Result<std::optional<bool>> read_truth(Value value, const std::string& name,
                                             Source source = Source::json);
// From 0.
base::Result<std::optional<std::int64_t>> read_count(Value value, const std::string& name,
                                                     Source source = Source::json);
// A history length; `absent` where none is given.
base::Result<std::optional<int>> read_history(Value value, const std::string& name, std::optional<int> absent,
                                              Source source = Source::json);
// An id that a client made or repeats: of a bounded length, empty where absent.
base::Result<std::string> read_id(Value value, const std::string& name);
// A task id that must be there. Whole numbers are taken too: documents of 0.1 have them.
base::Result<task::TaskId> read_task_id(Value owner, std::string_view member, const std::string& name);

// The parts of a message or an artifact before 1.0: tagged by type, by kind or not at all, a file's payload
// under bytes or data, wrapped data unwrapped. At least one.
base::Result<std::vector<task::Part>> read_parts(Value parts, const std::string& name);
// The same of parts in another form: `read_one` names members within its part.
using PartReader = base::Result<task::Part> (*)(Value part);
base::Result<std::vector<task::Part>> read_parts(Value parts, const std::string& name, PartReader read_one);

// Before 1.0 data is an object. What is none travels as {"value": it}, with a mark in the part's metadata as
// the SDKs have it. Reading takes lists unwrapped too; `kept` then is the metadata
// without the mark, and otherwise untouched.
base::Result<task::Part> read_data(Value data, Value metadata, task::Json& kept);
void write_data(Writer& out, const task::Part& data);
// A part's metadata with all else that has no place there before 1.0: the media type and the name of what is
// no file, and the mark of wrapped data where the generation has it.
task::Json metadata_before_v1(const task::Part& part, bool marks_wrapped);

// A push config {url, id?, token?, authentication?{schemes | scheme, credentials?}}, as all generations have
// it.
base::Result<task::PushConfig> read_push_config(Value config, const std::string& name,
                                                task::Generation generation);

// metadata.lastEventId of a request.
base::Result<std::optional<task::EventNumber>> read_last_event(Value params);
// A send's metadata, which its task keeps, and what they say to Baton. `name` is their path.
base::Result<task::Json> read_metadata(Value metadata, const std::string& name, NumbersWish& numbers);

// The text as JSON.
std::string quoted(std::string_view text);
// An object with one more member, where it does not have it yet.
task::Json with_member(const task::Json& object, std::string_view name, std::string_view json);
// Left out when empty.
void write_strings(Writer& out, std::string_view name, const std::vector<std::string>& strings);

// Tool use has no place of its own in A2A: it shows as a working status whose message has the facts as data.
// Nothing for other events.
std::optional<task::Status> tool_status(const task::TaskId& task, const task::Event& event);

// An event's metadata as its place in the stream wants them.
task::Json shown_metadata(const task::Json& metadata, const InStream& place);

// The streamed piece of a reply as A2A shows it: an artifact of one text part.
task::ArtifactChunk as_chunk(const task::TextDelta& delta);

}  // namespace baton::wire::a2a

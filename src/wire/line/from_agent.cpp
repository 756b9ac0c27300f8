#include "wire/line/from_agent.h"

#include <array>

#include "wire/a2a/v1_objects.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::line {
namespace {

using base::fail;
using base::Result;

std::string quoted(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

// A line being read. The first thing wrong with it is kept and decides; what is read after that is thrown
// away.
class Fields {
 public:
  explicit Fields(Value line) : line_(line) {}

  Value operator[](std::string_view name) const { return line_[name]; }
  const std::string& problem() const { return problem_; }
  void wrong(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  std::string needed_string(std::string_view name) {
    const Value value = line_[name];
    if (value.missing()) wrong(quoted(name) + " is missing");
    if (!value.is_string()) wrong(quoted(name) + " must be a string");
    return value.str();
  }

  std::string needed_name(std::string_view name) {
    std::string text = needed_string(name);
    if (text.empty()) wrong(quoted(name) + " must not be empty");
    return text;
  }

  std::string optional_string(std::string_view name) {
    return line_[name].absent() ? std::string() : needed_string(name);
  }

  bool optional_bool(std::string_view name) {
    const Value value = line_[name];
    if (!value.absent() && !value.is_bool()) wrong(quoted(name) + " must be true or false");
    return value.boolean();
  }

  // Text, or an object with parts.
  task::Message needed_message(std::string_view name, task::Role role = task::Role::agent) {
    const Value value = line_[name];
    task::Message message;
    if (value.missing()) {
      wrong(quoted(name) + " is missing");
    } else if (value.is_string()) {
      message.parts.push_back(task::Part::of_text(value.str()));
    } else if (value.is_object()) {
      message = taken(v1::read_message(value));
    } else {
      wrong(quoted(name) + " must be text or an object with parts");
    }
    message.role = role;
    return message;
  }

  std::optional<task::Message> optional_message(std::string_view name) {
    if (line_[name].absent()) return std::nullopt;
    return needed_message(name);
  }

  template <class T>
  T taken(Result<T> result) {
    if (result) return std::move(*result);
    wrong(std::move(result.error().for_caller));
    return T{};
  }

 private:
  Value line_;
  std::string problem_;
};

// A data part that is an object of one member.
task::Part data_part(std::string_view member, std::string_view json) {
  task::Json data;
  Writer out(data.text);
  out.object([&] { out.key(member).raw(json); });
  return task::Part::of_data(std::move(data));
}

AgentMessage read_text(Fields& line) {
  return Text{line.needed_string("delta")};
}

AgentMessage read_status(Fields& line) {
  task::StatusChanged changed;
  changed.status.state = task::State::working;
  changed.status.message = line.optional_message("message");
  if (const Value progress = line["progress"]; !progress.absent()) {
    const std::optional<double> number = progress.real();
    if (!progress.is_number() || !number || *number < 0 || *number > 1) {
      line.wrong("\"progress\" must be a number from 0 to 1");
    }
    Writer out(changed.metadata.text);
    out.object([&] { out.key("progress").raw(progress.raw()); });
  }
  if (!changed.status.message && changed.metadata.empty()) {
    line.wrong("\"message\" or \"progress\" is needed");
  }
  return task::EventBody{std::move(changed)};
}

AgentMessage read_artifact(Fields& line) {
  if (line["artifact"].missing()) line.wrong("\"artifact\" is missing");
  return task::EventBody{task::ArtifactChunk{line.taken(v1::read_artifact(line["artifact"])),
                                             line.optional_bool("append"), line.optional_bool("lastChunk")}};
}

AgentMessage read_tool_call(Fields& line) {
  task::ToolCall call{line.needed_name("id"), line.needed_name("name"), {"{}"}, false};
  if (!line["arguments"].missing()) call.arguments = line["arguments"].json();
  return task::EventBody{std::move(call)};
}

AgentMessage read_tool_result(Fields& line) {
  task::ToolResult result{line.needed_name("id"), {}, line.optional_string("error")};
  if (!line["content"].missing()) result.content = line["content"].json();
  if (result.content.empty() && result.error.empty()) line.wrong("\"content\" or \"error\" is needed");
  return task::EventBody{std::move(result)};
}

AgentMessage read_state(Fields& line) {
  const Value snapshot = line["snapshot"];
  const Value delta = line["delta"];
  if (snapshot.missing() == delta.missing())
    line.wrong("exactly one of \"snapshot\" and \"delta\" is needed");
  if (!snapshot.missing()) return task::EventBody{task::StateSnapshot{snapshot.json()}};
  if (!delta.is_array()) line.wrong("\"delta\" must be a list of JSON Patch operations");
  return task::EventBody{task::StateDelta{delta.json()}};
}

AgentMessage read_step(Fields& line) {
  const std::string name = line.needed_name("name");
  const std::string phase = line.needed_string("phase");
  if (phase == "start") return task::EventBody{task::Step{name, task::Step::Phase::start}};
  if (phase == "finish") return task::EventBody{task::Step{name, task::Step::Phase::finish}};
  line.wrong("\"phase\" must be \"start\" or \"finish\"");
  return Text{};
}

AgentMessage read_delegate(Fields& line) {
  return Delegate{line.needed_name("id"),
                  line.needed_name("agent"),
                  line.needed_message("message", task::Role::user),
                  {line.optional_string("task")}};
}

AgentMessage read_ask(Fields& line) {
  Ask ask{line.optional_string("id"), line.needed_message("message")};
  if (const Value schema = line["schema"]; !schema.absent()) {
    if (!schema.is_object()) line.wrong("\"schema\" must be an object");
    ask.message.parts.push_back(data_part("schema", schema.raw()));
  }
  return ask;
}

AgentMessage read_auth(Fields& line) {
  Auth auth{line.optional_string("id"), line.needed_message("message")};
  if (!line.optional_string("url").empty()) auth.message.parts.push_back(data_part("url", line["url"].raw()));
  return auth;
}

AgentMessage read_done(Fields& line) {
  return Done{line.optional_message("message")};
}
AgentMessage read_fail(Fields& line) {
  return Fail{line.needed_string("error")};
}
AgentMessage read_reject(Fields& line) {
  return Reject{line.optional_string("reason")};
}

struct Reader {
  std::string_view type;
  AgentMessage (*read)(Fields& line);
};

constexpr std::array kReaders{
    Reader{"text", read_text},
    Reader{"status", read_status},
    Reader{"artifact", read_artifact},
    Reader{"tool-call", read_tool_call},
    Reader{"tool-result", read_tool_result},
    Reader{"state", read_state},
    Reader{"step", read_step},
    Reader{"delegate", read_delegate},
    Reader{"ask", read_ask},
    Reader{"auth", read_auth},
    Reader{"done", read_done},
    Reader{"fail", read_fail},
    Reader{"reject", read_reject},
};

}  // namespace

Result<AgentLine> decode(std::string_view line) {
  const auto document = Document::parse_view(line);
  if (!document) return fail(document.error());
  const auto refuse = [](std::string why) { return fail(base::ErrorCode::invalid_argument, std::move(why)); };
  if (!document->root().is_object()) return refuse("a line must be a JSON object");
  Fields fields(document->root());
  const std::string type = fields.needed_string("type");
  if (!fields.problem().empty()) return refuse(fields.problem());
  for (const Reader& reader : kReaders) {
    if (reader.type != type) continue;
    AgentLine read{fields.optional_string("turn"), reader.read(fields)};
    if (!fields.problem().empty()) return refuse(type + ": " + fields.problem());
    return read;
  }
  return refuse("unknown type " + quoted(type.substr(0, 64)));
}

std::string turn_of(std::string_view line) {
  const auto document = Document::parse_view(line);
  return document ? document->root()["turn"].str() : std::string();
}

}  // namespace baton::wire::line

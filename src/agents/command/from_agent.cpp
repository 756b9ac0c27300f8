#include "agents/command/from_agent.h"

#include <array>

#include "agents/usage.h"
#include "base/text.h"
#include "json/document.h"
#include "json/json_patch.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"
#include "protocol/chat/run_request.h"

namespace baton::agents::line {
namespace {

using base::fail;
using base::Result;

// For a line that is nested too deeply: a caller's data, which may be nested as deeply as is allowed, with an
// object of the agent around them.
constexpr json::ParseOptions kTooDeep{.depth_max = 1'000};

// The largest integer that JavaScript holds exactly; clients refuse larger ones.
constexpr std::int64_t kWholeMax = (std::int64_t{1} << 53) - 1;

std::string in_quotes(std::string_view name) {
  return "\"" + std::string(name) + "\"";
}

// LineMembers: reads the members of a line and keeps the first error. Values read after an error are
// discarded.
class LineMembers {
 public:
  explicit LineMembers(json::Value line) : line_(line) {}

  json::Value operator[](std::string_view name) const { return line_[name]; }
  const std::string& problem() const { return problem_; }
  void wrong(std::string text) {
    if (problem_.empty()) problem_ = std::move(text);
  }

  std::string needed_string(std::string_view name) {
    const json::Value value = line_[name];
    if (value.missing()) wrong(in_quotes(name) + " is missing");
    if (!value.is_string()) wrong(in_quotes(name) + " must be a string");
    return value.str();
  }

  std::string needed_name(std::string_view name) {
    std::string text = needed_string(name);
    if (text.empty()) wrong(in_quotes(name) + " must not be empty");
    return text;
  }

  // Clients send these ids back, so they must be short enough to be accepted then.
  std::string needed_id() { return bounded(needed_name("id")); }
  std::string optional_id() { return bounded(optional_string("id")); }

  std::string optional_string(std::string_view name) {
    return line_[name].absent() ? std::string() : needed_string(name);
  }

  bool optional_bool(std::string_view name) {
    const json::Value value = line_[name];
    if (!value.absent() && !value.is_bool()) wrong(in_quotes(name) + " must be true or false");
    return value.boolean();
  }

  // Text, or an object with parts.
  task::Message needed_message(std::string_view name, task::Role role = task::Role::agent) {
    const json::Value value = line_[name];
    task::Message message;
    if (value.missing()) {
      wrong(in_quotes(name) + " is missing");
    } else if (value.is_string()) {
      message.parts.push_back(task::Part::of_text(value.str()));
    } else if (value.is_object()) {
      message = taken(protocol::v1::read_message(value));
    } else {
      wrong(in_quotes(name) + " must be text or an object with parts");
    }
    message.role = role;
    return message;
  }

  std::optional<task::Message> optional_message(std::string_view name) {
    if (line_[name].absent()) return std::nullopt;
    return needed_message(name);
  }

  task::Json needed_patch(std::string_view name) {
    const std::string problem = json::patch_problem(line_[name]);
    if (!problem.empty()) wrong(in_quotes(name) + " " + problem);
    return line_[name].json();
  }

  template <class T>
  T taken(Result<T> result) {
    if (result) return std::move(*result);
    wrong(std::move(result.error().for_caller));
    return T{};
  }

 private:
  std::string bounded(std::string id) {
    if (id.size() > protocol::chat::kIdMax) {
      wrong("\"id\" must not be longer than " + std::to_string(protocol::chat::kIdMax) + " bytes");
    }
    return id;
  }

  json::Value line_;
  std::string problem_;
};

// A data part that is an object of one member.
task::Part data_part(std::string_view member, std::string_view json) {
  task::Json data;
  json::Writer out(data.text);
  out.object([&] { out.key(member).raw(json); });
  return task::Part::of_data(std::move(data));
}

AgentMessage read_text(LineMembers& line) {
  return Text{line.needed_string("delta")};
}

AgentMessage read_reasoning(LineMembers& line) {
  return Reasoning{line.needed_string("delta")};
}

AgentMessage read_status(LineMembers& line) {
  task::StatusChanged changed;
  changed.status.state = task::State::working;
  changed.status.message = line.optional_message("message");
  if (const json::Value progress = line["progress"]; !progress.absent()) {
    const std::optional<double> number = progress.real();
    if (!progress.is_number() || !number || *number < 0 || *number > 1) {
      line.wrong("\"progress\" must be a number from 0 to 1");
    }
    json::Writer out(changed.metadata.text);
    out.object([&] { out.key("progress").raw(progress.raw()); });
  }
  if (!changed.status.message && changed.metadata.empty()) {
    line.wrong("\"message\" or \"progress\" is required");
  }
  return task::EventBody{std::move(changed)};
}

AgentMessage read_artifact(LineMembers& line) {
  if (line["artifact"].missing()) line.wrong("\"artifact\" is missing");
  return task::EventBody{task::ArtifactChunk{line.taken(protocol::v1::read_artifact(line["artifact"])),
                                             line.optional_bool("append"), line.optional_bool("lastChunk")}};
}

AgentMessage read_tool_call(LineMembers& line) {
  task::ToolCall call{line.needed_id(), line.needed_name("name"), {"{}"}, false};
  const json::Value arguments = line["arguments"];
  if (!arguments.absent() && !arguments.is_object()) line.wrong("\"arguments\" must be an object");
  if (!arguments.absent()) call.arguments = arguments.json();
  return task::EventBody{std::move(call)};
}

AgentMessage read_tool_result(LineMembers& line) {
  task::ToolResult result{line.needed_name("id"), {}, line.optional_string("error")};
  if (!line["content"].missing()) result.content = line["content"].json();
  if (result.content.empty() && result.error.empty()) line.wrong("\"content\" or \"error\" is required");
  return task::EventBody{std::move(result)};
}

AgentMessage read_state(LineMembers& line) {
  const json::Value snapshot = line["snapshot"];
  const json::Value delta = line["delta"];
  if (snapshot.missing() == delta.missing())
    line.wrong("exactly one of \"snapshot\" and \"delta\" is required");
  if (!snapshot.missing()) return task::EventBody{task::StateSnapshot{snapshot.json()}};
  return task::EventBody{task::StateDelta{line.needed_patch("delta")}};
}

AgentMessage read_step(LineMembers& line) {
  const std::string name = line.needed_name("name");
  const std::string phase = line.needed_string("phase");
  if (phase == "start") return task::EventBody{task::Step{name, task::Step::Phase::start}};
  if (phase == "finish") return task::EventBody{task::Step{name, task::Step::Phase::finish}};
  line.wrong("\"phase\" must be \"start\" or \"finish\"");
  return Text{};
}

// A value may be null; an absent one is stored as null.
AgentMessage read_custom(LineMembers& line) {
  task::Custom custom{line.needed_name("name"), {"null"}};
  if (!line["value"].missing()) custom.value = line["value"].json();
  return task::EventBody{std::move(custom)};
}

AgentMessage read_activity(LineMembers& line) {
  task::Activity activity{line.needed_id(), line.needed_name("activity"), {}, {}};
  const json::Value content = line["content"];
  if (content.absent() == line["patch"].absent())
    line.wrong("exactly one of \"content\" and \"patch\" is required");
  if (content.absent()) {
    activity.patch = line.needed_patch("patch");
  } else {
    if (!content.is_object()) line.wrong("\"content\" must be an object");
    activity.content = content.json();
  }
  return task::EventBody{std::move(activity)};
}

AgentMessage read_usage(LineMembers& line) {
  const json::Value used = line["usage"];
  if (!used.is_object()) line.wrong("\"usage\" must be an object");
  task::Usage usage;
  json::Writer out(usage.used.text);
  out.object([&] {
    for (const std::string_view name : {"provider", "model"}) {
      if (used[name].absent()) continue;
      if (!used[name].is_string()) line.wrong(in_quotes(name) + " must be a string");
      out.key(name).raw(used[name].raw());
    }
    for (const std::string_view name :
         {"inputTokens", "outputTokens", "totalTokens", "reasoningTokens", "cachedInputTokens"}) {
      if (used[name].absent()) continue;
      const std::int64_t count = used[name].integer().value_or(-1);
      if (count < 0 || count > kWholeMax)
        line.wrong(in_quotes(name) + " must be a whole number of at least 0");
      out.member(name, count);
    }
  });
  return task::EventBody{usage_of(std::move(usage.used))};
}

AgentMessage read_delegate(LineMembers& line) {
  Delegate delegate{line.needed_name("id"),
                    line.needed_name("agent"),
                    line.needed_message("message", task::Role::user),
                    {line.optional_string("task")}};
  const std::string questions = line.optional_string("questions");
  if (!line["questions"].absent() && questions != "mine" && questions != "caller") {
    line.wrong("\"questions\" must be \"mine\" or \"caller\"");
  }
  delegate.takes_questions = questions == "mine";
  delegate.detached = line.optional_bool("detach");
  if (delegate.detached && !delegate.task.empty())
    line.wrong("\"detach\" is only allowed for a new child task");
  if (delegate.detached && delegate.takes_questions)
    line.wrong(
        "\"questions\": \"mine\" cannot be combined with \"detach\": a detached child asks its caller");
  return delegate;
}

AgentMessage read_wait(LineMembers&) {
  return Wait{};
}

AgentMessage read_ask(LineMembers& line) {
  Ask ask{line.optional_id(), line.needed_message("message")};
  if (const json::Value schema = line["schema"]; !schema.absent()) {
    if (!schema.is_object()) line.wrong("\"schema\" must be an object");
    ask.message.parts.push_back(data_part("schema", schema.raw()));
  }
  return ask;
}

AgentMessage read_auth(LineMembers& line) {
  Auth auth{line.optional_id(), line.needed_message("message")};
  if (!line.optional_string("url").empty()) auth.message.parts.push_back(data_part("url", line["url"].raw()));
  return auth;
}

AgentMessage read_done(LineMembers& line) {
  return Finish{line.optional_message("message")};
}
AgentMessage read_fail(LineMembers& line) {
  return Fail{line.needed_string("error"), line.optional_string("detail")};
}
AgentMessage read_reject(LineMembers& line) {
  return Reject{line.optional_string("reason")};
}

struct Reader {
  std::string_view type;
  AgentMessage (*read)(LineMembers& line);
};

constexpr std::array kReaders{
    Reader{"text", read_text},           Reader{"reasoning", read_reasoning},
    Reader{"status", read_status},       Reader{"artifact", read_artifact},
    Reader{"tool-call", read_tool_call}, Reader{"tool-result", read_tool_result},
    Reader{"state", read_state},         Reader{"step", read_step},
    Reader{"custom", read_custom},       Reader{"activity", read_activity},
    Reader{"usage", read_usage},         Reader{"delegate", read_delegate},
    Reader{"wait", read_wait},           Reader{"ask", read_ask},
    Reader{"auth", read_auth},           Reader{"done", read_done},
    Reader{"fail", read_fail},           Reader{"reject", read_reject},
};

}  // namespace

Result<AgentLine> decode(std::string_view line) {
  const auto document = json::Document::parse_view(line);
  const auto refuse = [](std::string why) { return fail(base::ErrorCode::invalid_argument, std::move(why)); };
  if (!document) {
    const bool is_json = !json::Document::view_of(line, kTooDeep).root().missing();
    return is_json ? refuse(document.error().for_caller) : fail(document.error());
  }
  if (!document->root().is_object()) return refuse("a line must be a JSON object");
  LineMembers fields(document->root());
  const std::string type = fields.needed_string("type");
  if (!fields.problem().empty()) return refuse(fields.problem());
  for (const Reader& reader : kReaders) {
    if (reader.type != type) continue;
    AgentLine read{fields.optional_string("turn"), reader.read(fields)};
    if (!fields.problem().empty()) return refuse(type + ": " + fields.problem());
    return read;
  }
  std::string shown = type.substr(0, 64);
  while (!base::is_utf8(shown)) shown.pop_back();
  return refuse("unknown type " + in_quotes(shown));
}

std::vector<std::string_view> types() {
  std::vector<std::string_view> all;
  for (const Reader& reader : kReaders) all.push_back(reader.type);
  return all;
}

Decoded decode_any(std::string_view line) {
  Decoded decoded{decode(line), {}};
  if (!decoded.line) decoded.refused_turn = json::Document::view_of(line, kTooDeep).root()["turn"].str();
  return decoded;
}

}  // namespace baton::agents::line

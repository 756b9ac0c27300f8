#include "protocol/agui/read_input.h"

#include <algorithm>
#include <charconv>
#include <unordered_set>
#include <utility>

#include "json/writer.h"
#include "protocol/a2a/members.h"
#include "protocol/agui/messages.h"

namespace baton::protocol::agui {
namespace {

using a2a::read_id;
using a2a::take;
using a2a::wrong;
using base::fail;
using base::Result;
using chat::RunRequest;
using MaybeError = std::optional<base::Error>;

std::string at(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Whether the client speaks version 1.0 or later. Text that is not a version counts as older.
Result<bool> read_newer(json::Value version) {
  if (version.absent()) return false;
  if (!version.is_string()) return wrong("protocolVersion: must be a string");
  const std::string_view text = version.string();
  int major = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), major);
  const bool whole = error == std::errc() && end != text.data() + text.size() && *end == '.';
  return whole && major >= 1;
}

// ---- Tools.

// A JSON Schema: an object, which some clients write as JSON text.
MaybeError write_parameters(json::Writer& out, json::Value parameters, const std::string& name) {
  if (parameters.absent()) return std::nullopt;
  if (parameters.is_object()) {
    out.key("parameters").raw(parameters.raw());
    return std::nullopt;
  }
  if (parameters.is_string()) {
    if (parameters.string().empty()) return std::nullopt;
    const auto parsed = json::Document::parse_view(parameters.string());
    if (parsed && parsed->root().is_object()) {
      out.key("parameters").raw(parameters.string());
      return std::nullopt;
    }
  }
  return wrong(name + ".parameters: must be a JSON Schema, an object").value();
}

MaybeError write_tool(json::Writer& out, json::Value tool, const std::string& name) {
  if (!tool.is_object()) return wrong(name + ": must be an object").value();
  std::string description;
  if (!tool["name"].is_string() || tool["name"].string().empty()) {
    return wrong(name + ".name: must be a string that is not empty").value();
  }
  if (auto bad = take(a2a::read_string(tool["description"], name + ".description"), description)) return bad;
  MaybeError bad;
  out.object([&] {
    out.member("name", tool["name"].string()).optional("description", description);
    bad = write_parameters(out, tool["parameters"], name);
  });
  return bad;
}

Result<task::Json> read_tools(json::Value tools) {
  task::Json read;
  if (tools.absent()) return read;
  if (!tools.is_array()) return wrong("tools: must be a list");
  if (tools.size() == 0) return read;
  MaybeError bad;
  json::Writer out(read.text);
  out.array([&] {
    std::size_t index = 0;
    for (const json::Value tool : tools) {
      if (!bad) bad = write_tool(out, tool, at("tools", index++));
    }
  });
  if (bad) return fail(std::move(*bad));
  return read;
}

// ---- Messages.

Result<std::vector<ReadMessage>> read_messages(json::Value messages) {
  if (!messages.is_array()) return wrong("messages: must be a list");
  std::vector<ReadMessage> read;
  read.reserve(messages.size());
  std::size_t index = 0;
  for (const json::Value value : messages) {
    auto message = read_message(value, at("messages", index++));
    if (!message) return fail(std::move(message.error()));
    read.push_back(std::move(*message));
  }
  return read;
}

// The position of this speaker's last message, from 1; 0: none.
std::size_t after_last(const std::vector<ReadMessage>& messages, Speaker speaker) {
  for (std::size_t i = messages.size(); i > 0; --i) {
    if (messages[i - 1].speaker == speaker) return i;
  }
  return 0;
}

// Separates what is new from the history. Results that are followed by a user message go into the history
// too: they may be of a server's tool, which nobody waits for, and belong to what was said before that
// message.
void sort_out(std::vector<ReadMessage> messages, RunRequest& request) {
  const std::size_t news = after_last(messages, Speaker::assistant);
  const std::size_t spoken = after_last(messages, Speaker::user);
  const bool speaks = spoken > std::max(news, after_last(messages, Speaker::tool));
  auto& history = request.history.emplace();
  for (std::size_t i = 0; i < messages.size(); ++i) {
    ReadMessage& read = messages[i];
    const bool is_result = i >= news && read.result;
    if (speaks && i + 1 == spoken) {
      request.message = std::move(read.message);
      continue;
    }
    if (is_result) request.results.push_back(std::move(*read.result));
    if ((is_result && !speaks) || read.message.parts.empty()) continue;
    history.push_back(std::move(read.message));
  }
}

// ---- Answers.

Result<chat::Answer> read_answer(json::Value entry, const std::string& name) {
  if (!entry.is_object()) return wrong(name + ": must be an object");
  chat::Answer answer;
  if (auto bad = take(read_id(entry["interruptId"], name + ".interruptId"), answer.ask)) return fail(*bad);
  if (answer.ask.empty()) return wrong(name + ".interruptId: is missing");
  const std::string_view status = entry["status"].string();
  if (status != "resolved" && status != "cancelled") {
    return wrong(name + ".status: must be \"resolved\" or \"cancelled\"");
  }
  answer.cancelled = status == "cancelled";
  if (!answer.cancelled && !entry["payload"].absent()) answer.payload = entry["payload"].json();
  return answer;
}

MaybeError read_resume(json::Value resume, std::vector<chat::Answer>& answers) {
  if (resume.absent()) return std::nullopt;
  if (!resume.is_array()) return wrong("resume: must be a list").value();
  std::unordered_set<std::string_view> answered;
  for (const json::Value entry : resume) {
    const std::string name = at("resume", answers.size());
    auto answer = read_answer(entry, name);
    if (!answer) return std::move(answer.error());
    if (!answered.insert(entry["interruptId"].string()).second) {
      return wrong(name + ".interruptId: was answered before").value();
    }
    answers.push_back(std::move(*answer));
  }
  return std::nullopt;
}

// ---- All else.

bool says_nothing(json::Value value) {
  return value.absent() || ((value.is_array() || value.is_object()) && value.size() == 0);
}

// What else the agent may want to know: {"agui":{"context"?,"forwardedProps"?,"parentRunId"?}}.
Result<task::Json> read_metadata(json::Value body, const std::string& parent_run) {
  const json::Value context = body["context"], props = body["forwardedProps"];
  if (!context.absent() && !context.is_array()) return wrong("context: must be a list");
  task::Json metadata;
  if (says_nothing(context) && says_nothing(props) && parent_run.empty()) return metadata;
  json::Writer out(metadata.text);
  out.object([&] {
    out.key("agui").object([&] {
      if (!says_nothing(context)) out.key("context").raw(context.raw());
      if (!says_nothing(props)) out.key("forwardedProps").raw(props.raw());
      out.optional("parentRunId", parent_run);
    });
  });
  return metadata;
}

}  // namespace

Result<RunRequest> read_input(json::Value body) {
  if (!body.is_object()) return wrong("the body must be an object");
  RunRequest request;
  if (auto bad = take(read_id(body["threadId"], "threadId"), request.conversation.value)) return fail(*bad);
  if (auto bad = take(read_id(body["runId"], "runId"), request.run)) return fail(*bad);
  if (auto bad = take(read_id(body["parentRunId"], "parentRunId"), request.parent_run)) return fail(*bad);
  if (auto bad = take(read_newer(body["protocolVersion"]), request.newer)) return fail(*bad);
  if (auto bad = take(read_tools(body["tools"]), request.tools)) return fail(*bad);
  if (auto bad = take(read_metadata(body, request.parent_run), request.metadata)) return fail(*bad);
  if (auto bad = read_resume(body["resume"], request.answers)) return fail(*bad);
  if (!body["state"].absent()) request.state = body["state"].json();
  auto messages = read_messages(body["messages"]);
  if (!messages) return fail(std::move(messages.error()));
  sort_out(std::move(*messages), request);
  return request;
}

}  // namespace baton::protocol::agui

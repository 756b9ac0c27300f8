#include "protocol/agui/read_input.h"
#include "json/fields.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"
#include "protocol/agui/content.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agui {
namespace {

using base::fail;
using base::Result;
using chat::RunRequest;
using json::Fields;
using json::first_of;
using json::item_name;
using json::wrong;

// Each member may also have its name in the SDK for Python, such as `thread_id`. The client of Microsoft's
// Agent Framework sends some members under these names, and servers on that SDK read both.

// ---- Messages. Content without a member in Message goes into data parts and metadata, as described in
// protocol/chat/run_request.h.

enum class Speaker { system, developer, user, assistant, tool, reasoning, activity };

struct ReadMessage {
  Speaker speaker = Speaker::user;
  task::Message message;                     // without parts for an activity
  std::optional<chat::ClientResult> result;  // of a tool message
};

constexpr std::array<std::pair<std::string_view, Speaker>, 7> kRoles{{
    {"system", Speaker::system},
    {"developer", Speaker::developer},
    {"user", Speaker::user},
    {"assistant", Speaker::assistant},
    {"tool", Speaker::tool},
    {"reasoning", Speaker::reasoning},
    {"activity", Speaker::activity},
}};

Result<Speaker> read_role(json::Value role, const std::string& name) {
  if (!role.is_string()) return wrong(name + ".role: must be a string");
  for (const auto& [word, speaker] : kRoles) {
    if (word == role.string()) return speaker;
  }
  return wrong(name + ".role: is not an AG-UI role");
}

// Returns the client's metadata, plus the role if a Message cannot express it, and members that providers may
// need.
task::Json metadata_of(json::Value message, Speaker speaker) {
  task::Json metadata;
  json::Writer out(metadata.text);
  bool any = false;
  const auto put = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) out.member(name, text), any = true;
  };
  out.object([&] {
    if (speaker != Speaker::user && speaker != Speaker::assistant) put("role", message["role"].string());
    put("name", message["name"].string());
    put("encryptedValue", first_of(message, {"encryptedValue", "encrypted_value"}).string());
    if (!message["metadata"].is_object()) return;
    for (const json::Value member : message["metadata"]) {
      const std::string_view key = member.key();
      if (key == "role" || key == "name" || key == "encryptedValue") continue;
      out.key(key).raw(member.raw());
      any = true;
    }
  });
  return any ? std::move(metadata) : task::Json{};
}

// Writes the arguments, which are JSON in a string. Text that is not JSON stays a string.
void write_arguments(json::Writer& out, json::Value arguments) {
  if (arguments.absent()) return;
  const bool is_json =
      arguments.is_string() && json::Document::parse_view(arguments.string(), json::kInString);
  out.key("arguments").raw(is_json ? arguments.string() : arguments.raw());
}

// {"id","type":"function","function":{"name","arguments"}}
Result<task::Part> read_call(json::Value call, const std::string& name) {
  std::string id;
  if (!call.is_object()) return wrong(name + ": must be an object");
  const json::Value function = call["function"];
  Fields in(call, name + ".");
  in.id({"id"}, id, chat::kAskMax);
  if (id.empty()) in.wrong({"id"}, "is missing");
  if (!function["name"].is_string()) in.wrong({"function.name"}, "must be a string");
  task::Json data;
  json::Writer out(data.text);
  out.object([&] {
    out.key("toolCall").object([&] {
      out.member("id", id).member("name", function["name"].string());
      write_arguments(out, function["arguments"]);
    });
  });
  return in.result(task::Part::of_data(std::move(data)));
}

Result<void> add_calls(json::Value calls, const std::string& name, task::Message& message) {
  if (calls.absent()) return {};
  if (!calls.is_array()) return wrong(name + ": must be a list");
  std::size_t index = 0;
  for (const json::Value call : calls) {
    auto part = read_call(call, item_name(name, index++));
    if (!part) return fail(std::move(part.error()));
    message.parts.push_back(std::move(*part));
  }
  return {};
}

Result<chat::ClientResult> read_result(json::Value message, const std::string& name) {
  chat::ClientResult result;
  Fields in(message, name + ".");
  in.id({"toolCallId", "tool_call_id"}, result.call, chat::kAskMax);
  if (result.call.empty()) in.wrong({"toolCallId"}, "is missing");
  in.read({"content"}, read_result_content, result.content);
  in.string({"error"}, result.error);
  return in.result(std::move(result));
}

Result<ReadMessage> read_message(json::Value value, const std::string& name) {
  if (!value.is_object()) return wrong(name + ": must be an object");
  ReadMessage read;
  Fields in(value, name + ".");
  in.take(read_role(value["role"], name), read.speaker);
  in.id({"id"}, read.message.id.value);
  if (!in.good()) return in.result(std::move(read));
  task::Message& message = read.message;
  const bool agent = read.speaker == Speaker::assistant || read.speaker == Speaker::reasoning;
  message.role = agent ? task::Role::agent : task::Role::user;
  if (read.speaker == Speaker::activity) return read;
  message.metadata = metadata_of(value, read.speaker);
  if (read.speaker == Speaker::tool) {
    auto result = read_result(value, name);
    if (!result) return fail(std::move(result.error()));
    message.parts.push_back(chat::part_of(*result));
    read.result = std::move(*result);
    return read;
  }
  in.read({"content"}, read_content, message.parts);
  if (read.speaker == Speaker::assistant) {
    // Many clients send an empty content for an assistant that only calls tools.
    std::erase_if(message.parts, [](const task::Part& part) { return part == task::Part::of_text({}); });
    in.take(add_calls(first_of(value, {"toolCalls", "tool_calls"}), name + ".toolCalls", message));
  }
  return in.result(std::move(read));
}

// ---- Tools.

// A JSON Schema: an object, which some clients write as JSON text.
Result<task::Json> read_parameters(json::Value parameters, const std::string& name) {
  if (parameters.is_object()) return parameters.json();
  const std::string text = parameters.str();
  if (parameters.is_string() && text.empty()) return task::Json{};
  if (json::Document::view_of(text, json::kInString).root().is_object()) return task::Json{text};
  return wrong(name + ": must be a JSON Schema object");
}

Result<void> write_tool(json::Writer& out, json::Value tool, const std::string& name) {
  if (!tool.is_object()) return wrong(name + ": must be an object");
  std::string tool_name, description;
  task::Json parameters;
  Fields in(tool, name + ".");
  if (tool["name"].string().empty()) in.wrong({"name"}, "must be a non-empty string");
  in.string({"name"}, tool_name);
  in.string({"description"}, description);
  in.read_if_given({"parameters"}, read_parameters, parameters);
  out.object([&] {
    out.member("name", tool_name).optional("description", description).optional("parameters", parameters);
  });
  return in.result();
}

Result<task::Json> read_tools(json::Value tools) {
  task::Json read;
  if (tools.absent()) return read;
  if (!tools.is_array()) return wrong("tools: must be a list");
  if (tools.size() == 0) return read;
  Fields in(tools);
  json::Writer out(read.text);
  std::size_t index = 0;
  out.each(tools, [&](json::Value tool) {
    if (in.good()) in.take(write_tool(out, tool, item_name("tools", index++)));
  });
  return in.result(std::move(read));
}

Result<std::vector<ReadMessage>> read_messages(json::Value messages) {
  if (!messages.is_array()) return wrong("messages: must be a list");
  std::vector<ReadMessage> read;
  read.reserve(messages.size());
  std::size_t index = 0;
  for (const json::Value value : messages) {
    auto message = read_message(value, item_name("messages", index++));
    if (!message) return fail(std::move(message.error()));
    read.push_back(std::move(*message));
  }
  return read;
}

// Returns the position, from 1, of this speaker's last message; 0 if there is none.
std::size_t after_last(const std::vector<ReadMessage>& messages, Speaker speaker) {
  for (std::size_t i = messages.size(); i > 0; --i) {
    if (messages[i - 1].speaker == speaker) return i;
  }
  return 0;
}

// Separates new messages from the history. Results that are followed by a user message go into the history
// too: they may belong to a server's tool, whose result is not awaited, and they precede that message.
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
  Fields in(entry, name + ".");
  in.id({"interruptId", "interrupt_id"}, answer.ask, chat::kAskMax);
  if (answer.ask.empty()) in.wrong({"interruptId"}, "is missing");
  const std::string_view status = entry["status"].string();
  answer.cancelled = status == "cancelled";
  if (status != "resolved" && !answer.cancelled) {
    in.wrong({"status"}, "must be \"resolved\" or \"cancelled\"");
  }
  if (!answer.cancelled && !entry["payload"].absent()) answer.payload = entry["payload"].json();
  return in.result(std::move(answer));
}

Result<void> read_resume(json::Value resume, std::vector<chat::Answer>& answers) {
  if (resume.absent()) return {};
  if (!resume.is_array()) return wrong("resume: must be a list");
  std::unordered_set<std::string_view> answered;
  for (const json::Value entry : resume) {
    const std::string name = item_name("resume", answers.size());
    auto answer = read_answer(entry, name);
    if (!answer) return fail(std::move(answer.error()));
    if (!answered.insert(first_of(entry, {"interruptId", "interrupt_id"}).string()).second) {
      return wrong(name + ".interruptId: is answered twice");
    }
    answers.push_back(std::move(*answer));
  }
  return {};
}

// ---- All else.

bool says_nothing(json::Value value) {
  return value.absent() || ((value.is_array() || value.is_object()) && value.size() == 0);
}

// Returns other information for the agent: {"agui":{"context"?,"forwardedProps"?,"parentRunId"?}}.
Result<task::Json> read_metadata(json::Value body, json::Value all_props, const std::string& parent_run) {
  const json::Value context = body["context"];
  // Removes the extension's member, which one Baton server sends to another and which is not for the agent.
  const task::Json own_props = all_props.is_object() ? without_extension(all_props) : task::Json{};
  const auto kept = json::Document::view_of(own_props.text);
  const json::Value props = all_props.is_object() ? kept.root() : all_props;
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

bool is_newer(std::string_view version) {
  const std::size_t dot = version.find('.');
  return dot != std::string_view::npos && base::number_in<int>(version.substr(0, dot)).value_or(0) >= 1;
}

Result<RunRequest> read_input(json::Value body) {
  if (!body.is_object()) return wrong("the body must be an object");
  RunRequest request;
  std::string version;
  const json::Value props = first_of(body, {"forwardedProps", "forwarded_props"});
  Fields in(body);
  in.id({"threadId", "thread_id"}, request.conversation.value);
  in.id({"runId", "run_id"}, request.run);
  in.id({"parentRunId", "parent_run_id"}, request.parent_run);
  in.string({"protocolVersion", "protocol_version"}, version);
  request.newer = is_newer(version);
  in.take(read_tools(body["tools"]), request.tools);
  in.take(read_metadata(body, props, request.parent_run), request.metadata);
  in.take(read_hops(props, "forwardedProps"), request.hops);
  in.take(read_resume(body["resume"], request.answers));
  if (!body["state"].absent()) request.state = body["state"].json();
  if (!in.good()) return in.result(std::move(request));
  auto messages = read_messages(body["messages"]);
  if (!messages) return fail(std::move(messages.error()));
  const std::string_view list = body["messages"].raw();
  if (!messages->empty() && list.size() <= kSnapshotMax) request.messages.text = list;
  sort_out(std::move(*messages), request);
  return request;
}

}  // namespace baton::protocol::agui

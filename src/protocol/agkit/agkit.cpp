// AG-Kit's send-message.
#include <unordered_set>
#include <utility>

#include "json/fields.h"
#include "json/writer.h"
#include "protocol/chat/protocol.h"
#include "protocol/chat/source_list.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agkit {
namespace {

using base::fail;
using base::Result;
using json::Fields;
using json::item_name;
using json::wrong;

// Tool results are text. The agent gets text that is a JSON object or list as JSON. All other text, even if
// it is a JSON number or boolean, stays a string, because it may be meant as words.
task::Json content_of(const std::string& text) {
  const auto document = json::Document::view_of(text, json::kInString);
  const json::Value content = document.root();
  return content.is_object() || content.is_array() ? content.json() : task::Json{json::string_of(text)};
}

Result<chat::ClientResult> read_result(json::Value message, const std::string& name) {
  chat::ClientResult result;
  std::string content;
  Fields in(message, name + ".");
  in.needed_string({"toolCallId"}, result.call);
  in.needed_id({"toolCallId"}, result.call, chat::kAskMax);
  in.needed_string({"content"}, content);
  result.content = content_of(content);
  return in.result(std::move(result));
}

Result<void> read_messages(json::Value messages, chat::RunRequest& request) {
  if (!messages.is_array()) return wrong("messages: must be a list of messages");
  std::string others;
  std::size_t index = 0;
  for (const json::Value message : messages) {
    const std::string name = item_name("messages", index++);
    if (!message.is_object()) return wrong(name + ": must be an object");
    if (!message["role"].is_string()) return wrong(name + ".role: must be a string");
    const std::string_view role = message["role"].string();
    if (role == "user") {
      if (!message["content"].is_string()) return wrong(name + ".content: must be a string");
      request.message.parts.push_back(task::Part::of_text(message["content"].str()));
    } else if (role == "tool") {
      auto result = read_result(message, name);
      if (!result) return fail(result.error());
      request.results.push_back(std::move(*result));
    } else {
      others.append(others.empty() ? "" : ",").append(message.raw());
    }
  }
  if (!others.empty()) request.metadata.text = R"({"agkit":{"messages":[)" + others + "]}}";
  return {};
}

// A JSON Schema: an object, or one as JSON text.
Result<task::Json> read_parameters(json::Value parameters, const std::string& name) {
  if (parameters.is_object()) return parameters.json();
  const std::string text = parameters.str();
  const auto document = json::Document::view_of(text, json::kInString);
  if (document.root().is_object()) return document.root().json();
  return wrong(name + ": must be a JSON Schema as JSON text or as an object");
}

Result<void> read_tool(json::Value tool, const std::string& name, json::Writer& out) {
  if (!tool.is_object()) return wrong(name + ": must be an object");
  std::string tool_name, description;
  task::Json parameters;
  Fields in(tool, name + ".");
  in.string({"name"}, tool_name);
  if (tool_name.empty()) in.wrong({"name"}, "must be a non-empty string");
  in.string({"description"}, description);
  in.read_if_given({"parameters"}, read_parameters, parameters);
  out.object([&] {
    out.member("name", tool_name).optional("description", description).optional("parameters", parameters);
  });
  return in.result();
}

Result<task::Json> read_tools(json::Value tools) {
  task::Json list;
  if (tools.absent()) return list;
  if (!tools.is_array()) return wrong("tools: must be a list of tools");
  json::Writer out(list.text);
  std::size_t index = 0;
  Result<void> read;
  out.array([&] {
    for (const json::Value tool : tools) {
      read = read_tool(tool, item_name("tools", index++), out);
      if (!read) return;
    }
  });
  if (!read) return fail(read.error());
  return list;
}

Result<chat::Answer> read_resume(json::Value resume, const std::string& name) {
  if (!resume.is_object()) return wrong(name + ": must be an object");
  chat::Answer answer;
  Fields in(resume, "resume.");
  in.needed_string({"interruptId"}, answer.ask);
  in.id({"interruptId"}, answer.ask, chat::kAskMax);
  const json::Value payload = resume["payload"];
  if (payload.missing()) in.wrong({"payload"}, "is missing");
  answer.payload = payload.json();
  if (!payload.is_string()) return in.result(std::move(answer));
  const std::string text = payload.str();
  if (const auto document = json::Document::parse_view(text, json::kInString))
    answer.payload = document->root().json();
  return in.result(std::move(answer));
}

// The texts of several user messages become parts of one message. System and assistant messages have no place
// in a RunRequest and go unchanged into its metadata: {"agkit":{"messages":[...]}}.
Result<chat::RunRequest> read_request(json::Value body) {
  if (!body.is_object()) return wrong("body: must be an object");
  chat::RunRequest request;
  Fields in(body);
  in.id({"conversationId"}, request.conversation.value);
  const json::Value messages = body["messages"];
  if (messages.absent() && body["resume"].absent()) in.wrong({"messages"}, "is missing");
  if (!messages.absent()) in.take(read_messages(messages, request));
  if (!body["resume"].absent()) in.read({"resume"}, read_resume, request.answers.emplace_back());
  in.take(read_tools(body["tools"]), request.tools);
  return in.result(std::move(request));
}

constexpr std::string_view kNoResult = "The tool returned no result.";

// The number of bytes in standard base64 with padding.
std::size_t size_behind(std::string_view base64) {
  const std::size_t padding = base64.ends_with("==") ? 2 : base64.ends_with('=') ? 1 : 0;
  return base64.size() / 4 * 3 - padding;
}

// The protocol has only text: a file is shown by its name, and data as its JSON.
std::string line_for(const task::Part& part) {
  const std::string name = part.filename.empty() ? "file" : part.filename;
  switch (part.kind) {
    case task::Part::Kind::text:
    case task::Part::Kind::data:
      return part.content;
    case task::Part::Kind::url:
      return part.filename.empty() ? part.content : name + ": " + part.content;
    case task::Part::Kind::raw:
      break;
  }
  const std::string type = part.media_type.empty() ? "" : part.media_type + ", ";
  return name + " (" + type + std::to_string(size_behind(part.content)) + " bytes)";
}

template <class F>
void add_event(chat::Frames& out, std::string_view type, F&& members) {
  json::Writer writer(out.add());
  writer.object([&] {
    writer.member("type", type);
    members(writer);
  });
}

void add_text(chat::Frames& out, std::string_view piece) {
  add_event(out, "text", [&](json::Writer& event) { event.member("content", piece); });
}

void add_interrupt(chat::Frames& out, const chat::Question& question) {
  add_event(out, "interrupt", [&](json::Writer& event) {
    event.member("id", question.id).member("reason", question.for_auth ? "auth" : "input_required");
    event.key("payload").object([&] {
      event.member("prompt", chat::prompt_of(question)).optional("schema", question.schema);
      event.optional("url", question.url).optional("details", question.details);
    });
  });
}

// Writes the events without a break: the client looks for a call only in the last message.
void add_call(chat::Frames& out, std::string_view id, std::string_view name, std::string_view arguments) {
  add_event(out, "tool-call-start",
            [&](json::Writer& event) { event.member("toolCallId", id).member("toolCallName", name); });
  add_event(out, "tool-call-args",
            [&](json::Writer& event) { event.member("toolCallId", id).member("delta", arguments); });
  add_event(out, "tool-call-end", [&](json::Writer& event) { event.member("toolCallId", id); });
}

void add_result(chat::Frames& out, std::string_view id, std::string_view text) {
  add_event(out, "tool-result",
            [&](json::Writer& event) { event.member("toolCallId", id).member("result", text); });
}

void show_interrupt(const chat::Question& question, chat::Frames& out) {
  add_text(out, chat::prompt_of(question));
  add_interrupt(out, question);
}

// View: a run as AG-Kit's events.
//
// The client joins all text of a run, so a blank line separates replies. A server tool's call that is still
// open when the run ends or an attempt is withdrawn gets a result that says so, because an open call would
// keep the client from ever sending the results of its own tools. Threads: one at a time.
class View final : public chat::RunView {
 public:
  explicit View(chat::RunFacts facts) : facts_(std::move(facts)) {}

  void show(const task::Event& event, chat::Frames& out) override {
    if (over_) return;
    number_ = event.number;
    std::visit([&](const auto& body) { show_one(body, out); }, event.body);
  }

 private:
  void show_one(const task::StatusChanged& changed, chat::Frames& out) {
    const task::State state = changed.status.state;
    if (!task::is_stopped(state)) return;
    close_calls(out);
    if (task::is_waiting(state)) {
      ask(chat::question_in(changed), out);
    } else if (state == task::State::completed || state == task::State::canceled) {
      if (changed.status.message) show_message(*changed.status.message, out);
    } else {
      const std::string why = chat::reason_of(changed);
      unit_.clear();
      say({}, why, out);  // clients skip `error`
      add_event(out, "error", [&](json::Writer& event) { event.member("error", why); });
    }
    out.add() = "[DONE]";
    over_ = true;
  }

  void show_one(const task::TextDelta& delta, chat::Frames& out) {
    if (delta.first) unit_.clear();
    say(delta.reply.value, delta.text, out);
  }

  void show_one(const task::ArtifactChunk& chunk, chat::Frames& out) {
    bool continues = chunk.append;
    for (const task::Part& part : chunk.artifact.parts) {
      const bool is_text = part.kind == task::Part::Kind::text;
      if (!continues || !is_text) unit_.clear();
      say(chunk.artifact.id.value, line_for(part), out);
      if (!is_text) unit_.clear();
      continues = false;
    }
  }

  void show_one(const task::MessageAdded& added, chat::Frames& out) {
    if (added.message.role == task::Role::agent) show_message(added.message, out);
  }

  void show_one(const task::Withdrawn&, chat::Frames& out) {
    close_calls(out);
    unit_.clear();
  }

  template <class Other>
  void show_one(const Other&, chat::Frames&) {}

  void show_message(const task::Message& message, chat::Frames& out) {
    unit_.clear();
    say({}, task::text_of(message), out);
    for (const task::Part& part : message.parts) {
      if (part.kind == task::Part::Kind::text) continue;
      say({}, line_for(part), out);
    }
  }

  void show_one(const task::ToolCall& call, chat::Frames& out) {
    std::string shown = call.id;
    const bool repeats = call_ids_.contains(call.id);
    if (repeats && !call.by_client) shown += "-" + std::to_string(number_.value);
    call_ids_.insert(shown);
    add_call(out, shown, call.name, call.arguments.empty() ? "{}" : call.arguments.text);
    if (!call.by_client) open_calls_.add(call.id, std::move(shown));
  }

  void show_one(const task::ToolResult& result, chat::Frames& out) {
    const std::string* shown = open_calls_.find(result.id);
    if (shown == nullptr) return;
    add_result(out, *shown, chat::text_of(result));
    open_calls_.remove(result.id, *shown);
    after_text_ = false;
  }

  void ask(const chat::Question& question, chat::Frames& out) {
    if (question.for_tool) return;
    if (chat::asks_by_tool(facts_, question)) {
      return add_call(out, question.id, facts_.confirm_tool, chat::arguments_of(question));
    }
    unit_.clear();
    // Clients show an interrupt only inside a message, so this text begins one.
    say({}, chat::prompt_of(question), out);
    add_interrupt(out, question);
  }

  // Shows text of `unit`, after a blank line if it directly follows other text.
  void say(const std::string& unit, std::string_view text, chat::Frames& out) {
    if (text.empty()) return;
    const bool continues = !unit.empty() && unit == unit_;
    if (after_text_ && !continues) add_text(out, "\n\n");
    add_text(out, text);
    unit_ = unit;
    after_text_ = true;
  }

  void close_calls(chat::Frames& out) {
    for (const auto& call : open_calls_) add_result(out, call.value, kNoResult);
    if (!open_calls_.empty()) after_text_ = false;
    open_calls_.clear();
  }

  const chat::RunFacts facts_;
  // The shown ids of server tools' calls without a result, by the agent's id. The two differ if the call
  // repeats an id of this run.
  chat::SourceList<std::string> open_calls_;
  std::unordered_set<std::string> call_ids_;
  task::EventNumber number_{};  // of the event that is shown
  std::string unit_;            // the unit of the last text
  bool after_text_ = false;     // the client would append further text to the last
  bool over_ = false;
};

class AgKit final : public chat::Protocol {
 public:
  Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }
  // Clients keep messages and calls themselves. A call that is shown twice would have its arguments doubled.
  void show_conversation(const chat::RunFacts& facts, const std::vector<task::Message>*,
                         const std::vector<chat::Question>& open, chat::Frames& out) const override {
    for (const chat::Question& question : open) {
      if (!question.for_tool && !chat::asks_by_tool(facts, question)) show_interrupt(question, out);
    }
    out.add() = "[DONE]";
  }
};

}  // namespace
}  // namespace baton::protocol::agkit

namespace baton::protocol {

const chat::Protocol& chat::agkit_protocol() {
  static const agkit::AgKit the_one;
  return the_one;
}

}  // namespace baton::protocol

// The Agent Server stream API.
#include <unordered_map>
#include <unordered_set>

#include "json/document.h"
#include "json/fields.h"
#include "protocol/agent_api/content.h"
#include "protocol/chat/names.h"
#include "protocol/chat/protocol.h"
#include "protocol/chat/source_list.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agent_server {
namespace {

using base::fail;
using base::Result;
using json::wrong;
using task::Part;

Result<void> read_input(json::Value input, const std::string& user, chat::RunRequest& request) {
  if (!input.is_array() || input.size() == 0) {
    return wrong("input: must be a list with at least one message");
  }
  std::string others;
  std::size_t index = 0;
  for (const json::Value item : input) {
    const std::string name = "input[" + std::to_string(index++) + "]";
    if (!item.is_object()) return wrong(name + ": must be an object");
    if (!item["role"].is_string()) return wrong(name + ".role: must be a string");
    if (item["role"].string() != "user") {
      others.append(others.empty() ? "" : ",").append(item.raw());
      continue;
    }
    auto parts = agent_api::read_contents(item["content"], name + ".content");
    if (!parts) return fail(parts.error());
    for (task::Part& part : *parts) request.message.parts.push_back(std::move(part));
  }
  if (request.message.parts.empty()) return wrong("input: must have a user message");
  json::Writer out(request.metadata.text);
  out.object([&] {
    out.key("agent_server").object([&] {
      out.member("user_id", user);
      if (!others.empty()) out.key("input").raw("[" + others + "]");
    });
  });
  return {};
}

// The contents of several user items become parts of one message. Items of other roles have no place in a
// RunRequest and go unchanged into its metadata: {"agent_server":{"input":[...]}}.
Result<chat::RunRequest> read_request(json::Value body) {
  if (!body.is_object()) return wrong("body: must be an object");
  chat::RunRequest request;
  std::string user;
  json::Fields in(body);
  in.needed_string({"user_id"}, user);
  in.needed_id({"user_id"}, user);
  in.needed_string({"session_id"}, request.conversation.value);
  in.needed_id({"session_id"}, request.conversation.value);
  if (in.good()) in.take(read_input(body["input"], user, request));
  return in.result(std::move(request));
}

constexpr std::string_view kCompleted = "completed";
constexpr std::string_view kIncomplete = "incomplete";

// Writes a content as in a finished message: one of the Agent API, with the name of its object.
void write_content(json::Writer& out, const Part& part) {
  out.object([&] {
    out.member("object", "content");
    agent_api::write_content(out, part);
  });
}

// Returns the arguments of a tool as an object. Wraps any other JSON as {"value": ...}.
std::string as_input(const task::Json& arguments) {
  if (arguments.empty()) return "{}";
  if (json::Document::view_of(arguments.text).root().is_object()) return arguments.text;
  return R"({"value":)" + arguments.text + "}";
}

// No client of this protocol runs tools, so a call for one is shown in words.
std::string request_for(const task::ToolCall& call) {
  const std::string arguments = call.arguments.empty() ? "{}" : call.arguments.text;
  return "The agent is waiting for the result of the tool \"" + call.name + "\" with " + arguments + ".";
}

// View: a run as the Agent Server's events.
//
// A response's id is made from the task's, plus the number of the run's first event unless that is the task's
// first. A message's id is made from its reply's or artifact's, plus the number of its first event if the run
// has used that id before (a reply that began again). Threads: one at a time.
class View final : public chat::RunView {
 public:
  View(chat::RunFacts facts, std::string response_event)
      : facts_(std::move(facts)), response_event_(std::move(response_event)) {}

  void show(const task::Event& event, chat::Frames& out) override {
    if (over_) return;
    now_ = event.number;
    if (response_id_.empty()) begin(event, out);
    std::visit([&](const auto& body) { show_one(body, out); }, event.body);
  }

  bool keeps_output() const override { return true; }

 private:
  struct Content {
    bool is_text = true;
    std::string text;  // the text so far, or the content's JSON
  };
  struct Message {
    std::string id;
    std::vector<Content> contents;
  };
  struct Failure {
    std::string_view code;
    std::string message;
  };

  void show_one(const task::StatusChanged& changed, chat::Frames& out) {
    const task::State state = changed.status.state;
    if (state == task::State::working) go_to_work(out);
    if (!task::is_stopped(state)) return;
    const bool well = state == task::State::completed || task::is_waiting(state);
    end_all(well ? kCompleted : kIncomplete, out);
    if (task::is_waiting(state)) {
      ask(chat::question_in(changed), out);
    } else if (state == task::State::completed && changed.status.message) {
      say(changed.status.message->parts, out);
    }
    over_ = true;
    if (well) return respond(kCompleted, out);
    if (state == task::State::canceled && !changed.status.message) return respond("canceled", out);
    const std::string_view name = task::name_of(state);
    const Failure failure{name, chat::reason_of(changed)};
    respond(name, out, &failure);
  }

  void show_one(const task::TextDelta& delta, chat::Frames& out) {
    const std::string& id = delta.reply.value;
    if (task::is_withdrawal(delta)) return give_up(id, out);
    add_text(message_for(id, id, delta.first, out), delta.text, out);
    if (delta.last) end(id, kCompleted, out);
  }

  void show_one(const task::ArtifactChunk& chunk, chat::Frames& out) {
    const std::string& id = chunk.artifact.id.value;
    const std::string wish = chat::is_unique(id, facts_.task) ? id : own_id();
    Message& message = message_for(id, wish, !chunk.append, out);
    bool continues = chunk.append;
    for (const Part& part : chunk.artifact.parts) {
      if (continues && agent_api::is_plain_text(part)) {
        add_text(message, part.content, out);
      } else {
        add_part(message, part, out);
      }
      continues = false;
    }
    if (chunk.last_chunk) end(id, kCompleted, out);
  }

  void show_one(const task::ToolCall& call, chat::Frames& out) {
    if (call.by_client) return say({Part::of_text(request_for(call))}, out);
    calls_[call.id] = call.name;
    std::string data;
    json::Writer writer(data);
    writer.object([&] {
      writer.member("type", "tool_use").member("id", call.id).member("name", call.name);
      writer.key("input").raw(as_input(call.arguments));
    });
    add_tool_use("plugin_call", data, out);
  }

  void show_one(const task::ToolResult& result, chat::Frames& out) {
    const auto call = calls_.find(result.id);
    std::string data;
    json::Writer writer(data);
    writer.object([&] {
      writer.member("type", "tool_result").member("id", result.id);
      writer.member("name", call == calls_.end() ? std::string() : call->second);
      writer.key("output").array([&] {
        writer.object([&] { writer.member("type", "text").member("text", chat::text_of(result)); });
      });
    });
    add_tool_use("plugin_call_output", data, out);
  }

  void show_one(const task::MessageAdded& added, chat::Frames& out) {
    if (added.message.role == task::Role::agent) say(added.message.parts, out);
  }

  void show_one(const task::Withdrawn& withdrawn, chat::Frames& out) {
    end_all(kIncomplete, out);
    for (const task::ArtifactId& id : withdrawn.artifacts) forget(id.value);
  }

  template <class Other>
  void show_one(const Other&, chat::Frames&) {}

  void ask(const chat::Question& question, chat::Frames& out) {
    if (question.for_tool) return;
    std::string prompt = chat::prompt_of(question);
    if (!question.url.empty()) prompt += "\n" + question.url;
    std::vector<Part> parts{Part::of_text(std::move(prompt))};
    const auto details = json::Document::view_of(question.details.text);
    for (const json::Value detail : details.root()) parts.push_back(Part::of_data(detail.json()));
    say(parts, out);
  }

  // Shows parts that were not streamed as a message of their own.
  void say(const std::vector<Part>& parts, chat::Frames& out) {
    if (parts.empty()) return;
    Message& message = begin_message({}, own_id(), out);
    for (const Part& part : parts) add_part(message, part, out);
    end({}, kCompleted, out);
  }

  // Returns the open message for `source`. If there is none, or if `anew`, begins one whose id is the second
  // argument, if that id is free.
  Message& message_for(const std::string& source, const std::string& wish, bool anew, chat::Frames& out) {
    if (anew) give_up(source, out);
    if (Message* message = open_.find(source)) return *message;
    return begin_message(source, wish, out);
  }

  Message& begin_message(std::string source, std::string id, chat::Frames& out) {
    go_to_work(out);
    Message& message = open_.add(std::move(source), {new_id("msg_" + std::move(id)), {}});
    const std::int64_t number = sequence_++;
    if (out.skips_next()) return message;
    json::Writer writer(out.add("message"));
    writer.object([&] {
      head(writer, number, "message", "in_progress").member("id", message.id);
      writer.member("type", "message").member("role", "assistant");
    });
    return message;
  }

  void add_text(Message& message, std::string_view text, chat::Frames& out) {
    if (message.contents.empty() || !message.contents.back().is_text) message.contents.push_back({});
    if (text.empty()) return;
    message.contents.back().text += text;
    const std::int64_t number = sequence_++;
    if (out.skips_next()) return;
    json::Writer writer(out.add("text"));
    writer.object([&] {
      head(writer, number, "content", "in_progress").member("type", "text");
      writer.member("index", static_cast<std::int64_t>(message.contents.size()) - 1).member("delta", true);
      writer.member("msg_id", message.id).member("text", text);
    });
  }

  void add_part(Message& message, const Part& part, chat::Frames& out) {
    message.contents.push_back({});
    if (!agent_api::is_plain_text(part)) {
      Content& content = message.contents.back();
      content.is_text = false;
      json::Writer writer(content.text);
      return write_content(writer, part);
    }
    add_text(message, part.content, out);
  }

  // Ends an open message as completed or incomplete.
  void end(const std::string& source, std::string_view status, chat::Frames& out) {
    Message* const message = open_.find(source);
    if (message == nullptr) return;
    const std::int64_t number = sequence_++;
    const bool is_complete = status == kCompleted, is_skipped = out.skips_next();
    if (is_complete || !is_skipped) {
      std::string json = ended(std::move(*message), number, status);
      if (!is_skipped) out.add("message") = json;
      if (is_complete) completed_.add(source, std::move(json));
    }
    open_.remove(source);
  }

  // The message as it is shown at its end.
  static std::string ended(Message message, std::int64_t number, std::string_view status) {
    std::string json;
    json::Writer writer(json);
    writer.object([&] {
      head(writer, number, "message", status).member("id", message.id);
      writer.member("type", "message").member("role", "assistant").key("content").array([&] {
        for (Content& content : message.contents) {
          content.is_text ? write_content(writer, Part::of_text(std::move(content.text)))
                          : static_cast<void>(writer.raw(content.text));
        }
      });
    });
    return json;
  }

  void end_all(std::string_view status, chat::Frames& out) {
    while (!open_.empty()) end(std::string(open_.front().source), status, out);
  }

  // Ends what is shown of `source`, which is replaced or withdrawn.
  void give_up(const std::string& source, chat::Frames& out) {
    end(source, kIncomplete, out);
    forget(source);
  }

  // Removes the completed messages of `source` from the output.
  void forget(const std::string& source) { completed_.remove(source); }

  void add_tool_use(std::string_view kind, std::string_view data, chat::Frames& out) {
    go_to_work(out);
    std::string json;
    json::Writer writer(json);
    writer.object([&] {
      head(writer, sequence_++, kind, kCompleted);
      writer.member("id", new_id("msg_" + own_id()));
      writer.member("type", kind).member("role", "assistant");
      writer.key("content").array([&] {
        writer.object([&] {
          writer.member("object", "content").member("type", "data").member("delta", false);
          writer.key("data").raw(data);
        });
      });
    });
    if (!out.skips_next()) out.add(kind) = json;
    completed_.add({}, std::move(json));
  }

  void begin(const task::Event& event, chat::Frames& out) {
    response_id_ = "response_" + facts_.task.value;
    if (event.number.value > 1) response_id_ += "-" + std::to_string(event.number.value);
    created_at_ = base::to_ms(event.at) / 1000;
    respond("created", out);
  }

  void go_to_work(chat::Frames& out) {
    if (!works_) respond("in_progress", out);
    works_ = true;
  }

  void respond(std::string_view status, chat::Frames& out, const Failure* failure = nullptr) {
    const std::int64_t number = sequence_++;
    if (out.skips_next()) return;
    json::Writer writer(out.add(response_event_));
    writer.object([&] {
      head(writer, number, "response", status).member("id", response_id_).member("created_at", created_at_);
      if (failure) {
        writer.key("error").object(
            [&] { writer.member("code", failure->code).member("message", failure->message); });
      }
      if (!over_) return;
      writer.key("output").each(completed_, [&](const auto& object) { writer.raw(object.value); });
    });
  }

  // The id for the event being shown.
  std::string own_id() const { return facts_.task.value + "-" + std::to_string(now_.value); }

  // Returns an id that is new in this run: the argument, followed by the event's number if it is in use.
  std::string new_id(std::string wish) {
    while (!ids_.insert(wish).second) wish += "-" + std::to_string(now_.value);
    return wish;
  }

  // Writes the members that each object begins with.
  static json::Writer& head(json::Writer& out, std::int64_t number, std::string_view object,
                            std::string_view status) {
    return out.member("sequence_number", number).member("object", object).member("status", status);
  }

  const chat::RunFacts facts_;
  const std::string response_event_;
  std::string response_id_;
  std::int64_t created_at_ = 0;
  std::int64_t sequence_ = 0;
  task::EventNumber now_;  // the event being shown
  bool works_ = false;     // in_progress was shown
  bool over_ = false;
  chat::SourceList<Message> open_;           // messages that are not streamed have no source
  chat::SourceList<std::string> completed_;  // the final response's output, as JSON
  std::unordered_set<std::string> ids_;
  std::unordered_map<std::string, std::string> calls_;  // tool names by call id
};

class AgentServer final : public chat::Protocol {
 public:
  explicit AgentServer(std::string response_event) : response_event_(std::move(response_event)) {}

  Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts, response_event_);
  }

 private:
  const std::string response_event_;
};

}  // namespace
}  // namespace baton::protocol::agent_server

namespace baton::protocol {

std::unique_ptr<chat::Protocol> chat::make_agent_server_protocol(std::string response_event) {
  return std::make_unique<agent_server::AgentServer>(std::move(response_event));
}

}  // namespace baton::protocol

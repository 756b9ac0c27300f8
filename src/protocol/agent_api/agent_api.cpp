// AgentScope's Agent API.
#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/text.h"
#include "json/document.h"
#include "protocol/agent_api/content.h"
#include "protocol/agent_api/messages.h"
#include "protocol/agent_api/request.h"
#include "protocol/chat/protocol.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::agent_api {
namespace {

struct Count {
  std::string_view name;  // here
  std::string_view ours;
  bool summed;
};
constexpr std::array kCounts{
    Count{"input_tokens", "inputTokens", true},
    Count{"output_tokens", "outputTokens", true},
    Count{"total_tokens", "totalTokens", true},
    Count{"reasoning_tokens", "reasoningTokens", false},
    Count{"input_cached_tokens", "cachedInputTokens", false},
};

void write_detail(json::Writer& out, json::Value used) {
  out.object([&] {
    for (const std::string_view name : {"provider", "model"}) {
      if (used[name].is_string()) out.member(name, used[name].string());
    }
    for (const Count& count : kCounts) {
      if (const auto number = used[count.ours].integer()) out.member(count.name, *number);
    }
  });
}

// Returns nullopt if any count is missing, because the sum of the others would look like the total.
std::optional<std::int64_t> sum_of(const std::vector<json::Document>& used, std::string_view name) {
  std::int64_t sum = 0;
  for (const json::Document& one : used) {
    const auto number = one.root()[name].integer();
    if (!number || __builtin_add_overflow(sum, *number, &sum)) return std::nullopt;
  }
  return sum;
}

void write_usage(json::Writer& out, const std::vector<task::Json>& used) {
  std::vector<json::Document> documents;
  for (const task::Json& one : used) {
    if (auto document = json::Document::parse_view(one.text)) documents.push_back(std::move(*document));
  }
  out.object([&] {
    for (const Count& count : kCounts) {
      if (!count.summed) continue;
      if (const auto sum = sum_of(documents, count.ours)) out.member(count.name, *sum);
    }
    out.key("details").each(documents, [&](const json::Document& one) { write_detail(out, one.root()); });
  });
}

using task::State;

std::int64_t seconds(base::Timestamp at) {
  return std::chrono::floor<std::chrono::seconds>(at.time_since_epoch()).count();
}

std::string of_reply(const task::ArtifactId& id) {
  return "reply:" + id.value;
}
std::string source_of(const task::TextDelta& piece) {
  return of_reply(piece.reply);
}
std::string source_of(const task::ReasoningDelta& piece) {
  return "span:" + piece.span.value;
}

// Tool outputs are strings. A JSON string becomes its text; any other JSON stays unchanged.
std::string as_text(const task::Json& json) {
  const auto document = json::Document::parse_view(json.text);
  return document && document->root().is_string() ? document->root().str() : json.text;
}

// A message begins with its first content, because clients draw an empty message as an empty bubble.
bool has_content(const std::vector<task::Part>& parts) {
  return std::any_of(parts.begin(), parts.end(),
                     [](const task::Part& part) { return !is_plain_text(part) || !part.content.empty(); });
}

task::Json artifact_metadata(const task::Artifact& artifact) {
  task::Json metadata;
  json::Writer out(metadata.text);
  out.object([&] {
    out.member("artifact_id", artifact.id.value).optional("name", artifact.name);
    out.optional("description", artifact.description);
  });
  return metadata;
}

task::Json approval_of(const chat::Question& question) {
  std::string arguments;
  json::Writer inner(arguments);
  inner.object([&] {
    inner.member("message", question.prompt).optional("schema", question.schema);
    inner.optional("url", question.url).optional("details", question.details);
  });
  task::Json data;
  json::Writer out(data.text);
  out.object([&] {
    out.member("id", question.id).member("name", question.for_auth ? "authorize" : "ask");
    out.member("arguments", arguments).member("server_label", "baton");
  });
  return data;
}

std::string_view status_named(State state) {
  switch (state) {
    case State::failed:
      return "failed";
    case State::rejected:
      return "rejected";
    case State::canceled:
      return "canceled";
    default:
      return "completed";
  }
}

// View: a run as one response of the Agent API.
//
// It shows messages, reasoning, tool calls and artifacts. Shared state, steps, progress notes, activities and
// custom events are left out: the protocol has no place for them, and its clients draw every message.
class View final : public chat::RunView {
 public:
  explicit View(const chat::RunFacts& facts) : facts_(facts), messages_(facts.task.value), id_(facts.run) {}

  void show(const task::Event& event, chat::Frames& out) override {
    if (over_) return;
    out_ = &out;
    messages_.begin_event(event.number, out);
    now_ = seconds(event.at);
    if (!begun_) begin(event);
    std::visit([&](const auto& body) { show_one(body); }, event.body);
  }

  bool keeps_output() const override { return true; }

 private:
  void begin(const task::Event& event) {
    begun_ = true;
    created_at_ = now_;
    if (id_.empty()) {
      id_ = "response_" + facts_.task.value;
      if (event.number.value > 1) id_ += "-" + std::to_string(event.number.value);
    }
    show_response("created");
  }

  Messages::Open& begin_message(MessageKind kind) {
    show_in_progress();
    return messages_.begin(std::move(kind));
  }

  void show_one(const task::StatusChanged& changed) {
    if (changed.status.state == State::working) show_in_progress();
    if (task::is_stopped(changed.status.state)) finish(changed);
  }

  // The caller already has its own messages.
  void show_one(const task::MessageAdded& added) {
    if (added.message.role == task::Role::agent) show_said(added.message);
  }

  void show_one(const task::TextDelta& piece) { show_piece(piece, MessageKind{}); }

  void show_one(const task::ReasoningDelta& piece) { show_piece(piece, MessageKind{"reasoning"}); }

  void show_one(const task::ArtifactChunk& chunk) {
    const std::vector<task::Part>& parts = chunk.artifact.parts;
    const std::string source = of_reply(chunk.artifact.id);
    if (!chunk.append) messages_.forget(source);
    Messages::Open* message = messages_.find(source);
    if (!message && has_content(parts)) {
      message = &begin_message({"message", "assistant", source, artifact_metadata(chunk.artifact)});
    }
    if (!message) return;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      // Text may come chunk by chunk: the last text of one chunk continues in the first of the next.
      if (i > 0) messages_.end_text(*message);
      if (is_plain_text(parts[i])) {
        messages_.add_text(*message, parts[i].content);
      } else {
        messages_.add_part(*message, parts[i]);
      }
    }
    if (chunk.last_chunk) messages_.complete(*message);
  }

  void show_one(const task::ToolCall& call) {
    calls_[call.id] = call.name;
    task::Json data;
    json::Writer out(data.text);
    out.object([&] {
      out.member("call_id", call.id).member("name", call.name);
      out.member("arguments", call.arguments.empty() ? "{}" : std::string_view(call.arguments.text));
    });
    show_data(MessageKind{call.by_client ? "function_call" : "plugin_call"}, std::move(data));
  }

  void show_one(const task::ToolResult& result) {
    const auto name = calls_.find(result.id);
    task::Json data;
    json::Writer out(data.text);
    out.object([&] {
      out.member("call_id", result.id);
      if (name != calls_.end()) out.member("name", name->second);
      out.member("output", result.content.empty() ? result.error : as_text(result.content));
      out.optional("error", result.error);
    });
    show_data(MessageKind{"plugin_call_output", "tool"}, std::move(data));
  }

  void show_one(const task::Withdrawn& withdrawn) {
    messages_.give_up_all();
    for (const task::ArtifactId& id : withdrawn.artifacts) messages_.forget(of_reply(id));
  }

  void show_one(const task::Usage& usage) { used_.push_back(usage.used); }

  template <class Other>
  void show_one(const Other&) {}

  template <class Delta>
  void show_piece(const Delta& piece, MessageKind kind) {
    kind.source = source_of(piece);
    if (piece.first) messages_.forget(kind.source);
    Messages::Open* message = messages_.find(kind.source);
    if (!message && !piece.text.empty()) message = &begin_message(std::move(kind));
    if (!message) return;
    messages_.add_text(*message, piece.text);
    if (piece.last) messages_.complete(*message);
  }

  void show_said(const task::Message& said) {
    if (!has_content(said.parts)) return;
    Messages::Open& message = begin_message(MessageKind{});
    messages_.add_parts(message, said.parts);
    messages_.complete(message);
  }

  // Shows the prompt for people, then the request for programs.
  void show_question(const task::StatusChanged& waiting) {
    const chat::Question question = chat::question_in(waiting);
    if (question.for_tool) return;
    task::Message prompt;
    if (waiting.status.message) {
      for (const task::Part& part : waiting.status.message->parts) {
        if (part.kind != task::Part::Kind::data) prompt.parts.push_back(part);
      }
    }
    if (!base::contains(question.prompt, question.url)) {
      prompt.parts.push_back(task::Part::of_text(question.url));
    }
    show_said(prompt);
    if (!question.id.empty()) show_data(MessageKind{"mcp_approval_request"}, approval_of(question));
  }

  // Shows a message whose only content is an object of data.
  void show_data(MessageKind kind, task::Json data) {
    Messages::Open& message = begin_message(std::move(kind));
    messages_.add_part(message, task::Part::of_data(std::move(data)));
    messages_.complete(message);
  }

  void show_in_progress() {
    if (!std::exchange(is_in_progress_, true)) show_response("in_progress");
  }

  // Messages that are open when a run fails or is canceled are not completed.
  void finish(const task::StatusChanged& stopped) {
    const State state = stopped.status.state;
    if (state == State::completed || task::is_waiting(state)) {
      show_in_progress();
      messages_.complete_all();
      if (task::is_waiting(state)) show_question(stopped);
      if (state == State::completed && stopped.status.message) show_said(*stopped.status.message);
    }
    show_response(status_named(state), &stopped);
    over_ = true;
  }

  void show_response(std::string_view status, const task::StatusChanged* stopped = nullptr) {
    const std::int64_t number = messages_.next_number();
    if (out_->skips_next()) return;
    json::Writer out(out_->add());
    out.object([&] {
      out.member("sequence_number", number).member("object", "response");
      out.member("status", status).member("id", id_).member("created_at", created_at_);
      if (stopped) {
        const State state = stopped->status.state;
        if (state == State::failed || state == State::rejected) {
          std::string text =
              stopped->status.message ? task::text_of(*stopped->status.message) : std::string();
          if (text.empty())
            text = state == State::failed ? "the agent failed" : "the agent rejected the request";
          out.key("error").object([&] { out.member("code", status).member("message", text); });
        }
        out.member("completed_at", now_);
        messages_.write_output(out);
        if (!used_.empty()) {
          out.key("usage");
          write_usage(out, used_);
        }
      }
      out.optional("session_id", facts_.conversation.value);
    });
  }

  const chat::RunFacts facts_;
  Messages messages_;
  std::string id_;
  std::int64_t created_at_ = 0, now_ = 0;  // seconds
  bool begun_ = false, is_in_progress_ = false, over_ = false;
  std::map<std::string, std::string> calls_;  // tool names by call id
  std::vector<task::Json> used_;
  chat::Frames* out_ = nullptr;
};

// Keeps the defaults of Protocol for answers in words and one run at a time.
class AgentApi final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }
  // A client stops a run explicitly, by POST /stop.
  bool leaving_cancels() const override { return false; }
};

}  // namespace
}  // namespace baton::protocol::agent_api

namespace baton::protocol {

const chat::Protocol& chat::agent_api_protocol() {
  static const agent_api::AgentApi agent_api;
  return agent_api;
}

}  // namespace baton::protocol

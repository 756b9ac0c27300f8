#include <unordered_map>
#include <utility>
#include <vector>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/chat/source_list.h"
#include "protocol/chat/tools.h"
#include "protocol/openai/errors.h"
#include "protocol/openai/names.h"
#include "protocol/openai/protocols.h"
#include "protocol/openai/requests.h"
#include "protocol/openai/shown.h"

namespace baton::protocol::openai {
namespace {

// The clients do not repeat a request after it. LangChain.js and n8n do so after 422.
constexpr int kFailed = 400;

// View: a run as the chunks of a chat completion, or as a whole one.
//
// What the agent says is one text; its outputs are separated by an empty line. Words that it takes back stay
// in a stream, and are left out of a whole answer. Threads: one at a time.
class CompletionView final : public chat::RunView {
 public:
  CompletionView(chat::RunFacts facts, bool tells_usage)
      : facts_(without_request(std::move(facts))), tells_usage_(tells_usage) {}

  void show(const task::Event& event, chat::Frames& out) override {
    if (is_over_) return;
    if (created_ == 0) created_ = base::to_ms(event.at) / 1000;
    std::visit([&](const auto& body) { show_one(body, out); }, event.body);
  }

 private:
  // A stream keeps no texts: only a whole answer repeats them.
  struct Output {
    bool is_empty = true;
    std::string text;
  };
  struct Call {
    std::string id, name, arguments;
  };

  void show_one(const task::MessageAdded& added, chat::Frames& out) {
    if (added.message.role == task::Role::agent) return say(added.message, out);
    const auto document = json::Document::view_of(added.message.metadata.text);
    can_be_asked_ = can_be_asked_ || declares_ask(tools_in(given_in(document)));
  }

  void show_one(const task::StatusChanged& changed, chat::Frames& out) {
    const task::State state = changed.status.state;
    if (!task::is_stopped(state)) {
      if (changed.status.message) think(task::text_of(*changed.status.message) + "\n", out);
      return;
    }
    is_over_ = true;
    if (task::is_waiting(state)) {
      ask(chat::question_in(changed), out);
    } else if (state == task::State::completed) {
      if (changed.status.message) say(*changed.status.message, out);
    } else {
      return fail(state == task::State::canceled && !changed.status.message ? "The task was canceled."
                                                                            : chat::reason_of(changed),
                  out);
    }
    end(out);
  }

  void show_one(const task::TextDelta& delta, chat::Frames& out) {
    const std::string source = "r" + delta.reply.value;
    if (delta.first) forget(source);
    add(source, delta.text, out);
  }

  void show_one(const task::ReasoningDelta& delta, chat::Frames& out) { think(delta.text, out); }

  void show_one(const task::ArtifactChunk& chunk, chat::Frames& out) {
    const std::string& id = chunk.artifact.id.value;
    const std::string source = "a" + id;
    Growing& growing = artifacts_[id];
    if (!chunk.append) {
      forget(source);
      growing = {};
    }
    for (const task::Part& part : chunk.artifact.parts) {
      const bool goes_on = growing.takes(part, chunk);
      const mcp::ResourceName name{facts_.task, mcp::ResourceName::Kind::artifact, id, growing.parts++};
      add_part(goes_on ? source : begin(source), shown_part(part, facts_.files_url, name), out);
    }
  }

  void show_one(const task::ToolCall& call, chat::Frames& out) {
    if (!call.by_client) return;
    std::string arguments = call.arguments.empty() ? "{}" : call.arguments.text;
    add_call({name_of(kCall, facts_.task, call.id), call.name, std::move(arguments)}, out);
  }

  void show_one(const task::Usage& usage, chat::Frames&) { tokens_.add(usage.used); }

  void show_one(const task::Withdrawn& withdrawn, chat::Frames&) {
    for (const task::ArtifactId& id : withdrawn.artifacts) {
      forget("a" + id.value);
      forget("r" + id.value);
    }
    std::vector<std::string> replies;
    for (const auto& output : outputs_) {
      if (output.source.starts_with('r')) replies.push_back(output.source);
    }
    for (const std::string& reply : replies) forget(reply);
    calls_.clear();
  }

  template <class Other>
  void show_one(const Other&, chat::Frames&) {}

  void ask(const chat::Question& question, chat::Frames& out) {
    if (question.for_tool) return;
    if (can_be_asked_ && !question.for_auth)
      return add_call(
          {name_of(kCall, facts_.task, question.id), std::string(kAskTool), chat::arguments_of(question)},
          out);
    std::string text = chat::prompt_of(question);
    if (!question.url.empty()) text += "\n" + question.url;
    add(begin({}), text, out);
    const auto details = json::Document::view_of(question.details.text);
    for (const json::Value detail : details.root()) add(begin({}), detail.raw(), out);
  }

  void say(const task::Message& message, chat::Frames& out) {
    std::size_t number = 0;
    for (const task::Part& part : message.parts) {
      const mcp::ResourceName name{facts_.task, mcp::ResourceName::Kind::message, message.id.value, number++};
      add_part(begin({}), shown_part(part, facts_.files_url, name), out);
    }
  }

  // Begins another output of the source.
  const std::string& begin(const std::string& source) {
    outputs_.add(source, {});
    return outputs_.back().source;
  }

  void add_part(const std::string& source, const ShownPart& part, chat::Frames& out) {
    add(source, part.text, out);
  }

  void add(const std::string& source, std::string_view text, chat::Frames& out) {
    if (text.empty()) return;
    if (outputs_.empty() || outputs_.back().source != source) begin(source);
    // A gap before every output but the first that has text.
    Output& output = outputs_.back().value;
    const std::string gap = output.is_empty && has_text_ ? "\n\n" : "";
    output.is_empty = false;
    has_text_ = true;
    if (!facts_.streams) output.text += text;
    chunk(out, [&](json::Writer& w) { w.member("content", gap + std::string(text)); });
  }

  void forget(const std::string& source) { outputs_.remove(source); }

  void think(const std::string& text, chat::Frames& out) {
    if (text.empty() || text == "\n") return;
    if (!facts_.streams) thoughts_ += text;
    chunk(out, [&](json::Writer& w) { w.member("reasoning_content", text); });
  }

  void add_call(Call call, chat::Frames& out) {
    chunk(out, [&](json::Writer& w) {
      w.key("tool_calls").array([&] {
        w.object([&] {
          w.member("index", static_cast<std::int64_t>(calls_.size()));
          write_call(w, call);
        });
      });
    });
    calls_.push_back(facts_.streams ? Call() : std::move(call));
  }

  static void write_call(json::Writer& w, const Call& call) {
    w.member("id", call.id).member("type", "function").key("function").object([&] {
      w.member("name", call.name).member("arguments", call.arguments);
    });
  }

  void end(chat::Frames& out) {
    const std::string_view reason = calls_.empty() ? "stop" : "tool_calls";
    if (!facts_.streams) return whole(reason, out);
    chunk(
        out, [](json::Writer&) {}, reason);
    if (!tells_usage_) return;
    json::Writer w(out.add());
    w.object([&] {
      head(w, "chat.completion.chunk");
      w.key("choices").array([] {}).key("usage");
      tokens_.write_completion(w);
    });
  }

  void whole(std::string_view reason, chat::Frames& out) {
    std::string text;
    for (const auto& output : outputs_) {
      if (!output.value.is_empty) text += (text.empty() ? "" : "\n\n") + output.value.text;
    }
    json::Writer w(out.add());
    w.object([&] {
      head(w, "chat.completion");
      w.key("choices").array([&] {
        w.object([&] {
          w.member("index", 0).key("message").object([&] {
            w.member("role", "assistant").key("content");
            text.empty() && !calls_.empty() ? w.null() : w.string(text);
            w.key("refusal").null().optional("reasoning_content", thoughts_);
            if (calls_.empty()) return;
            w.key("tool_calls").each(calls_, [&](const Call& call) {
              w.object([&] { write_call(w, call); });
            });
          });
          w.key("logprobs").null().member("finish_reason", reason);
        });
      });
      w.key("usage");
      tokens_.write_completion(w);
    });
  }

  // A failed run has no form of its own in this API, so it is an error.
  void fail(std::string reason, chat::Frames& out) {
    out.status = kFailed;
    write_failure(out.add(), {kFailed, "model_error", "agent_failed", std::move(reason)});
  }

  // Writes a chunk; the first one has the role, too.
  template <class F>
  void chunk(chat::Frames& out, F&& delta, std::string_view reason = {}) {
    if (!facts_.streams) return;
    json::Writer w(out.add());
    w.object([&] {
      head(w, "chat.completion.chunk");
      w.key("choices").array([&] {
        w.object([&] {
          w.member("index", 0).key("delta").object([&] {
            if (!std::exchange(has_role_, true)) w.member("role", "assistant");
            delta(w);
          });
          w.key("logprobs").null().key("finish_reason");
          reason.empty() ? w.null() : w.string(reason);
        });
      });
      if (tells_usage_) w.key("usage").null();
    });
  }

  void head(json::Writer& w, std::string_view object) const {
    w.member("id", "chatcmpl-" + response_id(facts_.task, facts_.before).substr(kResponse.size() + 1));
    w.member("object", object).member("created", created_).member("model", facts_.model);
    w.key("service_tier").null().key("system_fingerprint").null();
  }

  const chat::RunFacts facts_;
  const bool tells_usage_;
  bool can_be_asked_ = false, is_over_ = false, has_role_ = false, has_text_ = false;
  std::int64_t created_ = 0;  // seconds
  chat::SourceList<Output> outputs_;
  std::vector<Call> calls_;
  std::string thoughts_;
  std::unordered_map<std::string, Growing> artifacts_;
  Tokens tokens_;
};

class Completions final : public chat::Protocol {
 public:
  explicit Completions(bool tells_usage) : tells_usage_(tells_usage) {}

  base::Result<chat::RunRequest> read(json::Value body) const override {
    auto asked = read_completion(body);
    if (!asked) return base::fail(std::move(asked.error()));
    return std::move(asked->run);
  }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<CompletionView>(facts, tells_usage_);
  }
  bool misfit_is_conflict() const override { return false; }  // clients repeat a request after 409
  bool one_run_at_a_time() const override { return false; }   // the client keeps the conversation
  bool has_frame_ids() const override { return false; }
  std::string_view last_words() const override { return "[DONE]"; }

 private:
  const bool tells_usage_;
};

}  // namespace

const chat::Protocol& completions(bool tells_usage) {
  static const Completions with(true), without(false);
  return tells_usage ? with : without;
}

}  // namespace baton::protocol::openai

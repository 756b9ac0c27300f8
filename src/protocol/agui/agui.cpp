// AG-UI: RunAgentInput and its events.
#include <algorithm>
#include <ranges>

#include "json/document.h"
#include "json/json_patch.h"
#include "protocol/a2a/v1_objects.h"
#include "protocol/agui/open_items.h"
#include "protocol/agui/read_input.h"
#include "protocol/agui/run_frames.h"
#include "protocol/agui/usage_sum.h"
#include "protocol/chat/protocol.h"
#include "protocol/chat/tools.h"
#include "protocol/chat/transcript.h"

namespace baton::protocol::agui {
namespace {

using task::Part;

// Returns the parts that are not text; includes data only if `with_data`.
std::vector<Part> others_in(const std::vector<Part>& parts, bool with_data) {
  std::vector<Part> others;
  for (const Part& part : parts) {
    const bool shown_elsewhere = part.kind == Part::Kind::data && !with_data;
    if (part.kind != Part::Kind::text && !shown_elsewhere) others.push_back(part);
  }
  return others;
}

bool has_text(const std::vector<Part>& parts) {
  return std::ranges::any_of(parts, [](const Part& part) { return part.kind == Part::Kind::text; });
}

OpenSubagents::Ending ending_for(task::State state) {
  if (state == task::State::completed) return OpenSubagents::Ending::finished;
  return task::is_waiting(state) ? OpenSubagents::Ending::suspended : OpenSubagents::Ending::broken_off;
}

// View: a run's log as AG-UI events, in an order that the clients' verifiers accept whatever the log holds.
//
// A verifier fails the whole run for one event out of place. So everything open is closed before the last
// frame, ids are used only once, and events that a client's generation does not know are left out or shown in
// an older form. AG-UI takes words back only by a snapshot of all messages: the client's own, as it sent
// them, and those of the run. The client keeps the words if these are large or not known, or if the run's
// snapshots have become too many. Threads: one at a time.
class View final : public chat::RunView {
 public:
  explicit View(const chat::RunFacts& facts)
      : facts_(facts), reasoning_(names_, facts.newer || !facts.old_reasoning), subagents_(facts.newer) {
    if (!facts_.messages.empty()) transcript_.emplace(facts_.task);
  }

  View(const View&) = delete;
  View& operator=(const View&) = delete;

  void show(const task::Event& event, chat::Frames& frames) override {
    if (over_) return;
    Out out(frames, event.at);
    number_ = event.number;
    if (!std::exchange(started_, true)) show_start(facts_, out);
    take_back(event.body, out);
    std::visit([&](const auto& body) { show_one(body, out); }, event.body);
    remember(event);
  }

 private:
  static std::string key_of(const task::ArtifactChunk& chunk) {
    return "artifact " + chunk.artifact.id.value;
  }

  // The key of the text that begins again with this event; empty if none does.
  static std::string key_of_text_begun(const task::EventBody& body) {
    if (const auto* piece = std::get_if<task::TextDelta>(&body); piece && piece->first)
      return piece->reply.value;
    const auto* chunk = std::get_if<task::ArtifactChunk>(&body);
    return chunk && !chunk->append ? key_of(*chunk) : std::string();
  }

  // If clients have the text that the event replaces, takes it back.
  void take_back(const task::EventBody& body, Out& out) {
    const std::string key = transcript_ ? key_of_text_begun(body) : std::string();
    if (key.empty() || !texts_.has_shown(key)) return;
    texts_.take_back(key, out);
    const std::vector<task::Message> messages = transcript_->without(body);
    if (messages.empty() || messages.back().id.value != texts_.last_message()) texts_.another_followed();
    const auto document = json::Document::view_of(facts_.messages.text);
    std::vector<json::Value> earlier;
    for (const json::Value message : document.root()) {
      // A client that has come back may have some of the run.
      if (!names_.has(message["id"].str())) earlier.push_back(message);
    }
    out.event("MESSAGES_SNAPSHOT",
              [&](json::Writer& w) { write_messages(w.key("messages"), messages, facts_.newer, earlier); });
    snapshots_bytes_ += facts_.messages.text.size() + bytes_;
    if (snapshots_bytes_ > kSnapshotsMax) transcript_.reset();
  }

  void remember(const task::Event& event) {
    if (!transcript_) return;
    transcript_->add(event);
    bytes_ += task::weight_of(event.body);
    // Tool calls of an attempt that was withdrawn cannot be taken back: the client may have run them.
    if (bytes_ > kSnapshotMax || std::holds_alternative<task::Withdrawn>(event.body)) transcript_.reset();
  }

  void show_one(const task::StatusChanged& event, Out& out) {
    if (task::is_stopped(event.status.state)) return stop(event, out);
    if (event.status.state == task::State::working) show_note(event, out);
  }

  void show_one(const task::MessageAdded& event, Out& out) {
    if (event.message.role == task::Role::agent) return show_message(event.message, true, out);
    // The client knows its own messages, and has shown the results of its own tools.
    for (const task::ToolResult& result : chat::tool_results_in(event.message)) answered_.insert(result.id);
    if (facts_.shows_user) show_from_user(event.message, out);
  }

  // Shows a message that came in the middle of the run. Those that began it are in its first frame.
  void show_from_user(const task::Message& message, Out& out) {
    const auto is_it = [&](const task::Message& asked) { return asked.id == message.id; };
    if (std::ranges::any_of(facts_.asked, is_it)) return;
    const std::string text = task::text_of(message);
    if (!text.empty()) texts_.show_whole(message.id.empty() ? own_id() : message.id.value, text, out, "user");
  }

  void show_one(const task::TextDelta& event, Out& out) {
    texts_.show({event.reply.value, event.reply.value, event.text, event.first, event.last}, out);
  }

  void show_one(const task::ArtifactChunk& event, Out& out) {
    const task::Artifact& artifact = event.artifact;
    const std::string& id = artifact.id.value;
    const std::string wanted = chat::is_unique(id, facts_.task) ? id : id + "~" + own_id();
    if (has_text(artifact.parts)) {
      texts_.show({key_of(event), wanted, task::text_of(artifact.parts), !event.append, event.last_chunk},
                  out);
    } else if (event.last_chunk) {
      texts_.show({key_of(event), wanted, {}, false, true}, out);
    }
    task::Artifact rest = artifact;
    rest.parts = others_in(artifact.parts, true);
    if (rest.parts.empty()) return;
    out.event("CUSTOM", [&](json::Writer& w) {
      w.member("name", "artifact").key("value").object([&] {
        w.member("taskId", facts_.task.value).member("contextId", facts_.conversation.value);
        v1::write_artifact(w.key("artifact"), rest);
        w.member("append", event.append).member("lastChunk", event.last_chunk);
      });
    });
  }

  void show_one(const task::ToolCall& event, Out& out) {
    std::string id = event.id;
    answered_.erase(event.id);
    if (event.by_client) {
      client_calls_.push_back(id);  // the client's result will have this id
      // An attempt that was withdrawn may have made the call already. A second one would double its
      // arguments.
      if (!shown_client_calls_.insert(id).second) return;
      (void)names_.fresh(id);
    } else {
      id = calls_[event.id] = names_.fresh(event.id);
    }
    show_call(id, event.name, event.arguments.empty() ? "{}" : event.arguments.text, out);
  }

  void show_one(const task::ToolResult& event, Out& out) {
    if (shown_client_calls_.contains(event.id) || !answered_.insert(event.id).second) return;
    // A result without a call in this run belongs to a call of an earlier run. Its id is reserved too.
    const auto [call, unknown] = calls_.try_emplace(event.id, event.id);
    if (unknown) (void)names_.fresh(event.id);
    const std::string& id = call->second;
    texts_.another_followed();
    out.event("TOOL_CALL_RESULT", [&](json::Writer& w) {
      w.member("messageId", names_.fresh(own_id())).member("toolCallId", id);
      w.member("content", chat::text_of(event));
    });
  }

  void show_one(const task::StateSnapshot& event, Out& out) {
    if (event.snapshot.empty()) return;
    out.event("STATE_SNAPSHOT", [&](json::Writer& w) { w.member("snapshot", event.snapshot); });
  }

  void show_one(const task::StateDelta& event, Out& out) {
    if (!json::is_patch(event.patch)) return;
    out.event("STATE_DELTA", [&](json::Writer& w) { w.member("delta", event.patch); });
  }

  void show_one(const task::Step& event, Out& out) { steps_.show(event, out); }

  void show_one(const task::Withdrawn&, Out& out) {
    client_calls_.clear();
    close_all(OpenSubagents::Ending::broken_off, out);
  }

  void show_one(const task::Custom& event, Out& out) {
    out.event("CUSTOM", [&](json::Writer& w) {
      w.member("name", event.name).key("value").raw(event.value.empty() ? "null" : event.value.text);
    });
  }

  void show_one(const task::ReasoningDelta& event, Out& out) {
    texts_.another_followed();
    reasoning_.show(event, out);
  }

  void show_one(const task::Activity& event, Out& out) {
    const auto head = [&](json::Writer& w) {
      w.member("messageId", event.id).member("activityType", event.type);
    };
    if (json::Document::view_of(event.content.text).root().is_object()) {
      texts_.another_followed();
      out.event("ACTIVITY_SNAPSHOT", [&](json::Writer& w) {
        head(w);
        w.member("content", event.content);
      });
    } else if (json::is_patch(event.patch)) {
      out.event("ACTIVITY_DELTA", [&](json::Writer& w) {
        head(w);
        w.member("patch", event.patch);
      });
    }
  }

  void show_one(const task::Subagent& event, Out& out) { subagents_.show(event, out); }
  void show_one(const task::Usage& event, Out&) { usage_.add(event.used); }
  void show_one(const task::ExecutorState&, Out&) {}
  void show_one(const task::Intervention&, Out&) {}

  // An agent's progress note: {message?, parts?, and the members of its metadata (progress?)}.
  void show_note(const task::StatusChanged& note, Out& out) {
    const auto metadata = json::Document::view_of(note.metadata.text);
    const bool has_metadata = metadata.root().is_object() && metadata.root().size() > 0;
    const bool has_message = note.status.message && !note.status.message->parts.empty();
    if (!has_metadata && !has_message) return;
    out.event("CUSTOM", [&](json::Writer& w) {
      w.member("name", "status").key("value").object([&] {
        if (has_message) {
          w.optional("message", task::text_of(*note.status.message));
          const auto others = others_in(note.status.message->parts, true);
          if (!others.empty()) v1::write_parts(w.key("parts"), others);
        }
        if (!has_metadata) return;
        for (const json::Value member : metadata.root()) {
          if (member.key() != "message" && member.key() != "parts") w.key(member.key()).raw(member.raw());
        }
      });
    });
  }

  void show_message(const task::Message& message, bool with_data, Out& out) {
    const std::string id = message.id.empty() ? own_id() : message.id.value;
    if (const std::string text = task::text_of(message); !text.empty()) texts_.show_whole(id, text, out);
    const std::vector<Part> others = others_in(message.parts, with_data);
    if (others.empty()) return;
    task::Message rest = message;
    rest.parts = others;
    out.event("CUSTOM", [&](json::Writer& w) {
      v1::write_message(w.member("name", "message").key("value"), rest, facts_.task, facts_.conversation);
    });
  }

  void show_call(const std::string& id, const std::string& name, const std::string& arguments, Out& out) {
    const std::string parent = texts_.last_message();
    out.event("TOOL_CALL_START", [&](json::Writer& w) {
      w.member("toolCallId", id).member("toolCallName", name).optional("parentMessageId", parent);
    });
    out.event("TOOL_CALL_ARGS",
              [&](json::Writer& w) { w.member("toolCallId", id).member("delta", arguments); });
    out.event("TOOL_CALL_END", "toolCallId", id);
    if (parent.empty()) texts_.another_followed();
  }

  void stop(const task::StatusChanged& change, Out& out) {
    over_ = true;
    const task::State state = change.status.state;
    close_all(ending_for(state), out);
    if (task::is_waiting(state)) return ask(change, out);
    const bool shows_message = state == task::State::completed && change.status.message;
    if (shows_message) show_message(*change.status.message, false, out);
    show_end(facts_, change, usage_, out);
  }

  void ask(const task::StatusChanged& waiting, Out& out) {
    chat::Question question = chat::question_in(waiting);
    if (question.for_tool) return show_pending(facts_, client_calls_, usage_, out);
    if (question.id.empty()) question.id = own_id();
    if (waiting.status.message) show_message(*waiting.status.message, false, out);
    if (!chat::asks_by_tool(facts_, question)) return show_interrupts(facts_, {question}, usage_, out);
    show_call(question.id, facts_.confirm_tool, chat::arguments_of(question), out);
    client_calls_.push_back(question.id);
    show_pending(facts_, client_calls_, usage_, out);
  }

  void close_all(OpenSubagents::Ending subagents, Out& out) {
    reasoning_.close(out);
    texts_.close_all(out);
    subagents_.close_all(subagents, out);
    steps_.close_all(out);
  }

  // An id that is unique in the conversation, and the same each time the run is shown.
  std::string own_id() const { return chat::name_of(facts_.task, number_); }

  const chat::RunFacts facts_;
  bool started_ = false;
  bool over_ = false;
  task::EventNumber number_;  // of the event being shown

  Names names_;
  OpenTexts texts_{names_};
  OpenReasoning reasoning_;
  OpenSteps steps_;
  OpenSubagents subagents_;
  UsageSum usage_;
  // Calls of server tools: the log's id to the client's.
  std::unordered_map<std::string, std::string> calls_;
  std::vector<std::string> client_calls_;               // calls whose results the client gives
  std::unordered_set<std::string> shown_client_calls_;  // the same, plus those of withdrawn attempts
  std::unordered_set<std::string> answered_;            // calls, as the log names them
  std::optional<chat::Transcript> transcript_;          // of the run, while words can be taken back
  std::size_t bytes_ = 0;                               // of the events in it
  std::size_t snapshots_bytes_ = 0;                     // of all snapshots, about
};

// The open questions to the client, by the form in which they are asked.
struct Asked {
  std::vector<chat::Question> interrupts;
  std::vector<chat::Question> by_tool;  // as calls of the client's confirm tool
  std::vector<std::string> pending;     // calls of client tools
};

Asked sort(const chat::RunFacts& facts, const std::vector<chat::Question>& open) {
  Asked asked;
  for (const chat::Question& question : open) {
    const bool by_tool = !question.for_tool && chat::asks_by_tool(facts, question);
    if (by_tool) asked.by_tool.push_back(question);
    if (by_tool || question.for_tool) {
      asked.pending.push_back(question.id);
    } else if (!question.id.empty()) {
      asked.interrupts.push_back(question);
    }
  }
  return asked;
}

// Returns the messages, plus the questions that are shown to this client as calls.
std::vector<task::Message> with_calls(const chat::RunFacts& facts, std::vector<task::Message> messages,
                                      const std::vector<chat::Question>& questions) {
  for (const chat::Question& question : questions) {
    task::Message call;
    call.id.value = question.id;
    call.role = task::Role::agent;
    call.parts.push_back(
        chat::part_of(task::ToolCall{question.id, facts.confirm_tool, {chat::arguments_of(question)}, true}));
    messages.push_back(std::move(call));
  }
  return messages;
}

void show_messages(const chat::RunFacts& facts, const std::vector<task::Message>& messages, Out& out) {
  out.event("MESSAGES_SNAPSHOT",
            [&](json::Writer& w) { write_messages(w.key("messages"), messages, facts.newer); });
}

class AgUi final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(json::Value body) const override { return read_input(body); }

  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }

  bool show_refusal(const chat::RunFacts& facts, const base::Error& error,
                    chat::Frames& frames) const override {
    Out out(frames, std::nullopt);
    show_start(facts, out);
    show_error(error.for_caller, "conflict", {}, out);
    return true;
  }

  void show_conversation(const chat::RunFacts& facts, const std::vector<task::Message>* messages,
                         const std::vector<chat::Question>& open, chat::Frames& frames) const override {
    Out out(frames, std::nullopt);
    show_start(facts, out);
    const Asked asked = sort(facts, open);
    if (messages) show_messages(facts, with_calls(facts, *messages, asked.by_tool), out);
    if (!asked.interrupts.empty()) return show_interrupts(facts, asked.interrupts, {}, out);
    // Only calls that this stream has shown may be named.
    show_pending(facts, messages ? asked.pending : std::vector<std::string>(), {}, out);
  }

  // An interrupt is answered by `resume`.
  bool answers_in_words() const override { return false; }
  bool names_runs() const override { return true; }
  // Runs of one thread may be concurrent.
  bool one_run_at_a_time() const override { return false; }
  bool leaving_cancels() const override { return true; }
};

}  // namespace
}  // namespace baton::protocol::agui

namespace baton::protocol {

const chat::Protocol& chat::agui_protocol() {
  static const agui::AgUi kProtocol;
  return kProtocol;
}

}  // namespace baton::protocol

#include "protocol/agui/run_frames.h"

#include "json/document.h"

namespace baton::protocol::agui {
namespace {

// Writes RUN_FINISHED; `members` writes its further members.
template <class F>
void finish(const chat::RunFacts& facts, const UsageSum& usage, Out& out, F&& members) {
  out.event("RUN_FINISHED", [&](json::Writer& w) {
    w.member("threadId", facts.conversation.value).member("runId", facts.run);
    members(w);
    usage.write(w);
  });
}

// Returns the data in the message of a completed task: one value, or a list of several. A single null counts
// as no result, because 1.0 refuses it.
task::Json result_in(const std::optional<task::Message>& message) {
  std::vector<const task::Part*> data;
  if (message) {
    for (const task::Part& part : message->parts) {
      if (part.kind == task::Part::Kind::data) data.push_back(&part);
    }
  }
  if (data.empty()) return {};
  if (data.size() == 1) return data.front()->content == "null" ? task::Json{} : task::Json{data[0]->content};
  task::Json list;
  json::Writer out(list.text);
  out.array([&] {
    for (const task::Part* part : data) out.raw(part->content);
  });
  return list;
}

// Shows a message as a progress note, because the end of a run has no member for it in 1.0.
void show_status(const std::string& message, Out& out) {
  out.event("CUSTOM", [&](json::Writer& w) {
    w.member("name", "status").key("value").object([&] { w.member("message", message); });
  });
}

// Returns the agent's error code if it gave one, otherwise the name of the state.
std::string code_of(const task::StatusChanged& end) {
  const auto metadata = json::Document::view_of(end.metadata.text);
  const std::string code = metadata.root()["code"].str();
  return code.empty() ? std::string(task::name_of(end.status.state)) : code;
}

void show_failure(const task::StatusChanged& end, const UsageSum& usage, Out& out) {
  std::string message = end.status.message ? task::text_of(*end.status.message) : std::string();
  if (message.empty()) {
    const bool rejected = end.status.state == task::State::rejected;
    message = rejected ? "The agent rejected the request." : "The agent failed.";
  }
  show_error(message, code_of(end), usage, out);
}

void write_interrupt(json::Writer& out, const chat::Question& question) {
  const char* reason = question.schema.empty() ? "confirmation" : "input_required";
  out.member("id", question.id).member("reason", question.for_auth ? "baton:auth" : reason);
  out.optional("message", question.prompt).optional("responseSchema", question.schema);
  if (question.url.empty() && question.details.empty()) return;
  out.key("metadata").object([&] {
    out.optional("url", question.url).optional("details", question.details);
  });
}

}  // namespace

void show_start(const chat::RunFacts& facts, Out& out) {
  out.event("RUN_STARTED", [&](json::Writer& w) {
    w.member("threadId", facts.conversation.value).member("runId", facts.run);
    w.optional("parentRunId", facts.parent_run);
    if (facts.newer) w.member("protocolVersion", "1.0");
    if (facts.asked.empty()) return;
    // Clients add the messages that they do not have.
    w.key("input").object([&] {
      w.member("threadId", facts.conversation.value).member("runId", facts.run);
      write_messages(w.key("messages"), facts.asked, facts.newer);
      w.key("tools").array([] {});
      w.key("context").array([] {});
      w.key("state").object([] {});
      w.key("forwardedProps").object([] {});
    });
  });
}

void show_end(const chat::RunFacts& facts, const task::StatusChanged& end, const UsageSum& usage, Out& out) {
  const std::string reason = end.status.message ? task::text_of(*end.status.message) : std::string();
  switch (end.status.state) {
    case task::State::completed:
      return finish(facts, usage, out,
                    [&](json::Writer& w) { w.optional("result", result_in(end.status.message)); });
    case task::State::canceled:
      if (!facts.newer)
        return show_error(reason.empty() ? "The run was canceled." : reason, "cancelled", usage, out);
      if (!reason.empty()) show_status(reason, out);
      return finish(facts, usage, out,
                    [](json::Writer& w) { w.key("outcome").object([&] { w.member("type", "cancelled"); }); });
    default:
      return show_failure(end, usage, out);
  }
}

void show_pending(const chat::RunFacts& facts, const std::vector<std::string>& calls, const UsageSum& usage,
                  Out& out) {
  finish(facts, usage, out, [&](json::Writer& w) {
    if (!facts.newer || calls.empty()) return;
    w.key("outcome").object([&] { w.member("type", "success").key("pendingToolCallIds").strings(calls); });
  });
}

void show_interrupts(const chat::RunFacts& facts, const std::vector<chat::Question>& questions,
                     const UsageSum& usage, Out& out) {
  finish(facts, usage, out, [&](json::Writer& w) {
    w.key("outcome").object([&] {
      w.member("type", "interrupt").key("interrupts").array([&] {
        for (const chat::Question& question : questions) {
          w.object([&] { write_interrupt(w, question); });
        }
      });
    });
  });
}

void show_error(const std::string& message, std::string_view code, const UsageSum& usage, Out& out) {
  out.event("RUN_ERROR", [&](json::Writer& w) {
    w.member("message", message).member("code", code);
    usage.write(w);
  });
}

}  // namespace baton::protocol::agui

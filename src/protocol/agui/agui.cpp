#include "protocol/agui/agui.h"

#include "protocol/agui/read_input.h"
#include "protocol/agui/run_frames.h"
#include "protocol/agui/snapshot.h"
#include "protocol/agui/view.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agui {
namespace {

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

// What was said, plus the questions that are shown to this client as calls.
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
  // Runs of one thread may go side by side.
  bool one_run_at_a_time() const override { return false; }
  bool leaving_cancels() const override { return true; }
};

}  // namespace

const chat::Protocol& protocol() {
  static const AgUi kProtocol;
  return kProtocol;
}

}  // namespace baton::protocol::agui

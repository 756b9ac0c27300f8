#include "wire/agui/agui.h"

#include "wire/agui/read_input.h"
#include "wire/agui/run_frames.h"
#include "wire/agui/snapshot.h"
#include "wire/agui/view.h"

namespace baton::wire::agui {
namespace {

class AgUi final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(Value body) const override { return read_input(body); }

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

  void show_conversation(const chat::RunFacts& facts, const std::vector<task::Message>& messages,
                         chat::Frames& frames) const override {
    Out out(frames, std::nullopt);
    show_start(facts, out);
    out.event("MESSAGES_SNAPSHOT",
              [&](Writer& w) { write_messages(w.key("messages"), messages, facts.newer); });
    show_pending(facts, {}, {}, out);
  }

  // An interrupt is answered by `resume`.
  bool answers_in_words() const override { return false; }
  bool names_runs() const override { return true; }
  // Runs of one thread go side by side.
  bool one_run_at_a_time() const override { return false; }
  bool leaving_cancels() const override { return true; }
};

}  // namespace

const chat::Protocol& protocol() {
  static const AgUi kProtocol;
  return kProtocol;
}

}  // namespace baton::wire::agui

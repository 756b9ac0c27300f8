#include "protocol/agkit/agkit.h"

#include "protocol/agkit/request.h"
#include "protocol/agkit/view.h"
#include "protocol/chat/tools.h"

namespace baton::protocol::agkit {
namespace {

class AgKit final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(json::Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }
  // Clients keep what was said themselves, and calls too: shown twice, a call's arguments would double.
  void show_conversation(const chat::RunFacts& facts, const std::vector<task::Message>*,
                         const std::vector<chat::Question>& open, chat::Frames& out) const override {
    for (const chat::Question& question : open) {
      if (!question.for_tool && !chat::asks_by_tool(facts, question)) show_interrupt(question, out);
    }
    out.add() = "[DONE]";
  }
};

}  // namespace

const chat::Protocol& protocol() {
  static const AgKit the_one;
  return the_one;
}

}  // namespace baton::protocol::agkit

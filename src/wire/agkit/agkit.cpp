#include "wire/agkit/agkit.h"

#include "wire/agkit/request.h"
#include "wire/agkit/view.h"

namespace baton::wire::agkit {
namespace {

class AgKit final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(Value body) const override { return read_request(body); }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<View>(facts);
  }
  // Clients hold what was said themselves.
  void show_conversation(const chat::RunFacts&, const std::vector<task::Message>&,
                         chat::Frames& out) const override {
    out.add() = "[DONE]";
  }
};

}  // namespace

const chat::Protocol& protocol() {
  static const AgKit the_one;
  return the_one;
}

}  // namespace baton::wire::agkit

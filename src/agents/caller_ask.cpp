#include "agents/caller_ask.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/text.h"

namespace baton::agents {
namespace {

constexpr std::string_view kBeginning = "~caller?";

// The message, the question that it answered, and the kept state, as in the question's id.
using Members = std::array<std::string, 3>;

std::optional<Members> members_of(std::string_view ask) {
  if (!ask.starts_with(kBeginning)) return std::nullopt;
  ask.remove_prefix(kBeginning.size());
  Members members;
  for (std::string& member : members) {
    const std::size_t end = std::min(ask.find('?'), ask.size());
    member = base::percent_decoded(ask.substr(0, end)).value_or("");
    ask.remove_prefix(std::min(end + 1, ask.size()));
  }
  return members;
}

}  // namespace

Outcome ask_caller(const Turn& turn, const outbound::CallerAsk& ask, const task::Json& kept) {
  if (turn.account.find(task::kSubjectBegin) == std::string::npos)
    return Failed{"this agent acts for its callers with their own access tokens, and this caller has none"};
  Asked asked;
  asked.for_auth = true;
  asked.id = std::string(kBeginning) + base::percent_encoded(turn.message.id.value) + "?" +
             base::percent_encoded(turn.resume_ask) + "?" + base::percent_encoded(kept.text);
  asked.message.role = task::Role::agent;
  asked.message.parts.push_back(task::Part::of_text(ask.text));
  if (ask.url.empty()) return asked;
  task::Part place;
  place.kind = task::Part::Kind::url;
  place.content = ask.url;
  asked.message.parts.push_back(std::move(place));
  return asked;
}

void take_up(Turn& turn) {
  auto members = members_of(turn.resume_ask);
  if (!members) return;
  auto& [message, ask, kept] = *members;
  turn.resume_ask = std::move(ask);
  if (turn.kept.empty()) turn.kept.text = std::move(kept);
  const auto is_it = [&](const task::Message& said) {
    return said.role == task::Role::user && said.id.value == message;
  };
  const auto found = std::ranges::find_if(turn.history, is_it);
  if (found != turn.history.end()) {
    turn.message = std::move(*found);
    turn.history.erase(found, turn.history.end());
  } else if (turn.request && is_it(*turn.request)) {
    turn.message = *turn.request;
  }
  if (turn.request && is_it(*turn.request) && is_it(turn.message)) turn.request.reset();
}

}  // namespace baton::agents

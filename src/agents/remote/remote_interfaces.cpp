#include "agents/remote/remote_interfaces.h"

#include <algorithm>
#include <utility>

#include "agents/remote/shown_card.h"
#include "base/log.h"
#include "base/loggable.h"

namespace baton::agents {
namespace {

// How long a card is kept: if its server does not say, and at least. After a failure, the next fetch also
// waits for the minimum.
constexpr std::chrono::seconds kKept{300}, kKeptMin{5};
constexpr std::chrono::seconds kFetch{60};  // no fetch takes longer
constexpr std::size_t kCardMax = 1 << 20;
// The limit of an answer if no budget sets one.
constexpr std::size_t kAnswerMax = 96 << 20;

}  // namespace

RemoteInterfaces::RemoteInterfaces(task::AgentCard card, Endpoint endpoint, outbound::Rules rules)
    : own_card_(std::move(card)),
      endpoint_(std::move(endpoint)),
      rules_(rules.of(endpoint_)),
      credentials_(std::make_shared<outbound::Credentials>(endpoint_, rules_)) {
  found_.with([&](Found& found) { found.card = std::make_shared<const task::AgentCard>(own_card_); });
}

bool RemoteInterfaces::has_secret() const {
  return !credentials_->missing();
}

std::shared_ptr<const task::AgentCard> RemoteInterfaces::card() const {
  return found_.with([](const Found& found) { return found.card; });
}

bool RemoteInterfaces::begin_refresh() const {
  const auto now = Clock::now();
  return found_.with([&](Found& found) {
    if (now < found.until || now < found.ask_after) return false;
    found.ask_after = now + kFetch;
    return true;
  });
}

RemoteInterfaces::Remotes RemoteInterfaces::find(int stop_fd, bool despite_breaker) const {
  const auto now = Clock::now();
  auto [known, is_fresh] =
      found_.with([&](const Found& found) { return std::pair(found.remotes, now < found.until); });
  // Use the known interfaces while another thread fetches the card, and while the card cannot be fetched.
  if (!known.empty() && (is_fresh || !begin_refresh())) return known;
  auto remotes = refresh(stop_fd, despite_breaker);
  if (!remotes && !known.empty()) return known;
  return remotes;
}

RemoteInterfaces::Remotes RemoteInterfaces::refresh(int stop_fd, bool despite_breaker) const {
  auto fetched = found_.with([](const Found& found) { return found.fetched; });
  auto remotes = fetch(fetched, stop_fd, despite_breaker);
  auto shown = std::make_shared<task::AgentCard>(own_card_);
  if (remotes && fetched) {
    const auto card = protocol::read_remote_card(fetched->text);
    if (card) *shown = shown_card(own_card_, card->card);
  }
  const auto kept = fetched ? fetched->max_age.value_or(kKept) : kKept;
  const auto now = Clock::now();
  const bool is_news = found_.with([&](Found& found) {
    found.ask_after = now + kKeptMin;
    const bool was_away = std::exchange(found.is_away, !remotes);
    if (!remotes) return !was_away;
    found.remotes = *remotes;
    found.fetched = std::move(fetched);
    found.card = std::move(shown);
    found.until = now + std::max(kept, kKeptMin);
    return false;
  });
  if (is_news) {
    const std::string url = endpoint_.url.substr(0, endpoint_.url.find('?'));
    base::log_warn({}, "cannot fetch the agent card from {}: {}", url, remotes.error().text);
  }
  return remotes;
}

RemoteInterfaces::Remotes RemoteInterfaces::fetch(std::optional<client::Fetched>& card, int stop_fd,
                                                  bool despite_breaker) const {
  client::Target target;
  target.url = endpoint_.url;
  target.a2a = endpoint_.version;
  target.transport = endpoint_.transport;
  target.agent = endpoint_.agent;
  target.endpoint = endpoint_.address;
  target.grpc_text_files = endpoint_.grpc_text_files;
  if (credentials_->wanted()) {
    target.access.tokens = client::TokenSource{
        [from = credentials_](int stop, bool despite) { return from->find(stop, despite); },
        [from = credentials_](const std::string& token) { return from->renew(token); },
        [from = credentials_] { return from->mask(); }};
  }
  target.access.key_header = endpoint_.auth_header;
  target.access.policy = rules_.policy_for(target.url);
  target.access.breakers = rules_.breakers;
  target.access.counts = rules_.counts;
  target.access.proxy = rules_.proxy;
  target.access.spans = rules_.spans;
  target.access.despite_breaker = despite_breaker;
  outbound::Intake intake(rules_.budget, {}, stop_fd);
  target.access.intake = &intake;
  target.access.answer_max = kCardMax;
  target.items_max = rules_.limits.items_max;
  auto remotes = client::find_remotes(target, client::Purpose::tasks, stop_fd, &card);
  if (!remotes) return remotes;
  for (client::Remote& remote : *remotes) {
    remote.access.policy = rules_.policy_for(remote.url, {endpoint_.url, endpoint_.address});
    if (remote.access.policy != rules_.policy_for(remote.url))
      base::log_warn({},
                     "the agent card from {} names {}, which the card here does not (a2a.endpoint), so it is "
                     "called only at a public address although outbound.origins allows it",
                     base::loggable(endpoint_.url.substr(0, endpoint_.url.find('?'))),
                     base::loggable(outbound::origin_of(remote.url)));
    remote.access.answer_max = rules_.budget ? rules_.budget->answer_max() : kAnswerMax;
    remote.access.intake = nullptr;  // each turn has its own
    remote.access.despite_breaker = false;
    // A channel to a checked address does not follow a name that moves, so it serves one turn only.
    const bool goes_anywhere = remote.access.policy == outbound::AddressPolicy::any();
    if (goes_anywhere) remote.channel = client::open_channel(remote);
  }
  return remotes;
}

}  // namespace baton::agents

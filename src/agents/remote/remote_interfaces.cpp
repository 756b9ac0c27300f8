#include "agents/remote/remote_interfaces.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <exception>
#include <utility>

#include "agents/remote/shown_card.h"
#include "base/log.h"
#include "base/loggable.h"
#include "base/unique_fd.h"

namespace baton::agents {
namespace {

// How long a card is kept: if its server does not say, and at least. After a failure, the next fetch also
// waits for the minimum.
constexpr std::chrono::seconds kCardKept{300}, kCardKeptMin{5};
constexpr std::chrono::seconds kFetch{60};  // no fetch takes longer
constexpr std::size_t kCardMax = 1 << 20;
// The limit of an answer if no budget sets one.
constexpr std::size_t kAnswerMax = 96 << 20;

}  // namespace

void RemoteInterfaces::authenticate(std::vector<client::Remote>& remotes,
                                    const std::shared_ptr<outbound::Credentials>& credentials) {
  for (client::Remote& remote : remotes) {
    if (remote.access.credentials) remote.access.credentials = credentials;
  }
}

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

std::uint64_t RemoteInterfaces::generation() const {
  return rules_.cards.generation ? rules_.cards.generation() : 0;
}

std::vector<client::Remote> RemoteInterfaces::known() const {
  const std::uint64_t now = generation();
  return found_.with([&](const Found& found) {
    return found.generation == now ? found.remotes : std::vector<client::Remote>();
  });
}

bool RemoteInterfaces::begin_refresh() const {
  const auto now = Clock::now();
  const std::uint64_t rules = generation();
  return found_.with([&](Found& found) {
    const bool is_fresh = found.generation == rules && now < found.until;
    const bool is_asked = found.asked == rules && now < found.ask_after;
    if (is_fresh || is_asked) return false;
    found.asked = rules;
    found.ask_after = now + kFetch;
    return true;
  });
}

RemoteInterfaces::Remotes RemoteInterfaces::find(int stop_fd) const {
  const auto known = at_hand();
  return known ? *known : renewed(stop_fd, false);
}

std::optional<RemoteInterfaces::Remotes> RemoteInterfaces::at_hand() const {
  auto remotes = known();
  // Use the known interfaces while another thread fetches the card.
  if (remotes.empty() || begin_refresh()) return std::nullopt;
  return remotes;
}

// Uses the known interfaces while the card cannot be fetched.
RemoteInterfaces::Remotes RemoteInterfaces::renewed(int stop_fd, bool despite_breaker) const {
  auto remotes = refresh(stop_fd, despite_breaker);
  if (remotes || remotes.error().refused_card) return remotes;
  auto earlier = known();
  if (!earlier.empty()) return earlier;
  return remotes;
}

// A fetch of the card, and those that wait for it.
struct RemoteInterfaces::Fetch {
  const base::UniqueFd stop{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  std::vector<std::weak_ptr<Wait>> waits;
  int waiting = 0;
};

class RemoteInterfaces::Wait {
 public:
  Wait(std::shared_ptr<Fetch> fetch, std::function<void(const Remotes&)> done)
      : fetch_(std::move(fetch)), done_(std::move(done)) {
    ++fetch_->waiting;
  }
  // A fetch that nobody waits for is given up.
  ~Wait() {
    if (--fetch_->waiting == 0) eventfd_write(fetch_->stop.get(), 1);
  }
  Wait(const Wait&) = delete;
  Wait& operator=(const Wait&) = delete;

  void tell(const Remotes& remotes) const { done_(remotes); }

 private:
  const std::shared_ptr<Fetch> fetch_;  // shared with the thread and other waits
  const std::function<void(const Remotes&)> done_;
};

std::shared_ptr<RemoteInterfaces::Wait> RemoteInterfaces::fetch(
    const client::RemoteCall::Services& services, bool despite_breaker,
    std::function<void(const Remotes&)> done) const {
  // One that is given up is not joined.
  const bool is_new = !under_way_ || under_way_->waiting == 0;
  if (is_new) under_way_ = std::make_shared<Fetch>();
  const auto fetch = under_way_;
  auto wait = std::make_shared<Wait>(fetch, std::move(done));
  fetch->waits.push_back(wait);
  if (!is_new) return wait;
  const auto tell = [self = shared_from_this(), fetch](const Remotes& remotes) {
    if (self->under_way_ == fetch) self->under_way_.reset();
    for (const auto& weak : std::exchange(fetch->waits, {})) {
      if (const auto waiting = weak.lock()) waiting->tell(remotes);
    }
  };
  const bool is_taken = services.threads.try_submit([self = shared_from_this(), fetch = under_way_,
                                                     despite_breaker, tell, &loop = services.loop]() mutable {
    Remotes remotes = tl::unexpected(client::CallError{.text = "its agent card cannot be read"});
    try {
      remotes = self->renewed(fetch->stop.get(), despite_breaker);
    } catch (const std::exception& error) {
      base::log_error({}, "cannot read an agent card: {}", error.what());
    }
    self.reset();
    fetch.reset();
    loop.post([tell = std::move(tell), remotes = std::move(remotes)] { tell(remotes); });
  });
  if (!is_taken) {
    services.loop.post([tell, earlier = known()] {
      if (!earlier.empty()) return tell(earlier);
      tell(tl::unexpected(client::CallError{
          .text = "too many calls to agents elsewhere are under way", .lost = true, .unsent = true}));
    });
  }
  return wait;
}

RemoteInterfaces::Remotes RemoteInterfaces::refresh(int stop_fd, bool despite_breaker) const {
  std::optional<client::Fetched> fetched;
  Remotes remotes;
  std::uint64_t rules = 0;
  // Again if the rules change meanwhile, since the card may have been accepted by those from before.
  do {
    rules = generation();
    fetched = found_.with([](const Found& found) { return found.fetched; });
    remotes = fetch_card(fetched, stop_fd, despite_breaker);
  } while (generation() != rules);
  auto shown = std::make_shared<task::AgentCard>(own_card_);
  if (remotes && fetched) {
    const auto card = protocol::read_remote_card(fetched->accepted);
    if (card) *shown = shown_card(own_card_, card->card);
  }
  const auto kept = fetched ? fetched->max_age.value_or(kCardKept) : kCardKept;
  const auto now = Clock::now();
  const bool is_news = found_.with([&](Found& found) {
    found.asked = rules;
    found.ask_after = now + kCardKeptMin;
    const bool was_away = std::exchange(found.is_away, !remotes);
    // An earlier card may have been accepted by rules that have changed since.
    if (!remotes && (remotes.error().refused_card || found.generation != rules)) {
      found.remotes.clear();
      found.card = std::move(shown);
    }
    if (!remotes) return !was_away;
    found.generation = rules;
    found.remotes = *remotes;
    found.fetched = std::move(fetched);
    found.card = std::move(shown);
    found.until = now + std::max(kept, kCardKeptMin);
    return false;
  });
  if (is_news) {
    const std::string url = endpoint_.url.substr(0, endpoint_.url.find('?'));
    const char* const what = remotes.error().refused_card ? "refused" : "cannot fetch";
    base::log_warn({}, "{} the agent card from {}: {}", what, url, base::loggable(remotes.error().text));
  }
  return remotes;
}

RemoteInterfaces::Remotes RemoteInterfaces::fetch_card(std::optional<client::Fetched>& card, int stop_fd,
                                                       bool despite_breaker) const {
  client::Target target;
  target.url = endpoint_.url;
  target.a2a = endpoint_.version;
  target.transport = endpoint_.transport;
  target.agent = endpoint_.agent;
  target.endpoint = endpoint_.address;
  target.grpc_text_files = endpoint_.grpc_text_files;
  if (credentials_->wanted()) target.access.credentials = credentials_;
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
  target.accept_card = rules_.cards.accept;
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
    remote.access.intake = nullptr;  // each call has its own
    remote.access.despite_breaker = false;
    // A channel to a checked address does not follow a name that moves, so it serves one call only.
    const bool goes_anywhere = remote.access.policy == outbound::AddressPolicy::any();
    if (goes_anywhere) remote.channel = client::open_channel(remote);
  }
  return remotes;
}

}  // namespace baton::agents

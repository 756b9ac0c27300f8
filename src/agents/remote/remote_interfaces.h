// RemoteInterfaces: where and how a remote agent is spoken to, and what it is, as its own card says.
//
// Threads: any. The card is fetched again as its HTTP headers say, or after a while.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "agents/outbound/credentials.h"
#include "agents/outbound/outbound.h"
#include "agents/settings.h"
#include "base/guarded.h"
#include "client/remote.h"
#include "task/card.h"

namespace baton::agents {

class RemoteInterfaces {
 public:
  using Remotes = tl::expected<std::vector<client::Remote>, client::CallError>;

  // `card`: the one in the agent's folder.
  RemoteInterfaces(task::AgentCard card, Endpoint endpoint, OutboundRules rules);

  // Never empty: in the order in which they are to be tried. May block. The secret goes to the origin of the
  // card's URL only. `stop_fd`, `despite_breaker` (for the card): see http::outbound::HttpRequest.
  Remotes find(int stop_fd, bool despite_breaker = false) const;

  // The card that is shown (shown_card), as far as the remote one is known. Does not block.
  std::shared_ptr<const task::AgentCard> card() const;
  // Whether it is time to fetch the card again; who is told so calls `refresh`, which may block.
  bool begin_refresh() const;
  Remotes refresh(int stop_fd, bool despite_breaker = false) const;

  // Hides what was sent to show who calls; null: nothing was.
  std::shared_ptr<const base::SecretMask> mask() const { return credentials_->mask(); }
  // Whether the secret, if one is wanted, is there.
  bool has_secret() const;
  // For the answers of all agents; null: none.
  http::outbound::ByteBudget* budget() const { return rules_.budget; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Found {
    std::vector<client::Remote> remotes;
    std::optional<client::Fetched> fetched;
    std::shared_ptr<const task::AgentCard> card;  // shared with who shows it
    Clock::time_point until{};                    // when the card is to be fetched again
    Clock::time_point ask_after{};                // but not before this, as somebody does, or did just now
    bool is_away = false;                         // the card could not be had the last time
  };
  Remotes fetch(std::optional<client::Fetched>& card, int stop_fd, bool despite_breaker) const;

  const task::AgentCard own_card_;
  const Endpoint endpoint_;
  const OutboundRules rules_;
  const std::shared_ptr<Credentials> credentials_;  // shared with what `find` has found
  mutable base::Guarded<Found> found_;
};

}  // namespace baton::agents

// RemoteInterfaces: the interfaces of a remote agent and its description, both from its own card.
//
// Threads: any. The card is fetched again as its HTTP headers say, or after a while.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "agents/settings.h"
#include "base/guarded.h"
#include "client/remote.h"
#include "outbound/credentials.h"
#include "outbound/rules.h"
#include "task/card.h"

namespace baton::agents {

class RemoteInterfaces {
 public:
  using Remotes = tl::expected<std::vector<client::Remote>, client::CallError>;

  // `card`: the one in the agent's folder.
  RemoteInterfaces(task::AgentCard card, Endpoint endpoint, outbound::Rules rules);

  // Returns the interfaces in the order to try them; never an empty list. May block. The secret goes to
  // the origin of the card's URL only. `stop_fd`, `despite_breaker` (for the card): see
  // outbound::HttpRequest.
  Remotes find(int stop_fd, bool despite_breaker = false) const;

  // The card to show (shown_card). It has the remote card's data once that is known. Does not block.
  std::shared_ptr<const task::AgentCard> card() const;
  // Returns true if it is time to fetch the card again. The caller must then call `refresh`, which may
  // block.
  bool begin_refresh() const;
  Remotes refresh(int stop_fd, bool despite_breaker = false) const;

  // The credentials that are sent, which mask themselves in answers. Shared with turns, whose last answer
  // may be masked after this object is gone.
  const std::shared_ptr<outbound::Credentials>& credentials() const { return credentials_; }
  // False if a secret is required and missing.
  bool has_secret() const;
  // The memory budget for the answers of all agents; may be null.
  outbound::ByteBudget* budget() const { return rules_.budget; }

 private:
  using Clock = std::chrono::steady_clock;
  struct Found {
    std::vector<client::Remote> remotes;
    std::optional<client::Fetched> fetched;
    std::shared_ptr<const task::AgentCard> card;  // shared with its readers
    Clock::time_point until{};                    // when the card is to be fetched again
    Clock::time_point ask_after{};                // but not before this: a fetch runs or has just ended
    bool is_away = false;                         // the last fetch of the card failed
  };
  Remotes fetch(std::optional<client::Fetched>& card, int stop_fd, bool despite_breaker) const;

  const task::AgentCard own_card_;
  const Endpoint endpoint_;
  const outbound::Rules rules_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with the results of `find`
  mutable base::Guarded<Found> found_;
};

}  // namespace baton::agents

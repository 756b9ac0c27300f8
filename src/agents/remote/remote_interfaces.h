// RemoteInterfaces: the interfaces of a remote agent and its description, both from its own card.
//
// Threads: any, but for `fetch`. The card is fetched again as its HTTP headers say, or after a while.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "agents/settings.h"
#include "base/guarded.h"
#include "client/remote.h"
#include "client/remote_call.h"
#include "outbound/credentials.h"
#include "outbound/rules.h"
#include "task/card.h"

namespace baton::agents {

class RemoteInterfaces : public std::enable_shared_from_this<RemoteInterfaces> {
 public:
  using Remotes = tl::expected<std::vector<client::Remote>, client::CallError>;

  // `card`: the one in the agent's folder.
  RemoteInterfaces(task::AgentCard card, Endpoint endpoint, outbound::Rules rules);

  // Returns the interfaces in the order to try them; never an empty list. May block. The secret goes to
  // the origin of the card's URL only. An agent that is called for its callers is asked for its card without
  // a token. `stop_fd`: see outbound::HttpRequest.
  Remotes find(int stop_fd) const;

  // For turns on an event loop, in place of `find`: returns what is known without a request; nullopt: `fetch`
  // comes next. Does not block.
  std::optional<Remotes> at_hand() const;
  // Has a thread fetch the card, once for all that wait, and calls `done` later. Destroying the result ends
  // the wait. On the loop's thread, with the same services each time. `despite_breaker`: see
  // outbound::HttpRequest.
  class Wait;
  std::shared_ptr<Wait> fetch(const client::RemoteCall::Services& services, bool despite_breaker,
                              std::function<void(const Remotes&)> done) const;

  // The card to show (shown_card). It has the remote card's data once that is known. Does not block.
  std::shared_ptr<const task::AgentCard> card() const;
  // Returns true if it is time to fetch the card again. The caller must then call `refresh`, which may
  // block.
  bool begin_refresh() const;
  Remotes refresh(int stop_fd, bool despite_breaker = false) const;

  // The credentials that are sent, which mask themselves in answers. Shared with turns, whose last answer
  // may be masked after this object is gone.
  const std::shared_ptr<outbound::Credentials>& credentials() const { return credentials_; }
  // Lets calls to the interfaces use these credentials, where they may have a token at all.
  static void authenticate(std::vector<client::Remote>& remotes,
                           const std::shared_ptr<outbound::Credentials>& credentials);
  // False if a secret is required and missing.
  bool has_secret() const;
  // Whether the secret is in a file.
  bool reads_file() const { return credentials_->reads_file(); }
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
    std::uint64_t generation = 0;  // of the rules that accepted the card; under others it is not used
    std::uint64_t asked = 0;       // of the rules of the last fetch
    bool is_away = false;          // the last fetch of the card failed
  };
  Remotes fetch_card(std::optional<client::Fetched>& card, int stop_fd, bool despite_breaker) const;
  Remotes renewed(int stop_fd, bool despite_breaker) const;
  std::uint64_t generation() const;  // of the rules now
  // The interfaces that were found by the rules of now; may be empty.
  std::vector<client::Remote> known() const;
  struct Fetch;

  const task::AgentCard own_card_;
  const Endpoint endpoint_;
  const outbound::Rules rules_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with the results of `find`
  mutable base::Guarded<Found> found_;
  mutable std::shared_ptr<Fetch> under_way_;  // shared with those that wait; on the loop's thread
};

}  // namespace baton::agents

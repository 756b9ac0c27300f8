// ApiKeys: operators' actions on API keys, and the keys of the store for whoever checks requests.
//
// Keys are read at the start, after each change here, and when another node tells of a change. As long as
// there are keys and other nodes, or notices do not arrive, it also looks every second. Keys that ended
// kEndedFor ago are removed. Each action is recorded in the audit, a refused one with the error.
// Threads: any. `done` is called once, on any thread, and must not block; never once the engine has drained.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/guarded.h"
#include "engine/decide/inbox.h"
#include "engine/operators/operator_actions.h"
#include "engine/shared/background.h"
#include "store/operator_store.h"
#include "store/peers.h"

namespace baton::engine {

// Stands where a task's key does in notices between nodes. Older nodes ignore it, as no conversation has it.
inline constexpr task::TaskKey kApiKeysNotice{std::numeric_limits<std::int64_t>::min()};

class ApiKeys {
 public:
  using Keys = std::vector<store::ApiKey>;
  // Gets all keys, also those that are over. One call at a time.
  using Took = std::function<void(const Keys&)>;
  // Gets the key as it is after the action.
  using Done = std::function<void(base::Result<store::ApiKey>)>;
  static constexpr std::chrono::hours kEndedFor{30 * 24}, kSweepEvery{1};

  // `peers`: null if the store is not shared.
  ApiKeys(store::OperatorStore& store, Inbox& inbox, Background& background, const base::Clock& clock,
          store::Peers* peers)
      : store_(store), inbox_(inbox), background_(background), clock_(clock), peers_(peers) {}

  // Without it keys are off: none are read, and actions fail with conflict. Once, before `start`.
  void set_took(Took took) { took_ = std::move(took); }
  bool is_on() const { return static_cast<bool>(took_); }

  // Reads the keys. Blocks.
  base::Result<void> start();
  // Reads the keys if they may have changed at another node. `is_told`: they have, or a notice may have been
  // lost. Blocks.
  void look(bool is_told);

  // Creates the key; `actor` becomes its `by`. `done` is called once this node accepts it. Fails as
  // store::NewApiKey does, and with invalid_argument (actor or reason).
  void create(store::ApiKey key, Actor actor, Done done);
  // Creates a key in place of this one, with the same caller, role, scopes and agents. The old one stays
  // valid for `overlap`, but not longer than before.
  struct Rotation {
    std::string old;
    std::string id, digest;                             // of the new one
    std::optional<std::chrono::milliseconds> lifetime;  // of the new one; unset: as of the old one
    std::chrono::milliseconds overlap{0};
  };
  void rotate(Rotation rotation, Actor actor, Done done);
  // Fails as store::RevokedApiKey does.
  void revoke(const std::string& id, Actor actor, Done done);

  // Stores when keys were last used. What fails is lost.
  void note_used(store::UsedApiKeys used);

  // For the erasure of a caller's data: the number of its keys (blocks); removes them in the store's open
  // group; and tells that this is done.
  base::Result<std::int64_t> number_of(const std::string& caller) const;
  base::Result<void> forget(const std::string& caller);
  void changed() {
    reload([] {}, true);
  }

 private:
  struct State {
    bool is_reading = false;
    bool tells = false;
    std::vector<std::function<void()>> waiting;  // for a read that begins later
  };

  base::Result<void> check(const Actor& actor) const;
  void find_first(const std::string& id, Done done, std::function<void(const store::ApiKey*, Done)> then);
  void act(task::AuditEntry entry, const base::Result<store::OperatorWrite>& what, store::ApiKey after,
           Done done);
  void reload(std::function<void()> then, bool tells);
  void read_waiting();
  base::Result<void> read();
  void sweep();
  void sweep_later();

  store::OperatorStore& store_;
  Inbox& inbox_;
  Background& background_;
  const base::Clock& clock_;
  store::Peers* const peers_;
  Took took_;
  base::Guarded<State> state_;
  std::atomic<std::int64_t> seen_{0};  // api_keys_state when the keys were last read
  std::atomic<bool> has_keys_{false}, was_alone_{false}, sweeps_{false};
};

}  // namespace baton::engine

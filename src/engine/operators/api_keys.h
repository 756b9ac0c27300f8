// ApiKeys: operators' actions on API keys. Hands the keys of the store to the code that checks requests.
//
// Keys are read at the start, after each change here, and when another node tells of a change. As long as
// there are keys and other nodes, or notices do not arrive, it also looks every second. Keys that ended
// kEndedFor ago are removed. Each action is recorded in the audit, a refused one with the error. An action is
// done once this node has read the keys again. If it cannot in kReads tries, the action fails with
// unavailable, although it is stored, and the node keeps trying. Threads: any. `done` is called once, on any
// thread, and must not block; never once the engine has drained.
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
  static constexpr int kReads = 20;

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

  // Creates the key; `actor` becomes its `by`. Fails as store::NewApiKey does, and with invalid_argument
  // (actor or reason).
  void create(store::ApiKey key, Actor actor, Done done);
  // Creates a key in place of this one, with the same caller, role, scopes and agents. The old one stays
  // valid for `overlap`, but not longer than before.
  struct Rotation {
    std::string old;
    std::string id, digest;                             // of the new one
    std::optional<std::chrono::milliseconds> lifetime;  // of the new one; unset: the old one's, as made
    std::chrono::milliseconds overlap{0};
    // Whether the operator may make the new key; empty: yes. Must not block.
    std::function<base::Result<void>(const store::ApiKey&)> check = {};
  };
  void rotate(Rotation rotation, Actor actor, Done done);
  // Fails as store::RevokedApiKey does.
  void revoke(const std::string& id, Actor actor, Done done);

  // Stores when keys were last used. What fails is lost.
  void note_used(store::UsedApiKeys used);

  // Removes all keys of the caller, whether keys are on or off. If there were any, `actor` is in the audit.
  using Forgot = std::function<void(base::Result<std::int64_t> keys)>;
  void forget(const std::string& caller, Actor actor, Forgot done);

 private:
  using Read = std::function<void(base::Result<void>)>;
  struct Waiting {
    Read then;
    int reads_left = kReads;
  };
  struct State {
    bool is_reading = false;  // a thread reads, or will after a pause
    bool is_due = false, tells = false;
    std::vector<Waiting> waiting;  // for a read that begins later
  };

  base::Result<void> check(const Actor& actor) const;
  void find_first(const std::string& id, task::AuditEntry entry, Done done,
                  std::function<void(const store::ApiKey&, task::AuditEntry, Done)> then);
  void act(task::AuditEntry entry, const base::Result<store::OperatorWrite>& what, store::ApiKey after,
           Done done);
  void reload(Read then, bool tells);
  void begin_reading();
  void read_waiting();
  bool read_once();
  base::Result<void> read();
  base::Result<void> read_safely();
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

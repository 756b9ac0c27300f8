// WriterDialect: what the writer does in another way on each kind of database.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "store/sql/connection.h"
#include "store/task_store.h"

namespace baton::store::sql {

// The sends of the retention, to recognise repeated ones.
//
// Threads: `find` from any, with the caller's connection; the rest on the writing thread.
class RecentSends {
 public:
  virtual ~RecentSends() = default;

  // Loads what is stored, the first time and after `forget`. Call before anything else.
  virtual void refresh(Connection& connection) = 0;
  // Whether `find` may find this digest, without a look at the database.
  virtual bool may_have(const task::SendDigest&) const { return true; }
  // The last send with this digest within the retention, if any.
  virtual std::optional<EarlierSend> find(Connection& connection, const task::SendDigest& digest,
                                          base::Timestamp now) const = 0;
  // Adds a send that `find` does not know; every so often also deletes some expired ones.
  virtual void add(Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
                   base::Timestamp now) = 0;
  // The transaction was rolled back.
  virtual void forget() = 0;
};

enum class KeyOf { task, context, config, delivery };

class WriterDialect {
 public:
  virtual ~WriterDialect() = default;

  // This node's, from any thread; none if the database is not shared.
  virtual NodeId node() const = 0;
  // A key that nothing of its kind has or had. That of a task that is gone is not given again, as sends
  // remember it; nor are those of configs and deliveries while the program runs: the result of an old
  // delivery may still arrive.
  virtual std::int64_t new_key(KeyOf kind) = 0;
  virtual RecentSends& sends() = 0;
  // Whether these texts fit into one key of an index together. Of a change that does not nothing is written:
  // the database would fail its whole group.
  virtual bool takes_key(std::initializer_list<std::string_view> texts) const = 0;
  // Adds `more` to the caller's count of tasks at rest in this state, in the open transaction. What is 0
  // leaves no row: the caller may have been erased.
  virtual void add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                            std::int64_t more) = 0;

  // A delivery whose result is recorded.
  struct DeliveryRow {
    PushConfigKey config;
    task::EventNumber event;
    bool is_due = false;
  };
  using DeliveryRows = std::unordered_map<DeliveryKey, std::optional<DeliveryRow>>;
  // All of these, nothing for one that is gone; or none, where reading one at a time is as good.
  virtual DeliveryRows deliveries(const std::vector<DeliveryKey>&) { return {}; }

  // What other nodes may do at the same moment, on a database that is shared.
  //
  // Keeps a context that was found from being removed until the group has ended; fails it with raced, then or
  // later, if it is gone.
  virtual void keep_context(task::ContextKey context) = 0;
  // Before it is seen whether anything is in the context: waits for groups that keep it, and has others that
  // want to keep it wait.
  virtual void claim_context(task::ContextKey context) = 0;
  // Call last in a group. Of each config the event from which on deliveries may wait without one that is due,
  // as the group has added one, another node has, or has had the last one end: the first of them is due since
  // it was made.
  using Waiting = std::map<PushConfigKey, task::EventNumber>;
  virtual void wake_deliveries(const Waiting& waiting) = 0;
};

}  // namespace baton::store::sql

// WriterDialect: the operations of the writer that differ between kinds of databases.
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

// The sends within the retention time, used to recognise repeated ones.
//
// Threads: `find` from any, with the caller's connection; the rest on the writing thread.
class RecentSends {
 public:
  virtual ~RecentSends() = default;

  // Loads the stored state, the first time and after `forget`. Call before anything else.
  virtual void refresh(Connection& connection) = 0;
  // Whether `find` may find this digest. Does not read the database.
  virtual bool may_have(const task::SendDigest&) const { return true; }
  // Returns the last send with this digest within the retention time, if there is one.
  virtual std::optional<EarlierSend> find(Connection& connection, const task::SendDigest& digest,
                                          base::Timestamp now) const = 0;
  // Adds a send that `find` does not know. From time to time also deletes some expired sends.
  virtual void add(Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
                   base::Timestamp now) = 0;
  // Call after a rollback.
  virtual void forget() = 0;
};

enum class KeyOf { task, context, config, delivery };

class WriterDialect {
 public:
  virtual ~WriterDialect() = default;

  // This node's number; 0 if the database is not shared. Threads: any.
  virtual NodeId node() const = 0;
  // Returns an unused key. Keys of removed tasks are never reused, because sends keep them. Keys of configs
  // and deliveries are not reused while the program runs, because the result of an old delivery may still
  // arrive.
  virtual std::int64_t new_key(KeyOf kind) = 0;
  virtual RecentSends& sends() = 0;
  // Whether these texts together fit into one key of an index. A change with texts that do not fit must be
  // refused, because the database would fail its whole group.
  virtual bool fits_key(std::initializer_list<std::string_view> texts) const = 0;
  // Adds `more` to the caller's count of tasks at rest in this state, in the open transaction. A count of 0
  // leaves no row, because the caller may have been erased.
  virtual void add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                            std::int64_t more) = 0;

  // A delivery whose result is recorded.
  struct DeliveryRow {
    PushConfigKey config;
    task::EventNumber event;
    bool is_due = false;
  };
  using DeliveryRows = std::unordered_map<DeliveryKey, std::optional<DeliveryRow>>;
  // Reads all of these deliveries with one query; nullopt for a delivery that is gone. Returns an empty map
  // if reading them one at a time is as fast.
  virtual DeliveryRows deliveries(const std::vector<DeliveryKey>&) { return {}; }

  // The following functions coordinate concurrent nodes of a shared database.
  //
  // Keeps an existing context from being removed until the group has ended. If the context is gone, fails the
  // group with raced, now or later.
  virtual void keep_context(task::ContextKey context) = 0;
  // Call before checking whether a context is empty. Waits for groups that keep the context, and makes later
  // ones wait.
  virtual void claim_context(task::ContextKey context) = 0;
  // Call last in a group. For each config, `waiting` has the first event that may have a pending delivery
  // while none is due, because this group or another node has added a delivery, or has finished the last due
  // one. Makes the config's first pending delivery due since its creation.
  using Waiting = std::map<PushConfigKey, task::EventNumber>;
  virtual void wake_deliveries(const Waiting& waiting) = 0;
};

}  // namespace baton::store::sql

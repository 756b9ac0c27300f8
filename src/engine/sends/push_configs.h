// PushConfigs: the webhooks of a caller's tasks.
//
// Each method fails with push_not_supported if webhooks are switched off, and with task_not_found for
// another caller's task.
// Threads: any. Calls may block on the disk; `done` runs on the calling thread or the one that flushes.
#pragma once

#include <functional>

#include "engine/decide/inbox.h"
#include "engine/read/task_reader.h"
#include "engine/shared/options.h"
#include "engine/shared/wiring.h"

namespace baton::engine {

class PushConfigs {
 public:
  using Done = std::function<void(base::Result<task::PushConfig>)>;
  using Removed = std::function<void(base::Result<void>)>;

  PushConfigs(const TaskReader& reader, Inbox& inbox, const EngineOptions& options,
              const EngineWiring& wiring)
      : reader_(reader), inbox_(inbox), options_(options), wiring_(wiring) {}

  // Fails unless webhooks are switched on.
  base::Result<void> offered() const;
  // Fails unless this config may be set: webhooks are on and its URL is allowed (else invalid_argument).
  base::Result<void> check(const task::PushConfig& config) const;

  // Sets a webhook. A config without an id gets one.
  void set(const task::TaskRef& ref, task::PushConfig config, Done done);
  // Returns the config with this id, or the first one if `id` is empty; not_found if there is none.
  base::Result<task::PushConfig> get(const task::TaskRef& ref, const task::PushConfigId& id) const;
  // Returns all configs of the task, in order of creation.
  base::Result<std::vector<task::PushConfig>> list(const task::TaskRef& ref) const;
  // Removing a config that does not exist is a no-op and succeeds.
  void remove(const task::TaskRef& ref, const task::PushConfigId& id, Removed done);

 private:
  base::Result<task::TaskHead> task_of(const task::TaskRef& ref) const;

  const TaskReader& reader_;
  Inbox& inbox_;
  const EngineOptions& options_;
  const EngineWiring& wiring_;
};

}  // namespace baton::engine

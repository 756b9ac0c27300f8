// The identifiers of the vocabulary. Public ids are text; keys and numbers are Baton's own.
#pragma once

#include <string_view>

#include "base/id.h"

namespace baton::task {

using TaskId = base::Id<struct TaskIdTag>;
using ContextId = base::Id<struct ContextIdTag>;
using MessageId = base::Id<struct MessageIdTag>;
using ArtifactId = base::Id<struct ArtifactIdTag>;
// The folder name of an agent in agent-cards/.
using AgentName = base::Id<struct AgentNameTag>;
// Who calls: the name of an authenticated caller, or kAnonymous.
using Caller = base::Id<struct CallerTag>;
using PushConfigId = base::Id<struct PushConfigIdTag>;

inline const Caller kAnonymous{"anonymous"};

// Stands between a tenant and the name of a caller within it, which holds no control characters.
inline constexpr char kTenantEnd = '\x1f';
// Whom limits count: the caller, whatever tenant it names.
inline std::string_view account_of(const Caller& caller) {
  const std::string_view name = caller.value;
  const std::size_t end = name.find(kTenantEnd);
  return end == std::string_view::npos ? name : name.substr(end + 1);
}

// The tenant a caller names, or nothing.
inline std::string_view tenant_of(const Caller& caller) {
  const std::string_view name = caller.value;
  const std::size_t end = name.find(kTenantEnd);
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
}

// A task inside Baton: small, in order of creation, never shown to anyone.
using TaskKey = base::Number<struct TaskKeyTag>;
using ContextKey = base::Number<struct ContextKeyTag>;
// An event's place in its task's log: 1, 2, 3, ... without a gap.
using EventNumber = base::Number<struct EventNumberTag>;
// Grows with every decision about a task (status, turn, queued message), not with an executor's output.
using Version = base::Number<struct VersionTag>;
// Which turn of its task a turn is: 1, 2, 3, ...; also the fence for what an executor writes.
using TurnNumber = base::Number<struct TurnNumberTag>;

}  // namespace baton::task

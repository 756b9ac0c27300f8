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
// The name of an authenticated caller, or kAnonymous; with a tenant, see kTenantEnd.
using Caller = base::Id<struct CallerTag>;
using PushConfigId = base::Id<struct PushConfigIdTag>;

inline const Caller kAnonymous{"anonymous"};

// Separates a tenant from the caller's name that follows it. Tenants contain no control characters.
inline constexpr char kTenantEnd = '\x1f';
// Separates an authorization server from the subject that follows it, in the name of a caller who comes with
// its access tokens. No configured caller's name has it.
inline constexpr char kSubjectBegin = '\x01';

// The caller without its tenant. Limits per caller count by this name.
inline std::string_view account_of(const Caller& caller) {
  const std::string_view name = caller.value;
  const std::size_t end = name.find(kTenantEnd);
  return end == std::string_view::npos ? name : name.substr(end + 1);
}

// The caller's tenant, or an empty view.
inline std::string_view tenant_of(const Caller& caller) {
  const std::string_view name = caller.value;
  const std::size_t end = name.find(kTenantEnd);
  return end == std::string_view::npos ? std::string_view() : name.substr(0, end);
}

// A task's internal key: small, never shown to anyone. Keys are in order of creation, except for tasks of
// different nodes (store::kKeysOutOfOrder).
using TaskKey = base::Number<struct TaskKeyTag>;
using ContextKey = base::Number<struct ContextKeyTag>;
// An event's place in its task's log: 1, 2, 3, ... without a gap.
using EventNumber = base::Number<struct EventNumberTag>;
// Grows with every decision about a task (status, turn, queued message), not with an executor's output.
using Version = base::Number<struct VersionTag>;
// A turn's number in its task: 1, 2, 3, ...; also part of the fence for an executor's output.
using TurnNumber = base::Number<struct TurnNumberTag>;

}  // namespace baton::task

#include "store/own_context.h"

#include <string>

namespace baton::store {
namespace {

// Both ids are UUIDs. The task's has version 7 (time-ordered). The context's is the same except for version
// 8, which is for custom use (RFC 9562).
constexpr std::size_t kLength = 36, kVersionAt = 14;
constexpr char kTaskVersion = '7', kContextVersion = '8';

bool has_version(const std::string& uuid, char version) {
  return uuid.size() == kLength && uuid[kVersionAt - 1] == '-' && uuid[kVersionAt] == version;
}

}  // namespace

task::ContextId own_context(const task::TaskId& id) {
  if (!has_version(id.value, kTaskVersion)) return {};
  task::ContextId context{id.value};
  context.value[kVersionAt] = kContextVersion;
  return context;
}

std::optional<task::TaskId> task_of_own_context(const task::ContextId& id) {
  if (!has_version(id.value, kContextVersion)) return std::nullopt;
  task::TaskId task{id.value};
  task.value[kVersionAt] = kTaskVersion;
  return task;
}

}  // namespace baton::store

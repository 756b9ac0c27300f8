// The key under which LiveTasks and the peers notify of a conversation: of the tasks of one context that no
// agent delegated. It stands where a task's key does, and is negative, as no task's key is. Two conversations
// may have one key: a notification only means that it is worth a look.
//
// Pure functions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "store/task_store.h"

namespace baton::engine {

// The same on every node, whatever its program's version: FNV-1a of the three names.
inline task::TaskKey conversation_key(const task::AgentName& agent, const task::Caller& caller,
                                      const task::ContextId& context) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const std::string_view name :
       {std::string_view(agent.value), std::string_view(caller.value), std::string_view(context.value)}) {
    for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    hash *= 0x100000001b3;  // as a zero byte after the name
  }
  const auto positive = static_cast<std::int64_t>(hash >> 1);
  return {-std::max<std::int64_t>(positive, 1)};
}
inline task::TaskKey conversation_key(const task::TaskHead& head) {
  return conversation_key(head.agent, head.caller, head.context);
}
inline task::TaskKey conversation_key(const task::ContextRef& context) {
  return conversation_key(context.agent, context.caller, context.id);
}

inline bool is_conversation(task::TaskKey key) {
  return key.value < 0;
}

// Whether a run of the task's conversation may have begun or ended with the change. Output within a run is
// the task's own news.
inline bool is_news_of_conversation(const store::Committed& committed) {
  return !committed.head.parent && std::ranges::any_of(committed.events, [](const task::EventPtr& event) {
    return task::status_in(*event) != nullptr;
  });
}

}  // namespace baton::engine

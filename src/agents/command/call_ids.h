// CallIds: ids of tool calls and questions that are unique in their context. Clients keep a conversation's
// calls and questions by their ids, but an agent may well give each turn's first call the same one: then the
// call gets another, and only the agent hears its own.
//
// Threads: one at a time; turns side by side each have their own, over the same UsedIds.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "agents/used_ids.h"

namespace baton::agents {

class CallIds {
 public:
  // `used` are the ids that the context has so far; null: none.
  explicit CallIds(std::shared_ptr<UsedIds> used)
      : used_(used ? std::move(used) : std::make_shared<UsedIds>()) {}

  // The id for a new call or question that the agent names `own`.
  std::string begin(const std::string& own);
  // The id of the call that this turn's agent has named `own`; `own` itself if there is none.
  std::string given(const std::string& own) const;
  // What the agent named the call that has this id; the id itself of what is no call.
  std::string own(const std::string& id) const;

 private:
  const std::shared_ptr<UsedIds> used_;  // shared with the other turns of the context
  std::unordered_map<std::string, std::string> given_;
};

}  // namespace baton::agents

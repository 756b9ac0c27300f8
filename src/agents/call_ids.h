// CallIds: makes the ids of tool calls and questions unique in their context. Clients key a conversation's
// calls and questions by id, but an agent may reuse an id in every turn. Then the call gets another id, and
// only the agent sees its own.
//
// Threads: one at a time; concurrent turns each have their own, over the same UsedIds.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "agents/used_ids.h"

namespace baton::agents {

class CallIds {
 public:
  // `used`: the ids taken in the context so far; null: none.
  explicit CallIds(std::shared_ptr<UsedIds> used)
      : used_(used ? std::move(used) : std::make_shared<UsedIds>()) {}

  // The id for a new call or question that the agent names `own`.
  std::string begin(const std::string& own);
  // The id of the call that this turn's agent has named `own`; `own` itself if there is none.
  std::string given(const std::string& own) const;
  // The agent's own name for the call with this id; the id itself if there is no such call.
  std::string own(const std::string& id) const;

 private:
  const std::shared_ptr<UsedIds> used_;  // shared with the other turns of the context
  std::unordered_map<std::string, std::string> given_;
};

}  // namespace baton::agents

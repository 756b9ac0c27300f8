// CallIds: ids of tool calls that are unique in their context. Clients keep a conversation's calls by their
// ids, but an agent may well give each turn's first call the same one: then the call gets another, and only
// the agent hears its own.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace baton::agents {

class CallIds {
 public:
  // `used` are the ids that the context's calls have so far.
  explicit CallIds(const std::vector<std::string>& used) : used_(used.begin(), used.end()) {}

  // The id for a new call that the agent names `own`.
  std::string begin(const std::string& own);
  // The id of the call that this turn's agent has named `own`; `own` itself if there is none.
  std::string given(const std::string& own) const;
  // What the agent named the call that has this id; the id itself of what is no call.
  std::string own(const std::string& id) const;

 private:
  std::unordered_set<std::string> used_;
  std::unordered_map<std::string, std::string> given_;
};

}  // namespace baton::agents

// Conversations: a caller's contexts at one agent, as a chat page lists them.
//
// A context is a conversation once its caller has a visible task in it that was not delegated. The newest of
// these tasks gives the conversation its place in the list and its state.
// Threads: any. Methods block on the disk; callbacks come once, on any thread, and must not block.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "engine/operators/erasure.h"
#include "engine/sends/cancels.h"

namespace baton::engine {

struct Conversation {
  task::ContextId id;
  std::string title;  // one line: the caller's own or the first words; empty if there are none
  base::Timestamp created{}, updated{};
  task::State state = task::State::submitted;
};

class Conversations {
 public:
  static constexpr std::size_t kTitleMax = 200;  // code points

  Conversations(store::TaskStore& store, const TaskReader& reader, Cancels& cancels, Inbox& inbox)
      : store_(store), reader_(reader), cancels_(cancels), inbox_(inbox) {}

  struct Page {
    std::vector<Conversation> conversations;  // newest first
    std::optional<task::ListPosition> next;   // the next page begins after it; unset on the last page
  };
  // Returns a page. Looks at a bounded number of tasks, so a page may have fewer than `limit` conversations,
  // or none, although others follow.
  base::Result<Page> list(const task::Caller& caller, const task::AgentName& agent,
                          std::optional<task::ListPosition> after, int limit) const;

  // Fails with not_found.
  base::Result<Conversation> find(const task::ContextRef& ref) const;

  // Sets the title, which is brought into one line, or removes it if `title` is unset. Fails with
  // invalid_argument (the title is empty then, or longer than kTitleMax), not_found, unavailable.
  using Renamed = std::function<void(base::Result<Conversation>)>;
  void rename(const task::ContextRef& ref, const std::optional<std::string>& title, Renamed done);

  // Cancels the tasks that have not ended, waits up to `patience` for each to end, and removes the
  // conversation as Erasure::erase_context does. Fails with not_found, conflict (a task is still at work, or
  // new), unavailable.
  using Gone = std::function<void(base::Result<void>)>;
  void erase(const task::ContextRef& ref, Erasure& erasure, std::chrono::milliseconds patience, Gone done);

 private:
  base::Result<std::optional<task::TaskHead>> newest_in(const task::ContextRef& ref) const;
  base::Result<task::TaskHead> head_of(const task::ContextRef& ref) const;
  void end_all(const std::vector<task::TaskHead>& heads, std::chrono::milliseconds patience,
               const std::function<void()>& then);

  store::TaskStore& store_;
  const TaskReader& reader_;
  Cancels& cancels_;
  Inbox& inbox_;
};

}  // namespace baton::engine

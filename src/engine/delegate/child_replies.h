// ChildReplies: shows children's replies as replies of their parents while they are streamed
// (agents::DelegateRequest::shows_replies).
//
// A child's replies are in its own log first, and are then copied to the parent's (agents::Turn::said_ids).
// They are copied only while the parent's log has a reader, the parent waits for the child, and the parent
// asks its caller nothing. If the parent's log has grown since the pieces were chosen, they are chosen again
// by comparing both logs. So neither a crash nor another node can lose or repeat a word. The parent's turn
// that gets the child's result completes the replies, or withdraws them.
//
// Memory: the text of replies is not kept between rounds. A child's replies are no longer shown once the
// parent's log would exceed half of its space (limits.task_max).
//
// Threads: any.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "base/guarded.h"
#include "engine/decide/inbox.h"
#include "engine/live/live_tasks.h"
#include "engine/read/task_reader.h"
#include "engine/shared/background.h"
#include "engine/shared/options.h"
#include "engine/turns/turn_runner.h"

namespace baton::engine {

struct ShowReplies;

class ChildReplies {
 public:
  ChildReplies(const TaskReader& reader, LiveTasks& live, TurnRunner& turns, Inbox& inbox,
               Background& background, const EngineOptions& options)
      : reader_(reader),
        live_(live),
        turns_(turns),
        inbox_(inbox),
        background_(background),
        options_(options) {}

  // Shows the child's replies from now on, in place of an earlier call for the same child. `message`: the
  // message that the parent works on. Does not block.
  void begin(const task::TaskHead& parent, task::EventNumber message, task::TaskKey child);
  // Shows no more of the child's replies; call it before the parent's log says how the child has stopped.
  void end(task::TaskKey child);
  // The parent has ended.
  void end_all_of(task::TaskKey parent);
  // Shows what the child has said so far, also if nobody reads the parent's log. Calls `then` once it is
  // shown, or will not be shown before the parent's next turn.
  void catch_up(task::TaskKey child, std::function<void()> then);

 private:
  struct Shown;
  using ShownPtr = std::shared_ptr<Shown>;

  using Pieces = std::vector<task::TextDelta>;
  struct KnownReply;
  using Known = std::map<task::ArtifactId, KnownReply>;  // by the ids in the parent's log
  using KindPtr = std::shared_ptr<ShowReplies>;

  ShownPtr find(task::TaskKey child) const;
  void end(const ShownPtr& shown);
  void listen(const ShownPtr& shown);
  void hear(const ShownPtr& shown);
  bool is_read(const Shown& shown) const;
  void wake(const ShownPtr& shown);
  void look(const ShownPtr& shown);
  void choose(const ShownPtr& shown);
  base::Result<Known> read_known(Shown& shown) const;
  base::Result<Pieces> read_said(Shown& shown) const;
  base::Result<Pieces> compared(Shown& shown) const;
  base::Result<Pieces> news_of(Shown& shown, task::EventNumber last) const;
  bool passes_over(Shown& shown) const;
  void post(const ShownPtr& shown, KindPtr kind);
  void end_round(const ShownPtr& shown);

  const TaskReader& reader_;
  LiveTasks& live_;
  TurnRunner& turns_;
  Inbox& inbox_;
  Background& background_;
  const EngineOptions& options_;
  struct All {
    std::unordered_map<task::TaskKey, ShownPtr> by_child;
    std::unordered_multimap<task::TaskKey, task::TaskKey> children;  // by parent
  };
  base::Guarded<All> all_;
};

}  // namespace baton::engine

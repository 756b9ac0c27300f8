// TaggedDialect: what the dialects of 0.1, of 0.2 and 0.3, and of all three at once share: TaggedObjects, and
// requests that name a task by params.id.
#pragma once

#include "protocol/a2a/dialect.h"
#include "protocol/a2a/tagged_objects.h"

namespace baton::protocol::a2a {

class TaggedDialect : public Dialect {
 public:
  base::Result<TaskRequest> read_task_request(const Params& params) const override;

  void write_task(json::Writer& out, const task::Task& task) const override;
  void write_push(json::Writer& out, const task::TaskId& task, const task::PushConfig& config) const override;
  void write_pushes(json::Writer& out, const task::TaskId& task,
                    const std::vector<task::PushConfig>& configs) const override;
  void write_first(json::Writer& out, const task::Task& task, bool last) const override;
  bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                   const InStream& place) const override;
  void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const override;

 protected:
  // `history_absent`: what an absent historyLength means, as in task::Depth.
  TaggedDialect(task::VersionRange spoken, std::optional<int> history_absent)
      : Dialect(spoken), history_absent_(history_absent) {}

 private:
  const std::optional<int> history_absent_;
};

}  // namespace baton::protocol::a2a

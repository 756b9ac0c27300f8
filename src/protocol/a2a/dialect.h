// Dialect: one JSON form of A2A, of one version in one binding, and the rules of that version. It reads
// requests and writes answers.
//
// Reading is as lenient as released clients need: tags of other versions, snake_case, and numbers and
// booleans as text in queries. Unknown members are ignored. Errors are invalid_argument with a text that
// names the member. Only what the version's schema allows is written. Threads: any; stateless.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/params.h"
#include "protocol/a2a/requests.h"
#include "protocol/a2a/rules.h"
#include "task/task.h"

namespace baton::protocol::a2a {

// The ids that every item of a stream or webhook carries.
struct TaskNames {
  task::TaskId task;
  task::ContextId context;
  task::ProtocolVersion origin = task::ProtocolVersion::v1_0;  // of the client that made the task
};

// The place of an event in the stream that shows it.
struct InStream {
  bool last = false;  // the stream ends with it
  // The first number that it covers, if the client asked for every number.
  std::optional<task::EventNumber> from = {};
};

class Dialect : public Rules {
 public:
  explicit Dialect(task::VersionRange spoken) : Rules(spoken) {}
  virtual ~Dialect() = default;

  virtual base::Result<SendRequest> read_send(json::Value params) const = 0;
  virtual base::Result<TaskRequest> read_task_request(const Params& params) const = 0;
  // Fails with unsupported before 1.0.
  virtual base::Result<ListRequest> read_list(const Params& params) const;
  virtual base::Result<PushRequest> read_push(json::Value params) const = 0;
  virtual base::Result<PushRef> read_push_ref(json::Value params) const = 0;

  // Writes the answer to a send: a task, bare or wrapped.
  virtual void write_sent(json::Writer& out, const task::Task& task) const { write_task(out, task); }
  // Writes the answer to a send, or the only item of its stream, for a task that is answered by its last
  // message alone (task::Task::hidden). A no-op without has_messages().
  virtual void write_message(json::Writer& /*out*/, const task::Task& /*task*/) const {}
  virtual void write_task(json::Writer& out, const task::Task& task) const = 0;
  // A no-op before 1.0. `list.filter` is the request's; artifacts are written as `list.depth` says.
  virtual void write_list(json::Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                          const std::optional<task::ListPosition>& next, std::int64_t total) const;
  virtual void write_push(json::Writer& out, const task::TaskId& task,
                          const task::PushConfig& config) const = 0;
  virtual void write_pushes(json::Writer& out, const task::TaskId& task,
                            const std::vector<task::PushConfig>& configs) const = 0;
  virtual void write_push_deleted(json::Writer& out) const { out.null(); }

  // Writes the Task as an item of a stream. `last`: nothing follows.
  virtual void write_first(json::Writer& out, const task::Task& task, bool last) const = 0;
  // Writes an event as an item of a stream. Returns false if this version does not show it.
  virtual bool write_event(json::Writer& out, const TaskNames& names, const task::Event& event,
                           const InStream& place) const = 0;

  // Writes the body of a webhook call about `event`; `task` is the task just after it.
  virtual void write_webhook(json::Writer& out, const task::Task& task, const task::Event& event) const = 0;
  // Whether a webhook's body shows the whole task. Otherwise it shows only the event, and `task` needs only
  // its ids.
  virtual bool webhook_shows_task() const { return true; }
  virtual std::string_view webhook_content_type() const { return "application/json"; }
};

const Dialect& v0_1();       // JSON-RPC of the tasks era
const Dialect& v0_3();       // JSON-RPC of 0.2 and 0.3: the same objects
const Dialect& v0_3_rest();  // REST of 0.3: the ProtoJSON of a2a.v1
const Dialect& v1_0();       // ProtoJSON of lf.a2a.v1, in every binding
// 0.1, 0.2 and 0.3 at once, for methods whose version cannot be determined (README.md, 9).
const Dialect& dual();

// The dialect of webhooks registered in this version.
const Dialect& dialect_of(task::ProtocolVersion version);

}  // namespace baton::protocol::a2a

// Dialect: one JSON form of A2A, of one generation in one binding. It reads requests and writes answers. What
// else differs between generations (who names a task, what an absent historyLength means, when a stream ends)
// is given here as values, so that the engine and the routes need not know the generation.
//
// Reading is as lenient as released clients need: tags of other generations, snake_case, and numbers and
// booleans as text in queries. Unknown members are ignored. Errors are invalid_argument with a text that
// names the member. Only what the generation's schema allows is written. Threads: any; stateless.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "task/task.h"
#include "wire/baton_extension.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::a2a {

// A send. The submission's caller and agent stay empty.
struct SendRequest {
  task::Submission submission;
  std::optional<bool> waits;              // wait for the task to stop; absent: as the agent's card says
  std::optional<int> history_length = 0;  // of the answer, as in task::Depth: nothing means all
  NumbersWish numbers;
};

// Get, cancel and subscribe.
struct TaskRequest {
  task::TaskId id;
  std::optional<int> history_length = 0;
  bool says_history = false;  // historyLength was given; set only by TaggedDialect
  // metadata.lastEventId, for clients that cannot set a Last-Event-ID header.
  std::optional<task::EventNumber> last_event;
  NumbersWish numbers;
};

// A list. The filter's caller and agent stay empty.
struct ListRequest {
  task::ListFilter filter;
  task::Depth depth;
};

struct PushRequest {
  task::TaskId task;        // empty in REST, where the path has it
  task::PushConfig config;  // with its generation; without an id if Baton is to make one
};

// Get, list and delete of push configs.
struct PushRef {
  task::TaskId task;
  task::PushConfigId config;  // empty: the first config (get), or ignored (list)
};

// The ids that every item of a stream or webhook carries.
struct TaskNames {
  task::TaskId task;
  task::ContextId context;
  task::Generation origin = task::Generation::v1_0;  // generation of the client that made the task
};

// The place of an event in the stream that shows it.
struct InStream {
  bool last = false;  // the stream ends with it
  // The first number that it covers, if the client asked for every number.
  std::optional<task::EventNumber> from = {};
};

class Dialect {
 public:
  virtual ~Dialect() = default;

  virtual base::Result<SendRequest> read_send(Value params) const = 0;
  virtual base::Result<TaskRequest> read_task_request(Value params) const = 0;
  // Fails with unsupported before 1.0.
  virtual base::Result<ListRequest> read_list(Value params) const;
  virtual base::Result<PushRequest> read_push(Value params) const = 0;
  virtual base::Result<PushRef> read_push_ref(Value params) const = 0;

  // Writes the answer to a send: a task, bare or wrapped.
  virtual void write_sent(Writer& out, const task::Task& task) const { write_task(out, task); }
  // Writes the answer to a send, or the only item of its stream, for a task that is answered by its last
  // message alone (task::Task::hidden). A no-op without has_messages().
  virtual void write_message(Writer& /*out*/, const task::Task& /*task*/) const {}
  virtual bool has_messages() const { return false; }
  virtual void write_task(Writer& out, const task::Task& task) const = 0;
  // A no-op before 1.0. `list.filter` is the request's; artifacts are written as `list.depth` says.
  virtual void write_list(Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                          const std::optional<task::ListPosition>& next, std::int64_t total) const;
  virtual void write_push(Writer& out, const task::TaskId& task, const task::PushConfig& config) const = 0;
  virtual void write_pushes(Writer& out, const task::TaskId& task,
                            const std::vector<task::PushConfig>& configs) const = 0;
  virtual void write_push_deleted(Writer& out) const { out.null(); }

  // Whether a stream opened by a send begins with the Task. A subscription's stream always does.
  virtual bool stream_begins_with_task() const { return true; }
  // Whether a stream opened by a send ends when the task reaches this state.
  virtual bool stream_ends_at(task::State state) const {
    return task::is_terminal(state) || state == task::State::input_required;
  }
  // Whether a refused stream is answered with an error event if the request prefers an event stream: the
  // clients give up on a plain error.
  virtual bool refuses_in_stream() const { return false; }
  // Writes the Task as an item of a stream. `last`: nothing follows.
  virtual void write_first(Writer& out, const task::Task& task, bool last) const = 0;
  // Writes an event as an item of a stream. Returns false if this generation does not show it.
  virtual bool write_event(Writer& out, const TaskNames& names, const task::Event& event,
                           const InStream& place) const = 0;
  // Whether a request about a task that a client of `origin` made is treated as one of the tasks era (0.1):
  // it gets history and numbers only if it asks for them.
  virtual bool is_of_tasks_era(task::Generation /*origin*/) const { return false; }

  // The error for a send to a task that has ended and may not be reopened (README.md, 5 and 6).
  virtual base::ErrorCode refusal_when_ended() const { return base::ErrorCode::invalid_argument; }
  // Whether a subscription to a task that has ended is answered with the Task. Otherwise it fails with
  // unsupported.
  virtual bool subscribes_to_ended() const { return true; }
  // Whether canceling a canceled task succeeds.
  virtual bool cancels_twice() const { return false; }

  // Writes the body of a webhook call about `event`; `task` is the task just after it.
  virtual void write_webhook(Writer& out, const task::Task& task, const task::Event& event) const = 0;
  // Whether a webhook's body shows the whole task. Otherwise it shows only the event, and `task` needs only
  // its ids.
  virtual bool webhook_shows_task() const { return true; }
  virtual std::string_view webhook_content_type() const { return "application/json"; }
};

const Dialect& v0_1();       // JSON-RPC of the tasks era
const Dialect& v0_3();       // JSON-RPC of 0.2 and 0.3: the same objects
const Dialect& v0_3_rest();  // REST of 0.3: the ProtoJSON of a2a.v1
const Dialect& v1_0();       // ProtoJSON of lf.a2a.v1, in every binding
// 0.1, 0.2 and 0.3 at once, for methods whose generation cannot be determined (README.md, 9).
const Dialect& dual();

// The dialect of webhooks registered in this generation.
const Dialect& dialect_of(task::Generation generation);

}  // namespace baton::wire::a2a

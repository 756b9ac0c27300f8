// Dialect: one JSON form of A2A, of one version in one binding, and the rules of that version. It reads
// requests and writes answers.
//
// Reading is as lenient as released clients need: it accepts tags of other versions, snake_case, and numbers
// and booleans as text in queries. Unknown members are ignored. Errors are invalid_argument with a text that
// names the member. Writing produces only members that the version's schema allows. Threads: any; stateless.
#pragma once

#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "json/fields.h"
#include "json/writer.h"
#include "protocol/a2a/requests.h"
#include "task/state.h"
#include "task/task.h"

namespace baton::protocol::a2a {

using json::Param;
using json::Params;

// Rules: the behaviour that differs between versions of A2A, as opposed to their form (README.md, 1): which
// side names a task, how a stream begins and ends, which requests are refused. A value; threads: any.
inline constexpr task::VersionRange kV01{task::ProtocolVersion::v0_1, task::ProtocolVersion::v0_1};
inline constexpr task::VersionRange kV02ToV03{task::ProtocolVersion::v0_2, task::ProtocolVersion::v0_3};
inline constexpr task::VersionRange kBeforeV1{task::ProtocolVersion::v0_1, task::ProtocolVersion::v0_3};
inline constexpr task::VersionRange kV10{task::ProtocolVersion::v1_0, task::ProtocolVersion::v1_0};

class Rules {
 public:
  // `spoken`: the versions that a request may be in, one of the ranges above. The versions of a range have
  // the same rules, or cannot be distinguished (README.md, 9).
  constexpr explicit Rules(task::VersionRange spoken) : spoken_(spoken) {}

  task::VersionRange versions() const { return spoken_; }
  bool is_v1() const { return spoken_.first == task::ProtocolVersion::v1_0; }

  // Whether a send may be answered by a message alone (task::Task::hidden).
  bool has_messages() const { return !is_v0_1(); }
  // Whether a stream opened by a send begins with the Task. A subscription's stream always does.
  bool stream_begins_with_task() const { return !is_v0_1(); }
  // Whether a stream opened by a send ends when the task reaches this state.
  bool stream_ends_at(task::State state) const {
    if (is_v0_1()) return task::is_stopped(state);
    return task::is_terminal(state) || state == task::State::input_required;
  }
  // Whether a refused stream is answered with an error event over JSON-RPC if the request prefers an event
  // stream, because clients of the version cannot handle a plain error. Those of 1.0 in Go and C# read it as
  // an empty stream.
  bool refuses_in_stream() const { return !is_v0_1(); }
  // Whether a request about a task that a client of `origin` created is treated as one of the tasks era
  // (0.1). Such a request gets history and numbers only if it asks for them.
  bool is_of_tasks_era(task::ProtocolVersion origin) const {
    return is_v0_1() || (spoken_.first == task::ProtocolVersion::v0_1 && origin == spoken_.first);
  }
  // The error for a send to a task that has ended and may not be reopened (README.md, 5 and 6).
  base::ErrorCode refusal_when_ended() const {
    return is_v1() ? base::ErrorCode::unsupported : base::ErrorCode::invalid_argument;
  }
  // Whether a subscription to a task that has ended is answered with the Task. Otherwise it fails with
  // unsupported.
  bool subscribes_to_ended() const { return !is_v1(); }
  // Whether canceling a canceled task succeeds.
  bool cancels_twice() const { return is_v1(); }

 private:
  bool is_v0_1() const { return spoken_.last == task::ProtocolVersion::v0_1; }

  task::VersionRange spoken_;
};

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
  // A no-op before 1.0. `list.filter` is the request's filter; `list.depth` decides whether artifacts are
  // written.
  virtual void write_list(json::Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                          const std::optional<task::ListPosition>& next, std::int64_t total) const;
  virtual void write_push(json::Writer& out, const task::TaskId& task,
                          const task::PushConfig& config) const = 0;
  // `next`: the token of the next page; empty if there is none.
  virtual void write_pushes(json::Writer& out, const task::TaskId& task,
                            const std::vector<task::PushConfig>& configs,
                            std::string_view next = {}) const = 0;
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

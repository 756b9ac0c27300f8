// A2A 0.1 as free functions, for callers that do not hold its Dialect; and its card.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "task/card.h"
#include "task/task.h"
#include "wire/a2a/dialect.h"
#include "wire/json/document.h"
#include "wire/json/writer.h"

namespace baton::wire::v0_1 {

// TaskSendParams. Caller and agent are not in it: they stay empty.
struct SendParams {
  task::Submission submission;
  int history_length = 0;
};
base::Result<SendParams> read_send(Value params);

// TaskQueryParams and TaskIdParams.
struct QueryParams {
  task::TaskId id;
  int history_length = 0;
  // metadata.lastEventId, for clients that cannot set a Last-Event-ID header.
  std::optional<task::EventNumber> last_event;
};
base::Result<QueryParams> read_query(Value params);

// TaskPushNotificationConfig. The generation has no config id: it is the task's id (VERSIONS.md 5.3).
struct PushParams {
  task::TaskId id;
  task::PushConfig config;
};
base::Result<PushParams> read_push(Value params);

void write_task(Writer& out, const task::Task& task);
// The first item of a subscription without a last event: the Task, which is a valid status event too, with
// `final` where nothing follows.
void write_snapshot(Writer& out, const task::Task& task);
void write_push(Writer& out, const task::TaskId& id, const task::PushConfig& config);

// TaskStatusUpdateEvent or TaskArtifactUpdateEvent; false where this generation does not show the event.
bool write_event(Writer& out, const task::TaskId& id, const task::Event& event);

// What Baton knows of itself that a card shows.
struct Served {
  std::string url;
  bool push = true;
  bool bearer = false;  // callers must show a bearer token
};
void write_card(Writer& out, const task::AgentCard& card, const Served& served);

}  // namespace baton::wire::v0_1

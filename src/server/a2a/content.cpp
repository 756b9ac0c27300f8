// The operations that answer with the bytes of a task's parts.
#include "server/a2a/operations.h"
#include "server/a2a/task_reads.h"
#include "server/shared/answers.h"
#include "server/show/download.h"
#include "task/fold.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kPage = 128;
// Memory of a search through a log: twice a page, which is at most a MiB or one event.
constexpr std::size_t kSearchBytesMax = 32 << 20;

base::Result<Download> download_of(std::vector<task::Part> parts, std::optional<std::size_t> only) {
  if (!only) return server::download_of(parts);
  if (*only >= parts.size()) return fail(ErrorCode::not_found, "part not found");
  return server::download_of({std::move(parts[*only])});
}

void answer_download(const CallPtr& call, const task::TaskId& named, base::Result<Download> download,
                     task::EventNumber version) {
  if (!download) return call->refuse(download.error(), named);
  call->answer(ContentAnswer{std::move(*download), version});
}

// The newest message with this id in the task's log.
base::Result<std::vector<task::Part>> find_message(const engine::TaskReader& reader,
                                                   const task::TaskHead& head, const std::string& id) {
  std::optional<std::vector<task::Part>> found;
  for (task::EventNumber position; position < head.last_event;) {
    auto events = reader.events(head.key, position, kPage);
    if (!events) return fail(std::move(events.error()));
    if (events->empty()) break;
    position = events->back().number;
    for (task::Event& event : *events) {
      const task::StatusChanged* changed = task::status_in(event);
      const task::Message* message =
          changed && changed->status.message ? &*changed->status.message : task::message_in(event.body);
      if (message != nullptr && message->id.value == id) found = message->parts;
    }
  }
  if (!found) return fail(ErrorCode::not_found, "message not found in this task");
  return std::move(*found);
}

}  // namespace

void artifact_bytes(const CallPtr& call, protocol::a2a::ContentRequest request) {
  TaskToRead wanted{std::nullopt, call->ref(request.task), {0, true}};
  wanted.links = false;
  read_task(call, wanted, [call, request](base::Result<task::Task> task) {
    if (!task) return call->refuse(task.error(), request.task);
    for (task::Artifact& artifact : task->artifacts) {
      if (artifact.id.value != request.id) continue;
      return answer_download(call, request.task, download_of(std::move(artifact.parts), request.part),
                             task->last_event);
    }
    call->refuse({ErrorCode::not_found, "artifact not found in this task", {}}, request.task);
  });
}

void message_bytes(const CallPtr& call, protocol::a2a::ContentRequest request) {
  const engine::TaskReader& reader = call->services.engine.reader();
  const auto head = reader.head(call->ref(request.task));
  if (!head) return call->refuse(head.error(), request.task);
  const auto answer = [call, request, &reader, head = *head](bool has_room) {
    if (!has_room) return call->refuse(too_many_large_answers());
    auto parts = find_message(reader, head, request.id);
    if (!parts) return call->refuse(parts.error(), request.task);
    // A message never changes.
    answer_download(call, request.task, download_of(std::move(*parts), request.part), {0});
  };
  const std::size_t bytes = std::min(2 * head->bytes, kSearchBytesMax);
  take_share(call, call->identity.value, bytes, answer);
}

}  // namespace baton::server::a2a

#include "notify/webhook_body.h"

#include "wire/a2a/dialect.h"

namespace baton::notify {
namespace {

base::Result<task::Event> event_of(const store::TaskStore& tasks, const store::Delivery& delivery) {
  auto events = tasks.events(delivery.task, {delivery.event.value - 1}, 1);
  if (!events) return base::fail(std::move(events.error()));
  if (events->empty()) return base::fail(base::ErrorCode::not_found, "the event is gone");
  return std::move(events->front());
}

// A task of which only the names are needed is not put together.
base::Result<task::Task> task_of(const store::TaskStore& tasks, const store::Delivery& delivery, bool whole) {
  if (whole) return tasks.read(delivery.task, task::Depth{}, delivery.event);
  auto head = tasks.head(delivery.task);
  if (!head) return base::fail(std::move(head.error()));
  task::Task task;
  task.id = std::move(head->id);
  task.context = std::move(head->context);
  return task;
}

}  // namespace

base::Result<Rendered> render_a2a(const store::TaskStore& tasks, const store::Delivery& delivery) {
  const wire::a2a::Dialect& dialect = wire::a2a::dialect_of(delivery.config.generation);
  const auto task = task_of(tasks, delivery, dialect.webhook_shows_task());
  if (!task) return base::fail(task.error());
  const auto event = event_of(tasks, delivery);
  if (!event) return base::fail(event.error());
  Rendered rendered{task->id, {std::string(dialect.webhook_content_type()), {}}};
  wire::Writer writer(rendered.body.bytes);
  dialect.write_webhook(writer, *task, *event);
  return rendered;
}

}  // namespace baton::notify

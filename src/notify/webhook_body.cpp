#include "notify/webhook_body.h"

#include <algorithm>
#include <atomic>
#include <memory>

#include "base/text.h"
#include "protocol/a2a/dialect.h"
#include "task/link_parts.h"

namespace baton::notify {
namespace {

base::Result<task::Event> event_of(const DeliveryQueue& queue, const store::Delivery& delivery) {
  auto events = queue.events(delivery.task, {delivery.event.value - 1}, 1);
  if (!events) return base::fail(std::move(events.error()));
  if (events->empty()) return base::fail(base::ErrorCode::not_found, "the event no longer exists");
  return std::move(events->front());
}

// Tasks up to this size are sent without looking for large parts.
constexpr std::size_t kSmallTaskMax = 1 << 20;
// Room for the largest task and its body.
constexpr std::size_t kLargeBodiesMax = 96 << 20;

// Limits the total memory of large bodies, from reading their tasks until they are sent.
class LargeBodies {
 public:
  // Returns null if there is no room now. One body always has room.
  std::shared_ptr<void> try_hold(std::size_t bytes) {
    std::size_t held = held_;
    do {
      if (held != 0 && held + bytes > kLargeBodiesMax) return nullptr;
    } while (!held_.compare_exchange_weak(held, held + bytes));
    return {this, [bytes](LargeBodies* all) { all->held_ -= bytes; }};
  }

 private:
  std::atomic<std::size_t> held_{0};
};

base::Result<task::Task> large_task(const DeliveryQueue& queue, const store::Delivery& delivery,
                                    const WebhookLinks& links, std::shared_ptr<void>& held) {
  static LargeBodies bodies;
  const auto head = queue.head(delivery.task);
  if (!head) return base::fail(head.error());
  held = bodies.try_hold(head->bytes + std::min(head->bytes, links.body_bytes_max));
  if (!held) return base::fail(base::ErrorCode::overloaded, "too many large bodies are being sent");
  auto task = queue.read(delivery.task, task::Depth{}, delivery.event);
  if (task) {
    std::string url = links.url + "/agents/" + base::percent_encoded(head->agent.value);
    const std::string_view tenant = task::tenant_of(head->caller);
    if (!tenant.empty()) url += "/" + base::percent_encoded(tenant);
    task::link_large_parts({&*task, 1}, links.body_bytes_max, url);
  }
  return task;
}

// Reads only the ids of the task unless `whole` is set.
base::Result<task::Task> task_of(const DeliveryQueue& queue, const store::Delivery& delivery, bool whole,
                                 const WebhookLinks& links, std::shared_ptr<void>& held) {
  if (whole) {
    task::Depth depth;
    depth.bytes_max = kSmallTaskMax;
    auto small = queue.read(delivery.task, depth, delivery.event);
    if (small || small.error().code != base::ErrorCode::too_large) return small;
    return large_task(queue, delivery, links, held);
  }
  auto head = queue.head(delivery.task);
  if (!head) return base::fail(std::move(head.error()));
  task::Task task;
  task.id = std::move(head->id);
  task.context = std::move(head->context);
  return task;
}

}  // namespace

base::Result<Rendered> render_a2a(const DeliveryQueue& queue, const store::Delivery& delivery,
                                  const WebhookLinks& links) {
  const protocol::a2a::Dialect& dialect = protocol::a2a::dialect_of(delivery.config.version);
  std::shared_ptr<void> held;
  const auto task = task_of(queue, delivery, dialect.webhook_shows_task(), links, held);
  if (!task) return base::fail(task.error());
  const auto event = event_of(queue, delivery);
  if (!event) return base::fail(event.error());
  Rendered rendered{task->id, {std::string(dialect.webhook_content_type()), {}}, std::move(held)};
  json::Writer writer(rendered.body.bytes);
  dialect.write_webhook(writer, *task, *event);
  return rendered;
}

}  // namespace baton::notify

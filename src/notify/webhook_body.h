// The body of a webhook call, as the A2A of its config's generation has it.
#pragma once

#include <functional>
#include <memory>

#include "notify/webhook.h"

namespace baton::notify {

// What a call says, and the public id of the task it is about.
struct Rendered {
  task::TaskId task;
  Body body;
  std::shared_ptr<void> held = nullptr;  // a large body's place in memory, until it has been sent
};

// Reads what it needs of the delivery's task. Fails with task_not_found, not_found (the event is gone), or as
// the store does. Called from many threads; blocks on the disk.
using Render = std::function<base::Result<Rendered>(const store::TaskStore&, const store::Delivery&)>;

// Where the large parts of a task are fetched that a body is too small for.
struct WebhookLinks {
  std::size_t body_bytes_max = 32 << 20;
  std::string url;  // of this server, without a slash at its end
};

// Its Render: the whole task as it was just after the event, or the event alone.
base::Result<Rendered> render_a2a(const store::TaskStore& tasks, const store::Delivery& delivery,
                                  const WebhookLinks& links = {});

}  // namespace baton::notify

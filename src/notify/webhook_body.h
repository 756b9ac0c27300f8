// The body of a webhook call, as the A2A of its config's generation has it.
#pragma once

#include <functional>

#include "notify/webhook.h"

namespace baton::notify {

// What a call says, and the public id of the task it is about.
struct Rendered {
  task::TaskId task;
  Body body;
};

// Reads what it needs of the delivery's task. Fails with task_not_found, not_found (the event is gone), or as
// the store does. Called from many threads; blocks on the disk.
using Render = std::function<base::Result<Rendered>(const store::TaskStore&, const store::Delivery&)>;

// Its Render: the whole task as it was just after the event, or the event alone.
base::Result<Rendered> render_a2a(const store::TaskStore& tasks, const store::Delivery& delivery);

}  // namespace baton::notify

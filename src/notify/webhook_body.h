// Builds the body of a webhook call, in the A2A version of its config.
#pragma once

#include <functional>
#include <memory>

#include "notify/delivery_queue.h"
#include "notify/webhook.h"

namespace baton::notify {

// The body of a call, and the public id of the task it is about.
struct Rendered {
  task::TaskId task;
  Body body;
  std::shared_ptr<void> held = nullptr;  // a large body's share of memory, until it has been sent
};

// Renders the body of a delivery from the store. Fails with task_not_found, not_found (the event is gone),
// overloaded (there is no room for a large body now) or an error of the store. Called from several threads;
// blocks on the disk.
using Render = std::function<base::Result<Rendered>(const DeliveryQueue&, const store::Delivery&)>;

// The limit of bodies, and the URL for receivers to fetch the large parts of a task that do not fit.
struct WebhookLinks {
  std::size_t body_bytes_max = 32 << 20;
  std::string url;  // of this server, without a trailing slash
};

// The Render for A2A: shows the whole task just after the event, or only the event.
base::Result<Rendered> render_a2a(const DeliveryQueue& queue, const store::Delivery& delivery,
                                  const WebhookLinks& links = {});

}  // namespace baton::notify

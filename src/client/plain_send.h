// Sends a message without a stream and waits for the answer.
#pragma once

#include "client/follow.h"

namespace baton::client {

// Sends `plan.first_request`, again and again while no answer comes, until `plan.give_up_after`. A client
// that names its tasks (0.1) sends only once: later versions recognise a repeated message by its id. The
// answer goes to `world.on_event`.
FollowEnd send_plain(const FollowPlan& plan, const FollowWorld& world);

}  // namespace baton::client

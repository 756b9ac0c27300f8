// The model usage of a turn, as an event.
#pragma once

#include "task/event.h"

namespace baton::agents {

// `used`: as in task::Usage. Its tokens are totalTokens or, without that, the sum of inputTokens and
// outputTokens.
task::Usage usage_of(task::Json used);

}  // namespace baton::agents

// What a turn has used of a model, as an event.
#pragma once

#include "task/event.h"

namespace baton::agents {

// `used`: as in task::Usage. Counts its tokens: totalTokens or, without it, what went in and came out.
task::Usage usage_of(task::Json used);

}  // namespace baton::agents

// The frames that begin and end a run: RUN_STARTED, RUN_FINISHED, RUN_ERROR.
//
// Only forms that the client's generation takes: 0.0.x fails the run for an outcome that it does not know.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "task/event.h"
#include "wire/agui/out.h"
#include "wire/agui/usage_sum.h"

namespace baton::wire::agui {

void show_start(const chat::RunFacts& facts, Out& out);

// Completed, canceled, failed, rejected.
void show_end(const chat::RunFacts& facts, const task::StatusChanged& end, const UsageSum& usage, Out& out);
// The client is to run these tools of its own.
void show_pending(const chat::RunFacts& facts, const std::vector<std::string>& calls, const UsageSum& usage,
                  Out& out);
// The client is to answer; one question at least.
void show_interrupts(const chat::RunFacts& facts, const std::vector<chat::Question>& questions,
                     const UsageSum& usage, Out& out);
void show_error(const std::string& message, std::string_view code, const UsageSum& usage, Out& out);

}  // namespace baton::wire::agui

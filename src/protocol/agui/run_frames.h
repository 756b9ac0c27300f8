// The frames that begin and end a run: RUN_STARTED, RUN_FINISHED, RUN_ERROR.
//
// Only forms that the client's generation knows are written: 0.0.x fails the run for an unknown outcome.
// Threads: pure functions.
#pragma once

#include <string>
#include <vector>

#include "protocol/agui/out.h"
#include "protocol/agui/usage_sum.h"
#include "task/event.h"

namespace baton::protocol::agui {

void show_start(const chat::RunFacts& facts, Out& out);

// The run was completed, canceled, failed or rejected.
void show_end(const chat::RunFacts& facts, const task::StatusChanged& end, const UsageSum& usage, Out& out);
// The run ends so that the client can run these tools of its own.
void show_pending(const chat::RunFacts& facts, const std::vector<std::string>& calls, const UsageSum& usage,
                  Out& out);
// The run ends so that the client can answer; at least one question.
void show_interrupts(const chat::RunFacts& facts, const std::vector<chat::Question>& questions,
                     const UsageSum& usage, Out& out);
void show_error(const std::string& message, std::string_view code, const UsageSum& usage, Out& out);

// The messages of a conversation as MESSAGES_SNAPSHOT has them, in a list (snapshot.cpp). One task::Message
// may become several messages: each tool result is one of its own.
void write_messages(json::Writer& out, const std::vector<task::Message>& messages, bool newer);

}  // namespace baton::protocol::agui

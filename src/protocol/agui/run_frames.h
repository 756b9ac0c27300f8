// The frames that begin and end a run: RUN_STARTED, RUN_FINISHED, RUN_ERROR.
//
// Writes only forms that the client's generation knows: 0.0.x fails the run for an unknown outcome.
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

// Writes the messages of a conversation as a list, in the form of MESSAGES_SNAPSHOT (snapshot.cpp). One
// task::Message may become several messages, because each tool result is a message.
// `earlier`: messages in this form already, written before the others.
void write_messages(json::Writer& out, const std::vector<task::Message>& messages, bool newer,
                    const std::vector<json::Value>& earlier = {});

}  // namespace baton::protocol::agui

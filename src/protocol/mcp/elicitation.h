// Questions of tasks, as MCP asks them: elicitation, in a form of one level or at a URL.
//
// Threads: any; pure functions.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "json/document.h"
#include "json/writer.h"
#include "protocol/mcp/mcp.h"
#include "task/event.h"

namespace baton::protocol::mcp {

// The question that a task waits with. `ask`: its id (task::TaskHead::ask), never used twice in the life of a
// task; empty: it is no longer open.
struct Question {
  const task::Status& status;
  std::string ask;
};

// The schema of the answer, from the question's last data part; empty: there is none.
std::string question_schema(const task::Message& question);

// Whether the client can be asked this question. A login without a URL cannot be asked: no form may ask for
// credentials.
bool can_ask(const Question& question, const Abilities& client);
// Writes the members "method" and "params" of the request that asks.
void write_elicitation(json::Writer& out, const Question& question);
// Writes the member "inputRequests" with the question under its id.
void write_input_requests(json::Writer& out, const Question& question);

// The message that answers the question, from the result of the request. Fails with invalid_argument.
base::Result<task::Message> read_elicitation_result(json::Value result, const Question& question);
// Reads it from the member "inputResponses"; nullopt if the question's id is not among them.
base::Result<std::optional<task::Message>> read_input_response(json::Value responses,
                                                               const Question& question);

}  // namespace baton::protocol::mcp

// The JSON Schema that an agent's question carries, as its message's last data part {"schema": {...}}, and
// the answers to such a question.
//
// Agents, remote servers and callers write all of this, so schemas are checked by json::BoundedSchema.
// Threads: any; pure. The cost is bounded by the limits and linear in the message's size.
#pragma once

#include <vector>

#include "base/error.h"
#include "json/bounded_schema.h"
#include "task/message.h"

namespace baton::agents {

using QuestionLimits = json::SchemaLimits;

// What is wrong with a question's schemas. `fault`: it cannot be used. `unenforced`: patterns that will not
// be.
struct SchemaReport {
  std::optional<json::SchemaProblem> fault;
  std::vector<json::SchemaProblem> unenforced;
};
SchemaReport check_schema(const task::Message& question, const QuestionLimits& limits);

// Takes the schemas out of a question. What is left has at least one part.
void remove_schema(task::Message& question, const QuestionLimits& limits);

// Checks an answer against the question's schema; without one, or with one that has a fault, anything fits.
// Data must fit. Without data, a text becomes data where the schema leaves a text one meaning, and is refused
// with the choices if it has none; where the schema needs more it stays a text, or is refused if
// `needs_data`. Fails with invalid_argument, which says where and why.
// Data {"cancelled": true} is no answer: it says that nobody will give one, and is always allowed.
base::Result<void> fit_answer(const task::Message& question, const QuestionLimits& limits, bool needs_data,
                              task::Message& answer);

}  // namespace baton::agents

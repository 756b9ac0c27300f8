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

// The problems of a question's schema. `fault`: it cannot be used. `unenforced`: patterns that will not be
// enforced.
struct SchemaReport {
  std::optional<json::SchemaProblem> fault;
  std::vector<json::SchemaProblem> unenforced;
};
SchemaReport check_schema(const task::Message& question, const QuestionLimits& limits);

// Removes the schemas from a question. At least one part remains.
void remove_schema(task::Message& question, const QuestionLimits& limits);

// Checks an answer against the question's schema. Any answer fits if there is no schema or if it has a
// fault. Data must fit. Without data, a text becomes data if the schema gives texts exactly one meaning; a
// text without a meaning is then refused, with the choices. If the schema needs more than a text, the text
// stays as it is, or is refused if `needs_data`. Fails with invalid_argument, which says where and why.
// Data {"cancelled": true} means that nobody will answer; it is always allowed.
base::Result<void> fit_answer(const task::Message& question, const QuestionLimits& limits, bool needs_data,
                              task::Message& answer);

}  // namespace baton::agents

// The agents as models of OpenAI's API, at the program's root: each model is an agent that the caller may
// use.
//
//   GET    /v1/models, /v1/models/<agent>
//   POST   /v1/chat/completions           a run of a new task, or the answer to a task that waits
//   POST   /v1/responses                  the same, with an id that names the run: resp_<task>
//   GET    /v1/responses/<id>             stream=true, starting_after=<sequence number>
//   POST   /v1/responses/<id>/cancel
//   DELETE /v1/responses/<id>             removes its task
//   GET    /v1/responses/<id>/input_items
//
// Well-known paths of the API that are not offered are 404 with a message that names those above.
// The requests are read by protocol/openai and become runs of the chat protocols (server/chat), which knows
// questions, tools, hang-ups and repetitions. A2A 0.3's REST has other paths below /v1.
// Threads: on the server's workers, several at a time.
#pragma once

#include <functional>
#include <memory>
#include <span>

#include "protocol/openai/errors.h"
#include "server/admission/admit_by_body.h"
#include "server/chat/run_claims.h"
#include "server/shared/path_table.h"

namespace baton::server::openai {

std::span<const PathRow> paths();

struct Entry : server::Entry {
  chat::RunClaims& claims;
  std::function<void(const agents::Agent&)> reached;  // told once, which agent the request is for
};

// Handles a request of an origin and a caller that may call, to a row of `paths` that serves its method.
void handle(std::shared_ptr<http::Exchange> exchange, Entry entry, const PathMatch& found);

http::Reply failure_reply(const protocol::openai::Failure& failure);
// `status`: instead of the error's own; 0: its own.
http::Reply error_reply(const base::Error& error, int status = 0);

}  // namespace baton::server::openai

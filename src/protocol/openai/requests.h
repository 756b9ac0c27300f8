// Requests to begin a run: POST /v1/chat/completions and POST /v1/responses.
//
// Both may send a conversation that the client keeps: what follows the last line of the assistant is new,
// and what precedes it is history. Reading is lenient: members that mean nothing here go to the agent
// unchanged, in the metadata of the message that begins the run: {"openai":{"instructions",...}}. Errors are
// invalid_argument with a text that names the member. Threads: any; pure functions.
#pragma once

#include <string>
#include <string_view>

#include "base/error.h"
#include "json/document.h"
#include "protocol/chat/run_request.h"
#include "protocol/openai/names.h"
#include "task/task.h"

namespace baton::protocol::openai {

struct Asked {
  std::string model;
  chat::RunRequest run;
  // The task that the conversation last was at, as far as ids in it tell; empty: none.
  task::TaskId named;

  // Of a response.
  std::string previous;     // the id of the response that this one continues; empty: none
  bool is_partial = false;  // items stand for what the server has, so the history is not whole

  // Of a chat completion.
  bool tells_usage = false;  // a stream ends with the usage

  // If the request brings its whole conversation: the digest of the conversation up to the user's last
  // message but one, and of the tools' names, which the run that replied has in its metadata; and that reply.
  // Else empty.
  std::string turns_before, last_words;
};

base::Result<Asked> read_completion(json::Value body);
base::Result<Asked> read_response(json::Value body);

// The metadata of the message that begins a run: the object "openai", or missing.
json::Value given_in(const json::Document& metadata);
// The list of tools that the agent may call, in a request's body or in what `given_in` returns; missing if
// there are none, or the client forbids it to call them (`tool_choice` "none").
json::Value tools_in(json::Value given);
// The digest of the whole conversation, which was put there when it was read; empty: none.
std::string turns_in(const task::Json& metadata);
// Whether the response may be read again (the request's member `store`).
bool is_kept(const task::Json& metadata);

}  // namespace baton::protocol::openai

// Responses that exist: to read, stream, cancel and remove them. Another caller's response is none.
//
// Threads: as openai.h.
#pragma once

#include <optional>
#include <string_view>

#include "server/openai/request.h"

namespace baton::server::openai {

struct Response {
  Admitted by;  // to its agent
  task::TaskHead head;
  task::EventNumber before;  // the log's position before its run
  task::Message message;     // that begins the run
};
// Nullopt if the caller has no response of this id, or it was not to be stored (`store`).
std::optional<Response> find_response(const Request& request, std::string_view id);

// The message that begins the run after event `before`; without parts if there is none.
base::Result<task::Message> message_of(const engine::TaskReader& reader, task::TaskKey key,
                                       task::EventNumber before);

void get_response(const RequestPtr& request);  // GET and DELETE
void cancel_response(const RequestPtr& request);
void list_input_items(const RequestPtr& request);

}  // namespace baton::server::openai

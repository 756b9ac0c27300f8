// Request: one request of OpenAI's API on its way to the code of its path.
//
// Threads: used by one thread at a time, the one that answers next; an answer may come from any thread.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "json/document.h"
#include "server/chat/call.h"
#include "server/openai/openai.h"

namespace baton::server::openai {

struct Request {
  const std::shared_ptr<http::Exchange> exchange;
  const Entry entry;
  const std::string id;  // the model or response that the path names
  json::Document body;   // an object; missing for methods without a body

  const http::Request& head() const { return exchange->request(); }
  const Services& services() const { return entry.services; }
  void refuse(const base::Error& error) const { exchange->reply(error_reply(error)); }
  void refuse(const protocol::openai::Failure& failure) const { exchange->reply(failure_reply(failure)); }
  void reply(std::string json) const;
};
using RequestPtr = std::shared_ptr<Request>;  // held by pending callbacks

// The request as one for the agent of this name, or the failure to answer with.
tl::expected<Admitted, protocol::openai::Failure> admitted_for_model(const Request& request,
                                                                     std::string_view name);

// The request as a run of the agent. `begins`: it may begin a run or follow one, and takes a place among the
// caller's streams. Null if it has been refused.
chat::CallPtr call_for(const RequestPtr& request, Admitted by, bool begins);

}  // namespace baton::server::openai

// The HTTP+JSON (REST) binding of A2A 0.3 (`/v1/...`) and 1.0, for one agent (wire/a2a/README.md, 5 and 6).
// The path says the generation; an A2A-Version that is given must agree.
//
// Threads: any; `handle` on the server's workers, several at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/a2a/operations.h"
#include "server/endpoint.h"
#include "server/http/http_server.h"
#include "server/services.h"

namespace baton::server::a2a {

// What a path of the binding asks for.
struct RestTarget {
  Form form = Form::rest_v1_0;
  Operation run = nullptr;  // null: the path is served, but not with this method
  std::string allow;        // then, the methods it is served with
  task::TaskId task;
  task::PushConfigId config;
  std::string tenant;               // 1.0 only
  std::string content;              // the artifact or message whose bytes are asked for
  std::optional<std::size_t> part;  // and which of its parts; nothing: all
};

// `path` as it came, percent-encoded, from the agent's prefix on, without the query. Nothing if the binding
// has no such path.
std::optional<RestTarget> match_rest(std::string_view method, std::string_view path);

// A request to such a path by a caller who is known.
void handle_rest(const Services& services, std::shared_ptr<http::Exchange> exchange, const Endpoint& endpoint,
                 task::Caller caller, RestTarget target);
// Refuses one in the form of its generation.
void refuse_rest(const Services& services, std::shared_ptr<http::Exchange> exchange, const Endpoint& endpoint,
                 const RestTarget& target, const base::Error& error);

}  // namespace baton::server::a2a

// The HTTP+JSON (REST) binding of A2A 0.3 (`/v1/...`) and 1.0, for one agent (protocol/a2a/README.md, 5 and
// 6). The path selects the version; A2A-Version, if given, must agree.
//
// Threads: any; `handle_rest` on any of the server's, several at a time; it does not block.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "http/http_server.h"
#include "server/a2a/operations.h"
#include "server/shared/endpoint.h"
#include "server/shared/path_table.h"
#include "server/shared/services.h"

namespace baton::server::a2a {

// Where the binding is served.
std::span<const PathRow> rest_paths();

// The operation and ids that a path of the binding names.
struct RestTarget {
  bool is_v1 = true;  // else 0.3
  Operation operation{};
  task::TaskId task;
  task::PushConfigId config;
  std::string tenant;               // 1.0 only
  std::string content;              // the artifact or message whose bytes are requested
  std::optional<std::size_t> part;  // which of its parts; empty: all
};
// `match`: one of the binding's rows.
RestTarget rest_target(const PathMatch& match);

// Handles a request to such a path by an admitted caller.
void handle_rest(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target);
// The answer to a request that has not been read, in the form of its version.
http::Reply rest_refusal(const http::Request& request, const RestTarget& target, const base::Error& error,
                         int status);
// Refuses a request in the form of its version.
void refuse_rest(std::shared_ptr<http::Exchange> exchange, Admitted by, const RestTarget& target,
                 const base::Error& error);

}  // namespace baton::server::a2a

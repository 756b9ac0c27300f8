// Helpers with which the client dialects write requests.
#pragma once

#include <string>
#include <string_view>

#include "json/writer.h"
#include "protocol/a2a/client/client_dialect.h"
#include "task/task.h"

namespace baton::protocol::a2a {

// A JSON-RPC request; `params` writes the members of its params. The id is constant: an HTTP call carries
// only one request.
template <class F>
ClientRequest rpc_request(std::string_view method, F&& params) {
  ClientRequest request;
  json::Writer out(request.body);
  out.object([&] {
    out.member("jsonrpc", "2.0").member("id", 1).member("method", method);
    out.key("params").object([&] { params(out); });
  });
  return request;
}

// A REST request whose body is an object.
template <class F>
ClientRequest rest_post(std::string path, F&& members) {
  ClientRequest request{"POST", std::move(path), {}};
  json::Writer out(request.body);
  out.object([&] { members(out); });
  return request;
}

// "/tasks/t1" followed by `rest`.
std::string task_path(const task::TaskId& task, std::string_view rest = {});
std::string config_path(const PushRef& push);

// Writes the members of a push config into an open object: {id?, url, token?, authentication?}. `as_given`:
// `authentication` with all members that a client of 0.1 gave it.
enum class Schemes { as_given, list, one };
void write_config_members(json::Writer& out, const task::PushConfig& config, Schemes schemes);

}  // namespace baton::protocol::a2a

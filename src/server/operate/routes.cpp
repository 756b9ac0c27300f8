#include "server/operate/routes.h"

#include <array>

#include "server/operate/handlers.h"

namespace baton::server::operate {
namespace {

constexpr std::string_view kVersion = "/operate/v1";
constexpr std::size_t kBodyMax = 1 << 20;

using Handler = void (*)(const CallPtr&);

constexpr PathRow for_viewers(std::string_view method, std::string_view pattern, Handler handler) {
  return {Place::operator_api, method, pattern, OperatorRoute{false, handler}};
}
constexpr PathRow for_operators(std::string_view method, std::string_view pattern, Handler handler) {
  return {Place::operator_api, method, pattern, OperatorRoute{true, handler}};
}
constexpr std::array kOperatorPaths{
    for_viewers("GET", "/operate/v1/me", show_me),
    for_viewers("GET", "/operate/v1/openapi.json", show_description),
    for_viewers("GET", "/operate/v1/overview", show_overview),
    for_viewers("GET", "/operate/v1/tasks", list_tasks),
    for_viewers("GET", "/operate/v1/tasks/{key}", show_task),
    for_operators("DELETE", "/operate/v1/tasks/{key}", erase_task),
    for_operators("DELETE", "/operate/v1/contexts", erase_context),
    for_operators("DELETE", "/operate/v1/callers/{name}", erase_caller),
    for_viewers("GET", "/operate/v1/tasks/{key}/events", show_events),
    for_viewers("GET", "/operate/v1/tasks/{key}/trace", show_trace),
    for_viewers("GET", "/operate/v1/tasks/{key}/tree", show_tree),
    for_viewers("GET", "/operate/v1/tasks/{key}/plan.svg", show_run_picture),
    for_operators("POST", "/operate/v1/tasks/{key}/cancel", cancel_task),
    for_operators("POST", "/operate/v1/tasks/{key}/retry", retry_task),
    for_operators("POST", "/operate/v1/tasks/{key}/answer", answer_task),
    for_operators("POST", "/operate/v1/tasks/{key}/requeue", requeue_task),
    for_viewers("GET", "/operate/v1/deliveries", list_deliveries),
    for_operators("POST", "/operate/v1/deliveries/{key}/resend", resend_delivery),
    for_operators("POST", "/operate/v1/deliveries/{key}/skip", skip_delivery),
    for_viewers("GET", "/operate/v1/agents", list_agents),
    for_viewers("GET", "/operate/v1/agents/{name}/plan.svg", show_plan_picture),
    for_operators("POST", "/operate/v1/agents/{name}/pause", pause_agent),
    for_operators("POST", "/operate/v1/agents/{name}/resume", resume_agent),
    for_operators("POST", "/operate/v1/agents/{name}/scale", scale_agent),
    for_viewers("GET", "/operate/v1/schedules", list_schedules),
    for_viewers("GET", "/operate/v1/nodes", list_nodes),
    for_operators("POST", "/operate/v1/nodes/{key}/drain", drain_node),
    for_operators("POST", "/operate/v1/playground/grpc", relay_grpc),
    for_viewers("GET", "/operate/v1/keys", list_api_keys),
    for_operators("POST", "/operate/v1/keys", create_api_key),
    for_operators("POST", "/operate/v1/keys/{id}/rotate", rotate_api_key),
    for_operators("POST", "/operate/v1/keys/{id}/revoke", revoke_api_key),
    for_viewers("GET", "/operate/v1/audit", list_audit),
    for_viewers("GET", "/operate/v1/bulk", list_bulk),
    for_operators("POST", "/operate/v1/bulk", begin_bulk),
    for_viewers("GET", "/operate/v1/bulk/{key}", show_bulk),
    for_operators("POST", "/operate/v1/bulk/{key}/confirm", confirm_bulk),
    for_operators("POST", "/operate/v1/bulk/{key}/abandon", abandon_bulk),
};

}  // namespace

std::span<const PathRow> paths() {
  return kOperatorPaths;
}

void Routes::handle(std::shared_ptr<http::Exchange> exchange, const Operator& by) const {
  const http::Request& request = exchange->request();
  const PathMatch found = find_path(kOperatorPaths, request.method, request.raw_path);
  if (found.row == nullptr) return exchange->reply(error_reply(404, "nothing is served at this path"));
  if (!found.allowed) {
    http::Reply reply = error_reply(405, "this path only supports " + found.allow);
    reply.headers.emplace_back("Allow", found.allow);
    return exchange->reply(std::move(reply));
  }
  const OperatorRoute& route = *found.answered_by<OperatorRoute>();
  if (route.acts && !by.may_act) {
    return exchange->reply(error_reply(403, "this token is read-only"));
  }
  if (request.body.size() > kBodyMax)
    return exchange->reply(error_reply(413, "the body is larger than 1 MiB"));
  std::string parameter = found.parameters.empty() ? std::string() : found.parameters.front().second;
  auto call = std::make_shared<const Call>(Call{facts_, exchange, by, std::move(parameter)});
  if (pool_.try_submit([call, handle = route.handle] { handle(call); })) return;
  exchange->reply(error_reply(429, "too many operators' requests are waiting; try again later"));
}

std::vector<std::string> all_routes() {
  std::vector<std::string> all;
  for (const PathRow& row : kOperatorPaths)
    all.push_back(std::string(row.methods) + " " + std::string(row.pattern.substr(kVersion.size())));
  return all;
}

}  // namespace baton::server::operate

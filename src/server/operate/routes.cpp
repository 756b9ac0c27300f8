#include "server/operate/routes.h"

#include <algorithm>
#include <array>
#include <optional>

#include "base/text.h"
#include "server/operate/handlers.h"

namespace baton::server::operate {
namespace {

constexpr std::string_view kPrefix = "/operate";
constexpr std::string_view kVersion = "/operate/v1";
constexpr std::size_t kBodyMax = 1 << 20;

enum class For { viewers, operators };

struct Route {
  std::string_view method;
  std::string_view path;  // {key} and {name} stand for one segment each
  For who;
  void (*handle)(const CallPtr&);
};

constexpr std::array kRoutes{
    Route{"GET", "/me", For::viewers, show_me},
    Route{"GET", "/openapi.json", For::viewers, show_description},
    Route{"GET", "/overview", For::viewers, show_overview},
    Route{"GET", "/tasks", For::viewers, list_tasks},
    Route{"GET", "/tasks/{key}", For::viewers, show_task},
    Route{"DELETE", "/tasks/{key}", For::operators, erase_task},
    Route{"DELETE", "/contexts", For::operators, erase_context},
    Route{"DELETE", "/callers/{name}", For::operators, erase_caller},
    Route{"GET", "/tasks/{key}/events", For::viewers, show_events},
    Route{"GET", "/tasks/{key}/tree", For::viewers, show_tree},
    Route{"GET", "/tasks/{key}/plan.svg", For::viewers, show_run_picture},
    Route{"POST", "/tasks/{key}/cancel", For::operators, cancel_task},
    Route{"POST", "/tasks/{key}/retry", For::operators, retry_task},
    Route{"POST", "/tasks/{key}/answer", For::operators, answer_task},
    Route{"POST", "/tasks/{key}/requeue", For::operators, requeue_task},
    Route{"GET", "/deliveries", For::viewers, list_deliveries},
    Route{"POST", "/deliveries/{key}/resend", For::operators, resend_delivery},
    Route{"POST", "/deliveries/{key}/skip", For::operators, skip_delivery},
    Route{"GET", "/agents", For::viewers, list_agents},
    Route{"GET", "/agents/{name}/plan.svg", For::viewers, show_plan_picture},
    Route{"POST", "/agents/{name}/pause", For::operators, pause_agent},
    Route{"POST", "/agents/{name}/resume", For::operators, resume_agent},
    Route{"POST", "/agents/{name}/scale", For::operators, scale_agent},
    Route{"GET", "/schedules", For::viewers, list_schedules},
    Route{"GET", "/nodes", For::viewers, list_nodes},
    Route{"POST", "/nodes/{key}/drain", For::operators, drain_node},
    Route{"POST", "/playground/grpc", For::operators, relay_grpc},
    Route{"GET", "/audit", For::viewers, list_audit},
    Route{"GET", "/bulk", For::viewers, list_bulk},
    Route{"POST", "/bulk", For::operators, begin_bulk},
    Route{"GET", "/bulk/{key}", For::viewers, show_bulk},
    Route{"POST", "/bulk/{key}/confirm", For::operators, confirm_bulk},
    Route{"POST", "/bulk/{key}/abandon", For::operators, abandon_bulk},
};

// The part of the path up to the next slash, which is removed from it.
std::string_view next_segment(std::string_view& path) {
  path.remove_prefix(1);
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view segment = path.substr(0, end);
  path.remove_prefix(end);
  return segment;
}

// Matches a path with a pattern. Returns the segment at the pattern's open place, or an empty text if it
// has none; nullopt if the path does not match.
std::optional<std::string> matched(std::string_view pattern, std::string_view path) {
  std::string place;
  while (!pattern.empty() && !path.empty()) {
    if (path.front() != '/') return std::nullopt;
    const std::string_view wanted = next_segment(pattern), given = next_segment(path);
    if (wanted.starts_with('{')) {
      auto decoded = base::percent_decoded(given);
      if (!decoded || decoded->empty() || !base::is_utf8(*decoded)) return std::nullopt;
      place = std::move(*decoded);
    } else if (wanted != given) {
      return std::nullopt;
    }
  }
  if (!pattern.empty() || !path.empty()) return std::nullopt;
  return place;
}

}  // namespace

bool serves(std::string_view path) {
  return path.starts_with(kPrefix) && (path.size() == kPrefix.size() || path[kPrefix.size()] == '/');
}

void Routes::handle(std::shared_ptr<http::Exchange> exchange, const Operator& who) const {
  const http::Request& request = exchange->request();
  std::string_view path = request.raw_path;
  if (!path.starts_with(kVersion))
    return exchange->reply(error_reply(404, "not_found", "nothing is served here"));
  path.remove_prefix(kVersion.size());
  const bool reads = request.method == "GET" || request.method == "HEAD";
  const std::string_view method = reads ? std::string_view("GET") : std::string_view(request.method);
  std::string allow;
  for (const Route& route : kRoutes) {
    auto place = matched(route.path, path);
    if (!place) continue;
    if (route.method != method) {
      allow.append(allow.empty() ? "" : ", ").append(route.method);
      continue;
    }
    if (route.who == For::operators && !who.may_act) {
      return exchange->reply(
          error_reply(403, "permission_denied", "this token is for looking, not for acting"));
    }
    if (request.body.size() > kBodyMax)
      return exchange->reply(error_reply(413, "too_large", "the body is larger than 1 MiB"));
    auto call = std::make_shared<const Call>(Call{facts_, exchange, who, std::move(*place)});
    if (pool_.try_submit([call, handle = route.handle] { handle(call); })) return;
    return exchange->reply(error_reply(429, "overloaded", "too many operators' requests wait; try again"));
  }
  if (allow.empty()) return exchange->reply(error_reply(404, "not_found", "nothing is served here"));
  http::Reply reply = error_reply(405, "method_not_allowed", "this path is for " + allow);
  reply.headers.emplace_back("Allow", allow);
  exchange->reply(std::move(reply));
}

std::vector<std::string> all_routes() {
  std::vector<std::string> all;
  for (const Route& route : kRoutes) all.push_back(std::string(route.method) + " " + std::string(route.path));
  return all;
}

}  // namespace baton::server::operate

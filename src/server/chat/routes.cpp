#include "server/chat/routes.h"

#include "http/http_text.h"
#include "server/answers.h"
#include "server/chat/doors.h"

namespace baton::server::chat {
namespace {

struct Route {
  std::string_view path;
  Door door;
};

constexpr Route kRoutes[] = {
    {"/send-message", &send_message},
    {"/ag-ui", &ag_ui},
    {"/process", &process},
    {"/stop", &stop},
    {"/stream", &stream},
};

}  // namespace

Door find_door(std::string_view path) {
  if (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  for (const Route& route : kRoutes) {
    if (route.path == path) return route.door;
  }
  return nullptr;
}

void handle(const Services& services, RunClaims& claims, std::shared_ptr<http::Exchange> exchange,
            const agents::Agent& agent, task::Caller caller, Door door) {
  const std::string_view type = http::media_type(exchange->request().header("Content-Type"));
  if (!http::same_word(type, "application/json")) {
    return exchange->reply(plain_error(415, "Content-Type: must be application/json"));
  }
  auto document = json::Document::parse(exchange->take_body());
  if (!document) return exchange->reply(plain_error(400, document.error().for_caller));
  if (!document->root().is_object()) return exchange->reply(plain_error(400, "the body must be an object"));
  const auto call = std::make_shared<Call>(std::move(exchange), services, claims, agent, std::move(caller),
                                           std::move(*document));
  // A caller at its stream limit can still stop a run.
  if (door != &stop) call->hold = services.options.streams.take(call->caller);
  if (door != &stop && !call->hold) {
    return call->refuse(
        {base::ErrorCode::overloaded, "this caller has as many runs open as it may; try again later", {}});
  }
  door(call);
}

}  // namespace baton::server::chat

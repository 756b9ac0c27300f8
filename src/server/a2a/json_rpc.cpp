#include "server/a2a/json_rpc.h"

#include <array>

#include "server/a2a/negotiation.h"
#include "server/a2a/operations.h"
#include "server/access.h"
#include "wire/a2a/errors.h"
#include "wire/rpc/json_rpc.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using task::Generation;

// The versions that have a method.
enum class Era { v0_1, v0_2_and_v0_3, v0_3, before_v1_0, v1_0 };

struct Method {
  std::string_view name;
  Era era;
  Operation run;
};

constexpr std::array kMethods{
    Method{"tasks/send", Era::v0_1, &send},
    Method{"tasks/sendSubscribe", Era::v0_1, &send_stream},
    Method{"tasks/pushNotification/set", Era::v0_1, &set_push},
    Method{"tasks/pushNotification/get", Era::v0_1, &get_push},

    Method{"tasks/get", Era::before_v1_0, &get},
    Method{"tasks/cancel", Era::before_v1_0, &cancel},
    Method{"tasks/resubscribe", Era::before_v1_0, &subscribe},

    Method{"message/send", Era::v0_2_and_v0_3, &send},
    Method{"message/stream", Era::v0_2_and_v0_3, &send_stream},
    Method{"tasks/pushNotificationConfig/set", Era::v0_2_and_v0_3, &set_push},
    Method{"tasks/pushNotificationConfig/get", Era::v0_2_and_v0_3, &get_push},
    Method{"tasks/pushNotificationConfig/list", Era::v0_2_and_v0_3, &list_push},
    Method{"tasks/pushNotificationConfig/delete", Era::v0_2_and_v0_3, &delete_push},
    Method{"agent/getAuthenticatedExtendedCard", Era::v0_3, &extended_card},

    Method{"SendMessage", Era::v1_0, &send},
    Method{"SendStreamingMessage", Era::v1_0, &send_stream},
    Method{"GetTask", Era::v1_0, &get},
    Method{"ListTasks", Era::v1_0, &list},
    Method{"CancelTask", Era::v1_0, &cancel},
    Method{"SubscribeToTask", Era::v1_0, &subscribe},
    Method{"CreateTaskPushNotificationConfig", Era::v1_0, &set_push},
    Method{"GetTaskPushNotificationConfig", Era::v1_0, &get_push},
    Method{"ListTaskPushNotificationConfigs", Era::v1_0, &list_push},
    Method{"DeleteTaskPushNotificationConfig", Era::v1_0, &delete_push},
    Method{"GetExtendedAgentCard", Era::v1_0, &extended_card},
};

const Method* find_method(std::string_view name) {
  for (const Method& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

// The dialect of a method's answer, or null if the requested version has no such method. 1.0 requires
// A2A-Version: in its specification a request without one is 0.3.
const wire::a2a::Dialect* dialect_of(Era era, std::optional<Generation> asked, bool trusts_names) {
  const bool says_0_2_or_0_3 = asked == Generation::v0_2 || asked == Generation::v0_3;
  switch (era) {
    case Era::v0_1:
      return !asked || asked == Generation::v0_1 ? &wire::a2a::v0_1() : nullptr;
    case Era::v0_2_and_v0_3:
      return !asked || says_0_2_or_0_3 ? &wire::a2a::v0_3() : nullptr;
    case Era::v0_3:
      return !asked || asked == Generation::v0_3 ? &wire::a2a::v0_3() : nullptr;
    case Era::before_v1_0:
      if (!asked) return &wire::a2a::dual();
      if (asked == Generation::v0_1) return &wire::a2a::v0_1();
      return says_0_2_or_0_3 ? &wire::a2a::v0_3() : nullptr;
    case Era::v1_0:
      return asked == Generation::v1_0 || (!asked && trusts_names) ? &wire::a2a::v1_0() : nullptr;
  }
  return nullptr;
}

// Without a known method, only A2A-Version determines the form of errors.
bool says_v1(const http::Request& request) {
  const auto version = version_of(request);
  return version && *version == Generation::v1_0;
}

// Refuses a request for which there is no Call yet.
void refuse(const Services& services, http::Exchange& exchange, std::string_view id, const base::Error& error,
            int status) {
  http::Reply reply;
  reply.status = status;
  if (says_v1(exchange.request())) {
    wire::a2a::write_rpc_error_v1(reply.body, id, error, {});
  } else {
    wire::write_rpc_error(reply.body, id, error);
  }
  reply.headers = cors_headers(services.options, exchange.request());
  if (status == 401) reply.headers.emplace_back("WWW-Authenticate", "Bearer realm=\"baton\"");
  exchange.reply(std::move(reply));
}

// The first A2A clients omitted "jsonrpc". So 0.1 methods may omit it, and so may those that later versions
// share with 0.1, unless the request names a later version.
bool may_omit_jsonrpc(const Method* method, const base::Result<std::optional<Generation>>& asked) {
  if (!method || !asked) return false;
  if (method->era == Era::v0_1) return true;
  return method->era == Era::before_v1_0 && (!*asked || **asked == Generation::v0_1);
}

}  // namespace

void handle_json_rpc(const Services& services, std::shared_ptr<http::Exchange> exchange,
                     const Endpoint& endpoint, task::Caller caller) {
  const http::Request& request = exchange->request();
  if (!is_json(request)) {
    return refuse(services, *exchange, "null",
                  {ErrorCode::content_type_not_supported, "Content-Type: must be application/json", {}}, 415);
  }
  auto document = wire::Document::parse(exchange->take_body());
  if (!document) return refuse(services, *exchange, "null", document.error(), 400);
  auto rpc = wire::read_rpc_request(document->root());
  if (!rpc) return refuse(services, *exchange, rpc.error().id, rpc.error().error, 200);
  const Method* method = find_method(rpc->method);
  const auto asked = version_of(request);
  if (!rpc->says_2_0 && !may_omit_jsonrpc(method, asked)) {
    return refuse(services, *exchange, rpc->id, {ErrorCode::invalid_request, "jsonrpc: must be \"2.0\"", {}},
                  200);
  }
  if (!method) return refuse(services, *exchange, rpc->id, {ErrorCode::method_not_found, {}, {}}, 200);

  const bool is_v1 = method->era == Era::v1_0;
  const auto* dialect =
      asked ? dialect_of(method->era, *asked, services.options.trusts_method_names) : nullptr;
  const auto& speaks = dialect ? *dialect : (is_v1 ? wire::a2a::v1_0() : wire::a2a::v0_3());
  const auto call = std::make_shared<Call>(std::move(exchange), services, endpoint, std::move(caller), speaks,
                                           is_v1 ? Form::rpc_v1_0 : Form::rpc);
  call->envelope.rpc_id = std::move(rpc->id);
  call->document = std::move(*document);
  if (!asked) return call->refuse(asked.error());
  if (!dialect) {
    return call->refuse({ErrorCode::version_not_supported,
                         *asked ? "A2A-Version: the method belongs to another version"
                                : "A2A-Version: 1.0 must be said; nothing said means 0.3",
                         {}});
  }
  call->params = call->document->root()["params"];
  if (!call->params.is_object()) call->params = {};
  if (is_v1) {
    if (const auto good = enter_tenant(*call); !good) return call->refuse(good.error());
  }
  call->extensions = extensions_of(call->exchange->request(), call->agent.card);
  method->run(call);
}

void refuse_json_rpc(const Services& services, http::Exchange& exchange, const base::Error& error) {
  refuse(services, exchange, "null", error, wire::a2a::rest_status(error));
}

}  // namespace baton::server::a2a

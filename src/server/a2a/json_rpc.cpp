#include "server/a2a/json_rpc.h"

#include <array>

#include "protocol/a2a/errors.h"
#include "protocol/rpc/json_rpc.h"
#include "server/a2a/http_call.h"
#include "server/a2a/negotiation.h"
#include "server/a2a/operations.h"

namespace baton::server::a2a {
namespace {

using base::ErrorCode;
using protocol::a2a::Dialect;
using protocol::a2a::kBeforeV1;
using protocol::a2a::kV01;
using protocol::a2a::kV02ToV03;
using protocol::a2a::kV10;
using task::ProtocolVersion;

constexpr task::VersionRange kV03{ProtocolVersion::v0_3, ProtocolVersion::v0_3};

struct Method {
  std::string_view name;
  task::VersionRange versions;  // the versions that have it
  Operation operation;
};

constexpr std::array kMethods{
    Method{"tasks/send", kV01, Operation::send},
    Method{"tasks/sendSubscribe", kV01, Operation::send_stream},
    Method{"tasks/pushNotification/set", kV01, Operation::set_push},
    Method{"tasks/pushNotification/get", kV01, Operation::get_push},

    Method{"tasks/get", kBeforeV1, Operation::get},
    Method{"tasks/cancel", kBeforeV1, Operation::cancel},
    Method{"tasks/resubscribe", kBeforeV1, Operation::subscribe},

    Method{"message/send", kV02ToV03, Operation::send},
    Method{"message/stream", kV02ToV03, Operation::send_stream},
    Method{"tasks/pushNotificationConfig/set", kV02ToV03, Operation::set_push},
    Method{"tasks/pushNotificationConfig/get", kV02ToV03, Operation::get_push},
    Method{"tasks/pushNotificationConfig/list", kV02ToV03, Operation::list_push},
    Method{"tasks/pushNotificationConfig/delete", kV02ToV03, Operation::delete_push},
    Method{"agent/getAuthenticatedExtendedCard", kV03, Operation::extended_card},

    Method{"SendMessage", kV10, Operation::send},
    Method{"SendStreamingMessage", kV10, Operation::send_stream},
    Method{"GetTask", kV10, Operation::get},
    Method{"ListTasks", kV10, Operation::list},
    Method{"CancelTask", kV10, Operation::cancel},
    Method{"SubscribeToTask", kV10, Operation::subscribe},
    Method{"CreateTaskPushNotificationConfig", kV10, Operation::set_push},
    Method{"GetTaskPushNotificationConfig", kV10, Operation::get_push},
    Method{"ListTaskPushNotificationConfigs", kV10, Operation::list_push},
    Method{"DeleteTaskPushNotificationConfig", kV10, Operation::delete_push},
    Method{"GetExtendedAgentCard", kV10, Operation::extended_card},
};

const Method* find_method(std::string_view name) {
  for (const Method& method : kMethods) {
    if (method.name == name) return &method;
  }
  return nullptr;
}

// The dialect of a method's answer, or null if the requested version has no such method. 1.0 requires
// A2A-Version: in its specification a request without one is 0.3.
const Dialect* dialect_of(task::VersionRange versions, std::optional<ProtocolVersion> asked,
                          bool trusts_names) {
  if (asked) return versions.contains(*asked) ? &protocol::a2a::dialect_of(*asked) : nullptr;
  if (versions.first == ProtocolVersion::v1_0) return trusts_names ? &protocol::a2a::v1_0() : nullptr;
  if (versions.first == ProtocolVersion::v0_1 && versions.last > versions.first)
    return &protocol::a2a::dual();
  return &protocol::a2a::dialect_of(versions.first);
}

// Without a known method, only A2A-Version determines the form of errors.
bool says_v1(const http::Request& request) {
  const auto version = version_of(request);
  return version && *version == ProtocolVersion::v1_0;
}

// Refuses a request that has no Call yet.
void refuse(http::Exchange& exchange, std::string_view id, const base::Error& error, int status) {
  exchange.reply(error_reply(exchange.request(), {says_v1(exchange.request()), id}, error, {}, status));
}

// The first A2A clients omitted "jsonrpc". So 0.1 methods may omit it, and so may those that later versions
// share with 0.1, unless the request names a later version.
bool may_omit_jsonrpc(const Method* method, const base::Result<std::optional<ProtocolVersion>>& asked) {
  if (!method || !asked) return false;
  if (method->versions.last == ProtocolVersion::v0_1) return true;
  return method->versions.contains(ProtocolVersion::v0_1) && (!*asked || **asked == ProtocolVersion::v0_1);
}

base::Result<void> enter_tenant(Call& call, json::Value params) {
  const json::Value tenant = params["tenant"];
  if (!call.rules.is_v1()) return {};
  if (!tenant.absent() && !tenant.is_string())
    return base::fail(ErrorCode::invalid_argument, "tenant: must be a string");
  return call.enter_tenant(tenant.string());
}

}  // namespace

void handle_json_rpc(std::shared_ptr<http::Exchange> exchange, Admitted by) {
  const http::Request& request = exchange->request();
  if (!is_json(request)) {
    return refuse(*exchange, "null",
                  {ErrorCode::content_type_not_supported, "Content-Type: must be application/json", {}}, 415);
  }
  auto document = json::Document::parse(exchange->take_body());
  if (!document) return refuse(*exchange, "null", document.error(), 400);
  auto rpc = protocol::read_rpc_request(document->root());
  if (!rpc) return refuse(*exchange, rpc.error().id, rpc.error().error, 200);
  const Method* method = find_method(rpc->method);
  const auto asked = version_of(request);
  if (!rpc->says_2_0 && !may_omit_jsonrpc(method, asked)) {
    return refuse(*exchange, rpc->id, {ErrorCode::invalid_request, "jsonrpc: must be \"2.0\"", {}}, 200);
  }
  if (!method) return refuse(*exchange, rpc->id, {ErrorCode::method_not_found, {}, {}}, 200);

  const auto* dialect =
      asked ? dialect_of(method->versions, *asked, by.services.options.trusts_method_names) : nullptr;
  const bool is_v1 = method->versions.first == ProtocolVersion::v1_0;
  const auto& speaks = dialect ? *dialect : (is_v1 ? protocol::a2a::v1_0() : protocol::a2a::v0_3());
  const auto call = std::make_shared<HttpCall>(std::move(exchange), std::move(by), speaks, Binding::json_rpc,
                                               std::move(rpc->id));
  call->streams = protocol::a2a::answers_with_stream(method->operation);
  if (!asked) return call->refuse(asked.error());
  if (!dialect) {
    return call->refuse(
        {ErrorCode::version_not_supported,
         *asked
             ? "A2A-Version: this method belongs to another version"
             : "A2A-Version: this method requires the header A2A-Version: 1.0; without it the version is 0.3",
         {}});
  }
  json::Value params = document->root()["params"];
  if (!params.is_object()) params = {};
  if (const auto good = enter_tenant(*call, params); !good) return call->refuse(good.error());
  call->extensions = extensions_of(call->head(), call->agent.card);
  run_or_refuse(call, method->operation, row_of(method->operation).decode(*dialect, params));
}

http::Reply rpc_refusal(const http::Request& request, const base::Error& error, int status) {
  return error_reply(request, {says_v1(request), "null"}, error, {}, status);
}

void refuse_json_rpc(http::Exchange& exchange, const base::Error& error) {
  refuse(exchange, "null", error, protocol::a2a::rest_status(error));
}

}  // namespace baton::server::a2a

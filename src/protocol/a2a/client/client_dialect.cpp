// The clients of every version over JSON-RPC, and of 0.3 and 1.0 over REST (../README.md, 4 to 6).
#include "protocol/a2a/client/client_dialect.h"

#include "base/text.h"
#include "protocol/a2a/client/read_errors.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/tagged_objects.h"
#include "protocol/a2a/v0_3_rest_objects.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;
using task::ProtocolVersion;

// Returns a JSON-RPC request; `params` writes the members of its params. The id is constant, because an HTTP
// call carries only one request.
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
std::string task_path(const task::TaskId& task, std::string_view rest = {}) {
  return "/tasks/" + base::percent_encoded(task.value) + std::string(rest);
}

std::string config_path(const PushRef& push) {
  return task_path(push.task, "/pushNotificationConfigs/") + base::percent_encoded(push.config.value);
}

// Writes the members of a push config into an open object: {id?, url, token?, authentication?}. `as_given`:
// `authentication` with all members that a client of 0.1 gave it.
enum class Schemes { as_given, list, one };
void write_config_members(json::Writer& out, const task::PushConfig& config, Schemes schemes) {
  out.optional("id", config.id.value).member("url", config.url).optional("token", config.token);
  if (schemes == Schemes::as_given && !config.authentication_extra.empty()) {
    out.member("authentication", config.authentication_extra);
    return;
  }
  if (config.schemes.empty() && config.credentials.empty()) return;
  out.key("authentication").object([&] {
    if (schemes == Schemes::one) {
      // 1.0 has room for one scheme: the first.
      out.member("scheme", config.schemes.empty() ? std::string_view() : config.schemes.front());
    } else {
      out.key("schemes").strings(config.schemes);
    }
    out.optional("credentials", config.credentials);
  });
}

void write_push_member(json::Writer& out, std::string_view name, const std::optional<task::PushConfig>& push,
                       Schemes schemes) {
  if (push) out.key(name).object([&] { write_config_members(out, *push, schemes); });
}

// The config has no id of its own in 0.1.
task::PushConfig without_id(task::PushConfig config) {
  config.id = {};
  return config;
}

// 0.1 cannot ask for all messages.
constexpr int kAllMessages = 1'000'000;

// ---- The members of a send.

void write_v0_1_send(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  out.member("id", submission.task.value).optional("sessionId", submission.context.value);
  out.key("message");
  TaggedObjects(out, kV01, submission.task, submission.context).write_message(submission.message);
  out.optional("acceptedOutputModes", submission.accepted_output_modes);
  out.member("historyLength", send.history_length.value_or(kAllMessages));
  if (submission.push) {
    write_push_member(out, "pushNotification", without_id(*submission.push), Schemes::as_given);
  }
  out.optional("metadata", submission.metadata);
}

void write_v0_3_send(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  out.key("message");
  TaggedObjects(out, kV02ToV03, submission.task, submission.context).write_message(submission.message);
  // Up to 0.2.5, 0.2 requires the list, and so the object, even if empty.
  out.key("configuration").object([&] {
    out.key("acceptedOutputModes").strings(submission.accepted_output_modes);
    if (send.history_length) out.member("historyLength", *send.history_length);
    if (send.waits) out.member("blocking", *send.waits);
    write_push_member(out, "pushNotificationConfig", submission.push, Schemes::list);
  });
  out.optional("metadata", submission.metadata);
}

// In a configuration an absent `blocking` means false, so waiting must be asked for.
void write_v0_3_rest_send(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  const int length = send.history_length.value_or(0);
  const bool is_configured =
      send.waits || length > 0 || submission.push || !submission.accepted_output_modes.empty();
  rest_v0_3::write_message(out.key("message"), submission.message, {submission.task, submission.context});
  if (is_configured) {
    out.key("configuration").object([&] {
      out.optional("acceptedOutputModes", submission.accepted_output_modes);
      if (length > 0) out.member("historyLength", length);
      if (send.waits.value_or(true)) out.member("blocking", true);
      write_push_member(out, "pushNotification", submission.push, Schemes::list);
    });
  }
  out.optional("metadata", submission.metadata);
}

void write_v1_send(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  out.key("message");
  v1::write_message(out, submission.message, submission.task, submission.context);
  out.key("configuration").object([&] {
    out.optional("acceptedOutputModes", submission.accepted_output_modes);
    if (send.history_length) out.member("historyLength", *send.history_length);
    if (send.waits) out.member("returnImmediately", !*send.waits);
    write_push_member(out, "taskPushNotificationConfig", submission.push, Schemes::one);
  });
  out.optional("metadata", submission.metadata);
}

// ---- JSON-RPC.

// The names of the methods, and of the ids in requests about push configs.
struct RpcNames {
  std::string_view send, stream, get, cancel, subscribe, set_push, get_push, list_push, delete_push;
  std::string_view push_task, push_config;
};
constexpr RpcNames kV01Names{"tasks/send",
                             "tasks/sendSubscribe",
                             "tasks/get",
                             "tasks/cancel",
                             "tasks/resubscribe",
                             "tasks/pushNotification/set",
                             "tasks/pushNotification/get",
                             "",
                             "",
                             "id",
                             ""};
constexpr RpcNames kV03Names{"message/send",
                             "message/stream",
                             "tasks/get",
                             "tasks/cancel",
                             "tasks/resubscribe",
                             "tasks/pushNotificationConfig/set",
                             "tasks/pushNotificationConfig/get",
                             "tasks/pushNotificationConfig/list",
                             "tasks/pushNotificationConfig/delete",
                             "id",
                             "pushNotificationConfigId"};
constexpr RpcNames kV10Names{"SendMessage",
                             "SendStreamingMessage",
                             "GetTask",
                             "CancelTask",
                             "SubscribeToTask",
                             "CreateTaskPushNotificationConfig",
                             "GetTaskPushNotificationConfig",
                             "ListTaskPushNotificationConfigs",
                             "DeleteTaskPushNotificationConfig",
                             "taskId",
                             "id"};

class RpcClient final : public ClientDialect {
 public:
  RpcClient(ProtocolVersion version, std::string tenant)
      : ClientDialect(version == ProtocolVersion::v1_0 ? PartShape::v1_0 : PartShape::tagged, version),
        names_(version == ProtocolVersion::v0_1   ? kV01Names
               : version == ProtocolVersion::v1_0 ? kV10Names
                                                  : kV03Names),
        tenant_(is_v1() ? std::move(tenant) : std::string()) {}

  bool names_tasks() const override { return version() == ProtocolVersion::v0_1; }

  ClientRequest write_send(const SendRequest& send, bool streams) const override {
    const auto write = names_tasks() ? write_v0_1_send : is_v1() ? write_v1_send : write_v0_3_send;
    return request(streams ? names_.stream : names_.send, [&](json::Writer& out) { write(out, send); });
  }
  ClientRequest write_get(const TaskRequest& get) const override {
    return request(names_.get, [&](json::Writer& out) {
      out.member("id", get.id.value);
      if (names_tasks()) out.member("historyLength", get.history_length.value_or(kAllMessages));
      if (!names_tasks() && get.history_length) out.member("historyLength", *get.history_length);
    });
  }
  ClientRequest write_cancel(const task::TaskId& task) const override {
    return request(names_.cancel, [&](json::Writer& out) { out.member("id", task.value); });
  }
  ClientRequest write_subscribe(const task::TaskId& task) const override {
    return request(names_.subscribe, [&](json::Writer& out) {
      out.member("id", task.value);
      // In 0.1, Baton numbers events only for clients that ask for it. Other servers ignore this member.
      if (!names_tasks()) return;
      out.key("metadata").object([&] { out.key(kBatonExtension).object([] {}); });
    });
  }
  Result<ClientRequest> write_list(const ListQuery& list) const override {
    if (!is_v1()) return ClientDialect::write_list(list);
    return request("ListTasks", [&](json::Writer& out) {
      out.optional("contextId", list.context.value);
      if (list.state) out.member("status", v1::state_name(*list.state));
      if (list.page_size) out.member("pageSize", *list.page_size);
      out.optional("pageToken", list.page_token);
      if (list.history_length) out.member("historyLength", *list.history_length);
      if (list.status_since) out.member("statusTimestampAfter", base::to_rfc3339(*list.status_since));
      if (list.artifacts) out.member("includeArtifacts", true);
    });
  }
  ClientRequest write_set_push(const PushRequest& push) const override {
    return request(names_.set_push, [&](json::Writer& out) {
      out.member(names_tasks() ? "id" : "taskId", push.task.value);
      if (is_v1()) return write_config_members(out, push.config, Schemes::one);
      write_push_member(out, "pushNotificationConfig", names_tasks() ? without_id(push.config) : push.config,
                        names_tasks() ? Schemes::as_given : Schemes::list);
    });
  }
  ClientRequest write_get_push(const PushRef& push) const override {
    return push_request(names_.get_push, push);
  }
  Result<ClientRequest> write_list_push(const task::TaskId& task) const override {
    if (names_tasks()) return base::fail(base::ErrorCode::unsupported, "A2A 0.1 cannot list push configs");
    return push_request(names_.list_push, {task, {}});
  }
  Result<ClientRequest> write_delete_push(const PushRef& push) const override {
    if (names_tasks()) return base::fail(base::ErrorCode::unsupported, "A2A 0.1 cannot delete push configs");
    return push_request(names_.delete_push, push);
  }

  Result<ClientAnswer> read_answer(json::Value body, bool) const override { return read_rpc_answer(body); }

 private:
  bool is_v1() const { return version() == ProtocolVersion::v1_0; }

  template <class F>
  ClientRequest request(std::string_view method, F&& params) const {
    return rpc_request(method, [&](json::Writer& out) {
      out.optional("tenant", tenant_);
      params(out);
    });
  }
  ClientRequest push_request(std::string_view method, const PushRef& push) const {
    return request(method, [&](json::Writer& out) {
      out.member(names_.push_task, push.task.value);
      if (!names_tasks()) out.optional(names_.push_config, push.config.value);
    });
  }

  const RpcNames& names_;
  const std::string tenant_;
};

// ---- REST.

class RestClient final : public ClientDialect {
 public:
  // In 1.0 the tenant is the first segment of every path.
  RestClient(ProtocolVersion version, const std::string& tenant)
      : ClientDialect(version == ProtocolVersion::v1_0 ? PartShape::v1_0 : PartShape::proto_v0_3, version),
        prefix_(!is_v1()         ? "/v1"
                : tenant.empty() ? ""
                                 : "/" + base::percent_encoded(tenant)) {}

  ClientRequest write_send(const SendRequest& send, bool streams) const override {
    return rest_post(prefix_ + (streams ? "/message:stream" : "/message:send"),
                     [&](json::Writer& out) { (is_v1() ? write_v1_send : write_v0_3_rest_send)(out, send); });
  }
  ClientRequest write_get(const TaskRequest& get) const override {
    // In 0.3, 0 and absent mean all: there is no way to ask for none.
    const bool asks = get.history_length && (is_v1() || *get.history_length > 0);
    const std::string query = asks ? "?historyLength=" + std::to_string(*get.history_length) : "";
    return {"GET", prefix_ + task_path(get.id, query), {}};
  }
  ClientRequest write_cancel(const task::TaskId& task) const override {
    return {"POST", prefix_ + task_path(task, ":cancel"), {}};
  }
  // The specification's table of 0.3 says POST, its proto GET; both are served.
  ClientRequest write_subscribe(const task::TaskId& task) const override {
    return {is_v1() ? "POST" : "GET", prefix_ + task_path(task, ":subscribe"), {}};
  }
  Result<ClientRequest> write_list(const ListQuery& list) const override {
    if (!is_v1()) return ClientDialect::write_list(list);
    std::string query;
    const auto add = [&](std::string_view name, std::string_view value) {
      query.append(query.empty() ? "?" : "&").append(name).append("=").append(base::percent_encoded(value));
    };
    if (!list.context.empty()) add("contextId", list.context.value);
    if (list.state) add("status", v1::state_name(*list.state));
    if (list.page_size) add("pageSize", std::to_string(*list.page_size));
    if (!list.page_token.empty()) add("pageToken", list.page_token);
    if (list.history_length) add("historyLength", std::to_string(*list.history_length));
    if (list.status_since) add("statusTimestampAfter", base::to_rfc3339(*list.status_since));
    if (list.artifacts) add("includeArtifacts", "true");
    return ClientRequest{"GET", prefix_ + "/tasks" + query, {}};
  }
  ClientRequest write_set_push(const PushRequest& push) const override {
    return rest_post(prefix_ + task_path(push.task, "/pushNotificationConfigs"), [&](json::Writer& out) {
      if (!is_v1()) return write_v0_3_push(out, push);
      out.member("taskId", push.task.value);
      write_config_members(out, push.config, Schemes::one);
    });
  }
  ClientRequest write_get_push(const PushRef& push) const override {
    return {"GET", prefix_ + config_path(push), {}};
  }
  Result<ClientRequest> write_list_push(const task::TaskId& task) const override {
    return ClientRequest{"GET", prefix_ + task_path(task, "/pushNotificationConfigs"), {}};
  }
  Result<ClientRequest> write_delete_push(const PushRef& push) const override {
    return ClientRequest{"DELETE", prefix_ + config_path(push), {}};
  }

  Result<ClientAnswer> read_answer(json::Value body, bool good) const override {
    return read_rest_answer(body, good);
  }

 private:
  bool is_v1() const { return version() == ProtocolVersion::v1_0; }

  // Writes the form of the Python SDK. The object `config` in it has the form of the JavaScript SDK.
  static void write_v0_3_push(json::Writer& out, const PushRequest& push) {
    const std::string parent = "tasks/" + push.task.value;
    const std::string id = push.config.id.empty() ? push.task.value : push.config.id.value;
    out.member("parent", parent).member("configId", id).key("config").object([&] {
      out.member("name", parent + "/pushNotificationConfigs/" + id);
      write_push_member(out, "pushNotificationConfig", push.config, Schemes::list);
    });
  }

  const std::string prefix_;
};

}  // namespace

Result<ClientRequest> ClientDialect::write_list(const ListQuery&) const {
  return base::fail(base::ErrorCode::unsupported,
                    "A2A " + std::string(name_of(version())) + " cannot list tasks; use A2A 1.0");
}

ClientDialectPtr client_dialect(ProtocolVersion version, Binding binding, std::string tenant,
                                std::size_t items_max) {
  std::shared_ptr<ClientDialect> dialect;
  if (binding == Binding::json_rpc) {
    dialect = std::make_shared<RpcClient>(version, std::move(tenant));
  } else if (binding == Binding::rest && version != ProtocolVersion::v0_1) {
    // 0.2.6 has the REST of 0.3.
    const bool is_v1 = version == ProtocolVersion::v1_0;
    dialect = std::make_shared<RestClient>(is_v1 ? version : ProtocolVersion::v0_3, tenant);
  }
  if (dialect) dialect->set_items_max(items_max);
  return dialect;
}

}  // namespace baton::protocol::a2a

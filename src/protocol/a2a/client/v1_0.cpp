// The clients of A2A 1.0 over JSON-RPC and REST (../README.md, 6): the ProtoJSON of lf.a2a.v1.
#include "base/text.h"
#include "protocol/a2a/client/implementations.h"
#include "protocol/a2a/client/read_errors.h"
#include "protocol/a2a/client/write_requests.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

void write_configuration(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  out.key("configuration").object([&] {
    write_strings(out, "acceptedOutputModes", submission.accepted_output_modes);
    if (send.history_length) out.member("historyLength", *send.history_length);
    if (send.waits) out.member("returnImmediately", !*send.waits);
    if (!submission.push) return;
    out.key("taskPushNotificationConfig").object([&] {
      write_config_members(out, *submission.push, Schemes::one);
    });
  });
}

void write_send_members(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  out.key("message");
  v1::write_message(out, submission.message, submission.task, submission.context);
  write_configuration(out, send);
  out.optional("metadata", submission.metadata);
}

class V10Client final : public ReadingClient {
 public:
  explicit V10Client(std::string tenant)
      : ReadingClient(PartShape::v1_0, task::ProtocolVersion::v1_0), tenant_(std::move(tenant)) {}

  ClientRequest write_send(const SendRequest& send, bool streams) const override {
    return request(streams ? "SendStreamingMessage" : "SendMessage",
                   [&](json::Writer& out) { write_send_members(out, send); });
  }
  ClientRequest write_get(const TaskRequest& get) const override {
    return request("GetTask", [&](json::Writer& out) {
      out.member("id", get.id.value);
      if (get.history_length) out.member("historyLength", *get.history_length);
    });
  }
  ClientRequest write_cancel(const task::TaskId& task) const override { return about("CancelTask", task); }
  ClientRequest write_subscribe(const task::TaskId& task) const override {
    return about("SubscribeToTask", task);
  }
  Result<ClientRequest> write_list(const ListQuery& list) const override;
  ClientRequest write_set_push(const PushRequest& push) const override {
    return request("CreateTaskPushNotificationConfig", [&](json::Writer& out) {
      out.member("taskId", push.task.value);
      write_config_members(out, push.config, Schemes::one);
    });
  }
  ClientRequest write_get_push(const PushRef& push) const override {
    return about("GetTaskPushNotificationConfig", push);
  }
  Result<ClientRequest> write_list_push(const task::TaskId& task) const override {
    return about("ListTaskPushNotificationConfigs", PushRef{task, {}});
  }
  Result<ClientRequest> write_delete_push(const PushRef& push) const override {
    return about("DeleteTaskPushNotificationConfig", push);
  }

  Result<ClientAnswer> read_answer(json::Value body, bool) const override { return read_rpc_answer(body); }

 private:
  template <class F>
  ClientRequest request(std::string_view method, F&& params) const {
    return rpc_request(method, [&](json::Writer& out) {
      out.optional("tenant", tenant_);
      params(out);
    });
  }
  ClientRequest about(std::string_view method, const task::TaskId& task) const {
    return request(method, [&](json::Writer& out) { out.member("id", task.value); });
  }
  ClientRequest about(std::string_view method, const PushRef& push) const {
    return request(method, [&](json::Writer& out) {
      out.member("taskId", push.task.value).optional("id", push.config.value);
    });
  }

  const std::string tenant_;
};

Result<ClientRequest> V10Client::write_list(const ListQuery& list) const {
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

class V10RestClient final : public ReadingClient {
 public:
  // The tenant is the first segment of every path.
  explicit V10RestClient(const std::string& tenant)
      : ReadingClient(PartShape::v1_0, task::ProtocolVersion::v1_0),
        prefix_(tenant.empty() ? "" : "/" + base::percent_encoded(tenant)) {}

  ClientRequest write_send(const SendRequest& send, bool streams) const override {
    return rest_post(prefix_ + (streams ? "/message:stream" : "/message:send"),
                     [&](json::Writer& out) { write_send_members(out, send); });
  }
  ClientRequest write_get(const TaskRequest& get) const override {
    const auto length = get.history_length;
    const std::string query = length ? "?historyLength=" + std::to_string(*length) : "";
    return {"GET", prefix_ + task_path(get.id, query), {}};
  }
  ClientRequest write_cancel(const task::TaskId& task) const override {
    return {"POST", prefix_ + task_path(task, ":cancel"), {}};
  }
  ClientRequest write_subscribe(const task::TaskId& task) const override {
    return {"POST", prefix_ + task_path(task, ":subscribe"), {}};
  }
  Result<ClientRequest> write_list(const ListQuery& list) const override;
  ClientRequest write_set_push(const PushRequest& push) const override {
    return rest_post(prefix_ + task_path(push.task, "/pushNotificationConfigs"), [&](json::Writer& out) {
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
  const std::string prefix_;
};

Result<ClientRequest> V10RestClient::write_list(const ListQuery& list) const {
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

}  // namespace

ClientDialectPtr make_v1_0_client(std::string tenant) {
  return std::make_shared<V10Client>(std::move(tenant));
}

ClientDialectPtr make_v1_0_rest_client(std::string tenant) {
  return std::make_shared<V10RestClient>(tenant);
}

}  // namespace baton::protocol::a2a

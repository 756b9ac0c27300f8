// The clients of A2A 0.1 and of 0.2 and 0.3 over JSON-RPC (../README.md, 4 and 5).
#include "protocol/a2a/client/implementations.h"
#include "protocol/a2a/client/read_errors.h"
#include "protocol/a2a/client/write_requests.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/tagged_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;
using task::ProtocolVersion;

// 0.1 cannot ask for all messages.
constexpr int kAllHistory = 1'000'000;

// The two have the same names and params for methods about tasks.
class RpcBeforeV1 : public ReadingClient {
 public:
  explicit RpcBeforeV1(ProtocolVersion version) : ReadingClient(PartShape::tagged, version) {}

  ClientRequest write_cancel(const task::TaskId& task) const final {
    return rpc_request("tasks/cancel", [&](json::Writer& out) { out.member("id", task.value); });
  }
  ClientRequest write_subscribe(const task::TaskId& task) const final {
    return rpc_request("tasks/resubscribe", [&](json::Writer& out) {
      out.member("id", task.value);
      // In 0.1, Baton gives numbers only to clients that ask. Any other server ignores this.
      if (!names_tasks()) return;
      out.key("metadata").object([&] { out.key(kBatonExtension).object([] {}); });
    });
  }
  Result<ClientAnswer> read_answer(json::Value body, bool) const final { return read_rpc_answer(body); }
};

class V01Client final : public RpcBeforeV1 {
 public:
  V01Client() : RpcBeforeV1(ProtocolVersion::v0_1) {}

  bool names_tasks() const override { return true; }

  ClientRequest write_send(const SendRequest& send, bool streams) const override;
  ClientRequest write_get(const TaskRequest& get) const override {
    return rpc_request("tasks/get", [&](json::Writer& out) {
      out.member("id", get.id.value).member("historyLength", get.history_length.value_or(kAllHistory));
    });
  }
  ClientRequest write_set_push(const PushRequest& push) const override {
    return rpc_request("tasks/pushNotification/set", [&](json::Writer& out) {
      out.member("id", push.task.value);
      write_config(out.key("pushNotificationConfig"), push.config);
    });
  }
  ClientRequest write_get_push(const PushRef& push) const override {
    return rpc_request("tasks/pushNotification/get",
                       [&](json::Writer& out) { out.member("id", push.task.value); });
  }
  Result<ClientRequest> write_list_push(const task::TaskId&) const override {
    return fail(ErrorCode::unsupported, "A2A 0.1 cannot list push configs");
  }
  Result<ClientRequest> write_delete_push(const PushRef&) const override {
    return fail(ErrorCode::unsupported, "A2A 0.1 cannot delete push configs");
  }

 private:
  // The config has no id of its own in 0.1.
  static void write_config(json::Writer& out, task::PushConfig config) {
    config.id = {};
    out.object([&] { write_config_members(out, config, Schemes::as_given); });
  }
};

ClientRequest V01Client::write_send(const SendRequest& send, bool streams) const {
  const task::Submission& submission = send.submission;
  return rpc_request(streams ? "tasks/sendSubscribe" : "tasks/send", [&](json::Writer& out) {
    out.member("id", submission.task.value).optional("sessionId", submission.context.value);
    out.key("message");
    TaggedObjects(out, kV01, submission.task, submission.context).write_message(submission.message);
    write_strings(out, "acceptedOutputModes", submission.accepted_output_modes);
    out.member("historyLength", send.history_length.value_or(kAllHistory));
    if (submission.push) write_config(out.key("pushNotification"), *submission.push);
    out.optional("metadata", submission.metadata);
  });
}

class V03Client final : public RpcBeforeV1 {
 public:
  explicit V03Client(ProtocolVersion version) : RpcBeforeV1(version) {}

  ClientRequest write_send(const SendRequest& send, bool streams) const override;
  ClientRequest write_get(const TaskRequest& get) const override {
    return rpc_request("tasks/get", [&](json::Writer& out) {
      out.member("id", get.id.value);
      if (get.history_length) out.member("historyLength", *get.history_length);
    });
  }
  ClientRequest write_set_push(const PushRequest& push) const override {
    return rpc_request("tasks/pushNotificationConfig/set", [&](json::Writer& out) {
      out.member("taskId", push.task.value);
      out.key("pushNotificationConfig").object([&] {
        write_config_members(out, push.config, Schemes::list);
      });
    });
  }
  ClientRequest write_get_push(const PushRef& push) const override {
    return push_request("tasks/pushNotificationConfig/get", push);
  }
  Result<ClientRequest> write_list_push(const task::TaskId& task) const override {
    return push_request("tasks/pushNotificationConfig/list", {task, {}});
  }
  Result<ClientRequest> write_delete_push(const PushRef& push) const override {
    return push_request("tasks/pushNotificationConfig/delete", push);
  }

 private:
  static ClientRequest push_request(std::string_view method, const PushRef& push) {
    return rpc_request(method, [&](json::Writer& out) {
      out.member("id", push.task.value).optional("pushNotificationConfigId", push.config.value);
    });
  }
};

void write_configuration(json::Writer& out, const SendRequest& send) {
  const task::Submission& submission = send.submission;
  // Up to 0.2.5, 0.2 requires the list, and so the object, even if empty.
  out.key("configuration").object([&] {
    out.key("acceptedOutputModes").array([&] {
      for (const std::string& mode : submission.accepted_output_modes) out.string(mode);
    });
    if (send.history_length) out.member("historyLength", *send.history_length);
    if (send.waits) out.member("blocking", *send.waits);
    if (!submission.push) return;
    out.key("pushNotificationConfig").object([&] {
      write_config_members(out, *submission.push, Schemes::list);
    });
  });
}

ClientRequest V03Client::write_send(const SendRequest& send, bool streams) const {
  const task::Submission& submission = send.submission;
  return rpc_request(streams ? "message/stream" : "message/send", [&](json::Writer& out) {
    out.key("message");
    TaggedObjects(out, kV02ToV03, submission.task, submission.context).write_message(submission.message);
    write_configuration(out, send);
    out.optional("metadata", submission.metadata);
  });
}

}  // namespace

ClientDialectPtr make_v0_1_client() {
  return std::make_shared<V01Client>();
}

ClientDialectPtr make_v0_3_client(ProtocolVersion version) {
  return std::make_shared<V03Client>(version);
}

}  // namespace baton::protocol::a2a

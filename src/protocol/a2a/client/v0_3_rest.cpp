// The client of A2A 0.3 over REST (../README.md, 5): the ProtoJSON of a2a.v1.
#include "protocol/a2a/client/implementations.h"
#include "protocol/a2a/client/read_errors.h"
#include "protocol/a2a/client/write_requests.h"
#include "protocol/a2a/members.h"
#include "protocol/a2a/v0_3_rest_objects.h"

namespace baton::protocol::a2a {
namespace {

using base::Result;

constexpr std::string_view kPrefix = "/v1";

std::string prefixed(std::string path) {
  return path.insert(0, kPrefix);
}

class V03RestClient final : public ReadingClient {
 public:
  V03RestClient() : ReadingClient(PartShape::proto_v0_3, task::ProtocolVersion::v0_3) {}

  ClientRequest write_send(const SendRequest& send, bool streams) const override;
  ClientRequest write_get(const TaskRequest& get) const override {
    // 0 and absent mean all: there is no way to ask for none.
    const int length = get.history_length.value_or(0);
    const std::string query = length > 0 ? "?historyLength=" + std::to_string(length) : "";
    return {"GET", prefixed(task_path(get.id, query)), {}};
  }
  ClientRequest write_cancel(const task::TaskId& task) const override {
    return {"POST", prefixed(task_path(task, ":cancel")), {}};
  }
  // The specification's table says POST, its proto GET; both are served.
  ClientRequest write_subscribe(const task::TaskId& task) const override {
    return {"GET", prefixed(task_path(task, ":subscribe")), {}};
  }
  ClientRequest write_set_push(const PushRequest& push) const override;
  ClientRequest write_get_push(const PushRef& push) const override {
    return {"GET", prefixed(config_path(push)), {}};
  }
  Result<ClientRequest> write_list_push(const task::TaskId& task) const override {
    return ClientRequest{"GET", prefixed(task_path(task, "/pushNotificationConfigs")), {}};
  }
  Result<ClientRequest> write_delete_push(const PushRef& push) const override {
    return ClientRequest{"DELETE", prefixed(config_path(push)), {}};
  }

  Result<ClientAnswer> read_answer(json::Value body, bool good) const override {
    return read_rest_answer(body, good);
  }
};

// In a configuration an absent `blocking` means false, so waiting must be asked for.
ClientRequest V03RestClient::write_send(const SendRequest& send, bool streams) const {
  const task::Submission& submission = send.submission;
  const int length = send.history_length.value_or(0);
  const bool is_configured =
      send.waits || length > 0 || submission.push || !submission.accepted_output_modes.empty();
  return rest_post(prefixed(streams ? "/message:stream" : "/message:send"), [&](json::Writer& out) {
    rest_v0_3::write_message(out.key("message"), submission.message, {submission.task, submission.context});
    if (is_configured) {
      out.key("configuration").object([&] {
        write_strings(out, "acceptedOutputModes", submission.accepted_output_modes);
        if (length > 0) out.member("historyLength", length);
        if (send.waits.value_or(true)) out.member("blocking", true);
        if (!submission.push) return;
        out.key("pushNotification").object([&] {
          write_config_members(out, *submission.push, Schemes::list);
        });
      });
    }
    out.optional("metadata", submission.metadata);
  });
}

// The form of the Python SDK. What `config` holds is what the JavaScript SDK sends.
ClientRequest V03RestClient::write_set_push(const PushRequest& push) const {
  const std::string parent = "tasks/" + push.task.value;
  const std::string id = push.config.id.empty() ? push.task.value : push.config.id.value;
  return rest_post(prefixed(task_path(push.task, "/pushNotificationConfigs")), [&](json::Writer& out) {
    out.member("parent", parent).member("configId", id);
    out.key("config").object([&] {
      out.member("name", parent + "/pushNotificationConfigs/" + id);
      out.key("pushNotificationConfig").object([&] {
        write_config_members(out, push.config, Schemes::list);
      });
    });
  });
}

}  // namespace

ClientDialectPtr make_v0_3_rest_client() {
  return std::make_shared<V03RestClient>();
}

}  // namespace baton::protocol::a2a

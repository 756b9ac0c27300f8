#include "protocol/a2a/client/write_requests.h"

#include "base/text.h"
#include "protocol/a2a/members.h"

namespace baton::protocol::a2a {

std::string task_path(const task::TaskId& task, std::string_view rest) {
  return "/tasks/" + base::percent_encoded(task.value) + std::string(rest);
}

std::string config_path(const PushRef& push) {
  return task_path(push.task, "/pushNotificationConfigs/") + base::percent_encoded(push.config.value);
}

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
      out.key("schemes").array([&] {
        for (const std::string& scheme : config.schemes) out.string(scheme);
      });
    }
    out.optional("credentials", config.credentials);
  });
}

}  // namespace baton::protocol::a2a

#include "wire/a2a/client/write_requests.h"

#include "wire/a2a/members.h"

namespace baton::wire::a2a {

std::string percent_encoded(std::string_view text) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += {'%', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  return out;
}

std::string task_path(const task::TaskId& task, std::string_view rest) {
  return "/tasks/" + percent_encoded(task.value) + std::string(rest);
}

std::string config_path(const PushRef& push) {
  return task_path(push.task, "/pushNotificationConfigs/") + percent_encoded(push.config.value);
}

void write_config_members(Writer& out, const task::PushConfig& config, Schemes schemes) {
  out.optional("id", config.id.value).member("url", config.url).optional("token", config.token);
  if (schemes == Schemes::as_given && !config.authentication_extra.empty()) {
    out.member("authentication", config.authentication_extra);
    return;
  }
  if (config.schemes.empty() && config.credentials.empty()) return;
  out.key("authentication").object([&] {
    if (schemes == Schemes::one) {
      // Of several only the first has a place (VERSIONS.md, trap 6).
      out.member("scheme", config.schemes.empty() ? std::string_view() : config.schemes.front());
    } else {
      out.key("schemes").array([&] {
        for (const std::string& scheme : config.schemes) out.string(scheme);
      });
    }
    out.optional("credentials", config.credentials);
  });
}

}  // namespace baton::wire::a2a

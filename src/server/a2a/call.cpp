#include "server/a2a/call.h"

#include <spdlog/spdlog.h>

#include "base/text.h"
#include "protocol/a2a/baton_extension.h"
#include "server/a2a/cards.h"
#include "server/shared/tenants.h"

namespace baton::server::a2a {

base::Result<void> Call::enter_tenant(std::string_view name) {
  if (const auto good = check_tenant(name); !good) return good;
  if (name.empty()) return {};
  const std::string_view own = task::tenant_of(caller);  // a page's token is one user's, who is a tenant
  if (!own.empty() && name != own)
    return base::fail(base::ErrorCode::permission_denied, "this token belongs to another tenant");
  tenant = name;
  caller = caller_in(name, identity);
  return {};
}

base::Result<void> Call::check_version() const {
  const auto asked = version_of(head());
  if (!asked) return base::fail(asked.error());
  if (!*asked || rules.versions().contains(**asked)) return {};
  return base::fail(base::ErrorCode::version_not_supported,
                    "A2A-Version: this path belongs to another version");
}

std::pair<std::string, std::string> Call::extensions_header() const {
  std::string list(extensions.numbers ? protocol::kBatonExtension : "");
  for (const std::string& uri : extensions.active) list += (list.empty() ? "" : ", ") + uri;
  return {std::string(extensions.header), std::move(list)};
}

std::string Call::tasks_url() const {
  std::string url = card_urls(services.options, head(), endpoint).rest;
  if (!tenant.empty()) url += "/" + base::percent_encoded(tenant);
  return url;
}

void Call::refuse(const base::Error& error, const task::TaskId& named) {
  if (error.code == base::ErrorCode::internal || error.code == base::ErrorCode::unavailable) {
    spdlog::error("agent={} {} {}", agent.name.value, error.for_caller, error.for_log);
  }
  if (note) note->failed(error);
  if (note && !named.empty()) note->is_about(named);
  do_refuse(error, named);
}

void Call::note_task(const Answer& answer) const {
  if (!note) return;
  if (const auto* sent = std::get_if<SentAnswer>(&answer)) note->is_about(sent->task);
  if (const auto* shown = std::get_if<TaskAnswer>(&answer)) note->is_about(shown->task);
}

void Call::open_stream(http::StreamOpener opener) {
  do_open(services.options.streams.kept(std::move(hold), std::move(opener)));
}

void Call::read_later(std::function<void()> work) {
  if (services.readers.try_submit(std::move(work))) return;
  refuse(
      {base::ErrorCode::overloaded, "too many requests are waiting for an answer; get the task later", {}});
}

}  // namespace baton::server::a2a

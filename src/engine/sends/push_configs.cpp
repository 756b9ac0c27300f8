#include "engine/sends/push_configs.h"

#include <utility>

#include "engine/decide/kinds/push_config.h"

namespace baton::engine {

using base::ErrorCode;
using base::fail;

base::Result<void> PushConfigs::offered() const {
  if (options_.push_enabled) return {};
  return fail(ErrorCode::push_not_supported,
              "push notifications are disabled on this server (webhooks.enabled)");
}

base::Result<void> PushConfigs::check(const task::PushConfig& config) const {
  if (auto checked = offered(); !checked || !wiring_.check_push) return checked;
  if (auto allowed = wiring_.check_push(config); !allowed) {
    return fail(ErrorCode::invalid_argument, "pushNotificationConfig.url: " + allowed.error().for_caller);
  }
  return {};
}

base::Result<task::TaskHead> PushConfigs::task_of(const task::TaskRef& ref) const {
  if (auto checked = offered(); !checked) return fail(std::move(checked.error()));
  return reader_.head(ref);
}

void PushConfigs::set(const task::TaskRef& ref, task::PushConfig config, Done done) {
  const auto head = task_of(ref);
  if (!head) return done(fail(head.error()));
  if (auto checked = check(config); !checked) return done(fail(std::move(checked.error())));
  if (config.id.empty()) config.id = task::id_for_unnamed(config, head->id);
  Decision decision(SetPush{head->key, config, options_.push_configs_max});
  decision.done = [config = std::move(config), done = std::move(done)](const base::Result<Written>& written) {
    if (!written) return done(fail(written.error()));
    done(config);
  };
  inbox_.post(std::move(decision));
}

base::Result<task::PushConfig> PushConfigs::get(const task::TaskRef& ref,
                                                const task::PushConfigId& id) const {
  auto configs = list(ref);
  if (!configs) return fail(std::move(configs.error()));
  for (task::PushConfig& config : *configs) {
    if (id.empty() || config.id == id) return std::move(config);
  }
  return fail(ErrorCode::not_found, "push notification config not found");
}

base::Result<std::vector<task::PushConfig>> PushConfigs::list(const task::TaskRef& ref) const {
  const auto head = task_of(ref);
  if (!head) return fail(head.error());
  return reader_.configs(head->key);
}

void PushConfigs::remove(const task::TaskRef& ref, const task::PushConfigId& id, Removed done) {
  const auto head = task_of(ref);
  if (!head) return done(fail(head.error()));
  Decision decision(DropPush{head->key, id});
  decision.done = [done = std::move(done)](const base::Result<Written>& written) {
    done(written ? base::Result<void>() : fail(written.error()));
  };
  inbox_.post(std::move(decision));
}

}  // namespace baton::engine

// What operators switch: agents, which all nodes take over, and nodes.
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>

#include "base/error_names.h"
#include "base/loggable.h"
#include "engine/operator_actions.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;

base::Result<void> check_scale(const OperatorActions::Scale& scale) {
  if (!scale.workers && !scale.concurrency)
    return fail(ErrorCode::invalid_argument, "workers or concurrency is needed");
  const auto check = [](const char* name, const std::optional<int>& value, int most) -> base::Result<void> {
    if (!value || (*value >= 0 && *value <= most)) return {};
    return fail(ErrorCode::invalid_argument, std::string(name) + ": must be 0 to " + std::to_string(most));
  };
  if (auto good = check("workers", scale.workers, OperatorActions::kWorkersMax); !good) return good;
  return check("concurrency", scale.concurrency, OperatorActions::kConcurrencyMax);
}

bool is_same(const store::AgentControl& a, const store::AgentControl& b) {
  return a.paused == b.paused && a.workers == b.workers && a.concurrency == b.concurrency;
}

// For the audit.
std::string text_of(const OperatorActions::Scale& scale) {
  std::string text;
  const auto add = [&](const char* name, const std::optional<int>& value) {
    if (!value) return;
    text.append(text.empty() ? "" : ", ").append(name).append(" ");
    text.append(*value == 0 ? "as the card says" : std::to_string(*value));
  };
  add("workers", scale.workers);
  add("concurrency", scale.concurrency);
  return text;
}

}  // namespace

base::Result<void> OperatorActions::start() {
  const auto controls = store_.agent_controls();
  if (!controls) return fail(controls.error());
  for (const store::AgentControl& control : *controls) {
    seen_.insert_or_assign(control.agent, control);
    if (control.workers > 0 || control.concurrency > 0) {
      spdlog::info("agent={} is scaled by an operator: workers={} concurrency={}; 0: as its card says",
                   base::loggable_word(control.agent.value), control.workers, control.concurrency);
      turns_.scales().set(control.agent, control.workers, control.concurrency);
    }
    if (!control.paused) continue;
    spdlog::info("agent={} is paused, by {}", base::loggable_word(control.agent.value),
                 base::loggable(control.actor));
    turns_.scheduler().set_paused(control.agent, true);
  }
  return {};
}

void OperatorActions::look() {
  const auto controls = store_.agent_controls();
  if (!controls) return;
  for (const store::AgentControl& control : *controls) {
    const auto seen = seen_.find(control.agent);
    if (seen != seen_.end() && is_same(seen->second, control)) continue;
    seen_.insert_or_assign(control.agent, control);
    turns_.scheduler().set_paused(turns_.slots_of(control.agent), control.paused);
    turns_.scales().set(control.agent, control.workers, control.concurrency);
  }
}

void OperatorActions::pause(const task::AgentName& agent, Actor actor, Switched done) {
  set_paused(agent, true, actor, std::move(done));
}

void OperatorActions::resume(const task::AgentName& agent, Actor actor, Switched done) {
  set_paused(agent, false, actor, std::move(done));
}

void OperatorActions::set_paused(const task::AgentName& agent, bool paused, const Actor& actor,
                                 Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = paused ? "pause" : "resume";
  entry.reason = actor.reason;
  entry.agent = agent;
  const store::AgentControl control{agent, paused, actor.name, actor.reason, {}};
  const auto then = [this, agent, paused] { turns_.scheduler().set_paused(turns_.slots_of(agent), paused); };
  write_switch(control, std::move(entry), then, std::move(done));
}

void OperatorActions::scale(const task::AgentName& agent, Scale scale, Actor actor, Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  if (auto checked = check_scale(scale); !checked) return done(fail(std::move(checked.error())));
  task::AuditEntry entry;
  entry.actor = actor.name;
  entry.action = "scale";
  entry.reason = actor.reason;
  entry.agent = agent;
  entry.detail = text_of(scale);
  if (scale.workers && !turns_.scales().has_workers(agent)) {
    const base::Error error{ErrorCode::conflict, "the agent keeps no processes: scale its concurrency", {}};
    entry.outcome = base::name_of(error.code);
    return inbox_.write([this, entry] { return store_.write(entry); },
                        [error, done = std::move(done)](const base::Result<void>&) { done(fail(error)); });
  }
  const auto then = [this, agent, scale] { turns_.scales().set(agent, scale.workers, scale.concurrency); };
  write_switch(store::AgentScale{agent, scale.workers, scale.concurrency, actor.name, actor.reason},
               std::move(entry), then, std::move(done));
}

// Asked first: the audit must not say that it is done before the node is sure to hear of it. Should it be
// this one, what is written here still comes before its end.
void OperatorActions::drain(store::NodeId node, Actor actor, Switched done) {
  if (auto checked = check(actor); !checked) return done(fail(std::move(checked.error())));
  const auto act = [this, node, actor = std::move(actor), done] {
    task::AuditEntry entry;
    entry.actor = actor.name;
    entry.action = "drain";
    entry.reason = actor.reason;
    entry.detail = "node " + std::to_string(node.value);
    auto asked = ask_to_drain(node, entry.detail);
    if (!asked) entry.outcome = base::name_of(asked.error().code);
    inbox_.write([this, entry = std::move(entry)] { return store_.write(entry); },
                 [asked = std::move(asked), done](const base::Result<void>& written) {
                   done(asked ? written : asked);
                 });
  };
  if (!background_.run(act)) done(fail(ErrorCode::unavailable, "the server is stopping"));
}

// Adds the node's name to `shown`, as its number says little once it is gone.
base::Result<void> OperatorActions::ask_to_drain(store::NodeId node, std::string& shown) {
  if (peers_ == nullptr) {
    return fail(
        ErrorCode::conflict,
        "no other node shares the store, so nobody would go on with the tasks: stop the program instead");
  }
  const auto nodes = peers_->nodes();
  if (!nodes) return fail(nodes.error());
  const auto found = std::ranges::find(*nodes, node, &store::Node::id);
  if (found == nodes->end()) return fail(ErrorCode::not_found, "there is no such node");
  shown.append(", ").append(found->name);
  return peers_->ask_to_drain(node);
}

// `then` is called once it is stored.
void OperatorActions::write_switch(store::OperatorWrite what, task::AuditEntry entry,
                                   std::function<void()> then, Switched done) {
  auto write = [this, what = std::move(what), entry = std::move(entry)]() -> base::Result<void> {
    if (auto switched = store_.write(what); !switched) return switched;
    return store_.write(entry);
  };
  inbox_.write(std::move(write),
               [then = std::move(then), done = std::move(done)](base::Result<void> written) {
                 if (written) then();
                 done(std::move(written));
               });
}

}  // namespace baton::engine

// The overview: the tasks and deliveries that run, wait, fail or are stuck.
#include <array>
#include <map>

#include "base/embedded.h"
#include "json/writer.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"

namespace baton::server::operate {
namespace {

using json::Writer;
using task::State;

constexpr std::array kStates{State::submitted, State::working,  State::input_required, State::auth_required,
                             State::completed, State::canceled, State::failed,         State::rejected};

// The task that has been in this state longest; empty if there is none.
std::optional<store::TaskLine> oldest(const Facts& facts, store::TaskFilter filter) {
  store::TaskQuery query;
  query.filter = std::move(filter);
  query.oldest_first = true;
  query.limit = 1;
  auto page = facts.store.page(query);
  if (!page || page->lines.empty()) return std::nullopt;
  return std::move(page->lines.front());
}

// The tasks that wait for people themselves. A task that only shows its child's question has a turn, so it
// is left out.
store::TaskFilter asks() {
  store::TaskFilter filter;
  filter.states = {State::input_required, State::auth_required};
  filter.turns = {task::TurnState::none};
  return filter;
}

void write_states(Writer& out, const Facts& facts) {
  out.key("states").object([&] {
    for (const State state : kStates) {
      store::TaskFilter filter;
      filter.states = {state};
      const auto count = facts.store.count(filter);
      if (!count) continue;
      out.key(task::name_of(state));
      write_count(out, *count);
    }
  });
  if (const auto questions = facts.store.count(asks())) {
    out.key("questions");
    write_count(out, *questions);
  }
}

void write_turns(Writer& out, const engine::Engine& engine) {
  const engine::Engine::Counts counts = engine.counts();
  out.key("turns").object([&] {
    out.member("running", counts.turns.running).member("queued", counts.turns.queued);
    out.member("waitingForTime", static_cast<std::int64_t>(counts.waiting_for_time));
    out.member("quarantined", static_cast<std::int64_t>(engine.quarantined()));
    out.member("slots", engine.options().slots);
  });
  out.key("ended").object([&] {
    out.member("completed", counts.completed).member("failed", counts.failed);
    out.member("canceled", counts.canceled).member("rejected", counts.rejected);
  });
  out.member("schedules", counts.schedules.schedules);
}

void write_deliveries(Writer& out, const Facts& facts) {
  const auto counts = facts.deliveries.delivery_counts();
  out.key("deliveries").object([&] {
    out.member("waiting", counts ? counts->waiting : 0).member("givenUp", counts ? counts->given_up : 0);
  });
}

void write_agent_counts(Writer& out, const Facts& facts) {
  const auto controls = facts.store.agent_controls();
  std::int64_t paused = 0;
  for (const store::AgentControl& control : controls ? *controls : std::vector<store::AgentControl>()) {
    paused += control.paused ? 1 : 0;
  }
  const agents::Catalogue& catalogue = facts.services.catalogue;
  out.key("agents").object([&] {
    out.member("all", std::ssize(catalogue.all())).member("paused", paused);
    out.member("leftOut", std::ssize(catalogue.left_out()));
    out.member("outdated", std::ssize(catalogue.outdated()));
  });
}

// Writes the tasks that have waited longest, for a turn and for people.
void write_oldest(Writer& out, const Facts& facts) {
  store::TaskFilter queued, asking;
  queued.states = {State::submitted};
  asking = asks();
  if (const auto line = oldest(facts, std::move(queued))) {
    out.key("oldestQueued");
    write_task_row(out, *line);
  }
  if (const auto line = oldest(facts, std::move(asking))) {
    out.key("oldestQuestion");
    write_task_row(out, *line);
  }
}

}  // namespace

void show_me(const CallPtr& call) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("actor", call->by.name).member("role", call->by.may_act ? "operator" : "viewer");
    out.member("version", call->facts.version).member("at", base::to_rfc3339(base::SystemClock().now()));
    if (call->facts.grpc && call->by.may_act) out.member("grpc", true);
    if (call->facts.nodes.is_shared()) out.member("nodes", true);
  });
  answer(call, std::move(text));
}

void show_description(const CallPtr& call) {
  answer(call, std::string(base::embedded_file("operate.openapi.json")));
}

void show_overview(const CallPtr& call) {
  const Facts& facts = call->facts;
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now()));
    out.member("startedAt", base::to_rfc3339(facts.started)).member("version", facts.version);
    out.member("storeWritable", facts.services.engine.store_is_writable());
    write_turns(out, facts.services.engine);
    write_states(out, facts);
    write_deliveries(out, facts);
    write_agent_counts(out, facts);
    const http::Counts http = facts.http_counts ? facts.http_counts() : http::Counts();
    out.member("connections", http.connections).member("streams", http.streams);
    write_oldest(out, facts);
  });
  answer(call, std::move(text));
}

}  // namespace baton::server::operate

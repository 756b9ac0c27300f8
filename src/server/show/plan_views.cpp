#include "server/show/plan_views.h"

#include <map>
#include <variant>
#include <vector>

#include "agents/plan/plan_picture.h"
#include "base/clock.h"

namespace baton::server {
namespace {

using base::ErrorCode;
using base::fail;

constexpr int kEventsPage = 256;

// The facts about a run, collected from its log.
struct RunLog {
  agents::PlanFacts facts;
  std::map<std::string, std::string> paths;  // of steps, by the ids of their children
  std::vector<task::Asker> asked_by;         // of the last status

  void add(const task::ExecutorState& kept) {
    for (const agents::PlanRecord& record : agents::read_records(kept.state)) {
      // A reopened task has run more than once: only the last run counts.
      if (record.what == agents::PlanRecord::What::began) facts = {};
      facts.add(record);
    }
  }
  void add(const task::Subagent& child) {
    if (!child.call.empty()) paths[child.id] = agents::parse_call(child.call).path;
  }
  void add(const task::StatusChanged& changed) { asked_by = changed.status.asked_by; }
  template <class Other>
  void add(const Other&) {}

  std::string asking() const {
    const auto found = asked_by.empty() ? paths.end() : paths.find(asked_by.front().task.value);
    return found == paths.end() ? std::string() : found->second;
  }
};

base::Result<RunLog> read_run(const engine::TaskReader& reader, const task::TaskHead& run) {
  RunLog log;
  for (task::EventNumber position; position < run.last_event;) {
    const auto events = reader.events(run.key, position, kEventsPage);
    if (!events) return fail(events.error());
    if (events->empty()) break;
    position = events->back().number;
    for (const task::Event& event : *events) std::visit([&](const auto& body) { log.add(body); }, event.body);
  }
  return log;
}

}  // namespace

base::Result<std::string> plan_picture_of(const agents::Agent& agent) {
  if (agent.settings.plan) return agents::plan_picture(*agent.settings.plan, agent.name.value);
  return fail(ErrorCode::not_found, "this agent does not run a plan");
}

base::Result<std::string> run_picture_of(const Services& services, const agents::Agent& agent,
                                         const task::TaskHead& run) {
  std::shared_ptr<const agents::Plan> plan = agent.settings.plan;
  if (!plan) return fail(ErrorCode::not_found, "this agent does not run a plan");
  const auto log = read_run(services.engine.reader(), run);
  if (!log) return fail(log.error());
  if (const std::string& text = log->facts.plan(); !text.empty() && text != plan->text) {
    plan = agents::read_begun_plan(text);
    if (!plan) return fail(ErrorCode::internal, "cannot read the run's plan");
  }
  const bool has_ended = task::is_terminal(run.state);
  const agents::PlanPictureRun view{log->facts, run.state,
                                    has_ended ? run.status_at : base::SystemClock().now(), log->asking()};
  return agents::plan_picture(*plan, agent.name.value, &view);
}

http::Reply picture_reply(std::string svg) {
  http::Reply reply;
  reply.content_type = "image/svg+xml";
  reply.body = std::move(svg);
  reply.headers = {{"Content-Security-Policy", "sandbox; default-src 'none'; style-src 'unsafe-inline'"},
                   {"Cache-Control", "private, no-cache"}};
  return reply;
}

}  // namespace baton::server

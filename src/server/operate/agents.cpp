// The agents and their state, and their schedules.
#include <algorithm>
#include <map>

#include "json/writer.h"
#include "server/operate/agent_rows.h"
#include "server/operate/handlers.h"
#include "server/operate/rows.h"
#include "server/show/plan_views.h"

namespace baton::server::operate {
namespace {

using json::Writer;

void write_schedule(Writer& out, const Facts& facts, const agents::Agent& agent,
                    const agents::Schedule& schedule, base::Timestamp now) {
  constexpr const char* kMissed[] = {"skip", "once", "all"};
  out.object([&] {
    out.member("id", schedule.name).member("agent", agent.name.value);
    out.member("caller", schedule.caller.value).member("text", schedule.text);
    out.member("cron", schedule.cron_text).member("timezone", schedule.zone_name);
    out.member("missed", kMissed[static_cast<std::size_t>(schedule.missed)]);
    if (const auto next = schedule.cron.next(now, schedule.zone)) {
      out.member("nextAt", base::to_rfc3339(*next));
    }
    store::TaskQuery query;
    query.filter.agent = agent.name;
    query.filter.schedule = schedule.name;
    query.limit = 1;
    const auto page = facts.store.page(query);
    if (!page || page->lines.empty()) return;
    out.key("lastTask");
    write_task_row(out, page->lines.front());
  });
}

}  // namespace

void list_agents(const CallPtr& call) {
  const Facts& facts = call->facts;
  auto rows = AgentRows::read(facts);
  if (!rows) return answer(call, base::fail(std::move(rows.error())));
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(base::SystemClock().now()));
    out.key("agents").each(facts.services.catalogue.all(),
                           [&](const agents::Agent* agent) { rows->write(out, *agent); });
    const auto write_report = [&](const agents::Catalogue::CardReport& report) {
      out.object([&] { out.member("folder", report.folder).member("report", report.text()); });
    };
    out.key("leftOut").each(facts.services.catalogue.left_out(), write_report);
    out.key("outdated").each(facts.services.catalogue.outdated(), write_report);
  });
  answer(call, std::move(text));
}

void list_schedules(const CallPtr& call) {
  const base::Timestamp now = base::SystemClock().now();
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("at", base::to_rfc3339(now)).key("schedules").array([&] {
      for (const agents::Agent* agent : call->facts.services.catalogue.all()) {
        for (const agents::Schedule& schedule : agent->settings.schedules)
          write_schedule(out, call->facts, *agent, schedule, now);
      }
    });
  });
  answer(call, std::move(text));
}

void show_plan_picture(const CallPtr& call) {
  const agents::Agent* agent = call->facts.services.catalogue.find({call->parameter});
  if (agent == nullptr || call->parameter.starts_with('~'))
    return call->exchange->reply(error_reply(404, "agent not found"));
  auto picture = plan_picture_of(*agent);
  call->exchange->reply(picture ? picture_reply(std::move(*picture)) : error_reply(picture.error()));
}

}  // namespace baton::server::operate

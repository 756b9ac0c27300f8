#include "agents/schedule.h"

#include <algorithm>

#include "base/sha256.h"
#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {
namespace {

Schedule::Missed read_missed(std::string_view name) {
  if (name == "once") return Schedule::Missed::once;
  return name == "all" ? Schedule::Missed::all : Schedule::Missed::skip;
}

bool is_readable(std::string_view text) {
  return std::ranges::none_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

void read_one(json::Value from, const std::string& place, std::vector<Schedule>& all,
              std::vector<json::SchemaProblem>& problems, std::vector<json::SchemaProblem>& warnings) {
  auto cron = base::Cron::parse(from["cron"].string());
  if (!cron) problems.push_back({place + "/cron", cron.error().for_caller});
  const std::string zone_name = from["timezone"].absent() ? "UTC" : from["timezone"].str();
  auto zone = base::TimeZone::load(zone_name);
  if (!zone)
    warnings.push_back({place + "/timezone", zone.error().for_caller + "; this schedule is disabled"});
  const task::Caller caller = from["caller"].absent() ? task::kAnonymous : task::Caller{from["caller"].str()};
  if (!is_readable(caller.value)) problems.push_back({place + "/caller", "is not a valid caller name"});
  if (!cron || !zone) return;
  Schedule made{{},
                std::move(*cron),
                std::move(*zone),
                caller,
                from["message"].str(),
                read_missed(from["missed"].string()),
                from["cron"].str(),
                zone_name};
  made.name = base::uuid_of({from["cron"].string(), zone_name, caller.value, made.text,
                             std::to_string(static_cast<int>(made.missed))});
  const bool is_known = std::ranges::any_of(all, [&](const Schedule& one) { return one.name == made.name; });
  if (is_known) problems.push_back({place, "is given twice: remove one of the two"});
  all.push_back(std::move(made));
}

}  // namespace

task::Message Schedule::message_at(base::Timestamp due) const {
  task::Message message;
  message.role = task::Role::user;
  message.parts.push_back(task::Part::of_text(text));
  json::Writer out(message.metadata.text);
  out.object([&] {
    out.key(protocol::kBatonExtension).object([&] { out.member("dueAt", base::to_rfc3339(due)); });
  });
  return message;
}

std::vector<Schedule> read_schedules(json::Value schedules, std::vector<json::SchemaProblem>& problems,
                                     std::vector<json::SchemaProblem>& warnings) {
  std::vector<Schedule> all;
  const std::string place = "/baton/schedule";
  if (schedules.is_object()) read_one(schedules, place, all, problems, warnings);
  if (!schedules.is_array()) return all;
  int index = 0;
  for (const json::Value one : schedules) {
    read_one(one, place + "/" + std::to_string(index++), all, problems, warnings);
  }
  return all;
}

}  // namespace baton::agents

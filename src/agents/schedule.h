// Schedule: when an agent gets a task by itself, as its card says ("schedule").
#pragma once

#include <string>
#include <vector>

#include "base/cron.h"
#include "base/time_zone.h"
#include "json/document.h"
#include "json/schema.h"
#include "task/task.h"

namespace baton::agents {

struct Schedule {
  // What becomes of due times at which Baton did not run: nothing, one task for the last one, or one for
  // each.
  enum class Missed { skip, once, all };

  // The task's message. Its metadata say when it was due, as a member of Baton's extension.
  task::Message message_at(base::Timestamp due) const;

  std::string name;  // made of all that the card says of it: a changed schedule is another one
  base::Cron cron;
  base::TimeZone zone;
  task::Caller caller;  // whose tasks they are
  std::string text;
  Missed missed = Missed::skip;
  std::string cron_text, zone_name;  // as the card says them
};

// `schedules` is an object, a list of them, or absent. Leaves out schedules whose time zone is not known on
// this machine, and says so in `warnings`.
std::vector<Schedule> read_schedules(json::Value schedules, std::vector<json::SchemaProblem>& problems,
                                     std::vector<json::SchemaProblem>& warnings);

}  // namespace baton::agents

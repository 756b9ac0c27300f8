// Schedule: when Baton creates a task for an agent on its own ("schedule" in the card).
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
  // How to handle due times that passed while Baton was not running: skip them, create one task for the
  // last one, or create one for each.
  enum class Missed { skip, once, all };

  // The task's message. Its metadata have the due time, as a member of Baton's extension.
  task::Message message_at(base::Timestamp due) const;

  std::string name;  // derived from all its members, so a changed schedule is another one
  base::Cron cron;
  base::TimeZone zone;
  task::Caller caller;  // the owner of the tasks
  std::string text;
  Missed missed = Missed::skip;
  std::string cron_text, zone_name;  // as the card says them
};

// `schedules` is an object, a list of them, or absent. Leaves out schedules whose time zone is not known
// on this machine, with a warning in `warnings`.
std::vector<Schedule> read_schedules(json::Value schedules, std::vector<json::SchemaProblem>& problems,
                                     std::vector<json::SchemaProblem>& warnings);

}  // namespace baton::agents

#include "app/database.h"

#include "base/clock.h"
#include "store/sqlite/archive.h"
#include "store/sqlite/backup.h"

namespace baton::app {
namespace {

base::Result<MovedTasks> moved(const base::Result<store::sqlite::Archived>& archived) {
  if (!archived) return base::fail(archived.error());
  return MovedTasks{archived->tasks, archived->unfinished};
}

}  // namespace

base::Result<std::int64_t> back_up_database(const std::string& database, const std::string& copy) {
  return store::sqlite::back_up(database, copy);
}

base::Result<std::vector<std::string>> check_database(const std::string& database) {
  return store::sqlite::check(database);
}

base::Result<std::vector<std::pair<std::string, std::int64_t>>> measure_database(
    const std::string& database) {
  return store::sqlite::measure(database);
}

base::Result<MovedTasks> export_tasks(const std::string& database, const TaskChoice& choice,
                                      const std::function<bool(const std::string&)>& write) {
  return moved(store::sqlite::export_tasks(
      database, {choice.task, choice.agent, choice.caller, choice.context}, write));
}

base::Result<MovedTasks> import_tasks(const std::string& database,
                                      const std::function<std::optional<std::string>()>& next_line) {
  const base::SystemClock clock;
  return moved(store::sqlite::import_tasks(database, clock, next_line));
}

}  // namespace baton::app

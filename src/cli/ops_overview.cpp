// `ops overview`: the numbers of running, waiting, failed and stuck tasks, and the command that lists each.
#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

constexpr std::size_t kNameColumns = 19, kNumberColumns = 6;

struct Line {
  const char* name;
  std::int64_t number;
  const char* list;
};

std::int64_t number_in(json::Value value) {
  return value.integer().value_or(0);
}

// Returns the path that counts the tasks which match the query.
std::string counting(const std::string& query) {
  return "/tasks?limit=1&count=exact&" + query;
}

std::string text_of(const Line& line) {
  std::string name = line.name, number = std::to_string(line.number);
  name.resize(std::max(name.size(), kNameColumns), ' ');
  number.insert(0, kNumberColumns - std::min(kNumberColumns, number.size()), ' ');
  return name + number + "   " + line.list + "\n";
}

void show_overview(Console& console, json::Value now, std::int64_t stuck, std::int64_t failed) {
  const std::array lines{
      Line{"turns running", number_in(now["turns"]["running"]), "baton ops tasks --turn running --oldest"},
      Line{"turns queued", number_in(now["turns"]["queued"]), "baton ops tasks --turn queued --oldest"},
      Line{"stuck for 10 min", stuck, "baton ops tasks --turn queued,running --age 600 --oldest"},
      Line{"turns quarantined", number_in(now["turns"]["quarantined"]),
           "baton ops tasks --turn waiting --error quarantined"},
      Line{"tasks needing input", number_in(now["questions"]["tasks"]),
           "baton ops tasks --state input-required,auth-required --turn none --oldest"},
      Line{"failed", failed, "baton ops tasks --state failed --roots"},
      Line{"webhooks given up", number_in(now["deliveries"]["givenUp"]),
           "baton ops deliveries --state given-up"},
      Line{"webhooks waiting", number_in(now["deliveries"]["waiting"]),
           "baton ops deliveries --state waiting"},
      Line{"agents paused", number_in(now["agents"]["paused"]), "baton ops agents"},
      Line{"agents left out", number_in(now["agents"]["leftOut"]), "baton ops agents"},
      Line{"agents outdated", number_in(now["agents"]["outdated"]), "baton ops agents"}};
  std::string text =
      printable_line("baton " + text_in(now, "version") + ", up for " + age_text(now["startedAt"])) + "\n";
  for (const Line& line : lines) text += text_of(line);
  console.text(text);
  if (!now["storeWritable"].boolean()) console.error("the server cannot write to its database; see its log");
}

}  // namespace

int ops_overview(const OpsTarget& target) {
  OpsSession session(target);
  const auto now = session.get("/overview");
  if (!now) return session.code();
  if (!session.console().for_people()) return session.console().json(now->root().raw()), kExitDone;
  const auto stuck = session.get(counting("turn=queued,running&age_min_s=600"));
  const auto failed = stuck ? session.get(counting("state=failed&roots=1")) : std::nullopt;
  if (!failed) return session.code();
  show_overview(session.console(), now->root(), number_in(stuck->root()["count"]["tasks"]),
                number_in(failed->root()["count"]["tasks"]));
  return kExitDone;
}

}  // namespace baton::cli

// `ops tasks`, `deliveries`, `audit`, `agents` and `nodes`: pages of rows.
#include <algorithm>
#include <cmath>
#include <utility>

#include "cli/exit_code.h"
#include "cli/ops_session.h"
#include "cli/ops_table.h"

namespace baton::cli {
namespace {

constexpr int kOpsPageMax = 200;
using Columns = std::vector<OpsTable::Column>;

template <char const* Member>
std::string member(json::Value row) {
  return text_in(row, Member);
}
constexpr char kKeyMember[] = "key", kAgentMember[] = "agent", kCallerMember[] = "caller",
               kStateMember[] = "state", kTextMember[] = "text", kTaskMember[] = "task", kUrlMember[] = "url",
               kErrorMember[] = "error", kAttemptsMember[] = "attempts", kActorMember[] = "actor",
               kActionMember[] = "action", kReasonMember[] = "reason", kOutcomeMember[] = "outcome",
               kAtMember[] = "at", kNameMember[] = "name", kKindMember[] = "kind",
               kRunningMember[] = "running", kQueuedMember[] = "queued", kTokensMember[] = "tokens",
               kVersionMember[] = "version";

// Returns the task's state, followed by the state of its turn if it has one.
std::string state_of(json::Value row) {
  const std::string turn = text_in(row, "turnState");
  return text_in(row, "state") + (turn.empty() || turn == "none" ? "" : "/" + turn);
}

Columns task_columns() {
  return {{"KEY", member<kKeyMember>},
          {"AGENT", member<kAgentMember>},
          {"CALLER", member<kCallerMember>},
          {"STATE", state_of},
          {"AGE", [](json::Value row) { return age_text(row["statusAt"]); }},
          {"TRY", [](json::Value row) { return text_in(row, "attempt"); }},
          {"WORDS", member<kTextMember>}};
}

Columns delivery_columns() {
  return {{"KEY", member<kKeyMember>},
          {"TASK", member<kTaskMember>},
          {"AGENT", member<kAgentMember>},
          {"STATE", member<kStateMember>},
          {"AGE", [](json::Value row) { return age_text(row["createdAt"]); }},
          {"TRIES", member<kAttemptsMember>},
          {"URL", member<kUrlMember>},
          {"ERROR", member<kErrorMember>}};
}

Columns audit_columns() {
  return {{"AT", member<kAtMember>},           {"ACTOR", member<kActorMember>},
          {"ACTION", member<kActionMember>},   {"TASK", member<kTaskMember>},
          {"AGENT", member<kAgentMember>},     {"CALLER", member<kCallerMember>},
          {"OUTCOME", member<kOutcomeMember>}, {"REASON", member<kReasonMember>}};
}

std::string percent_of(json::Value row) {
  const auto rate = row["errorRate"].real();
  return rate ? std::to_string(std::lround(*rate * 100)) + "%" : std::string();
}

std::string seconds_of(json::Value value) {
  const auto seconds = value.real();
  return seconds ? std::to_string(std::lround(*seconds * 1000)) + "ms" : std::string();
}

Columns agent_columns() {
  return {{"AGENT", member<kNameMember>},
          {"KIND", member<kKindMember>},
          {"RUNNING", member<kRunningMember>},
          {"QUEUED", member<kQueuedMember>},
          {"P50", [](json::Value row) { return seconds_of(row["turnSeconds"]["p50"]); }},
          {"P99", [](json::Value row) { return seconds_of(row["turnSeconds"]["p99"]); }},
          {"FAILED", percent_of},
          {"TOKENS", member<kTokensMember>},
          {"", [](json::Value row) { return std::string(row["paused"].boolean() ? "paused" : ""); }}};
}

std::string agents_of(json::Value row) {
  std::string names;
  for (const json::Value agent : row["agents"])
    names.append(names.empty() ? "" : ", ").append(agent["name"].string());
  return names;
}

Columns node_columns() {
  return {
      {"NODE", member<kKeyMember>},
      {"NAME", member<kNameMember>},
      {"VERSION", member<kVersionMember>},
      {"STATE", member<kStateMember>},
      {"UP", [](json::Value row) { return age_text(row["startedAt"]); }},
      {"LEASE",
       [](json::Value row) { return row["leaseMs"].absent() ? "" : text_in(row, "leaseMs") + "ms"; }},
      {"RUNNING", member<kRunningMember>},
      {"QUEUED", member<kQueuedMember>},
      {"LAG", [](json::Value row) { return text_in(row, "lagMs") + "ms"; }},
      {"DATABASE",
       [](json::Value row) { return row["databaseMs"].absent() ? "" : text_in(row, "databaseMs") + "ms"; }},
      {"",
       [](json::Value row) {
         return std::string(row["self"].boolean() ? row["leads"].boolean() ? "answers, leads" : "answers"
                                                  : "");
       }},
      {"AGENTS", agents_of}};
}

std::string keys_in(json::Value keys) {
  std::string text;
  for (const json::Value key : keys) text.append(text.empty() ? "" : ", ").append(key.str());
  return text;
}

// Formats a difference: "echo: not on 3; its cards differ: 0a1b2c3d on 1, 2; 9f8e7d6c on 4".
std::string difference_text(json::Value difference) {
  constexpr std::size_t kDigestShown = 8;
  const json::Value missing = difference["missing"], cards = difference["cards"];
  std::string text = difference["agent"].str();
  if (missing.size() > 0) text += ": not on " + keys_in(missing);
  if (cards.size() < 2) return text;
  text += missing.size() > 0 ? "; its cards differ" : ": its cards differ";
  const char* before = ": ";
  for (const json::Value card : cards) {
    text.append(std::exchange(before, "; ")).append(card["digest"].str().substr(0, kDigestShown));
    text.append(" on ").append(keys_in(card["nodes"]));
  }
  return text;
}

// Prints pages of a list until enough rows are shown. `rows`: the member that holds a page's rows.
int list(const OpsListOptions& options, const std::string& path, const char* rows, Columns columns) {
  OpsSession session(options.target);
  OpsFilter filter = options.filter;
  if (!session.find_tasks_in(filter)) return session.code();
  OpsTable table(session.console(), std::move(columns));
  const auto wanted = static_cast<std::size_t>(options.limit);
  std::string cursor;
  do {
    const int page =
        options.all ? kOpsPageMax : std::min<int>(kOpsPageMax, static_cast<int>(wanted - table.count()));
    OpsFilter parameters = filter;
    parameters.emplace_back("limit", std::to_string(page));
    parameters.emplace_back("cursor", cursor);
    const auto answer = session.get(with_query(path, parameters));
    if (!answer) return table.flush(), session.code();
    for (const json::Value row : answer->root()[rows]) table.add(row);
    const std::string next = answer->root()["next"].str();
    if (next == cursor && !next.empty()) break;  // a cursor that does not change would loop forever
    cursor = next;
  } while (!cursor.empty() && (options.all || table.count() < wanted) && !session.interrupt().pending());
  table.flush();
  if (session.console().for_people() && table.count() == 0) session.console().print_note("none");
  if (!cursor.empty()) session.console().print_note("there are more; --all shows all of them");
  return session.interrupt().pending() ? kExitInterrupted : kExitDone;
}

}  // namespace

int ops_tasks(const OpsListOptions& options) {
  return list(options, "/tasks", "tasks", task_columns());
}

int ops_deliveries(const OpsListOptions& options) {
  return list(options, "/deliveries", "deliveries", delivery_columns());
}

int ops_audit(const OpsListOptions& options) {
  return list(options, "/audit", "rows", audit_columns());
}

int ops_agents(const OpsTarget& target) {
  OpsSession session(target);
  OpsTable table(session.console(), agent_columns());
  const auto answer = session.get("/agents");
  if (!answer) return session.code();
  for (const json::Value row : answer->root()["agents"]) table.add(row);
  table.flush();
  for (const json::Value left_out : answer->root()["leftOut"])
    session.console().error("left out, its card is invalid: " + left_out["report"].str());
  for (const json::Value outdated : answer->root()["outdated"])
    session.console().error("unchanged, its card is now invalid: " + outdated["report"].str());
  return kExitDone;
}

int ops_nodes(const OpsTarget& target) {
  OpsSession session(target);
  const auto answer = session.get("/nodes");
  if (!answer) return session.code();
  OpsTable table(session.console(), node_columns());
  for (const json::Value row : answer->root()["nodes"]) table.add(row);
  table.flush();
  for (const json::Value difference : answer->root()["differences"])
    session.console().print_note("agent " + difference_text(difference));
  return kExitDone;
}

}  // namespace baton::cli

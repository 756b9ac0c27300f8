#include "server.h"

#include <endian.h>

#include <algorithm>
#include <cstdio>
#include <cstring>

#include "base/threads.h"

namespace baton::simulation {
namespace {

constexpr std::int64_t kClosedLane = -1;
constexpr std::size_t kEarlierKept = 3;

Answer failed(std::string state) {
  Answer answer;
  answer.status = PGRES_FATAL_ERROR;
  answer.state = std::move(state);
  return answer;
}

Answer one_row(std::vector<std::optional<std::string>> row, bool is_truth = false) {
  Answer answer;
  answer.status = PGRES_TUPLES_OK;
  answer.command = "SELECT 1";
  answer.rows.push_back(std::move(row));
  answer.is_truth = is_truth;
  return answer;
}

Answer done(std::string command, std::string tuples = {}) {
  Answer answer;
  answer.command = std::move(command);
  answer.tuples = std::move(tuples);
  return answer;
}

std::string lane_name(LaneKey lane) {
  return "lane " + std::to_string(lane.first) + " " + std::to_string(lane.second);
}

bool has(const std::string& text, const char* part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

Server*& the_server() {
  static Server* server = nullptr;
  return server;
}

std::int64_t number_of(const std::string& bytes) {
  std::uint64_t number = 0;
  std::memcpy(&number, bytes.data(), sizeof number);
  return static_cast<std::int64_t>(be64toh(number));
}

std::vector<std::int64_t> numbers_of(const std::string& array) {
  std::vector<std::int64_t> numbers;
  for (std::size_t at = 24; at < array.size(); at += 12) numbers.push_back(number_of(array.substr(at, 8)));
  return numbers;
}

Server::Server(std::uint64_t seed, bool loses_commits) : random(seed), loses_commits_(loses_commits) {}

void Server::say(const std::string& what) const {
  if (!is_told) return;
  const std::chrono::duration<double> now = base::SteadyTime::passed();
  std::printf("%.3f %s\n", now.count(), what.c_str());
}

BackendPtr Server::connect() {
  turn();
  if (is_stopping_ || away_ > 0 || (!is_calm_ && random.chance(100))) return nullptr;
  backends_.push_back(std::make_shared<Backend>());
  backends_.back()->number = ++last_number_;
  say("backend " + std::to_string(last_number_) + " connects");
  return backends_.back();
}

bool Server::is_cut() {
  return !is_calm_ && random.chance(15);
}

void Server::turn() {
  base::SteadyTime::passed() += std::chrono::microseconds(random.below(2'000));
  away_ = std::max(0, away_ - 1);
  standby_ = std::max(0, standby_ - 1);
  // Each backend executes a random number of statements; in the end every waiting client gets its answer.
  for (const BackendPtr& backend : std::vector(backends_)) {
    for (std::int64_t left = is_calm_ ? 100 : random.below(4); left > 0 && work(*backend); --left) {
    }
  }
  std::erase_if(backends_, [](const BackendPtr& one) { return one->is_over; });
  is_stopping_ = is_stopping_ && !backends_.empty();
  if (is_calm_) return;
  if (random.chance(3)) end_all(random.chance(500));
  if (random.chance(2)) fail_over();
  if (random.chance(20)) write_elsewhere();
}

void Server::calm() {
  is_calm_ = true;
  away_ = standby_ = 0;
  for (int i = 0; i < 20; ++i) turn();
}

// Restarts the server. Commits under way may finish before it is back; nothing else does.
void Server::end_all(bool at_once) {
  say("the server ends");
  is_stopping_ = true;
  for (const BackendPtr& backend : backends_) {
    backend->is_ending = true;
    if (at_once) finish(*backend);
  }
  away_ = static_cast<int>(random.below(40));
}

void Server::fail_over() {
  end_all(true);
  standby_ = random.chance(300) ? away_ + static_cast<int>(random.below(60)) : 0;
  if (!loses_commits_ || earlier_.empty() || random.chance(500)) return;
  say("commits are lost");
  has_lost_ = true;
  tables_ = random.pick(std::vector(earlier_.begin(), earlier_.end()));
  earlier_.clear();
}

void Server::write_elsewhere() {
  if (away_ > 0 || standby_ > 0) return;
  const std::int64_t key = random.below(3), mark = -random.between(1, 40);
  const auto is_locked = [&](const std::string& row) {
    return std::ranges::any_of(backends_, [&](const BackendPtr& one) { return one->rows.contains(row); });
  };
  if (!is_locked("counter " + std::to_string(key))) ++tables_.counters[key];
  if (!is_locked("mark " + std::to_string(mark))) tables_.marks.insert(mark);
}

void Server::declare_dead(std::int64_t node) {
  for (const BackendPtr& backend : backends_) backend->is_ending = true;
  const LaneKey lane{node, 0};
  // The node's row stays locked until the backend that holds it is over.
  for (bool is_free = false; !is_free;) {
    is_free = true;
    for (const BackendPtr& backend : std::vector(backends_)) {
      if (!backend->rows.contains(lane_name(lane))) continue;
      is_free = false;
      work(*backend);
    }
  }
  tables_.lanes[lane] = kClosedLane;
  is_declared_dead_ = true;
}

// Ends the backend: rolls back its open transaction and, by chance, sends an error to its client.
void Server::finish(Backend& backend) {
  say("backend " + std::to_string(backend.number) + " is over");
  roll_back(backend);
  if (backend.has_client && random.chance(500)) backend.answers.push_back(failed("57P01"));
  backend.is_over = true;
}

bool Server::work(Backend& backend) {
  if (backend.is_over) return false;
  // A slow disk delays a commit. A commit that has begun cannot be stopped.
  const bool commits = !backend.received.empty() && backend.received.front().sql == "COMMIT" &&
                       backend.is_open && !backend.has_failed;
  if (commits && backend.flushes < 0 && !backend.is_ending)
    backend.flushes = random.chance(100) ? static_cast<int>(random.below(100)) : 0;
  if (commits && backend.flushes > 0) {
    --backend.flushes;
    return false;
  }
  if (backend.is_ending && !(commits && backend.flushes == 0)) {
    finish(backend);
    return false;
  }
  if (backend.received.empty()) {
    if (!backend.has_client && random.chance(300)) finish(backend);
    return false;
  }
  const Statement statement = backend.received.front();
  if (statement.sql.empty()) {
    backend.received.pop_front();
    backend.skips = false;
    Answer sync;
    sync.status = PGRES_PIPELINE_SYNC;
    backend.answers.push_back(std::move(sync));
    return true;
  }
  auto answer = backend.skips ? std::optional(Answer{}) : run(backend, statement);
  if (!answer) return false;  // another backend holds a row
  if (backend.skips) answer->status = PGRES_PIPELINE_ABORTED;
  backend.received.pop_front();
  say("backend " + std::to_string(backend.number) + (backend.skips ? " skips " : " ") + answer->state + " " +
      statement.sql.substr(0, 60));
  if (answer->status == PGRES_FATAL_ERROR) {
    backend.skips = true;
    backend.has_failed = backend.is_open;
  }
  backend.answers.push_back(std::move(*answer));
  return true;
}

void Server::roll_back(Backend& backend) {
  backend.is_open = backend.has_failed = false;
  backend.lanes.clear();
  backend.marks.clear();
  backend.counters.clear();
  backend.rows.clear();
}

Answer Server::commit(Backend& backend) {
  backend.flushes = -1;
  if (backend.has_failed) {
    roll_back(backend);
    return done("ROLLBACK");
  }
  earlier_.push_back(tables_);
  if (earlier_.size() > kEarlierKept) earlier_.pop_front();
  for (const auto& [lane, group] : backend.lanes) tables_.lanes[lane] = group;
  for (const auto& [key, version] : backend.counters) tables_.counters[key] = version;
  tables_.marks.insert(backend.marks.begin(), backend.marks.end());
  roll_back(backend);
  return done("COMMIT");
}

bool Server::lock(Backend& backend, const std::string& row) {
  const bool is_held = std::ranges::any_of(backends_, [&](const BackendPtr& one) {
    return one.get() != &backend && !one->is_over && one->rows.contains(row);
  });
  if (is_held) return false;
  backend.rows.insert(row);
  return true;
}

std::int64_t Server::last_of(const Backend& backend, LaneKey lane, bool& is_there) const {
  const auto row = tables_.lanes.find(lane);
  is_there = row != tables_.lanes.end();
  std::int64_t last = is_there ? row->second : 0;
  for (const auto& [changed, group] : backend.lanes) {
    if (changed == lane) last = group;
  }
  return last;
}

// Returns nullopt if the statement must wait for another backend.
std::optional<Answer> Server::run(Backend& backend, const Statement& statement) {
  const std::string& sql = statement.sql;
  if (sql == "ROLLBACK") {
    roll_back(backend);
    return done(sql);
  }
  if (sql == "COMMIT") return commit(backend);
  if (backend.has_failed) return failed("25P02");
  if (sql.starts_with("BEGIN")) {
    backend.is_open = true;
    return standby_ > 0 ? failed("25006") : done("BEGIN");
  }
  const bool writes = has(sql, "UPDATE ") || sql.starts_with("INSERT ");
  if (writes && standby_ > 0) return failed("25006");
  return writes ? write(backend, statement) : look(backend, statement);
}

std::optional<Answer> Server::write(Backend& backend, const Statement& statement) {
  const std::string& sql = statement.sql;
  const auto& values = statement.values;
  std::optional<Answer> answer = done("UPDATE 1", "1");
  if (has(sql, "UPDATE lanes")) {
    const LaneKey lane{number_of(values[0]), number_of(values[1])};
    const std::int64_t group = number_of(values[2]);
    if (!lock(backend, lane_name(lane))) return std::nullopt;
    bool is_there = false;
    const std::int64_t last = last_of(backend, lane, is_there);
    const bool moves = sql.starts_with("WITH moved");
    if (moves && (!is_there || last != group - 1)) return failed("22012");
    if (is_there) backend.lanes.emplace_back(lane, group);
  } else if (has(sql, "UPDATE counters")) {
    const auto versions = numbers_of(values[0]), keys = numbers_of(values[1]),
               befores = numbers_of(values[2]);
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (!lock(backend, "counter " + std::to_string(keys[i]))) return std::nullopt;
      if (tables_.counters[keys[i]] != befores[i]) return failed("22012");
      backend.counters.emplace_back(keys[i], versions[i]);
    }
  } else if (sql.starts_with("INSERT INTO marks")) {
    const auto marks = has(sql, " SELECT ") ? numbers_of(values[0]) : std::vector{number_of(values[0])};
    for (const std::int64_t mark : marks) {
      if (!lock(backend, "mark " + std::to_string(mark))) return std::nullopt;
      if (tables_.marks.contains(mark)) return failed("23505");
    }
    backend.marks.insert(backend.marks.end(), marks.begin(), marks.end());
    answer = done("INSERT 0 1", "1");
  } else {
    throw Violation("the server does not know: " + sql);
  }
  // Outside a transaction, commits at once.
  if (!backend.is_open) commit(backend);
  return answer;
}

Answer Server::look(Backend& backend, const Statement& statement) {
  const std::string& sql = statement.sql;
  const auto& values = statement.values;
  if (has(sql, "set_config(") || has(sql, "pg_advisory_unlock_all")) return one_row({""});
  if (has(sql, "pg_is_in_recovery")) return one_row({standby_ > 0 ? "t" : "f"});
  if (has(sql, "pg_terminate_backend")) {
    for (const BackendPtr& one : backends_) {
      if (one->number == number_of(values[0])) one->is_ending = true;
    }
    return one_row({"t"});
  }
  if (has(sql, "pg_stat_activity")) return one_row({std::to_string(backend.number), "then"});
  if (has(sql, "pg_try_advisory_lock_shared") || has(sql, "pg_advisory_lock_shared")) {
    return one_row({"t"});
  }
  if (has(sql, "max(last_group)")) {
    const std::int64_t node = number_of(values[0]);
    const auto row = tables_.lanes.find({node, number_of(values[1])});
    const bool is_there = row != tables_.lanes.end();
    return one_row({is_there ? std::optional(std::to_string(row->second)) : std::nullopt,
                    !tables_.lanes.empty() && tables_.lanes.rbegin()->first.first > node ? "t" : "f"},
                   true);
  }
  if (has(sql, "count(*) FROM lanes")) {
    bool is_there = false;
    const std::int64_t last = last_of(backend, {number_of(values[0]), number_of(values[1])}, is_there);
    return one_row({is_there && last == number_of(values[2]) ? "1" : "0"});
  }
  if (has(sql, "FROM counters")) {
    const auto found = tables_.counters.find(number_of(values[0]));
    return one_row({std::to_string(found == tables_.counters.end() ? 0 : found->second)});
  }
  throw Violation("the server does not know: " + sql);
}

}  // namespace baton::simulation

// The maximum rate of echo sends on a PostgreSQL: writes the rows that Baton writes for each task, as sets,
// without a protocol or an engine. Each lane sends one pipeline after the other. Each group ends the tasks of
// the previous group and creates new ones.
//
// usage: baton_bench_postgres URL LANES BATCH SECONDS
// The database has the tables that Baton made. Prints {"count": tasks, "seconds": time, "groups": commits}.
#include <endian.h>
#include <libpq-fe.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kNumberBits = 28;  // of the event's number in its key
constexpr std::int64_t kKeysOfLane = 10'000'000;
constexpr Oid kInt8 = 20, kText = 25, kInt8s = 1016, kTexts = 1009;

constexpr char kTask[] =
    "INSERT INTO tasks (task_key, agent, caller, public_id, context_key, origin, created_ms, version, state, "
    "status_event, last_event, turn, turn_state, attempt, turn_message, turn_begin, awaited, "
    "waiting_messages, "
    "cancel_requested, ask, artifact_count, message_count, status_ms, indexed, bytes, hidden, trace) "
    "SELECT k, 'echo', 'anonymous', id, 0, 6, 1, 1, 'working', 3, 3, 1, 'running', 1, 2, 3, 0, 0, 0, '', 0, "
    "1, "
    "1, 0, 300, 0, '' FROM unnest($1::bigint[], $2::text[]) AS t (k, id)";
constexpr char kEvents[] =
    "INSERT INTO events (event_key, kind, at_ms, body) "
    "SELECT k, kind, 1, body FROM unnest($1::bigint[], $2::bigint[], $3::text[]) AS t (k, kind, body)";
constexpr char kSends[] =
    "INSERT INTO sends (digest_high, digest_low, at_ms, task_key, before) "
    "SELECT high, k, 1, k, 0 FROM unnest($1::bigint[], $2::bigint[]) AS t (k, high)";
constexpr char kEnd[] =
    "UPDATE tasks SET version = 2, last_event = 5, turn_state = 'none', artifact_count = 1, bytes = 600, "
    "state = 'completed', status_event = 5, status_ms = 2 FROM unnest($1::bigint[]) AS t (k) "
    "WHERE task_key = k";
constexpr char kTotal[] =
    "INSERT INTO task_totals (node_id, lane, agent, caller, state, tasks) "
    "VALUES (-1, $1, 'echo', 'anonymous', 'completed', $2) "
    "ON CONFLICT (agent, caller, state, node_id, lane) DO UPDATE SET tasks = task_totals.tasks + "
    "excluded.tasks";
constexpr char kMakeLane[] =
    "INSERT INTO lanes (node_id, lane, last_group) VALUES (-1, $1, 0) ON CONFLICT DO NOTHING";
constexpr char kMoveLane[] = "UPDATE lanes SET last_group = last_group + 1 WHERE node_id = -1 AND lane = $1";

void put32(std::string& bytes, std::uint32_t value) {
  const std::uint32_t big = htobe32(value);
  bytes.append(reinterpret_cast<const char*>(&big), sizeof big);
}
std::string bytes_of(std::int64_t value) {
  const std::uint64_t big = htobe64(static_cast<std::uint64_t>(value));
  return {reinterpret_cast<const char*>(&big), sizeof big};
}
std::string bytes_of(const std::string& value) {
  return value;
}

// Returns an array in PostgreSQL's binary format.
template <class T>
std::string array_of(const std::vector<T>& values, Oid type) {
  std::string bytes;
  for (const std::uint32_t word : {1u, 0u, static_cast<std::uint32_t>(type)}) put32(bytes, word);
  put32(bytes, static_cast<std::uint32_t>(values.size()));
  put32(bytes, 1);
  for (const T& value : values) {
    const std::string item = bytes_of(value);
    put32(bytes, static_cast<std::uint32_t>(item.size()));
    bytes += item;
  }
  return bytes;
}

[[noreturn]] void give_up(const std::string& why) {
  std::cerr << why << std::endl;
  std::_Exit(1);
}

class Lane {
 public:
  Lane(const char* url, int number, int batch, std::int64_t after)
      : number_(number), batch_(batch), link_(PQconnectdb(url)), next_(after + number * kKeysOfLane) {
    if (PQstatus(link_) != CONNECTION_OK) give_up(PQerrorMessage(link_));
    PQenterPipelineMode(link_);
    prepare("task", kTask, {kInt8s, kTexts});
    prepare("events", kEvents, {kInt8s, kInt8s, kTexts});
    prepare("sends", kSends, {kInt8s, kInt8s});
    prepare("end", kEnd, {kInt8s});
    prepare("total", kTotal, {kInt8, kInt8});
    prepare("make", kMakeLane, {kInt8});
    prepare("move", kMoveLane, {kInt8});
    prepare("begin", "BEGIN", {});
    prepare("commit", "COMMIT", {});
    run("make", {bytes_of(std::int64_t{number_})});
    finish();
  }
  ~Lane() { PQfinish(link_); }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  // Ends the tasks of the last group and creates new ones. Returns the number of ended tasks.
  std::int64_t group() {
    std::vector<std::int64_t> made, event_keys, kinds, highs;
    std::vector<std::string> ids, bodies;
    const auto add = [&](std::int64_t key, int number, int kind, const char* body) {
      event_keys.push_back((key << kNumberBits) + number);
      kinds.push_back(kind);
      bodies.emplace_back(body);
    };
    for (const std::int64_t key : open_) {
      add(key, 4, 4,
          R"({"artifact":{"artifactId":"reply","name":"reply","parts":[{"text":"Hello, world"}]}})");
      add(key, 5, 1, R"({"state":"TASK_STATE_COMPLETED"})");
    }
    for (int i = 0; i < batch_; ++i) {
      const std::int64_t key = next_++;
      made.push_back(key);
      char id[64];
      std::snprintf(id, sizeof id, "019a5f0e-7d9a-7c41-%016llx", static_cast<unsigned long long>(key));
      ids.emplace_back(id);
      highs.push_back(static_cast<std::int64_t>(static_cast<std::uint64_t>(key) * 0x9e3779b97f4a7c15u));
      add(key, 1, 1, R"({"state":"TASK_STATE_SUBMITTED"})");
      add(key, 2, 2,
          R"({"messageId":"m-1-1-123456789","role":"ROLE_USER","parts":[{"text":"Hello, world"}]})");
      add(key, 3, 1, R"({"state":"TASK_STATE_WORKING"})");
    }
    run("begin", {});
    run("move", {bytes_of(std::int64_t{number_})});
    run("task", {array_of(made, kInt8), array_of(ids, kText)});
    run("sends", {array_of(made, kInt8), array_of(highs, kInt8)});
    if (!open_.empty()) run("end", {array_of(open_, kInt8)});
    run("events", {array_of(event_keys, kInt8), array_of(kinds, kInt8), array_of(bodies, kText)});
    const auto ended = static_cast<std::int64_t>(open_.size());
    if (ended > 0) run("total", {bytes_of(std::int64_t{number_}), bytes_of(ended)});
    run("commit", {});
    finish();
    open_ = std::move(made);
    return ended;
  }

 private:
  void prepare(const char* name, const char* sql, const std::vector<Oid>& types) {
    if (PQsendPrepare(link_, name, sql, static_cast<int>(types.size()), types.data()) != 1)
      give_up(PQerrorMessage(link_));
    ++queued_;
  }
  void run(const char* name, const std::vector<std::string>& values) {
    std::vector<const char*> texts;
    std::vector<int> sizes;
    for (const std::string& value : values) {
      texts.push_back(value.data());
      sizes.push_back(static_cast<int>(value.size()));
    }
    const std::vector<int> binary(values.size(), 1);
    if (PQsendQueryPrepared(link_, name, static_cast<int>(values.size()), texts.data(), sizes.data(),
                            binary.data(), 1) != 1)
      give_up(PQerrorMessage(link_));
    ++queued_;
  }
  void finish() {
    if (PQpipelineSync(link_) != 1) give_up(PQerrorMessage(link_));
    for (; queued_ > 0; --queued_) {
      while (PGresult* const result = PQgetResult(link_)) {
        const auto status = PQresultStatus(result);
        if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) give_up(PQerrorMessage(link_));
        PQclear(result);
      }
    }
    PQclear(PQgetResult(link_));  // the result of the sync
  }

  const int number_, batch_;
  PGconn* const link_;
  std::int64_t next_;  // key
  std::vector<std::int64_t> open_;
  int queued_ = 0;
};

// Returns the largest key of a task in the database.
std::int64_t last_key(const char* url) {
  PGconn* const link = PQconnectdb(url);
  PGresult* const rows = PQexec(link, "SELECT coalesce(max(task_key), 0) FROM tasks");
  if (PQresultStatus(rows) != PGRES_TUPLES_OK) give_up(PQerrorMessage(link));
  const std::int64_t key = std::atoll(PQgetvalue(rows, 0, 0));
  PQclear(rows);
  PQfinish(link);
  return key;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 5) give_up("usage: baton_bench_postgres URL LANES BATCH SECONDS");
  const int lanes = std::atoi(argv[2]), batch = std::atoi(argv[3]), seconds = std::atoi(argv[4]);
  const std::int64_t last = last_key(argv[1]);
  std::atomic<std::int64_t> count{0}, groups{0};
  const auto begin = Clock::now();
  const auto end = begin + std::chrono::seconds(seconds);
  {
    std::vector<std::jthread> threads;
    for (int number = 1; number <= lanes; ++number) {
      threads.emplace_back([&, number] {
        Lane lane(argv[1], number, batch, last);
        while (Clock::now() < end) {
          count += lane.group();
          ++groups;
        }
      });
    }
  }
  const double took = std::chrono::duration<double>(Clock::now() - begin).count();
  std::cout << "{\"count\": " << count << ", \"seconds\": " << took << ", \"groups\": " << groups << "}"
            << std::endl;
}

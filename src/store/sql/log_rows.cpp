#include "store/sql/log_rows.h"

#include <memory>
#include <utility>

#include "store/event_codec.h"
#include "store/log_reads.h"
#include "store/sql/failure.h"

namespace baton::store::sql {
namespace {

// Bounds the size of a short log, so that reading all of it is always fast.
constexpr std::size_t kShortBodyMax = 16u << 10;

// Reads the columns "event_key, kind, at_ms, body".
base::Result<task::Event> event_of(const Query& query) {
  task::Event event;
  event.number = {query.integer(0) & task::kLogEnd.value};
  event.at = base::from_ms(query.integer(2));
  auto body = store::codec::decode(query.small(1), query.text(3));
  if (!body)
    return base::fail(damaged("event " + std::to_string(event.number.value) + ": " + body.error().for_log));
  event.body = std::move(*body);
  return event;
}

#define BATON_EVENTS "SELECT event_key, kind, at_ms, body FROM events WHERE event_key BETWEEN ?1 AND ?2 "
// The numbers are those kinds of store/event_codec.h that Conversation and is_landmark use.
constexpr char kAll[] = BATON_EVENTS "ORDER BY event_key";
constexpr char kStatus[] = BATON_EVENTS "AND kind = 1 ORDER BY event_key DESC LIMIT 1";
constexpr char kConversation[] = BATON_EVENTS "AND kind IN (1, 2, 3, 10) ORDER BY event_key DESC";
constexpr char kShort[] = BATON_EVENTS "AND kind IN (1, 2) ORDER BY event_key";
constexpr char kShortBack[] = BATON_EVENTS "AND kind IN (1, 2) ORDER BY event_key DESC";
#undef BATON_EVENTS
#define BATON_LANDMARKS                                                                           \
  "SELECT e.event_key, e.kind, e.at_ms, e.body FROM landmarks l JOIN events e USING (event_key) " \
  "WHERE l.event_key BETWEEN ?1 AND ?2 "
constexpr char kLong[] = BATON_LANDMARKS "ORDER BY l.event_key";
constexpr char kLongBack[] = BATON_LANDMARKS "ORDER BY l.event_key DESC";
#undef BATON_LANDMARKS

}  // namespace

bool is_indexed(Connection& connection, task::TaskKey key) {
  Query query = connection.query("SELECT indexed FROM tasks WHERE task_key = ?", key);
  return query.step() && query.truth(0);
}

LogQuery LogQuery::all(Connection& connection, task::TaskKey key, Range range) {
  return {connection, kAll, key, range, false};
}
LogQuery LogQuery::status(Connection& connection, task::TaskKey key, Range range) {
  return {connection, kStatus, key, range, false};
}
LogQuery LogQuery::landmarks(Connection& connection, task::TaskKey key, Range range) {
  return {connection, is_indexed(connection, key) ? kLong : kShort, key, range, true};
}
LogQuery LogQuery::landmarks_back(Connection& connection, task::TaskKey key, Range range) {
  return {connection, is_indexed(connection, key) ? kLongBack : kShortBack, key, range, true};
}
LogQuery LogQuery::conversation_back(Connection& connection, task::TaskKey key, Range range) {
  return {connection, kConversation, key, range, false};
}

base::Result<std::optional<task::Event>> LogQuery::next_own() {
  while (query_.step()) {
    auto event = event_of(query_);
    if (!event) return base::fail(event.error());
    if (!only_landmarks_ || is_landmark(event->body)) return std::move(*event);
  }
  return std::nullopt;
}

base::Result<task::EventPtr> LogQuery::next() {
  auto event = next_own();
  if (!event) return base::fail(event.error());
  return *event ? std::make_shared<const task::Event>(std::move(**event)) : nullptr;
}

base::Result<std::vector<task::EventPtr>> read_log(Connection& connection, task::TaskKey key,
                                                   task::EventNumber last) {
  std::vector<task::EventPtr> log;
  LogQuery query = LogQuery::all(connection, key, {{1}, last});
  while (true) {
    auto event = query.next();
    if (!event) return base::fail(event.error());
    if (!*event) return log;
    log.push_back(std::move(*event));
  }
}

std::optional<task::ArtifactPlace> find_artifact(Connection& connection, task::TaskKey key,
                                                 const task::ArtifactId& id) {
  Query query = connection.query(
      "SELECT ordinal, withdrawn FROM artifacts WHERE task_key = ? AND public_id = ?", key, id);
  if (!query.step()) return std::nullopt;
  return task::ArtifactPlace{query.small(0), query.truth(1)};
}

// Inserts up to three events per statement, because a statement costs more than a row. Most changes have two
// or three.
void insert_events(Connection& connection, task::TaskKey key, task::EventNumber before,
                   const std::vector<task::EventBody>& bodies, const std::vector<std::string>& encoded,
                   base::Timestamp at) {
  static constexpr char kOne[] = "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4)";
  static constexpr char kTwo[] =
      "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4), "
      "(?1 + 1, ?5, ?2, ?6)";
  static constexpr char kThree[] =
      "INSERT INTO events (event_key, kind, at_ms, body) VALUES (?1, ?3, ?2, ?4), "
      "(?1 + 1, ?5, ?2, ?6), (?1 + 2, ?7, ?2, ?8)";
  const auto kind = [&](std::size_t i) { return static_cast<int>(store::codec::kind_of(bodies[i])); };
  const std::int64_t ms = base::to_ms(at);
  for (std::size_t i = 0; i < bodies.size();) {
    const std::int64_t first = event_key(key, {before.value + 1 + static_cast<std::int64_t>(i)});
    switch (std::min<std::size_t>(bodies.size() - i, 3)) {
      case 1:
        connection.run(kOne, first, ms, kind(i), encoded[i]);
        i += 1;
        break;
      case 2:
        connection.run(kTwo, first, ms, kind(i), encoded[i], kind(i + 1), encoded[i + 1]);
        i += 2;
        break;
      default:
        connection.run(kThree, first, ms, kind(i), encoded[i], kind(i + 1), encoded[i + 1], kind(i + 2),
                       encoded[i + 2]);
        i += 3;
    }
  }
}

bool outgrows(task::EventNumber last, const std::vector<std::string>& bodies, int events_max) {
  return last.value > events_max ||
         std::ranges::any_of(bodies, [](const std::string& body) { return body.size() > kShortBodyMax; });
}

void insert_landmark(Connection& connection, task::TaskKey key, task::EventNumber number,
                     const task::EventBody& body) {
  if (!is_landmark(body)) return;
  connection.run("INSERT INTO landmarks (event_key) VALUES (?)", event_key(key, number));
}

void write_artifacts(Connection& connection, task::TaskKey key, const task::ArtifactPlaces& before,
                     const task::ArtifactPlaces& after) {
  for (const auto& [id, place] : after) {
    const auto known = before.find(id);
    if (known == before.end()) {
      connection.run("INSERT INTO artifacts (task_key, public_id, ordinal, withdrawn) VALUES (?, ?, ?, ?)",
                     key, id, place.ordinal, place.withdrawn);
    } else if (known->second.withdrawn != place.withdrawn) {
      connection.run("UPDATE artifacts SET withdrawn = ? WHERE task_key = ? AND public_id = ?",
                     place.withdrawn, key, id);
    }
  }
}

void index_log(Connection& connection, task::TaskKey key, std::span<const task::EventPtr> log) {
  for (const task::EventPtr& event : log) insert_landmark(connection, key, event->number, event->body);
  write_artifacts(connection, key, {}, places_of(log));
}

}  // namespace baton::store::sql

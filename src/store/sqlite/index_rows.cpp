#include "store/sqlite/index_rows.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "store/sqlite/event_rows.h"
#include "task/fold.h"

namespace baton::store::sqlite {
namespace {

// Bounds the size of a short log, so that reading all of it is always fast.
constexpr std::size_t kShortBodyMax = 16u << 10;

// Computes for stored events the effects that task::apply computes for new ones.
class LogScan {
 public:
  task::EventEffect read(const task::EventBody& body) {
    effect_ = {};
    fresh_ = nullptr;
    std::visit([this](const auto& event) { see(event); }, body);
    if (const task::Message* message = task::message_in(body)) effect_.said = message->role;
    return std::exchange(effect_, {});
  }

  // The artifact that the last event made; null: none.
  const task::ArtifactId* fresh() const { return fresh_; }
  task::ArtifactPlaces& artifacts() { return artifacts_; }

 private:
  void see(const task::TextDelta& event) {
    place(event.reply, event.ordinal, event.first);
    if (event.first) effect_.reply_begins = event.ordinal;
  }
  void see(const task::ArtifactChunk& event) {
    place(event.artifact.id, event.artifact.ordinal, !event.append);
  }
  void see(const task::Withdrawn& event) {
    for (const task::ArtifactId& id : event.artifacts) {
      const auto found = artifacts_.find(id);
      if (found == artifacts_.end() || std::exchange(found->second.withdrawn, true)) continue;
      effect_.marks.push_back({found->second.ordinal, task::EventEffect::Mark::withdrawn});
    }
  }
  void see(const task::StatusChanged& event) { effect_.stops = task::is_stopped(event.status.state); }
  template <class Other>
  void see(const Other&) {}

  void place(const task::ArtifactId& id, int ordinal, bool begins) {
    const auto [found, fresh] = artifacts_.try_emplace(id, task::ArtifactPlace{ordinal, false});
    if (fresh) fresh_ = &found->first;
    found->second.withdrawn = false;
    effect_.marks.push_back(
        {ordinal, begins ? task::EventEffect::Mark::begins : task::EventEffect::Mark::more});
  }

  task::ArtifactPlaces artifacts_;
  task::EventEffect effect_;
  const task::ArtifactId* fresh_ = nullptr;
};

}  // namespace

bool outgrows(task::EventNumber last, const std::vector<std::string>& bodies, int events_max) {
  return last.value > events_max ||
         std::ranges::any_of(bodies, [](const std::string& body) { return body.size() > kShortBodyMax; });
}

void insert_artifact(Connection& connection, task::TaskKey key, int ordinal, const task::ArtifactId& id) {
  connection.run("INSERT INTO artifacts (task_key, ordinal, public_id) VALUES (?, ?, ?)", key, ordinal, id);
}

void insert_event_rows(Connection& connection, task::TaskKey key, task::EventNumber number,
                       const task::EventEffect& effect) {
  for (const task::EventEffect::ArtifactMark& mark : effect.marks) {
    connection.run("INSERT INTO artifact_parts (task_key, ordinal, number, mark) VALUES (?, ?, ?, ?)", key,
                   mark.ordinal, number, static_cast<int>(mark.mark));
  }
  if (effect.said) {
    connection.run("INSERT INTO messages (task_key, number, role) VALUES (?, ?, ?)", key, number,
                   static_cast<int>(*effect.said));
  }
  if (effect.stops) connection.run("INSERT INTO stops (task_key, number) VALUES (?, ?)", key, number);
}

void index_log(Connection& connection, task::TaskKey key, std::span<const task::EventPtr> log) {
  LogScan scan;
  for (const task::EventPtr& event : log) {
    const task::EventEffect effect = scan.read(event->body);
    if (const task::ArtifactId* fresh = scan.fresh()) {
      insert_artifact(connection, key, scan.artifacts().at(*fresh).ordinal, *fresh);
    }
    insert_event_rows(connection, key, event->number, effect);
  }
}

std::vector<task::EventEffect> effects_of(std::span<const task::EventPtr> log) {
  std::vector<task::EventEffect> effects;
  effects.reserve(log.size());
  LogScan scan;
  for (const task::EventPtr& event : log) effects.push_back(scan.read(event->body));
  return effects;
}

task::ArtifactPlaces artifacts_of(std::span<const task::EventPtr> log) {
  LogScan scan;
  for (const task::EventPtr& event : log) scan.read(event->body);
  return std::move(scan.artifacts());
}

task::EventNumber begin_in(std::span<const task::EventPtr> log, int ordinal) {
  task::EventNumber begin;
  LogScan scan;
  for (const task::EventPtr& event : log) {
    for (const task::EventEffect::ArtifactMark& mark : scan.read(event->body).marks) {
      if (mark.ordinal == ordinal && mark.mark == task::EventEffect::Mark::begins) begin = event->number;
      if (mark.ordinal == ordinal && mark.mark == task::EventEffect::Mark::withdrawn) begin = {};
    }
  }
  return begin;
}

base::Result<std::vector<task::EventPtr>> read_short_log(Connection& connection, task::TaskKey key,
                                                         task::EventNumber last) {
  std::vector<task::EventPtr> log;
  Query query = connection.query(
      "SELECT event_key, kind, at_ms, body FROM events WHERE event_key BETWEEN ? AND ? ORDER BY event_key",
      event_key(key, {}), event_key(key, last));
  while (query.step()) {
    auto event = event_at(query, 0);
    if (!event) return base::fail(event.error());
    log.push_back(std::make_shared<const task::Event>(std::move(*event)));
  }
  return log;
}

}  // namespace baton::store::sqlite

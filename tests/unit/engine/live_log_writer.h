// Log: publishes changes of one live task, as the inbox does after a flush.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/live/live_tasks.h"

namespace baton::test::live {

inline constexpr task::TaskKey kTask{7};
inline constexpr auto kNever = base::SteadyTime::time_point::max();

inline task::EventBody status(task::State state) {
  return task::StatusChanged{{state, std::nullopt, {}}, {}};
}

inline task::EventBody text(std::string piece = "x") {
  return task::TextDelta{{"r"}, 0, std::move(piece), false, false};
}

// Publishes changes of one task to LiveTasks, as the inbox does once they are durable.
class Log {
 public:
  explicit Log(engine::LiveTasks& live, task::TaskKey key = kTask) : live_(live) {
    committed_.head.key = key;
    committed_.head.id = {"task-" + std::to_string(key.value)};
    committed_.head.caller = {"ann"};
    committed_.head.agent = {"echo"};
    committed_.head.context_key = {-key.value};
  }

  void create(std::vector<task::EventBody> bodies, const std::string& metadata = {}) {
    const task::Json json{metadata};
    committed_.new_context = true;
    publish(std::move(bodies), &json);
  }
  void add(std::vector<task::EventBody> bodies) { publish(std::move(bodies), nullptr); }
  // Sets the node that owns the task's turn in all later changes.
  void owned_by(store::NodeId node) { committed_.owner = node; }
  // Skips event numbers, as if these events had not been seen here.
  void skip(std::int64_t events) { committed_.head.last_event.value += events; }

  std::optional<task::RequestData> request;  // the request data of the next change

 private:
  void publish(std::vector<task::EventBody> bodies, const task::Json* metadata) {
    committed_.events.clear();
    for (task::EventBody& body : bodies) {
      if (const auto* change = std::get_if<task::StatusChanged>(&body)) {
        committed_.head.state = change->status.state;
      }
      const task::EventNumber number{++committed_.head.last_event.value};
      committed_.events.push_back(
          std::make_shared<const task::Event>(task::Event{number, {}, std::move(body)}));
    }
    live_.changing(committed_.head.key);
    live_.publish(committed_, std::exchange(request, {}), metadata);
  }

  engine::LiveTasks& live_;
  store::Committed committed_;
};

}  // namespace baton::test::live

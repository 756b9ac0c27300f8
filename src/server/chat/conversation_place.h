// ConversationPlace: how much of a conversation's stream a client has.
//
// A conversation's runs are shown one after the other, in the order in which their work began. Clocks of
// nodes differ, and a run may become visible a moment after one that began later. So a place is a time up to
// which every run is known, the runs known besides, and a position in the run that is being shown:
//
//   <milliseconds>;<task>@<number>;...;<task>:<number>[.<frame>]
//
// The last part is the id of the same frame in the run's own stream (run_stream.h); ":0" while no run has
// been shown. Threads: a value; one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "server/chat/run_stream.h"

namespace baton::server::chat {

// A run of a conversation: the events of a task after `before`, up to its next stop.
struct RunName {
  task::TaskId task;
  task::EventNumber before;
  friend bool operator==(const RunName&, const RunName&) = default;
};

class ConversationPlace {
 public:
  // How late a run may become visible, or its node's clock be, without being missed by a client that comes
  // back.
  static constexpr std::chrono::seconds kLate{60};

  ConversationPlace() = default;
  // Every run that began until `floor` is known.
  explicit ConversationPlace(base::Timestamp floor) : floor_(floor) {}

  base::Timestamp floor() const { return floor_; }
  bool knows(const RunName& run, base::Timestamp began) const;
  // The run was shown to its end. Raises the floor to kLate before the newest known run, or to the oldest one
  // of more than 64, and drops the runs that it covers. Runs that are not known must not have begun before
  // the floor.
  void add(RunName run, base::Timestamp began);
  // The same without a change of the floor.
  void add_besides(RunName run, base::Timestamp began);
  // The id's part in front of a run's own id.
  std::string prefix() const;

  // Parses an id. `run`: the position at its end, absent while there is none.
  struct Read;
  static std::optional<Read> read(std::string_view id);

 private:
  struct Known {
    RunName run;
    base::Timestamp began{};  // of a place that was read: the latest time, until `add_besides` tells
  };
  base::Timestamp floor_{};
  std::vector<Known> known_;
};

struct ConversationPlace::Read {
  ConversationPlace place;
  std::optional<SseId> run;
};

}  // namespace baton::server::chat

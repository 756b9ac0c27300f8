#include "engine/turns/turn_log.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace baton::engine {
namespace {

using Phase = task::Subagent::Phase;

class TurnLogFold {
 public:
  explicit TurnLogFold(const task::TaskHead& head)
      : turn_begin_(head.turn_begin), shown_replies_(shown_reply_ids(head)) {}

  void add(const task::Event& event) {
    number_ = event.number;
    is_own_ = event.number > turn_begin_;
    std::visit([this](const auto& body) { step(body); }, event.body);
  }

  TurnLog take() {
    log_.said = std::move(said_).take();
    return std::move(log_);
  }

 private:
  // A turn for another message begins.
  void step(const task::StatusChanged& event) {
    if (event.status.state != task::State::submitted) return;
    log_ = {};
    said_ = {};
    shown_.clear();
  }

  void step(const task::TextDelta& event) {
    const bool is_childs = event.reply.value.starts_with(shown_replies_);
    if (!is_own_ || is_childs) return said_.add(event);
    if (event.first) begins(event.reply);
  }

  void step(const task::ArtifactChunk& event) {
    if (is_own_ && !event.append) begins(event.artifact.id);
  }

  void step(const task::Withdrawn& event) {
    for (const task::ArtifactId& id : event.artifacts) shown_.erase(id);
    std::erase_if(log_.shown, [this](const task::ArtifactId& id) { return !shown_.contains(id); });
    said_.drop(event);
  }

  void step(const task::MessageAdded& event) {
    if (!event.for_child || log_.passed.empty()) return;
    log_.passed.back().answer = event.message;
    log_.passed.back().number = number_;
  }

  void step(const task::Subagent& event) {
    log_.subagents.follow(event);
    if (event.phase == Phase::passed) return pass(event);
    if (event.phase == Phase::started || event.phase == Phase::answered) {
      log_.delegated.push_back(event);
      if (event.task) log_.children[event.call] = event.task;
      log_.has_delegated |= is_own_;
      if (is_own_ && event.task && event.phase == Phase::started) ++log_.own_calls[event.call];
    }
    if (event.phase != Phase::failed && event.phase != Phase::finished) return;
    for (task::Subagent& one : log_.delegated) {
      if (one.id != event.id) continue;
      if (!one.task) one.error = event.error;
      one.tokens = event.tokens;
      one.children = event.children;
    }
  }

  void step(const task::ExecutorState& event) {
    if (!event.state.empty()) log_.states.push_back(event.state);
    for (const std::string& call : event.taken)
      std::erase_if(log_.delegated, [&](const task::Subagent& one) { return one.call == call; });
  }

  template <class Other>
  void step(const Other&) {}

  void pass(const task::Subagent& event) {
    for (task::Subagent& one : log_.delegated) {
      if (one.id == event.id) one.after = event.after;
    }
    std::erase_if(log_.passed, [&](const PassedAnswer& one) { return one.subagent == event.id; });
    log_.passed.push_back({event.id, event.after, {}, {}});
  }

  void begins(const task::ArtifactId& id) {
    if (shown_.insert(id).second) log_.shown.push_back(id);
  }

  const task::EventNumber turn_begin_;
  const std::string shown_replies_;  // the beginning of the ids of children's replies
  task::EventNumber number_;
  bool is_own_ = false;
  TurnLog log_;
  agents::SaidReplies said_;                    // for log_.said
  std::unordered_set<task::ArtifactId> shown_;  // those in log_.shown
};

}  // namespace

std::vector<task::Subagent> TurnLog::settled() const {
  const std::vector<task::Subagent> awaited = subagents.awaited();
  std::vector<task::Subagent> rest;
  for (const task::Subagent& one : delegated) {
    const bool is_awaited = std::any_of(awaited.begin(), awaited.end(), [&](const task::Subagent& other) {
      return other.id == one.id && other.call == one.call && other.after == one.after;
    });
    if (!is_awaited) rest.push_back(one);
  }
  return rest;
}

base::Result<TurnLog> read_turn_log(const task::TaskHead& head, const LogPage& page) {
  TurnLogFold fold(head);
  task::EventNumber after = head.turn_message;
  while (true) {
    const auto events = page(after);
    if (!events) return base::fail(events.error());
    if (events->empty()) return fold.take();
    for (const task::Event& event : *events) fold.add(event);
    after = events->back().number;
  }
}

std::vector<task::Subagent> last_of_each_call(const std::vector<task::Subagent>& delegated) {
  std::vector<task::Subagent> last;
  for (const task::Subagent& one : delegated) {
    std::erase_if(last, [&](const task::Subagent& earlier) { return earlier.call == one.call; });
    last.push_back(one);
  }
  return last;
}

}  // namespace baton::engine

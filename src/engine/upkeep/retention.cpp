#include "engine/upkeep/retention.h"
#include "base/text.h"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <utility>

namespace baton::engine {
namespace {

using std::chrono::milliseconds;
using task::State;

constexpr int kRoundPage = 500;
constexpr int kTreeMax = 200'000;
// The pause after a round is a tenth of the shortest time that tasks are kept, within these bounds.
constexpr milliseconds kRoundMin{200}, kRoundMax{3'600'000};
constexpr milliseconds kFirstRound{5'000};
constexpr milliseconds kLeadAgain{1'000};
// Free pages that stay in the file: 1 MiB.
constexpr std::int64_t kSparePages = 256;

constexpr std::array kRuledStates{State::completed, State::canceled, State::failed, State::rejected,
                                  State::input_required};

std::string words_for(milliseconds time) {
  constexpr milliseconds kDay{86'400'000};
  if (time >= kDay && time % kDay == milliseconds(0)) return base::counted(time / kDay, "day");
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  return base::counted(seconds, "second");
}

}  // namespace

milliseconds kept_for(const RetentionOptions& options, const agents::Agent* agent, State state) {
  if (task::is_waiting(state)) state = State::input_required;
  if (agent != nullptr) {
    const auto own = agent->settings.retention.find(state);
    if (own != agent->settings.retention.end()) return own->second;
  }
  switch (state) {
    case State::completed:
      return options.completed;
    case State::canceled:
      return options.canceled;
    case State::failed:
      return options.failed;
    case State::rejected:
      return options.rejected;
    case State::input_required:
      return options.waiting;
    default:
      return milliseconds(0);
  }
}

milliseconds kept_at_least(const RetentionOptions& options, const agents::Agent* agent) {
  milliseconds shortest = milliseconds::max();
  for (const State state : kRuledStates) {
    const milliseconds time = kept_for(options, agent, state);
    if (time > milliseconds(0)) shortest = std::min(shortest, time);
  }
  return shortest;
}

// One scan of the tasks that are old enough.
struct Retention::Round {
  bool only_counts = false;
  task::TaskKey after, last;
  base::Timestamp now{};
  std::int64_t gone = 0, to_go = 0, waiting = 0;
};

void Retention::start() {
  if (!store_.kept_before() || options_.is_set)
    return begin_round_later(std::min(kFirstRound, shortest() / 10));
  background_.run_low([this] { begin_round(true); });
}

milliseconds Retention::shortest() const {
  milliseconds time = kept_at_least(options_, nullptr);
  for (const agents::Agent* agent : catalogue_.all()) time = std::min(time, kept_at_least(options_, agent));
  return time;
}

void Retention::begin_round_later(milliseconds after) {
  background_.timers().after(after, [this] {
    if (peers_ != nullptr && !peers_->leads()) return begin_round_later(kLeadAgain);
    background_.run_low([this] { begin_round(false); });
  });
}

void Retention::begin_round(bool only_counts) {
  const auto round = std::make_shared<Round>();
  round->only_counts = only_counts;
  round->now = clock_.now();
  const milliseconds time = shortest();
  if (time == milliseconds::max()) return end(round);
  const milliseconds margin = peers_ == nullptr ? milliseconds(0) : store::kKeysOutOfOrder;
  const auto last = store_.last_made(round->now - time + margin);
  if (!last) {
    spdlog::warn("retention: cannot look for old tasks: {}", last.error().for_log);
    return end(round);
  }
  round->last = *last;
  look(round);
}

void Retention::look(const RoundPtr& round) {
  const auto page = store_.all_tasks(round->after, kRoundPage);
  if (!page) spdlog::warn("retention: cannot read tasks: {}", page.error().for_log);
  if (!page || page->empty()) return end(round);
  store::Removal removal;
  for (const task::TaskHead& head : *page) {
    round->after = head.key;
    if (head.key > round->last) break;
    if (!is_over(head, round->now)) continue;
    if (task::is_waiting(head.state)) {
      ++round->waiting;
      if (!round->only_counts) cancel_waiting(head);
      continue;
    }
    std::ranges::move(tree_to_go(head), std::back_inserter(removal.tasks));
  }
  round->to_go += std::ssize(removal.tasks);
  if (round->only_counts) removal.tasks.clear();
  removals_.run(std::move(removal), {}, [this, round](std::int64_t gone) { end_page(round, gone); });
}

void Retention::end_page(const RoundPtr& round, std::int64_t gone) {
  round->gone += gone;
  removed_ += gone;
  if (round->after >= round->last) return end(round);
  background_.run_low([this, round] { look(round); });
}

void Retention::end(const RoundPtr& round) {
  if (round->only_counts) {
    spdlog::warn(
        "this database was created by a version without retention, so nothing is deleted until a `retention` "
        "setting is configured; the defaults would now delete tasks={} and cancel waiting tasks={}",
        round->to_go, round->waiting);
  }
  if (round->gone > 0) spdlog::info("retention: deleted tasks={}", round->gone);
  // Even if nothing was removed: an earlier run or another node may have stopped in the middle of a long log.
  removals_.tidy(kSparePages, [this, is_last = round->only_counts] {
    if (!is_last) begin_round_later(std::clamp(shortest() / 10, kRoundMin, kRoundMax));
  });
}

// Only roots expire by themselves, and detached tasks that wait.
bool Retention::is_over(const task::TaskHead& head, base::Timestamp now) const {
  const bool waits = task::is_waiting(head.state);
  if (!waits && !task::is_terminal(head.state)) return false;
  if (head.parent && !(waits && head.detached)) return false;
  const milliseconds time = kept_for(options_, catalogue_.find(head.agent), head.state);
  return time > milliseconds(0) && head.status_at + time <= now;
}

// The tasks of a tree, children before their parents, if it may be removed; none if a task must stay.
std::vector<store::Removal::One> Retention::tree_to_go(const task::TaskHead& root) const {
  std::vector<store::Removal::One> go;
  const auto tree = store_.tree(root.key, kTreeMax);
  if (!tree) {
    spdlog::warn("task={} retention keeps the task and those below it: {}", root.id.value,
                 tree.error().for_caller);
    return go;
  }
  for (const store::TreeMember& member : *tree) {
    const task::TaskHead& head = member.head;
    if (member.delivers || !store::has_ended(head)) return {};
    go.push_back({head.key, head.version});
  }
  std::ranges::reverse(go);
  return go;
}

void Retention::cancel_waiting(const task::TaskHead& head) {
  const milliseconds time = kept_for(options_, catalogue_.find(head.agent), head.state);
  cancels_.cancel(
      head.key,
      [this, id = head.id](const base::Result<task::TaskKey>& canceled) {
        if (canceled) ++expired_;
        if (!canceled) spdlog::debug("task={} is not canceled: {}", id.value, canceled.error().for_caller);
      },
      "nobody answered for " + words_for(time));
}

}  // namespace baton::engine

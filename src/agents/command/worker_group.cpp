#include "agents/command/worker_group.h"

#include <algorithm>
#include <utility>

#include "base/log.h"

namespace baton::agents {
namespace {

constexpr std::chrono::milliseconds kDelayMin{100};
constexpr std::chrono::milliseconds kDelayMax{30'000};
// A turn fails when so many workers have died before they had taken it.
constexpr int kLostMax = 3;

}  // namespace

WorkerGroup::WorkerGroup(std::shared_ptr<const LaunchFacts> facts)
    : facts_(std::move(facts)),
      turns_max_(static_cast<std::size_t>(std::max(
          1, (facts_->settings.concurrency + facts_->settings.workers - 1) / facts_->settings.workers))),
      slots_(static_cast<std::size_t>(facts_->settings.workers)) {}

void WorkerGroup::add(std::shared_ptr<WorkerTurn> turn) {
  if (shut_down_) return turn->output_.fail("the agent is being shut down");
  waiting_.push_back(std::move(turn));
  pump();
}

void WorkerGroup::remove(const WorkerTurn& turn) {
  std::erase_if(waiting_, [&](const auto& one) { return one.get() == &turn; });
}

void WorkerGroup::pump() {
  while (!waiting_.empty() && !shut_down_) {
    const std::shared_ptr<WorkerTurn> turn = waiting_.front();
    const std::shared_ptr<Worker> worker = pick(*turn);
    if (turn->output_.ended()) {
      remove(*turn);
      continue;
    }
    if (worker == nullptr) {
      make_room();
      return wait_for_slot();
    }
    waiting_.pop_front();
    worker->give(turn);
  }
  // Posted, because a worker may be the caller.
  if (ends_when_idle_ && !shut_down_)
    facts_->host.post([self = shared_from_this()] { self->end_when_idle(); });
}

// The worker for this turn, started if need be; null: none has room. Fails the turn if none can be started.
std::shared_ptr<Worker> WorkerGroup::pick(WorkerTurn& turn) {
  std::shared_ptr<Worker> least;
  for (const Slot& slot : slots_) {
    // A worker may have the same id: an earlier attempt was let go and is still ending there.
    if (slot.worker == nullptr || !slot.worker->accepting() || slot.worker->has(turn.id_)) continue;
    const auto weight = [](const Worker& worker) { return std::pair(worker.suspect(), worker.load()); };
    if (slot.worker->load() < turns_max_ && (least == nullptr || weight(*slot.worker) < weight(*least))) {
      least = slot.worker;
    }
  }
  if (least != nullptr && least->load() == 0) return least;
  auto started = start_worker();
  if (!started) turn.output_.fail(std::move(started.error().for_caller));
  return started && *started != nullptr ? *started : least;
}

// Whether one more process may run now.
bool WorkerGroup::may_start() const {
  const auto running =
      std::count_if(slots_.begin(), slots_.end(), [](const Slot& slot) { return slot.worker != nullptr; });
  return static_cast<std::size_t>(running) + retired_.size() < 2 * slots_.size();
}

// Null if there is no room for one now.
base::Result<std::shared_ptr<Worker>> WorkerGroup::start_worker() {
  const TimePoint now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < slots_.size() && may_start(); ++i) {
    if (slots_[i].worker != nullptr || slots_[i].not_before > now) continue;
    auto worker = std::make_shared<Worker>(shared_from_this(), i);
    if (auto launched = worker->launch(); !launched) {
      if (launched.error().code != base::ErrorCode::overloaded)
        return base::fail(std::move(launched.error()));
      slots_[i].not_before = now + ProcessHost::kLaunchRetry;
      continue;
    }
    slots_[i].worker = worker;
    return worker;
  }
  return std::shared_ptr<Worker>();
}

// A turn that leaves calls `pump` by its end.
void WorkerGroup::make_room() {
  if (facts_->settings.recovery == AgentSettings::Recovery::fail) return;
  for (const Slot& slot : slots_) {
    const auto again = slot.worker == nullptr ? std::nullopt : slot.worker->make_room();
    if (!again || std::exchange(room_timer_set_, true)) continue;
    const auto delay =
        std::chrono::ceil<std::chrono::milliseconds>(*again - std::chrono::steady_clock::now());
    facts_->host.after(std::max(delay, std::chrono::milliseconds(1)), [self = weak_from_this()] {
      const auto group = self.lock();
      if (group == nullptr) return;
      group->room_timer_set_ = false;
      group->pump();
    });
  }
}

void WorkerGroup::wait_for_slot() {
  TimePoint earliest = TimePoint::max();
  for (const Slot& slot : slots_) {
    if (slot.worker == nullptr) earliest = std::min(earliest, slot.not_before);
  }
  // None: all workers are full or ending. The end of a turn or of a worker will call `pump`.
  if (earliest == TimePoint::max() || !may_start() || std::exchange(timer_set_, true)) return;
  const auto delay =
      std::chrono::ceil<std::chrono::milliseconds>(earliest - std::chrono::steady_clock::now());
  facts_->host.after(std::max(delay, std::chrono::milliseconds(1)), [self = weak_from_this()] {
    const auto group = self.lock();
    if (group == nullptr) return;
    group->timer_set_ = false;
    group->pump();
  });
}

void WorkerGroup::on_retired(const std::shared_ptr<Worker>& worker) {
  Slot& slot = slots_[worker->slot()];
  if (shut_down_ || slot.worker != worker) return;
  slot.worker = nullptr;
  retired_.push_back(worker);
  if (retired_.size() > slots_.size()) {
    retired_.front()->kill_for_one("its worker was ended to make room, as another turn of it did not stop");
  }
  // If the replacement cannot be started now, the next turn tries again and reports why.
  if (const auto started = start_worker(); !started) {
    base::log_warn({{"agent", facts_->agent.value}}, "no replacement for worker={}: {}", worker->slot(),
                   started.error().for_log);
  }
  pump();
}

void WorkerGroup::on_worker_gone(const Worker& worker) {
  std::erase_if(retired_, [&](const auto& one) { return one.get() == &worker; });
  Slot& slot = slots_[worker.slot()];
  if (slot.worker.get() == &worker) {
    slot.worker = nullptr;
    slot.delay =
        worker.proved() ? std::chrono::milliseconds(0) : std::clamp(slot.delay * 2, kDelayMin, kDelayMax);
    slot.not_before = std::chrono::steady_clock::now() + slot.delay;
  }
}

bool WorkerGroup::add_again(const std::shared_ptr<WorkerTurn>& turn) {
  if (shut_down_ || turn->lost_ >= kLostMax) return false;
  waiting_.push_front(turn);
  return true;
}

void WorkerGroup::end_when_idle() {
  ends_when_idle_ = true;
  if (!waiting_.empty()) return;
  for (const Slot& slot : slots_) {
    const std::shared_ptr<Worker> worker = slot.worker;
    if (worker != nullptr && worker->load() == 0) worker->kill("the agent's card was changed");
  }
}

void WorkerGroup::shut_down() {
  shut_down_ = true;
  for (const Slot& slot : slots_) {
    if (slot.worker != nullptr) slot.worker->kill("the agent is being shut down");
  }
  for (const auto& worker : retired_) worker->kill("the agent is being shut down");
  for (const auto& turn : std::exchange(waiting_, {})) turn->output_.fail("the agent is being shut down");
}

}  // namespace baton::agents

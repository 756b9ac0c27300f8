#include "agents/command/worker_group.h"

#include <algorithm>
#include <span>
#include <utility>

#include "base/log.h"

namespace baton::agents {
namespace {

constexpr std::chrono::milliseconds kDelayMin{100};
constexpr std::chrono::milliseconds kDelayMax{30'000};
// A turn fails when this many workers have died before they had taken it.
constexpr int kLostMax = 3;

std::size_t turns_of_each(int workers, int concurrency) {
  return static_cast<std::size_t>(std::max(1, (concurrency + workers - 1) / workers));
}

}  // namespace

WorkerGroup::WorkerGroup(std::shared_ptr<const LaunchFacts> facts)
    : facts_(std::move(facts)),
      turns_max_(turns_of_each(facts_->settings.workers, facts_->settings.concurrency)),
      workers_(static_cast<std::size_t>(facts_->settings.workers)),
      slots_(workers_) {}

void WorkerGroup::add(std::shared_ptr<WorkerTurn> turn) {
  if (shut_down_) return turn->output_.fail("the agent is being shut down");
  waiting_.push_back(std::move(turn));
  pump();
}

void WorkerGroup::remove(const WorkerTurn& turn) {
  std::erase_if(waiting_, [&](const auto& one) { return one.get() == &turn; });
}

void WorkerGroup::pump() {
  give_turns();
  const bool ends_some = (ends_when_idle_ && waiting_.empty()) || slots_.size() > workers_;
  // Posted, because a worker may be the caller.
  if (ends_some && !shut_down_) facts_->host.post([self = shared_from_this()] { self->end_idle(); });
}

void WorkerGroup::give_turns() {
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
}

// The worker for this turn, started if need be; null if none has room. Fails the turn if no worker can be
// started.
std::shared_ptr<Worker> WorkerGroup::pick(WorkerTurn& turn) {
  std::shared_ptr<Worker> least;
  for (const Slot& slot : std::span(slots_).first(workers_)) {
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
  const auto running = std::ranges::count_if(std::span(slots_).first(workers_),
                                             [](const Slot& slot) { return slot.worker != nullptr; });
  return static_cast<std::size_t>(running) + retired_.size() < 2 * workers_;
}

// Starts a worker. Null if there is no room for one now.
base::Result<std::shared_ptr<Worker>> WorkerGroup::start_worker() {
  const TimePoint now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < workers_ && may_start(); ++i) {
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

// When a turn that leaves ends, `pump` is called.
void WorkerGroup::make_room() {
  if (facts_->settings.recovery == AgentSettings::Recovery::fail) return;
  for (const Slot& slot : std::span(slots_).first(workers_)) {
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
  for (const Slot& slot : std::span(slots_).first(workers_)) {
    if (slot.worker == nullptr) earliest = std::min(earliest, slot.not_before);
  }
  // Without a free slot, all workers are full or ending: the end of a turn or of a worker will call
  // `pump`.
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
  if (retired_.size() > workers_) {
    retired_.front()->kill_for_one(
        "its worker process was stopped to make room because another of its turns did not stop");
  }
  if (worker->slot() >= workers_) return pump();
  // If the replacement cannot be started now, the next turn tries again and reports why.
  if (const auto started = start_worker(); !started) {
    base::log_warn({{"agent", facts_->agent.value}}, "cannot replace worker={}: {}", worker->slot(),
                   started.error().for_log);
  }
  pump();
}

void WorkerGroup::on_worker_gone(const Worker& worker) {
  std::erase_if(retired_, [&](const auto& one) { return one.get() == &worker; });
  if (worker.slot() >= slots_.size()) return;
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

void WorkerGroup::scale(int workers, int concurrency) {
  turns_max_ = turns_of_each(workers, concurrency);
  workers_ = static_cast<std::size_t>(workers);
  if (slots_.size() < workers_) slots_.resize(workers_);
  pump();
}

void WorkerGroup::end_when_idle() {
  ends_when_idle_ = true;
  end_idle();
}

// Ends the workers without a turn that are not to take another one.
void WorkerGroup::end_idle() {
  const bool ends_all = ends_when_idle_ && waiting_.empty();
  for (std::size_t i = ends_all ? 0 : workers_; i < slots_.size(); ++i) {
    const std::shared_ptr<Worker> worker = slots_[i].worker;
    if (worker == nullptr || worker->load() > 0) continue;
    worker->kill(ends_when_idle_ ? "the agent's card was changed" : "the agent has fewer workers now");
  }
  while (slots_.size() > workers_ && slots_.back().worker == nullptr) slots_.pop_back();
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

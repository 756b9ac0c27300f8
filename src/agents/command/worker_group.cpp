#include "agents/command/worker_group.h"

#include <algorithm>

namespace baton::agents {
namespace {

constexpr std::chrono::milliseconds kDelayMin{100};
constexpr std::chrono::milliseconds kDelayMax{30'000};
// So many workers may die before a turn, not yet told to them, is given up.
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
    if (worker == nullptr) return wait_for_slot();
    waiting_.pop_front();
    worker->give(turn);
  }
}

// The worker for this turn, started if need be; null: none has room. Fails the turn if none can be started.
std::shared_ptr<Worker> WorkerGroup::pick(WorkerTurn& turn) {
  std::shared_ptr<Worker> least;
  for (const Slot& slot : slots_) {
    // The same id twice: an earlier attempt was let go and is still winding up there.
    if (slot.worker == nullptr || !slot.worker->accepting() || slot.worker->has(turn.id_)) continue;
    if (slot.worker->load() < turns_max_ && (least == nullptr || slot.worker->load() < least->load())) {
      least = slot.worker;
    }
  }
  if (least != nullptr && least->load() == 0) return least;
  const std::shared_ptr<Worker> started = start_worker(turn);
  return started != nullptr ? started : least;
}

std::shared_ptr<Worker> WorkerGroup::start_worker(WorkerTurn& turn) {
  const TimePoint now = std::chrono::steady_clock::now();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    if (slots_[i].worker != nullptr || slots_[i].not_before > now) continue;
    auto worker = std::make_shared<Worker>(shared_from_this(), i);
    if (auto launched = worker->launch(); !launched) {
      turn.output_.fail(std::move(launched.error().for_caller));
      return nullptr;
    }
    slots_[i].worker = worker;
    return worker;
  }
  return nullptr;
}

void WorkerGroup::wait_for_slot() {
  TimePoint earliest = TimePoint::max();
  for (const Slot& slot : slots_) {
    if (slot.worker == nullptr) earliest = std::min(earliest, slot.not_before);
  }
  // None: all run and are full, or are ending; their turns' ends or their own will pump.
  if (earliest == TimePoint::max() || std::exchange(timer_set_, true)) return;
  const auto delay =
      std::chrono::ceil<std::chrono::milliseconds>(earliest - std::chrono::steady_clock::now());
  facts_->host.after(std::max(delay, std::chrono::milliseconds(1)), [self = weak_from_this()] {
    const auto group = self.lock();
    if (group == nullptr) return;
    group->timer_set_ = false;
    group->pump();
  });
}

void WorkerGroup::on_worker_gone(std::size_t slot, bool proved,
                                 std::vector<std::shared_ptr<WorkerTurn>> not_taken, const std::string& why) {
  Slot& empty = slots_[slot];
  empty.worker = nullptr;
  empty.delay = proved ? std::chrono::milliseconds(0) : std::clamp(empty.delay * 2, kDelayMin, kDelayMax);
  empty.not_before = std::chrono::steady_clock::now() + empty.delay;
  for (const std::shared_ptr<WorkerTurn>& turn : not_taken) {
    if (shut_down_ || ++turn->lost_ >= kLostMax) {
      turn->output_.fail(why);
    } else {
      waiting_.push_front(turn);
    }
  }
  pump();
}

void WorkerGroup::shut_down() {
  shut_down_ = true;
  for (const Slot& slot : slots_) {
    if (slot.worker != nullptr) slot.worker->kill("the agent is being shut down");
  }
  for (const auto& turn : std::exchange(waiting_, {})) turn->output_.fail("the agent is being shut down");
}

}  // namespace baton::agents

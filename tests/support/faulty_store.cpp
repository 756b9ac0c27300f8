#include "support/faulty_store.h"

#include <random>
#include <utility>

namespace baton::store {

using base::ErrorCode;
using base::fail;
using base::Result;

namespace {

bool ends_group(ErrorCode code) {
  return code == ErrorCode::unavailable || code == ErrorCode::internal || code == ErrorCode::raced;
}

tl::unexpected<base::Error> planned(ErrorCode code) {
  return fail(code, "the store is temporarily unavailable; try again", "a planned fault");
}

// The random draws for one group or flush.
class Chance {
 public:
  Chance(std::uint64_t seed, std::uint64_t kind, int number)
      : random_(seed * 0x9e3779b97f4a7c15 + static_cast<std::uint64_t>(number) * 2 + kind) {}

  bool hits(int of_a_thousand) { return static_cast<int>(random_() % 1000) < of_a_thousand; }
  int below(int count) { return static_cast<int>(random_() % static_cast<std::uint64_t>(count)); }

 private:
  std::mt19937_64 random_;
};

}  // namespace

FaultPlan faults_by_chance(std::uint64_t seed, const FaultRates& rates, const std::function<void()>& late) {
  FaultPlan plan;
  plan.group = [=](int group) {
    Chance chance(seed, 0, group);
    GroupFaults faults;
    const bool internal = chance.hits(rates.apply_internal);
    if (internal) faults.failure = ErrorCode::internal;
    if (chance.hits(rates.apply) || internal) faults.applied_max = chance.below(4);
    faults.commit_fails = chance.hits(rates.commit);
    if (chance.hits(rates.late_commit)) faults.before_commit = late;
    if (chance.hits(rates.late_answer)) faults.after_commit = late;
    return faults;
  };
  plan.flush = [=](int flush) {
    Chance chance(seed, 1, flush);
    FlushFaults faults;
    faults.fails = chance.hits(rates.flush);
    faults.happens_all_the_same = chance.hits(500);
    if (chance.hits(rates.late_flush)) faults.before = late;
    return faults;
  };
  return plan;
}

FaultyStore::FaultyStore(TaskStore& tasks, DeliveryStore& deliveries, OperatorStore& operators,
                         std::function<void()> roll_back, FaultPlan plan)
    : tasks_(tasks),
      deliveries_(deliveries),
      operators_(operators),
      roll_back_(std::move(roll_back)),
      plan_(std::move(plan)) {}

GroupFaults& FaultyStore::group() {
  if (!group_) {
    group_ = plan_.group(++groups_);
    applied_ = 0;
  }
  return *group_;
}

// Runs `write` in the open group, or fails instead and ends the group.
template <class Write>
auto FaultyStore::writing(Write&& write) -> decltype(write()) {
  const GroupFaults& faults = group();
  if (faults.applied_max && applied_ >= *faults.applied_max) {
    const ErrorCode code = faults.failure;
    roll_back_();
    group_.reset();
    return planned(code);
  }
  auto result = write();
  if (result) ++applied_;
  if (!result && ends_group(result.error().code)) group_.reset();
  return result;
}

Result<Committed> FaultyStore::apply(task::Change& change, TaskRow& row) {
  return writing([&] { return tasks_.apply(change, row); });
}

Result<void> FaultyStore::entitle(const task::ContextRef& context, const std::string& title) {
  return writing([&] { return tasks_.entitle(context, title); });
}

Result<void> FaultyStore::record(const DeliveryResult& result) {
  return writing([&] { return deliveries_.record(result); });
}

Result<void> FaultyStore::write(const OperatorWrite& write) {
  return writing([&] { return operators_.write(write); });
}

Result<std::vector<Removed>> FaultyStore::remove(const Removal& removal) {
  return writing([&] { return retention_->remove(removal); });
}

Result<bool> FaultyStore::tidy(std::int64_t spare_pages) {
  return writing([&] { return retention_->tidy(spare_pages); });
}

Result<void> FaultyStore::commit() {
  const GroupFaults faults = group();
  group_.reset();
  if (faults.commit_fails) roll_back_();
  if (faults.before_commit) faults.before_commit();
  if (faults.commit_fails) return planned(faults.commit_failure);
  auto committed = tasks_.commit();
  if (committed && faults.after_commit) faults.after_commit();
  return committed;
}

Result<void> FaultyStore::flush() {
  const FlushFaults faults = plan_.flush(++flushes_);
  if (faults.before) faults.before();
  if (faults.fails && !faults.happens_all_the_same) return planned(ErrorCode::unavailable);
  auto flushed = tasks_.flush();
  if (faults.fails) return planned(ErrorCode::unavailable);
  return flushed;
}

}  // namespace baton::store

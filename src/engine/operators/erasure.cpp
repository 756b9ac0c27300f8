#include "engine/operators/erasure.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/error_names.h"
#include "base/text.h"

namespace baton::engine {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

constexpr int kErasurePage = 1'000;
constexpr int kErasedMax = 1'000'000;

// Whether the task is the hidden mark of a schedule, which records since when it runs. A mark has no content,
// and never a turn.
bool is_mark(const task::TaskHead& head) {
  return head.hidden && head.state == task::State::submitted && head.turn_state == task::TurnState::none;
}

// Sorts by depth, not by key: nodes that share a store take keys in blocks, so a child may have a lower key
// than its parent.
std::vector<store::Removal::One> children_first(const std::vector<task::TaskHead>& heads) {
  std::unordered_map<task::TaskKey, task::TaskKey> parents;
  for (const task::TaskHead& head : heads) parents.emplace(head.key, head.parent);
  std::vector<std::pair<int, store::Removal::One>> found;
  for (const task::TaskHead& head : heads) {
    int depth = 0;
    for (auto above = parents.find(head.parent); above != parents.end(); above = parents.find(above->second))
      ++depth;
    found.push_back({depth, {head.key, head.version}});
  }
  std::ranges::stable_sort(found, std::greater(), [](const auto& one) { return one.first; });
  std::vector<store::Removal::One> sorted;
  for (const auto& [depth, one] : found) sorted.push_back(one);
  return sorted;
}

Result<void> check_actor(const Actor& actor) {
  const bool is_said = !actor.name.empty() && !actor.reason.empty() && actor.reason.size() <= kReasonMax;
  if (is_said) return {};
  return fail(ErrorCode::invalid_argument,
              "an actor and a reason of 1 to " + std::to_string(kReasonMax) + " bytes are required");
}

}  // namespace

// An erasure that was requested: its target, its audit row and its callback.
struct Erasure::Order {
  task::TaskKey task;                       // or
  std::optional<task::ContextRef> context;  // or
  std::string caller;
  std::int64_t keys = 0;  // of the caller, that are gone
  task::AuditEntry entry;
  Done done;
};

void Erasure::erase_task(task::TaskKey key, Actor actor, Done done) {
  auto order = std::make_shared<Order>();
  order->task = key;
  order->entry.action = "delete";
  order->entry.task = key;
  open(std::move(order), std::move(actor), std::move(done));
}

void Erasure::erase_context(const task::ContextRef& context, Actor actor, Done done) {
  auto order = std::make_shared<Order>();
  order->context = context;
  order->entry.action = "delete-context";
  order->entry.agent = context.agent;
  order->entry.caller = context.caller;
  order->entry.detail = "context " + context.id.value;
  open(std::move(order), std::move(actor), std::move(done));
}

void Erasure::erase_caller(const std::string& name, Actor actor, Done done) {
  auto order = std::make_shared<Order>();
  order->caller = name;
  order->entry.action = "delete-caller";
  order->entry.caller = {name};
  open(std::move(order), std::move(actor), std::move(done));
}

void Erasure::open(OrderPtr order, Actor actor, Done done) {
  if (auto said = check_actor(actor); !said) return done(fail(std::move(said.error())));
  order->entry.actor = std::move(actor.name);
  order->entry.reason = std::move(actor.reason);
  order->entry.job = actor.job;
  order->done = std::move(done);
  open_.with([&](auto& open) { open.push_back(order); });
  if (order->caller.empty() || keys_ == nullptr) return begin(order);
  // First, so that the caller makes no new tasks meanwhile.
  Actor by{order->entry.actor, order->entry.reason};
  keys_->forget(order->caller, std::move(by), [this, order](const Result<std::int64_t>& keys) {
    if (!keys) return record_nothing(order, fail(keys.error()));
    order->keys = *keys;
    begin(order);
  });
}

void Erasure::begin(const OrderPtr& order) {
  const bool runs = background_.run([this, order] { erase(order); });
  if (!runs) answer(order, fail(ErrorCode::unavailable, "the server is stopping; try again"));
}

void Erasure::answer(const OrderPtr& order, Result<Erased> outcome) {
  if (open_.with([&](auto& open) { return std::erase(open, order); }) == 0) return;
  order->done(std::move(outcome));
}

void Erasure::stop() {
  for (const OrderPtr& order : open_.with([](auto& open) { return std::exchange(open, {}); })) {
    if (order->entry.job) continue;
    order->done(fail(ErrorCode::unavailable,
                     "the server is stopping and may not have deleted everything; try again"));
  }
}

// All tasks to be erased, each once, in no order.
Result<std::vector<task::TaskHead>> Erasure::chosen(const Order& order) const {
  if (order.task) return with_trees({order.task});
  return order.context ? in_context(*order.context) : of_caller(order.caller);
}

Result<std::vector<task::TaskHead>> Erasure::in_context(const task::ContextRef& context) const {
  const auto heads = store_.in_context(context);
  if (!heads) return fail(heads.error());
  std::vector<task::TaskKey> roots;
  for (const task::TaskHead& head : *heads) {
    if (!is_mark(head)) roots.push_back(head.key);
  }
  return with_trees(roots);
}

Result<std::vector<task::TaskHead>> Erasure::with_trees(const std::vector<task::TaskKey>& roots) const {
  std::map<task::TaskKey, task::TaskHead> found;
  for (const task::TaskKey root : roots) {
    if (found.contains(root)) continue;
    auto tree = store_.tree(root, kErasedMax);
    if (!tree) return fail(std::move(tree.error()));
    for (store::TreeMember& member : *tree) found.try_emplace(member.head.key, std::move(member.head));
  }
  std::vector<task::TaskHead> heads;
  for (auto& [key, head] : found) heads.push_back(std::move(head));
  return heads;
}

// Includes all the caller's tenants. Tasks below a task belong to the same caller.
Result<std::vector<task::TaskHead>> Erasure::of_caller(const std::string& name) const {
  std::vector<task::TaskHead> heads;
  for (task::TaskKey after;;) {
    auto page = store_.all_tasks(after, kErasurePage);
    if (!page) return fail(std::move(page.error()));
    if (page->empty()) return heads;
    after = page->back().key;
    for (task::TaskHead& head : *page) {
      if (task::account_of(head.caller) == name && !is_mark(head)) heads.push_back(std::move(head));
    }
  }
}

Result<void> Erasure::check(const std::vector<task::TaskHead>& heads) const {
  std::set<task::TaskKey> keys;
  for (const task::TaskHead& head : heads) keys.insert(head.key);
  std::int64_t unfinished = 0;
  for (const task::TaskHead& head : heads) {
    if (!store::has_ended(head)) ++unfinished;
    if (!head.parent || keys.contains(head.parent)) continue;
    const auto parent = store_.all_tasks({head.parent.value - 1}, 1);
    if (!parent) return fail(parent.error());
    if (!parent->empty() && parent->front().key == head.parent && !store::has_ended(parent->front())) {
      return fail(ErrorCode::conflict, "the task that delegated it has not ended: cancel that task first");
    }
  }
  if (unfinished == 0) return {};
  const std::string many =
      heads.size() == 1 ? "the task has" : base::counted(unfinished, "of the tasks has", "of the tasks have");
  return fail(ErrorCode::conflict, many + " not ended: cancel first");
}

// On a background thread.
void Erasure::erase(const OrderPtr& order) {
  const auto heads = chosen(*order);
  if (!heads) return record_nothing(order, fail(heads.error()));
  if (heads->empty() && order->entry.job) {
    order->entry.detail = "already deleted";
    return record_nothing(order, {});
  }
  if (heads->empty() && order->keys == 0) {
    const bool is_task = static_cast<bool>(order->task);
    return record_nothing(order, fail(is_task ? ErrorCode::task_not_found : ErrorCode::not_found,
                                      is_task ? "task not found" : "no tasks found"));
  }
  if (order->task) {
    const auto head = std::ranges::find(*heads, order->task, &task::TaskHead::key);
    order->entry.agent = head->agent;
    order->entry.caller = head->caller;
    order->entry.id = head->id;
  }
  if (auto checked = check(*heads); !checked) {
    if (order->keys > 0)
      checked.error().for_caller +=
          "; " + base::counted(order->keys, "API key") + " of the caller deleted already";
    return record_nothing(order, checked);
  }
  store::Removal removal{children_first(*heads), true};
  const std::int64_t all = std::ssize(removal.tasks);
  const std::string tasks = std::to_string(all) + (all == 1 ? " task" : " tasks");
  order->entry.detail += (order->entry.detail.empty() ? "" : ", ") + tasks;
  const bool is_of_job = static_cast<bool>(order->entry.job);
  const auto also = [this, order, all, is_of_job](std::int64_t gone) {
    task::AuditEntry entry = order->entry;
    if (is_of_job && gone < all) entry.outcome = base::name_of(ErrorCode::conflict);
    return audit_(entry);
  };
  const auto done = [this, order, all, is_of_job](std::int64_t gone) {
    answer(order, Erased{gone, all - gone, order->keys});
    if (!is_of_job) tidy();
  };
  removals_.run(std::move(removal), also, done, is_of_job ? Removals::Noted::last : Removals::Noted::first);
}

// Records in the audit that nothing was deleted, and why.
void Erasure::record_nothing(const OrderPtr& order, const Result<void>& result) {
  // An item of a job has one outcome, so an error that may pass is not recorded: the job retries.
  if (order->entry.job && !result && base::may_pass(result.error()))
    return answer(order, fail(result.error()));
  if (!result) order->entry.outcome = base::name_of(result.error().code);
  if (!result && order->entry.job) order->entry.detail = result.error().for_caller;
  removals_.run(
      {}, [this, order](std::int64_t) { return audit_(order->entry); },
      [this, order, result](std::int64_t) {
        if (!result) return answer(order, fail(result.error()));
        answer(order, Erased{});
      });
}

}  // namespace baton::engine

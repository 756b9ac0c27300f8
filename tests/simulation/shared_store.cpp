#include "shared_store.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "world.h"

namespace baton::simulation {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

namespace {

constexpr int kAll = std::numeric_limits<int>::max();
// A session that holds a row for longer is ended.
constexpr Time kHeldAtMost = milliseconds(500);

tl::unexpected<base::Error> not_now(const char* why) {
  return fail(ErrorCode::unavailable, "the store is temporarily unavailable; try again", why);
}

void show(Time now, store::NodeId node, store::NodeId owner, const task::TaskHead& head) {
  const std::chrono::duration<double> time = now;
  std::puts(fmt::format("{} node {} task {} event {} {} turn {} attempt {} state {} owner {}", time.count(),
                        node.value, head.key.value, head.last_event.value, name_of(head.state),
                        head.turn.value, head.attempt, static_cast<int>(head.turn_state), owner.value)
                .c_str());
}

}  // namespace

SharedStore::SharedStore(World& world, store::MemoryStore& store, Model& model)
    : world_(world), memory_(store), model_(model), watched_(store, model) {}

void SharedStore::set_outage(bool lasts) {
  if (has_outage_ == lasts) return;
  has_outage_ = lasts;
  up_since_ = world_.fibers.now();
  if (!lasts) world_.fibers.wake_all(up_again_);
}

void SharedStore::take_time() const {
  Fibers& fibers = world_.fibers;
  if (fibers.current() == nullptr || fibers.process() == 0) return;  // the simulation's own look
  if (world_.random.chance(world_.features.slow_reads)) fibers.sleep(milliseconds(world_.random.below(20)));
  while (has_outage_) fibers.wait(up_again_);
}

void SharedStore::acquire(NodeView& view) {
  Fibers& fibers = world_.fibers;
  const Time since = fibers.now();
  while (holder_ != nullptr) {
    const bool is_faster = world_.random.chance(world_.calm() ? 5 : world_.features.races);
    if (is_faster || fibers.now() - since > kHeldAtMost) {
      SOMETIMES(group_lost_its_race);
      break_off_group();
    } else {
      fibers.wait(free_, fibers.now() + milliseconds(20));
    }
  }
  holder_ = &view;
}

void SharedStore::release() {
  holder_ = nullptr;
  world_.fibers.wake_all(free_);
}

void SharedStore::break_off_group() {
  if (holder_ == nullptr) return;
  holder_->was_broken_off_ = true;
  holder_->roll_back();
}

void SharedStore::gone(int process) {
  if (holder_ != nullptr && holder_->process_ == process) holder_->roll_back();
  std::erase_if(peers, [&](const auto& one) {
    const auto row = nodes.find(one.first);
    return row == nodes.end() || row->second.process == process;
  });
}

void SharedStore::commit(NodeView& view) {
  const auto quiet = world_.fibers.quiet();
  if (is_dead(view.node_)) {
    world_.fibers.fail("node " + std::to_string(view.node_.value) + " is dead, and has stored something");
  }
  static_cast<void>(watched_.commit());
  static_cast<void>(watched_.flush());
  send_from(view.node_, false);
  static const bool tells = std::getenv("SIMULATION_COMMITS") != nullptr;
  for (const auto& [task, written] : view.written_) {
    const task::TaskHead& head = model_.task({task}).head();
    if (tells) show(world_.fibers.now(), view.node_, written.owner, head);
    const auto owner = owners_.find(task);
    const bool is_others = owner != owners_.end() && owner->second != view.node_ && !is_dead(owner->second);
    if (written.breaks_off && is_others && !model_.was_requeued({task}))
      world_.fibers.fail("the turn of task " + std::to_string(task) + " was taken from a node that lives");
    owners_.erase(task);
    if (written.owner) owners_[task] = written.owner;
  }
}

void SharedStore::send_from(store::NodeId node, bool of_dead) {
  const auto due = memory_.due_deliveries(base::Timestamp::max(), kAll);
  for (const store::Delivery& delivery : *due) {
    store::NodeId& sender = senders_[delivery.key.value];
    if (!sender || (of_dead && is_dead(sender))) sender = node;
  }
}

store::NodeId SharedStore::enter(int process) {
  const auto quiet = world_.fibers.quiet();
  const store::NodeId node{++last_node_};
  std::erase_if(nodes, [](const auto& one) { return one.second.has_left; });
  NodeRow row;
  row.process = process;
  row.started = world_.clock.now();
  row.lease_until = world_.fibers.now() + kLease;
  row.knows = node.value;
  nodes.emplace(node.value, std::move(row));
  break_off_group();
  NodeView view(*this, node, process);
  send_from(node, true);
  adopt_in(view, nullptr);
  return node;
}

bool SharedStore::may_adopt(const task::TaskHead& head, store::NodeId by,
                            const std::vector<store::NodeAgent>* agents) const {
  const auto owner = owners_.find(head.key.value);
  if (owner != owners_.end() && nodes.contains(owner->second.value)) return false;
  if (agents == nullptr) return !has_others(by);
  return std::ranges::count(*agents, head.agent, &store::NodeAgent::name) > 0;
}

// Runs as one statement: the callers hold a Quiet.
std::vector<task::TaskKey> SharedStore::adopt_in(NodeView& view,
                                                 const std::vector<store::NodeAgent>* agents) {
  std::vector<task::TaskKey> adopted;
  const auto open = memory_.open_tasks(store::TaskStore::Open::unfinished, {}, kAll);
  for (const task::TaskHead& head : *open) {
    if (may_adopt(head, view.node_, agents)) adopted.push_back(head.key);
  }
  if (!has_others(view.node_)) {  // nobody else has them in memory
    for (const task::TaskKey key : adopted) owners_[key.value] = view.node_;
    return adopted;
  }
  for (const task::TaskKey key : adopted) {
    store::TaskRow row = *memory_.row(key);
    task::Change change;
    change.task = key;
    change.turn.emplace();
    const auto raised = watched_.apply(change, row);
    if (!raised) world_.fibers.fail("a task cannot be taken over: " + raised.error().for_caller);
    view.written_[key.value] = {row.head.version, row.head.last_event, view.node_, false};
  }
  commit(view);
  return adopted;
}

std::vector<task::TaskKey> SharedStore::adopt(store::NodeId by, const std::vector<store::NodeAgent>* agents) {
  if (is_dead(by)) return {};
  const auto quiet = world_.fibers.quiet();
  const auto open = memory_.open_tasks(store::TaskStore::Open::unfinished, {}, kAll);
  if (std::ranges::none_of(*open, [&](const auto& head) { return may_adopt(head, by, agents); })) return {};
  break_off_group();
  NodeView view(*this, by, nodes.at(by.value).process);
  return adopt_in(view, agents);
}

std::optional<std::vector<task::TaskKey>> SharedStore::take_over(
    store::NodeId by, store::NodeId dead, Time lease, const std::vector<store::NodeAgent>* agents) {
  const auto quiet = world_.fibers.quiet();
  const auto row = nodes.find(dead.value);
  if (is_dead(by) || row == nodes.end() || row->second.lease_until != lease) return std::nullopt;
  nodes.at(by.value).lease_until = world_.fibers.now() + kLease;
  world_.fibers.note(static_cast<std::uint64_t>(dead.value));
  nodes.erase(row);
  // The dead node's open group ended with its session.
  if (holder_ != nullptr && holder_->node_ == dead) break_off_group();
  send_from(by, true);
  return adopt(by, agents);
}

void NodeView::roll_back() {
  if (!is_open_) return;
  const auto quiet = shared_.world_.fibers.quiet();
  shared_.watched_.roll_back();
  end();
}

void NodeView::end() {
  is_open_ = has_lost_ = false;
  written_.clear();
  shared_.release();
}

// Makes the group fail, at once or at its commit.
tl::unexpected<base::Error> NodeView::lose() {
  roll_back();
  return fail(ErrorCode::raced, "another node was faster", "a row has changed");
}

// Opens the group, unless it is open.
base::Result<void> NodeView::begin() {
  const auto check = [this]() -> Result<void> {
    if (is_retired_ || shared_.is_dead(node_)) return not_now("this node is dead");
    if (shared_.has_outage()) return not_now("the database does not answer");
    if (std::exchange(was_broken_off_, false)) return fail(ErrorCode::raced, "another node was faster");
    return {};
  };
  if (auto checked = check(); !checked) {
    roll_back();
    was_broken_off_ = false;
    return checked;
  }
  if (is_open_) return {};
  shared_.acquire(*this);
  if (auto checked = check(); !checked) {
    shared_.release();
    return checked;
  }
  is_open_ = true;
  return {};
}

template <class Write>
auto NodeView::writing(Write&& write) -> decltype(write()) {
  const bool was_open = is_open_;
  if (auto begun = begin(); !begun) return fail(std::move(begun.error()));
  const auto quiet = shared_.world_.fibers.quiet();
  auto result = write();
  if (!result && result.error().code != ErrorCode::raced && !was_open) roll_back();
  return result;
}

store::NodeId NodeView::owner_of(task::TaskKey key) const {
  const auto found = shared_.owners_.find(key.value);
  return found == shared_.owners_.end() ? store::NodeId() : found->second;
}

void NodeView::own(const task::TaskHead& before, const task::TaskHead& after, store::TaskRow& row) {
  if (after.turn_state == task::TurnState::none) {
    row.owner = {};
  } else if (after.turn != before.turn || after.attempt != before.attempt ||
             after.turn_state != before.turn_state) {
    row.owner = node_;
  }
  const bool breaks_off =
      before.turn_state == task::TurnState::running && after.turn_state == task::TurnState::queued;
  const bool did = written_.contains(after.key.value) && written_.at(after.key.value).breaks_off;
  written_[after.key.value] = {after.version, after.last_event, row.owner, breaks_off || did};
}

base::Result<store::Committed> NodeView::apply(task::Change& change, store::TaskRow& row) {
  Random& random = shared_.world_.random;
  return writing([&]() -> Result<store::Committed> {
    bool is_stale = false;
    if (change.task) {
      const auto mine = written_.find(change.task.value);
      if (mine != written_.end()) {
        is_stale = mine->second.version != row.head.version || mine->second.last != row.head.last_event;
      } else {
        const auto now = shared_.memory_.row(change.task);
        is_stale =
            !now || now->head.version != row.head.version || now->head.last_event != row.head.last_event;
      }
    }
    if (is_stale) SOMETIMES(row_out_of_date);
    if (is_stale && random.chance(500)) return lose();
    const task::TaskHead before = row.head;
    auto committed = shared_.watched_.apply(change, row);
    if (!committed) {
      const bool is_there = committed.error().code == ErrorCode::already_exists;
      return is_there && random.chance(200) ? lose() : committed;
    }
    has_lost_ |= is_stale;
    own(before, committed->head, row);
    return committed;
  });
}

base::Result<void> NodeView::commit() {
  if (!is_open_ && !was_broken_off_) {
    // Even an empty group reaches the database.
    if (is_retired_ || shared_.is_dead(node_)) return not_now("this node is dead");
    return shared_.has_outage() ? Result<void>(not_now("the database does not answer")) : Result<void>();
  }
  if (auto begun = begin(); !begun) return begun;
  if (has_lost_) {
    SOMETIMES(commit_lost_its_race);
    return lose();
  }
  shared_.commit(*this);
  end();
  return {};
}

base::Result<void> NodeView::record(const store::DeliveryResult& result) {
  return writing([&] { return shared_.watched_.record(result); });
}

base::Result<void> NodeView::write(const store::OperatorWrite& write) {
  return writing([&] { return shared_.memory_.write(write); });
}

base::Result<std::vector<store::Removed>> NodeView::remove(const store::Removal& removal) {
  return writing([&] { return shared_.watched_.remove(removal); });
}

base::Result<std::vector<task::TaskHead>> NodeView::take_queued(const std::vector<task::AgentName>& agents,
                                                                int most) {
  return writing([&]() -> Result<std::vector<task::TaskHead>> {
    std::vector<task::TaskHead> taken;
    const auto open = shared_.memory_.open_tasks(Open::unfinished, {}, kAll);
    for (const task::TaskHead& head : *open) {
      if (std::ssize(taken) >= most) break;
      const store::NodeId owner = owner_of(head.key);
      const auto node = shared_.nodes.find(owner.value);
      const bool is_alive =
          node != shared_.nodes.end() && node->second.lease_until > shared_.world_.fibers.now();
      const bool may_be = head.turn_state == task::TurnState::queued && !head.parent && head.awaited == 0 &&
                          owner != node_ && is_alive && !written_.contains(head.key.value) &&
                          std::ranges::count(agents, head.agent) > 0;
      if (!may_be) continue;
      store::TaskRow row = *shared_.memory_.row(head.key);
      task::Change change;
      change.task = head.key;
      change.turn.emplace();
      const auto raised = shared_.watched_.apply(change, row);
      if (!raised) return fail(raised.error());
      written_[head.key.value] = {row.head.version, row.head.last_event, node_, false};
      taken.push_back(row.head);
      SOMETIMES(queued_turn_taken);
    }
    return taken;
  });
}

base::Result<std::vector<store::TaskEnd>> NodeView::ends(const std::vector<task::TaskKey>& tasks) const {
  const store::MemoryStore& store = read();
  std::vector<store::TaskEnd> ends;
  const auto quiet = shared_.world_.fibers.quiet();
  for (const task::TaskKey key : tasks) {
    const auto row = store.row(key);
    if (!row) continue;
    const task::TaskHead& head = row->head;
    const std::string answered = task::is_waiting(head.state) ? std::string() : head.ask;
    ends.push_back({key, head.last_event, head.version, owner_of(key), head.cancel_requested, answered});
  }
  return ends;
}

base::Result<store::TaskRow> NodeView::row(task::TaskKey key) const {
  const store::MemoryStore& store = read();
  const auto quiet = shared_.world_.fibers.quiet();
  auto row = store.row(key);
  if (row) row->owner = owner_of(key);
  return row;
}

base::Result<std::vector<task::TaskHead>> NodeView::open_tasks(Open which, task::TaskKey key,
                                                               int limit) const {
  const store::MemoryStore& store = read();
  const auto quiet = shared_.world_.fibers.quiet();
  auto found = store.open_tasks(which, key, which == Open::unfinished ? kAll : limit);
  if (!found || which != Open::unfinished) return found;
  std::erase_if(*found, [&](const task::TaskHead& head) { return owner_of(head.key) != node_; });
  if (std::ssize(*found) > limit) found->resize(static_cast<std::size_t>(limit));
  return found;
}

base::Result<std::vector<store::Delivery>> NodeView::due_deliveries(base::Timestamp now, int limit) const {
  const store::MemoryStore& store = read();
  const auto quiet = shared_.world_.fibers.quiet();
  auto due = store.due_deliveries(now, kAll);
  std::erase_if(*due, [&](const store::Delivery& delivery) {
    const auto sender = shared_.senders_.find(delivery.key.value);
    return sender == shared_.senders_.end() || sender->second != node_;
  });
  if (std::ssize(*due) > limit) due->resize(static_cast<std::size_t>(limit));
  return due;
}

base::Result<std::optional<base::Timestamp>> NodeView::next_due() const {
  const auto due = due_deliveries(base::Timestamp::max(), kAll);
  std::optional<base::Timestamp> next;
  for (const store::Delivery& one : *due) next = next ? std::min(*next, one.due) : one.due;
  return next;
}

}  // namespace baton::simulation

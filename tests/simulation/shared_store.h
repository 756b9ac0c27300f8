// SharedStore: the database that the nodes of a simulation share: one MemoryStore. Each node has a view of it
// that behaves as PostgreSQL would: it knows which node owns a turn, fails a group with `raced` if it was
// decided on outdated rows, and accepts nothing from a node that was declared dead.
//
// The groups of several nodes do not mix. The node with an open group holds the store; the others wait for it
// or, by chance, overtake it, and then its group has lost the race. A commit is durable.
//
// Threads: fibers. No other fiber runs between two statements, except where a comment says so.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "store/peers.h"
#include "watched_store.h"

namespace baton::simulation {

class NodePeers;
class NodeView;
class World;

// How long a node lives without a sign of life, and how soon others notice that its program is gone.
constexpr Time kLease = std::chrono::seconds(5), kGoneAfter = std::chrono::seconds(1);

class SharedStore {
 public:
  // A row of the table of nodes. A node without a row is dead.
  struct NodeRow {
    int process = 0;
    base::Timestamp started{};
    Time lease_until{};
    std::int64_t knows = 0;  // the highest node number it has seen
    bool is_joining = true, has_left = false, is_asked_to_drain = false;
    store::NodeReport report;
    std::vector<store::NodeAgent> agents;
  };

  SharedStore(World& world, store::MemoryStore& store, Model& model);

  // A new node joins. If it is alone, it owns all unfinished tasks that no living node owns.
  store::NodeId enter(int process);
  // Declares `dead` dead, and makes `by` the owner of its tasks with a turn: those of `agents` or, if that is
  // null and `by` is alone, all of them. Returns nullopt if another node was faster.
  std::optional<std::vector<task::TaskKey>> take_over(store::NodeId by, store::NodeId dead, Time lease,
                                                      const std::vector<store::NodeAgent>* agents);
  // Makes `by` the owner of unfinished tasks that no living node owns, and returns them.
  std::vector<task::TaskKey> adopt(store::NodeId by, const std::vector<store::NodeAgent>* agents);

  // During an outage no statement is answered.
  void set_outage(bool lasts);
  bool has_outage() const { return has_outage_; }
  Time up_since() const { return up_since_; }
  // Lets a read take time.
  void take_time() const;

  bool is_dead(store::NodeId node) const { return node && !nodes.contains(node.value); }
  bool has_others(store::NodeId node) const { return nodes.size() > (nodes.contains(node.value) ? 1U : 0U); }
  // The process has ended: rolls back its open group, and removes its peers.
  void gone(int process);

  std::map<std::int64_t, NodeRow> nodes;
  std::map<std::int64_t, NodePeers*> peers;  // of the processes that run
  std::int64_t leader = 0;                   // a node's number; 0: none
  Time leader_until{};

 private:
  friend NodeView;
  // Waits until no other node has a group open, or breaks that group off.
  void acquire(NodeView& view);
  void release();
  void break_off_group();
  void commit(NodeView& view);
  // Makes `node` the sender of due deliveries that have none or, if `of_dead`, have a dead one.
  void send_from(store::NodeId node, bool of_dead);
  bool may_adopt(const task::TaskHead& head, store::NodeId by,
                 const std::vector<store::NodeAgent>* agents) const;
  std::vector<task::TaskKey> adopt_in(NodeView& view, const std::vector<store::NodeAgent>* agents);

  World& world_;
  store::MemoryStore& memory_;
  Model& model_;
  WatchedStore watched_;
  std::map<std::int64_t, store::NodeId> owners_;   // by task
  std::map<std::int64_t, store::NodeId> senders_;  // by delivery that is or was due
  std::int64_t last_node_ = 0;
  NodeView* holder_ = nullptr;
  Fibers::WaitList free_;
  bool has_outage_ = false;
  mutable Fibers::WaitList up_again_;
  Time up_since_{};
};

// One node's view of the store. The engine's thread writes.
class NodeView final : public store::TaskStore,
                       public store::DeliveryStore,
                       public store::OperatorStore,
                       public store::RetentionStore {
 public:
  template <class T>
  using Result = base::Result<T>;
  NodeView(SharedStore& shared, store::NodeId node, int process)
      : shared_(shared), node_(node), process_(process) {}

  // Rolls back the open group.
  void roll_back();
  // Refuses all further writes.
  void retire() { is_retired_ = true; }
  Result<std::vector<task::TaskHead>> take_queued(const std::vector<task::AgentName>& agents, int most);
  Result<std::vector<store::TaskEnd>> ends(const std::vector<task::TaskKey>& tasks) const;

  Result<store::Committed> apply(task::Change& change, store::TaskRow& row) override;
  Result<void> entitle(const task::ContextRef&, const std::string&) override {
    return base::fail(base::ErrorCode::unsupported, "callers give no titles here");
  }
  Result<void> commit() override;
  Result<void> flush() override { return {}; }
  Result<void> record(const store::DeliveryResult& result) override;
  Result<void> write(const store::OperatorWrite& write) override;
  Result<std::vector<store::Removed>> remove(const store::Removal& removal) override;
  Result<bool> tidy(std::int64_t) override { return false; }

  Result<store::TaskRow> row(task::TaskKey key) const override;
  Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key, int limit) const override;
  Result<task::TaskHead> find(const task::TaskRef& ref) const override { return read().find(ref); }
  Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                          std::optional<task::EventNumber> as_of = {}) const override {
    return read().read(key, depth, as_of);
  }
  Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                          int limit) const override {
    return read().events(key, after, limit);
  }
  Result<store::TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override {
    return read().turn_input(key, message);
  }
  Result<store::ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                       task::EventNumber unanswered, int limit) const override {
    return read().context(context, task, unanswered, limit);
  }
  Result<store::Opening> opening(const task::ContextRef& context) const override {
    return read().opening(context);
  }
  Result<std::optional<store::Stop>> stop_after(task::TaskKey key, task::EventNumber number) const override {
    return read().stop_after(key, number);
  }
  Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const override {
    return read().stop_before(key, number);
  }
  Result<store::EarlierSend> earlier_send(const task::SendDigest& digest) const override {
    return read().earlier_send(digest);
  }
  Result<store::ListPage> list(const task::ListFilter& filter) const override { return read().list(filter); }

  Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override;
  Result<std::optional<base::Timestamp>> next_due() const override;
  Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override {
    return read().configs(task);
  }
  Result<Counts> delivery_counts() const override { return read().delivery_counts(); }

  Result<store::TaskPage> page(const store::TaskQuery& query) const override { return read().page(query); }
  Result<store::TaskCount> count(const store::TaskFilter& filter) const override {
    return read().count(filter);
  }
  Result<std::vector<AgentCounts>> counts_by_agent() const override { return read().counts_by_agent(); }
  Result<store::TaskLine> line(task::TaskKey key) const override { return read().line(key); }
  Result<store::DeliveryPage> deliveries(const store::DeliveryFilter& filter, std::int64_t before,
                                         int limit) const override {
    return read().deliveries(filter, before, limit);
  }
  Result<store::DeliveryLine> delivery(store::DeliveryKey key) const override { return read().delivery(key); }
  Result<store::AuditPage> audit(const store::AuditFilter& filter, std::int64_t before,
                                 int limit) const override {
    return read().audit(filter, before, limit);
  }
  Result<std::vector<store::AgentControl>> agent_controls() const override { return read().agent_controls(); }
  Result<std::vector<store::CrashedTurn>> crashed_turns() const override { return read().crashed_turns(); }
  Result<std::vector<store::ApiKey>> api_keys() const override { return read().api_keys(); }
  Result<store::ApiKey> api_key(const std::string& id) const override { return read().api_key(id); }
  Result<std::int64_t> api_keys_state() const override { return read().api_keys_state(); }
  Result<std::vector<store::BulkJob>> bulk_jobs(int limit) const override { return read().bulk_jobs(limit); }
  Result<store::BulkJob> bulk_job(task::BulkJobKey key) const override { return read().bulk_job(key); }
  Result<std::vector<store::BulkItem>> bulk_items(task::BulkJobKey job, task::TaskKey after, int limit,
                                                  bool open) const override {
    return read().bulk_items(job, after, limit, open);
  }

  Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override {
    return read().all_tasks(after, limit);
  }
  Result<task::TaskKey> last_made(base::Timestamp time) const override { return read().last_made(time); }
  Result<std::vector<store::TreeMember>> tree(task::TaskKey root, int most) const override {
    return read().tree(root, most);
  }
  Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override {
    return read().in_context(context);
  }
  bool kept_before() const override { return false; }

 private:
  friend SharedStore;
  const store::MemoryStore& read() const {
    shared_.take_time();
    return shared_.memory_;
  }
  Result<void> begin();
  void end();
  tl::unexpected<base::Error> lose();
  template <class Write>
  auto writing(Write&& write) -> decltype(write());
  store::NodeId owner_of(task::TaskKey key) const;
  void own(const task::TaskHead& before, const task::TaskHead& after, store::TaskRow& row);

  SharedStore& shared_;
  const store::NodeId node_;
  const int process_;
  bool is_retired_ = false;
  bool was_broken_off_ = false;  // the group is gone, which its writer does not know yet
  bool is_open_ = false;
  bool has_lost_ = false;  // the commit will fail
  struct Written {
    task::Version version;
    task::EventNumber last;
    store::NodeId owner;
    bool breaks_off = false;  // of a running turn
  };
  std::map<std::int64_t, Written> written_;  // by task: the changes of the open group
};

}  // namespace baton::simulation

// WatchedStore: reports every write of the store to the model. It stands between the store and its faults.
#pragma once

#include <functional>
#include <utility>

#include "model.h"
#include "store/memory/memory_store.h"
#include "store/retention_store.h"

namespace baton::simulation {

class WatchedStore final : public store::TaskStore,
                           public store::DeliveryStore,
                           public store::RetentionStore {
 public:
  template <class T>
  using Result = base::Result<T>;
  WatchedStore(store::MemoryStore& store, Model& model) : store_(store), model_(model) {}

  Result<store::Committed> apply(task::Change& change, store::TaskRow& row) override {
    const bool reopens = change.reopen;
    auto committed = store_.apply(change, row);
    if (committed) model_.applied(*committed, reopens);
    return committed;
  }
  Result<void> entitle(const task::ContextRef& context, const std::string& title) override {
    return store_.entitle(context, title);
  }
  Result<void> commit() override {
    auto committed = store_.commit();
    model_.committed();
    return committed;
  }
  Result<void> flush() override {
    auto flushed = store_.flush();
    model_.flushed();
    return flushed;
  }
  Result<void> record(const store::DeliveryResult& result) override { return store_.record(result); }
  store::OperatorStore& operators() { return store_; }
  Result<std::vector<store::Removed>> remove(const store::Removal& removal) override {
    auto removed = store_.remove(removal);
    if (!removed) return removed;
    for (const store::Removed& one : *removed) {
      store::DeliveryFilter waiting{store::DeliveryFilter::State::waiting, one.task, {}, {}};
      model_.removed(one.task, removal.erases, !store_.deliveries(waiting, 0, 1)->lines.empty());
    }
    return removed;
  }
  Result<bool> tidy(std::int64_t spare_pages) override { return store_.tidy(spare_pages); }
  Result<std::vector<task::TaskHead>> all_tasks(task::TaskKey after, int limit) const override {
    return store_.all_tasks(after, limit);
  }
  Result<task::TaskKey> last_made(base::Timestamp time) const override { return store_.last_made(time); }
  Result<std::vector<store::TreeMember>> tree(task::TaskKey root, int most) const override {
    return store_.tree(root, most);
  }
  Result<std::vector<task::TaskHead>> in_context(const task::ContextRef& context) const override {
    return store_.in_context(context);
  }
  bool kept_before() const override { return store_.kept_before(); }
  void roll_back() {
    store_.roll_back();
    model_.rolled_back();
  }

  Result<store::TaskRow> row(task::TaskKey key) const override { return store_.row(key); }
  Result<task::TaskHead> find(const task::TaskRef& ref) const override { return store_.find(ref); }
  Result<task::Task> read(task::TaskKey key, const task::Depth& depth,
                          std::optional<task::EventNumber> as_of = {}) const override {
    return store_.read(key, depth, as_of);
  }
  Result<std::vector<task::Event>> events(task::TaskKey key, task::EventNumber after,
                                          int limit) const override {
    return store_.events(key, after, limit);
  }
  Result<store::TurnInput> turn_input(task::TaskKey key, task::EventNumber message) const override {
    return store_.turn_input(key, message);
  }
  Result<store::ContextRecord> context(task::ContextKey context, task::TaskKey task,
                                       task::EventNumber unanswered, int limit) const override {
    return store_.context(context, task, unanswered, limit);
  }
  Result<store::Opening> opening(const task::ContextRef& context) const override {
    return store_.opening(context);
  }
  Result<std::optional<store::Stop>> stop_after(task::TaskKey key, task::EventNumber number) const override {
    return store_.stop_after(key, number);
  }
  Result<task::EventNumber> stop_before(task::TaskKey key, task::EventNumber number) const override {
    return store_.stop_before(key, number);
  }
  Result<store::EarlierSend> earlier_send(const task::SendDigest& digest) const override {
    return store_.earlier_send(digest);
  }
  Result<store::ListPage> list(const task::ListFilter& filter) const override { return store_.list(filter); }
  Result<std::vector<task::TaskHead>> open_tasks(Open which, task::TaskKey key, int limit) const override {
    return store_.open_tasks(which, key, limit);
  }
  Result<std::vector<store::Delivery>> due_deliveries(base::Timestamp now, int limit) const override {
    return store_.due_deliveries(now, limit);
  }
  Result<std::optional<base::Timestamp>> next_due() const override { return store_.next_due(); }
  Result<std::vector<task::PushConfig>> configs(task::TaskKey task) const override {
    return store_.configs(task);
  }
  Result<Counts> delivery_counts() const override { return store_.delivery_counts(); }

 private:
  store::MemoryStore& store_;
  Model& model_;
};

}  // namespace baton::simulation

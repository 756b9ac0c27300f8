// Picture: all answers of a store as text, for comparing two stores. It leaves out keys that stores choose
// freely (of contexts, configs and deliveries), and sorts results that have no order.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "contract/store_bench.h"
#include "store/event_codec.h"

namespace baton::test {

class Picture {
 public:
  // Describes the answers of `bench` about these tasks. Their context keys must be those of `bench`.
  Picture(const StoreBench& bench, std::vector<task::TaskHead> heads)
      : tasks_(*bench.tasks),
        deliveries_(*bench.deliveries),
        now_(bench.clock.now()),
        heads_(std::move(heads)) {}

  std::string whole() {
    for (const task::TaskHead& head : heads_) task(head);
    task::TaskHead unknown;
    unknown.key = {9'999};
    unknown.context_key = {9'999};
    unknown.id = {"unknown"};
    task(unknown);
    sends();
    lists();
    open_tasks();
    deliveries();
    return out_.str();
  }

  std::string of(const store::Committed& committed) {
    put("committed", committed.deliveries, committed.new_context);
    add(committed.head);
    for (const task::EventPtr& event : committed.events) add(*event);
    return out_.str();
  }

 private:
  template <class... Some>
  void put(const Some&... some) {
    ((out_ << some << ' '), ...) << '\n';
  }
  // Writes the error's code and returns true if `result` is an error.
  template <class T>
  bool failed(const char* what, const base::Result<T>& result) {
    if (!result) put(what, "fails with", static_cast<int>(result.error().code));
    return !result;
  }

  void add(const task::TaskHead& head) {
    put("head", head.key.value, head.id.value, head.agent.value, head.caller.value, head.context.value,
        head.parent.value, head.version.value, static_cast<int>(head.origin), task::name_of(head.state),
        base::to_ms(head.status_at), head.status_event.value, head.last_event.value, head.turn.value,
        static_cast<int>(head.turn_state), head.attempt, head.turn_message.value, head.waiting_messages,
        head.cancel_requested, head.ask, head.artifact_count, head.message_count, head.bytes, head.hidden,
        head.awaited, head.waits.open_max, head.waits.on_failure,
        base::to_ms(head.waits.until.value_or(base::Timestamp())), head.child_failed);
  }
  void add(const task::Event& event) {
    put("event", event.number.value, base::to_ms(event.at), event.body.index(),
        store::codec::encode(event.body));
  }
  void add(const std::vector<task::Message>& messages) {
    put("messages", store::codec::encode_messages(messages));
  }
  void add(const task::Task& task) {
    put("task", task.id.value, task.context.value, task.metadata.text, static_cast<int>(task.origin),
        task.last_event.value, task.hidden);
    put(store::codec::encode(task::StatusChanged{task.status, {}, {}}));
    for (const task::Artifact& artifact : task.artifacts) {
      put(store::codec::encode(task::ArtifactChunk{artifact, false, false}), artifact.in_status);
    }
    add(task.history);
  }
  void add(const task::PushConfig& config) {
    put("config", config.id.value, config.url, config.schemes.size(), static_cast<int>(config.version),
        config.last_error);
  }

  void task(const task::TaskHead& head) {
    const auto row = tasks_.row(head.key);
    if (!failed("row", row)) {
      add(row->head);
      put("created", base::to_ms(row->head.created));
      for (const task::EventNumber waiting : row->waiting) put("waits", waiting.value);
    }
    const auto found = tasks_.find({head.caller, head.agent, head.id});
    if (!failed("find", found)) add(*found);
    const std::int64_t last = row ? row->head.last_event.value : 1;
    for (std::int64_t number = 0; number <= last + 1; ++number) at_event(head.key, {number}, last);
    reads(head.key, {});
    const auto whole = tasks_.read(head.key, {std::nullopt, true, 300});
    if (!failed("bounded read", whole)) add(*whole);
    for (const std::int64_t unanswered : {std::int64_t{0}, last / 2, last + 1}) {
      context(head, {unanswered}, 1'000);
      context(head, {unanswered}, 3);
    }
    configs(head.key);
  }

  void at_event(task::TaskKey key, task::EventNumber number, std::int64_t last) {
    reads(key, number);
    const auto input = tasks_.turn_input(key, number);
    if (!failed("input", input)) {
      const task::RequestData& request = input->request;
      put("input", input->task_metadata.text, request.metadata.text, request.tools.text,
          request.client_state.text, request.extensions.size(), request.trace, request.history.has_value());
      add({input->message});
      if (request.history) add(*request.history);
    }
    const auto after = tasks_.stop_after(key, number);
    if (!failed("stop", after) && *after)
      put("stops", task::name_of((*after)->state), (*after)->number.value);
    put("stopped", tasks_.stop_before(key, number).value().value);
    if (number.value % 3 == 0) events(key, number, number.value == 0 ? static_cast<int>(last) : 2);
  }

  void reads(task::TaskKey key, std::optional<task::EventNumber> as_of) {
    const auto read = tasks_.read(key, {as_of ? std::optional(2) : std::nullopt, true}, as_of);
    if (!failed("read", read)) add(*read);
  }

  void events(task::TaskKey key, task::EventNumber after, int limit) {
    const auto events = tasks_.events(key, after, limit);
    if (failed("events", events)) return;
    for (const task::Event& event : *events) add(event);
  }

  void context(const task::TaskHead& head, task::EventNumber unanswered, int limit) {
    auto record = tasks_.context(head.context_key, head.key, unanswered, limit);
    if (failed("context", record)) return;
    add(record->said);
    std::ranges::sort(record->call_ids);
    const auto doubles = std::ranges::unique(record->call_ids);
    record->call_ids.erase(doubles.begin(), doubles.end());
    for (const std::string& id : record->call_ids) put("call", id);
  }

  void configs(task::TaskKey key) {
    const auto configs = deliveries_.configs(key);
    if (failed("configs", configs)) return;
    for (const task::PushConfig& config : *configs) add(config);
  }

  void sends() {
    for (std::uint64_t i = 0; i <= 5; ++i) {
      const auto send = tasks_.earlier_send({i, 7});
      if (!failed("send", send)) put("send", send->task.value, send->before.value);
    }
  }

  void lists() {
    for (const char* caller : {"ann",
                               "tenant\x1f"
                               "ann",
                               "bob", "nobody"}) {
      for (const char* agent : {"agent0", "agent1"}) {
        task::ListFilter filter;
        filter.caller = {caller};
        filter.agent = {agent};
        filter.limit = 2;
        pages(filter);
        filter.state = task::State::submitted;
        pages(filter);
        filter.status_since = base::from_ms(1'699'999'999'500);
        pages(filter);
        filter.state.reset();
        pages(filter);
        if (heads_.empty()) continue;
        filter.context = heads_.back().context;
        pages(filter);
        filter.status_since.reset();
        filter.context = heads_.front().context;
        pages(filter);
      }
    }
  }

  void pages(task::ListFilter filter) {
    for (int i = 0; i < 100; ++i) {
      const auto page = tasks_.list(filter);
      if (failed("list", page)) return;
      put("page of", page->total);
      for (const task::TaskHead& head : page->heads) add(head);
      if (page->heads.empty()) return;
      filter.after = task::ListPosition{page->heads.back().status_at, page->heads.back().id};
    }
  }

  void open_tasks() {
    using Open = store::TaskStore::Open;
    for (const Open which : {Open::unfinished, Open::children, Open::orphans}) {
      for (std::int64_t key = 0; key <= std::ssize(heads_); ++key) {
        for (const int limit : {100, 1}) {
          const auto found = tasks_.open_tasks(which, {key}, limit);
          if (failed("open", found)) continue;
          put("open", static_cast<int>(which), key, limit);
          for (const task::TaskHead& head : *found) add(head);
        }
      }
    }
  }

  void deliveries() {
    for (const int limit : {100, 3, 2, 1, 0}) {
      for (const base::Timestamp now : {now_, now_ - base::Duration(300), now_ + base::Duration(300)}) {
        const auto due = deliveries_.due_deliveries(now, limit);
        if (failed("due", due)) continue;
        put("due", limit);
        for (const store::Delivery& delivery : *due) {
          put(delivery.task.value, delivery.event.value, delivery.attempts, base::to_ms(delivery.created_at),
              base::to_ms(delivery.due), delivery.trace);
          add(delivery.config);
        }
      }
    }
    const auto next = deliveries_.next_due();
    if (!failed("next", next)) put("next", *next ? base::to_ms(**next) : 0);
    const auto counts = deliveries_.delivery_counts();
    if (!failed("counts", counts)) put("counts", counts->waiting, counts->given_up);
  }

  const store::TaskStore& tasks_;
  const store::DeliveryStore& deliveries_;
  const base::Timestamp now_;
  const std::vector<task::TaskHead> heads_;
  std::ostringstream out_;
};

}  // namespace baton::test

// StoreBench: a store in a folder of its own, and short ways to say what tests do with it.
#pragma once

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "store/sqlite/sqlite_store.h"
#include "support/manual_clock.h"
#include "support/patience.h"
#include "support/temp_folder.h"

namespace baton::test {

// Waits for a callback, with a bound: a store that forgets one fails the test instead of hanging it.
template <class T>
T await(std::future<T> future) {
  REQUIRE(future.wait_for(patience()) == std::future_status::ready);
  return future.get();
}

// For what must have worked.
template <class T>
void succeed(const base::Result<T>& result) {
  if (!result) FAIL(result.error().for_caller, " / ", result.error().for_log);
}

inline task::Message message(task::Role role, const std::string& id, const std::string& text) {
  task::Message said;
  said.id = {id};
  said.role = role;
  said.parts.push_back(task::Part::of_text(text));
  return said;
}
inline task::MessageAdded user(const std::string& id, const std::string& text = "hello") {
  return {message(task::Role::user, id, text)};
}
inline task::StatusChanged status(task::State state, std::optional<task::Message> said = {}) {
  return {{state, std::move(said), {}}, {}};
}
inline task::TextDelta delta(const std::string& reply, const std::string& text) {
  return {{reply}, 0, text, false, false};
}
inline task::ArtifactChunk chunk(const std::string& id, const std::string& text, bool append) {
  task::ArtifactChunk made;
  made.artifact.id = {id};
  made.artifact.parts.push_back(task::Part::of_text(text));
  made.append = append;
  return made;
}
inline std::vector<std::string> texts(const std::vector<task::Message>& messages) {
  std::vector<std::string> found;
  for (const task::Message& said : messages) found.push_back(task::text_of(said));
  return found;
}
inline std::vector<std::string> texts(const task::Artifact& artifact) {
  std::vector<std::string> found;
  for (const task::Part& part : artifact.parts) found.push_back(part.content);
  return found;
}
using Texts = std::vector<std::string>;

class StoreBench {
 public:
  StoreBench() { open(); }

  void open() {
    store::SqliteOptions options = settings;
    options.path = path();
    options.checks_references = true;
    // The same must hold whether new tasks are answered from memory or, as old ones are, from the disk.
    // Likewise earlier sends.
    if (std::getenv("BATON_TEST_FROM_DISK") != nullptr) {
      options.recent_bytes_max = 0;
      options.send_slice_max = 2;
    }
    // And whether a task's log is read whole or by its index rows, or begins to be in the middle.
    if (const char* events = std::getenv("BATON_TEST_SHORT_EVENTS")) {
      options.short_events_max = std::atoi(events);
    }
    auto opened = store::SqliteStore::open(options, clock);
    succeed(opened);
    store = std::move(*opened);
  }
  void close() { store.reset(); }
  void reopen() {
    close();
    open();
  }
  std::string path() const { return (folder.path() / "test.db").string(); }

  base::Result<store::Committed> commit(task::Change change) {
    auto promise = std::make_shared<std::promise<base::Result<store::Committed>>>();
    auto future = promise->get_future();
    store->commit(std::move(change), [promise](auto result) { promise->set_value(std::move(result)); });
    return await(std::move(future));
  }

  // For what must succeed.
  store::Committed must(task::Change change) {
    auto result = commit(std::move(change));
    succeed(result);
    return std::move(*result);
  }
  store::Committed must(const task::TaskHead& head, std::vector<task::EventBody> events) {
    return must(change(head, std::move(events)));
  }

  static task::Change change(const task::TaskHead& head, std::vector<task::EventBody> events) {
    task::Change made;
    made.task = head.key;
    made.events = std::move(events);
    return made;
  }

  static task::Change creation(const std::string& id, std::vector<task::EventBody> events,
                               const std::string& context = "c1") {
    task::Change made;
    made.create.emplace();
    made.create->id = {id};
    made.create->agent = {"echo"};
    made.create->caller = {"ann"};
    made.create->context = {context};
    made.events = std::move(events);
    return made;
  }
  // A submitted task with one message: events 1 and 2.
  task::TaskHead create(const std::string& id, const std::string& context = "c1") {
    return must(creation(id, {status(task::State::submitted), user("m-" + id)}, context)).head;
  }

  base::Result<task::PushConfig> set_push(task::TaskKey key, task::PushConfig config, int configs_max) {
    auto promise = std::make_shared<std::promise<base::Result<task::PushConfig>>>();
    auto future = promise->get_future();
    store->set_push(key, std::move(config), configs_max,
                    [promise](auto result) { promise->set_value(std::move(result)); });
    return await(std::move(future));
  }
  base::Result<void> record(store::DeliveryResult outcome) {
    auto promise = std::make_shared<std::promise<base::Result<void>>>();
    auto future = promise->get_future();
    store->record(std::move(outcome), [promise](auto result) { promise->set_value(std::move(result)); });
    return await(std::move(future));
  }

  // What `read` gives, which must succeed.
  task::Task read(const task::TaskHead& head, std::optional<int> history = std::nullopt,
                  std::optional<std::int64_t> as_of = {}) {
    std::optional<task::EventNumber> number;
    if (as_of) number = task::EventNumber{*as_of};
    auto task = store->read(head.key, {history, true}, number);
    succeed(task);
    return std::move(*task);
  }
  std::vector<task::Event> log(const task::TaskHead& head) {
    auto events = store->events(head.key, {}, 1'000'000);
    REQUIRE(events.has_value());
    return std::move(*events);
  }

  const TempFolder folder;
  ManualClock clock;
  store::SqliteOptions settings;
  std::unique_ptr<store::SqliteStore> store;
};

// Whether the log's numbers are 1, 2, 3, ...
inline bool consecutive(const std::vector<task::Event>& events) {
  std::int64_t expected = 0;
  for (const task::Event& event : events) {
    if (event.number.value != ++expected) return false;
  }
  return true;
}

}  // namespace baton::test

// Operators' actions on API keys: what is stored, told and audited.
#include <doctest/doctest.h>

#include <algorithm>
#include <future>
#include <set>
#include <thread>

#include "support/engine_bench.h"
#include "support/fake_peers.h"
#include "support/patience.h"

namespace api_keys_test {

using namespace baton;
using base::ErrorCode;
using namespace std::chrono_literals;
using test::EngineBench;

namespace {

store::ApiKey new_key(const std::string& id, const std::string& caller = "ann") {
  store::ApiKey key;
  key.id = id;
  key.digest = "digest-of-" + id;
  key.caller = caller;
  key.role = "caller";
  key.scopes = "read";
  return key;
}

// Blocks until the action is done.
template <class Act>
base::Result<store::ApiKey> await(Act&& act) {
  std::promise<base::Result<store::ApiKey>> done;
  act([&](base::Result<store::ApiKey> key) { done.set_value(std::move(key)); });
  return done.get_future().get();
}

base::Result<store::ApiKey> create(EngineBench& bench, store::ApiKey key, const std::string& reason = "new") {
  return await([&](auto done) { bench.engine().api_keys().create(std::move(key), {"otto", reason}, done); });
}

std::vector<std::string> audited(EngineBench& bench) {
  std::vector<std::string> lines;
  const auto page = bench.store().audit({}, 0, 100);
  REQUIRE(page);
  for (const store::AuditLine& line : page->lines) {
    const task::AuditEntry& entry = line.entry;
    lines.push_back(entry.action + "|" + entry.caller.value + "|" + entry.detail + "|" + entry.outcome);
  }
  return lines;
}

// The ids that the keys' user got last.
struct Taker {
  base::Guarded<std::set<std::string>> ids;
  std::atomic<int> times{0};

  engine::ApiKeys::Took took() {
    return [this](const engine::ApiKeys::Keys& keys) {
      ids.with([&](auto& now) {
        now.clear();
        for (const store::ApiKey& key : keys) now.insert(key.id);
      });
      ++times;
    };
  }
  bool has(const std::string& id) const {
    return ids.with([&](const auto& now) { return now.contains(id); });
  }
};

}  // namespace

TEST_CASE("API keys: an action is done once the key's users know, and is in the audit, as is a refusal") {
  EngineBench bench;
  Taker taker;
  CHECK(create(bench, new_key("none")).error().code == ErrorCode::conflict);  // keys are off
  bench.engine().api_keys().set_took(taker.took());
  const auto made = create(bench, new_key("first"));
  REQUIRE(made);
  CHECK(made->by == "otto");
  CHECK(taker.has("first"));
  CHECK(create(bench, new_key("bad"), "").error().code == ErrorCode::invalid_argument);

  auto& keys = bench.engine().api_keys();
  const auto rotate = [&](const std::string& old, const std::string& id, std::chrono::milliseconds overlap) {
    return await([&](auto done) { keys.rotate({old, id, "digest", {}, overlap}, {"otto", "due"}, done); });
  };
  const auto next = rotate("first", "second", 60s);
  REQUIRE(next);
  CHECK(next->caller == "ann");
  CHECK(next->scopes == "read");
  CHECK(!next->expires);
  CHECK(taker.has("second"));
  CHECK(rotate("second", "third", 60s).error().code == ErrorCode::conflict);
  CHECK(rotate("none", "third", 60s).error().code == ErrorCode::not_found);
  const auto revoke = [&](const std::string& id) {
    return await([&](auto done) { keys.revoke(id, {"otto", "leaked"}, done); });
  };
  const auto revoked = revoke("first");
  REQUIRE(revoked);
  CHECK(revoked->revoked);
  CHECK(revoke("first").error().code == ErrorCode::conflict);
  CHECK(audited(bench) == std::vector<std::string>{
                              "revoke-key|ann|key first|conflict",
                              "revoke-key|ann|key first|done",
                              "rotate-key||key none|not_found",
                              "rotate-key|ann|key second by key third|conflict",
                              "rotate-key|ann|key first by key second|done",
                              "create-key|ann|key first, caller|done",
                          });
}

TEST_CASE("API keys: a rotated key lives as long as the old one did, unless the operator says otherwise") {
  EngineBench bench;
  Taker taker;
  bench.engine().api_keys().set_took(taker.took());
  store::ApiKey key = new_key("old");
  key.expires = base::SystemClock().now() + 1h;
  REQUIRE(create(bench, key));
  auto& keys = bench.engine().api_keys();
  const auto next = await([&](auto done) {
    keys.rotate({"old", "new", "digest", {}, 0ms}, {"otto", "due"}, done);
  });
  REQUIRE(next);
  CHECK(*next->expires - next->created > 50min);
  CHECK(*next->expires - next->created <= 1h);
  const auto last = await([&](auto done) {
    keys.rotate({"new", "last", "digest", 5min, 0ms}, {"otto", "due"}, done);
  });
  REQUIRE(last);
  CHECK(*last->expires - last->created == 5min);
}

TEST_CASE("API keys: keys that ended a month ago are removed at the start, and a caller's with its data") {
  EngineBench bench(EngineBench::with_retention());
  Taker taker;
  const auto now = base::SystemClock().now();
  store::ApiKey old = new_key("old"), young = new_key("young"), lasting = new_key("lasting", "bob");
  old.expires = now - engine::ApiKeys::kEndedFor - 1h;
  young.expires = now - 1h;
  for (const store::ApiKey& key : {old, young, lasting}) REQUIRE(bench.store().write(store::NewApiKey{key}));
  REQUIRE(bench.store().commit());
  bench.engine().api_keys().set_took(taker.took());
  REQUIRE(bench.engine().api_keys().start());
  const auto until = std::chrono::steady_clock::now() + test::patience();
  while (taker.has("old") && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  CHECK(!taker.has("old"));
  CHECK(taker.has("young"));
  CHECK(taker.has("lasting"));

  std::promise<base::Result<engine::Erasure::Erased>> erased;
  bench.engine().erasure()->erase_caller("bob", {"otto", "asked to"},
                                         [&](auto gone) { erased.set_value(gone); });
  const auto gone = erased.get_future().get();
  REQUIRE(gone);
  CHECK(gone->tasks == 0);
  CHECK(gone->keys == 1);
  while (taker.has("lasting") && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  CHECK(!taker.has("lasting"));
  CHECK(audited(bench) == std::vector<std::string>{"delete-caller|bob|0 tasks, 1 API key|done"});
}

TEST_CASE("API keys: a node tells the others, and looks at their keys when told or while there are keys") {
  test::FakePeers peers;
  peers.alone = false;
  EngineBench::Options options;
  options.wiring.peers = &peers;
  EngineBench bench(std::move(options));
  Taker taker;
  auto& keys = bench.engine().api_keys();
  keys.set_took(taker.took());
  REQUIRE(keys.start());
  keys.look(true);
  const auto write_elsewhere = [&](const std::string& id) {
    REQUIRE(bench.store().write(store::NewApiKey{new_key(id, "caller of " + id)}));
    REQUIRE(bench.store().commit());
  };
  const auto await_key = [&](const std::string& id) {
    const auto until = std::chrono::steady_clock::now() + test::patience();
    while (!taker.has(id) && std::chrono::steady_clock::now() < until) std::this_thread::yield();
    return taker.has(id);
  };
  const auto notices = [&] {
    const auto told = peers.told();
    return std::ranges::count(told, engine::kApiKeysNotice, &store::Grown::task);
  };
  const int before = taker.times;
  write_elsewhere("first");
  keys.look(false);  // without keys only a notice counts
  CHECK(taker.times == before);
  keys.look(true);
  CHECK(await_key("first"));
  write_elsewhere("second");
  keys.look(false);
  CHECK(await_key("second"));
  peers.alone = true;
  keys.look(false);  // once more, as the last notices may be lost
  write_elsewhere("third");
  const int alone = taker.times;
  keys.look(false);
  CHECK(taker.times == alone);
  CHECK(notices() == 0);
  REQUIRE(create(bench, new_key("own")));
  CHECK(notices() == 1);
}

}  // namespace api_keys_test

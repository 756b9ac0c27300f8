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
  CHECK(audited(bench) ==
        std::vector<std::string>{
            "revoke-key|ann|key first|conflict",
            "revoke-key|ann|key first|done",
            "rotate-key||key none|not_found",
            "rotate-key|ann|key second by key third, caller, scopes read, without end|conflict",
            "rotate-key|ann|key first by key second, caller, scopes read, without end|done",
            "create-key|ann|key first, caller, scopes read, without end|done",
        });
}

TEST_CASE("API keys: a rotated key lives as long as the old one did, unless the operator says otherwise") {
  EngineBench bench;
  Taker taker;
  bench.engine().api_keys().set_took(taker.took());
  store::ApiKey key = new_key("old");
  key.lifetime = 1h;
  key.agents = std::string(300, 'a');
  key.binds_children = true;
  const auto made = create(bench, key);
  REQUIRE(made);
  CHECK(*made->expires - made->created == 1h);
  CHECK(audited(bench)[0] == "create-key|ann|key old, caller, scopes read, agents " + std::string(200, 'a') +
                                 "..., own children, until " + base::to_rfc3339(*made->expires) + "|done");
  auto& keys = bench.engine().api_keys();
  const auto next = await([&](auto done) {
    keys.rotate({"old", "new", "digest", {}, 0ms}, {"otto", "due"}, done);
  });
  REQUIRE(next);
  CHECK(*next->expires - next->created == 1h);
  const auto last = await([&](auto done) {
    keys.rotate({"new", "last", "digest", 5min, 0ms}, {"otto", "due"}, done);
  });
  REQUIRE(last);
  CHECK(*last->expires - last->created == 5min);
  // One that is being replaced has a shorter time left, which is not its lifetime.
  key.id = "other";
  key.caller = "bob";
  REQUIRE(create(bench, key));
  const auto rotate = [&](const std::string& old, const std::string& id, std::chrono::milliseconds overlap) {
    return await([&](auto done) { keys.rotate({old, id, "digest", {}, overlap}, {"otto", "due"}, done); });
  };
  REQUIRE(rotate("other", "other2", 60s));
  const auto again = rotate("other", "other3", 0ms);
  REQUIRE(again);
  CHECK(*again->expires - again->created == 1h);

  engine::ApiKeys::Rotation forbidden{"last", "last2", "digest", {}, 0ms};
  std::string asked;
  forbidden.check = [&](const store::ApiKey& wanted) -> base::Result<void> {
    asked = wanted.scopes;
    return base::fail(ErrorCode::permission_denied, "no");
  };
  const auto refused = await([&](auto done) { keys.rotate(forbidden, {"otto", "due"}, done); });
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(asked == "read");
  CHECK(audited(bench)[0].ends_with("|permission_denied"));
}

TEST_CASE(
    "API keys: an action waits until the keys can be read, not for ever, and what fails is tried again") {
  std::atomic<int> failures{0}, throws{0};
  EngineBench::Options options = EngineBench::with_retention();
  options.engine.disk_retry = 1ms;
  options.faults.api_keys_fail = [&] {
    if (throws > 0 && throws-- > 0) throw std::bad_alloc();
    return failures > 0 && failures-- > 0;
  };
  EngineBench bench(std::move(options));
  Taker taker;
  auto& keys = bench.engine().api_keys();
  keys.set_took(taker.took());
  failures = 3;
  REQUIRE(create(bench, new_key("first")));
  CHECK(failures == 0);
  CHECK(taker.has("first"));
  throws = 2;
  REQUIRE(create(bench, new_key("second")));
  CHECK(taker.has("second"));
  failures = 1'000'000'000;
  const auto revoked = await([&](auto done) { keys.revoke("first", {"otto", "leaked"}, done); });
  CHECK(revoked.error().code == ErrorCode::unavailable);
  CHECK(bench.store().api_key("first")->revoked);
  CHECK(audited(bench)[0] == "revoke-key|ann|key first|done");
  const int before = taker.times;
  failures = 0;  // without another order
  CHECK(test::eventually([&] { return taker.times > before; }));
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
  CHECK(test::eventually([&] { return !taker.has("old"); }));
  CHECK(taker.has("young"));
  CHECK(taker.has("lasting"));

  std::promise<base::Result<engine::Erasure::Erased>> erased;
  bench.engine().erasure()->erase_caller("bob", {"otto", "asked to"},
                                         [&](auto gone) { erased.set_value(gone); });
  const auto gone = erased.get_future().get();
  REQUIRE(gone);
  CHECK(gone->tasks == 0);
  CHECK(gone->keys == 1);
  CHECK(test::eventually([&] { return !taker.has("lasting"); }));
  CHECK(audited(bench) ==
        std::vector<std::string>{"delete-caller|bob|0 tasks|done", "delete-keys|bob|1 API key|done"});
}

TEST_CASE(
    "API keys: those of a caller are gone before its tasks are looked at, and also if these must stay") {
  EngineBench bench(EngineBench::with_retention());
  Taker taker;
  bench.engine().api_keys().set_took(taker.took());
  REQUIRE(create(bench, new_key("key", task::kAnonymous.value)));
  REQUIRE(create(bench, new_key("other")));
  const auto erase = [&](const std::string& caller) {
    std::promise<base::Result<engine::Erasure::Erased>> erased;
    bench.engine().erasure()->erase_caller(caller, {"otto", "asked to"}, [&](auto gone) {
      CHECK(!taker.has("key"));
      erased.set_value(gone);
    });
    return erased.get_future().get();
  };
  const auto accepted = bench.submit(EngineBench::message("x"));
  REQUIRE(accepted);
  const auto refused = erase(task::kAnonymous.value);
  REQUIRE(!refused);
  CHECK(refused.error().code == ErrorCode::conflict);
  CHECK(refused.error().for_caller.find("1 API key") != std::string::npos);
  CHECK(taker.has("other"));
  CHECK(erase("nobody").error().code == ErrorCode::not_found);
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
    return test::eventually([&] { return taker.has(id); });
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

// API keys, on every store.
#include <optional>
#include <set>

#include "contract/store_bench.h"

namespace api_key_store_test {

using namespace baton;
using namespace baton::test;
using base::ErrorCode;
using namespace std::chrono_literals;

namespace {

store::ApiKey key_of(const std::string& caller, const std::string& id) {
  store::ApiKey key;
  key.id = id;
  key.digest = "digest-of-" + id;
  key.caller = caller;
  key.role = "caller";
  key.scopes = "send read";
  key.agents = "echo plan";
  key.binds_children = true;
  key.by = "otto";
  return key;
}

std::optional<ErrorCode> refused(StoreBench& bench, const store::OperatorWrite& write) {
  const auto written = bench.operators->write(write);
  succeed(bench.tasks->commit());
  return written ? std::nullopt : std::optional(written.error().code);
}

void write(StoreBench& bench, const store::OperatorWrite& what) {
  CHECK(!refused(bench, what));
}

store::ApiKey read(const StoreBench& bench, const std::string& id) {
  const auto keys = bench.operators->api_keys();
  succeed(keys);
  for (const store::ApiKey& key : *keys) {
    if (key.id == id) return key;
  }
  return {};
}

Texts ids(const StoreBench& bench) {
  const auto keys = bench.operators->api_keys();
  succeed(keys);
  Texts all;
  for (const store::ApiKey& key : *keys) all.push_back(key.id);
  return all;
}

std::int64_t state(const StoreBench& bench) {
  const auto seen = bench.operators->api_keys_state();
  succeed(seen);
  return *seen;
}

}  // namespace

STORE_TEST_CASE(
    "OperatorStore: an API key is stored as it was given, with its time, and at most two of a caller") {
  CHECK(ids(bench).empty());
  store::ApiKey first = key_of("ann", "first");
  first.expires = bench.clock.now() + 10s;
  first.lifetime = 20s;
  write(bench, store::NewApiKey{first});
  const store::ApiKey stored = read(bench, "first");
  CHECK(stored.digest == first.digest);
  CHECK(stored.caller == "ann");
  CHECK(stored.role == "caller");
  CHECK(stored.scopes == "send read");
  CHECK(stored.agents == "echo plan");
  CHECK(stored.binds_children);
  CHECK(stored.by == "otto");
  CHECK(stored.created == bench.clock.now());
  CHECK(stored.expires == first.expires);
  CHECK(stored.lifetime == first.lifetime);
  CHECK(!stored.revoked);
  CHECK(!stored.used);
  CHECK(refused(bench, store::NewApiKey{first}) == ErrorCode::already_exists);
  bench.clock.advance(1s);
  write(bench, store::NewApiKey{key_of("ann", "second")});
  CHECK(refused(bench, store::NewApiKey{key_of("ann", "third")}) == ErrorCode::conflict);
  write(bench, store::NewApiKey{key_of("bob", "other")});
  CHECK(!read(bench, "other").lifetime);
  CHECK(bench.operators->api_key("other")->caller == "bob");
  CHECK(bench.operators->api_key("none").error().code == ErrorCode::not_found);
  bench.clock.advance(9s);  // `first` expires
  write(bench, store::NewApiKey{key_of("ann", "third")});
  // The limit counts what the open group has already.
  succeed(bench.operators->write(store::RevokedApiKey{"second"}));
  succeed(bench.operators->write(store::NewApiKey{key_of("ann", "fourth")}));
  CHECK(refused(bench, store::NewApiKey{key_of("ann", "fifth")}) == ErrorCode::conflict);
  CHECK(read(bench, "fourth").caller == "ann");
}

STORE_TEST_CASE("OperatorStore: a rotated API key expires later, a revoked one is over") {
  write(bench, store::NewApiKey{key_of("ann", "old")});
  const base::Timestamp until = bench.clock.now() + 60s;
  CHECK(refused(bench, store::NewApiKey{key_of("ann", "new"), "none", until}) == ErrorCode::not_found);
  CHECK(refused(bench, store::NewApiKey{key_of("bob", "new"), "old", until}) == ErrorCode::not_found);
  write(bench, store::NewApiKey{key_of("ann", "new"), "old", until});
  CHECK(read(bench, "old").expires == until);
  CHECK(refused(bench, store::NewApiKey{key_of("ann", "newer"), "new", until}) == ErrorCode::conflict);
  write(bench, store::RevokedApiKey{"old"});
  CHECK(read(bench, "old").revoked == bench.clock.now());
  CHECK(refused(bench, store::RevokedApiKey{"old"}) == ErrorCode::conflict);
  CHECK(refused(bench, store::RevokedApiKey{"none"}) == ErrorCode::not_found);
  CHECK(refused(bench, store::NewApiKey{key_of("ann", "newer"), "old", until}) == ErrorCode::conflict);
  // Without an overlap the old one does not count, and an earlier expiry stays.
  write(bench, store::NewApiKey{key_of("ann", "newer"), "new", bench.clock.now() + 5s});
  write(bench, store::RevokedApiKey{"newer"});
  write(bench, store::NewApiKey{key_of("ann", "newest"), "new", bench.clock.now() + 60s});
  CHECK(read(bench, "new").expires == bench.clock.now() + 5s);
  CHECK(!read(bench, "newest").expires);
  CHECK(!refused(bench, store::NewApiKey{key_of("ann", "last"), "newest", bench.clock.now()}));
}

STORE_TEST_CASE("OperatorStore: the state of API keys changes with each change but that of their use") {
  std::set<std::int64_t> seen{state(bench)};
  const auto is_new = [&] { return seen.insert(state(bench)).second; };
  write(bench, store::NewApiKey{key_of("ann", "a")});
  CHECK(is_new());
  const base::Timestamp first = bench.clock.now() + 60s, later = first + 60s;
  write(bench, store::UsedApiKeys{{{"a", later}, {"none", later}}});
  write(bench, store::UsedApiKeys{{{"a", first}}});
  CHECK(read(bench, "a").used == later);
  CHECK(!is_new());
  bench.clock.advance(1s);
  write(bench, store::NewApiKey{key_of("ann", "b"), "a", bench.clock.now() + 1s});
  CHECK(is_new());
  write(bench, store::RevokedApiKey{"b"});
  CHECK(is_new());
  bench.clock.advance(10s);
  write(bench, store::NewApiKey{key_of("ann", "c")});
  write(bench, store::NewApiKey{key_of("bob", "d")});
  CHECK(is_new());
  write(bench, store::OldApiKeys{bench.clock.now()});
  CHECK(ids(bench) == Texts{"c", "d"});
  CHECK(is_new());
  std::int64_t gone = -1;
  succeed(bench.operators->write(store::NewApiKey{key_of("ann", "e")}));  // in the same group
  write(bench, store::ApiKeysOfCaller{"ann", &gone});
  CHECK(gone == 2);
  write(bench, store::ApiKeysOfCaller{"ann", &gone});
  CHECK(gone == 0);
  CHECK(ids(bench) == Texts{"d"});
  CHECK(is_new());
}

STORE_TEST_CASE("OperatorStore: valid API keys are bounded in all, ended ones for each caller") {
  const auto create = [&](const std::string& caller, const std::string& id) {
    return refused(bench, store::NewApiKey{key_of(caller, id), {}, {}, 2});
  };
  CHECK(!create("ann", "a"));
  CHECK(!create("bob", "b"));
  CHECK(create("cid", "c") == ErrorCode::conflict);
  write(bench, store::RevokedApiKey{"b"});
  CHECK(!create("cid", "c"));
  write(bench, store::RevokedApiKey{"c"});
  for (int i = 1; i < store::kEndedApiKeysPerCaller; ++i) {
    const std::string id = "c" + std::to_string(i);
    succeed(bench.operators->write(store::NewApiKey{key_of("cid", id)}));
    write(bench, store::RevokedApiKey{id});
  }
  CHECK(create("cid", "last") == ErrorCode::conflict);
  CHECK(!create("dan", "d"));
}

}  // namespace api_key_store_test

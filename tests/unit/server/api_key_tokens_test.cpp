#include "server/admission/api_key_tokens.h"

#include <doctest/doctest.h>

#include <set>

#include "base/api_key_text.h"
#include "server/admission/access.h"
#include "support/manual_clock.h"

namespace api_key_tokens_test {

using namespace baton;
using namespace std::chrono_literals;
using base::ErrorCode;

namespace {

const base::Timestamp kNow(1'700'000'000'000ms);

store::ApiKey row_of(const base::MadeApiKey& made, const std::string& caller) {
  store::ApiKey key;
  key.id = made.id;
  key.digest = made.digest;
  key.caller = caller;
  key.role = "caller";
  key.scopes = "send read";
  return key;
}

http::Request request_with(const std::string& name, const std::string& value) {
  http::Request request;
  request.headers = {{name, value}};
  return request;
}

}  // namespace

TEST_CASE("API keys: a key is its caller's with its rights, until it is revoked or expires") {
  test::ManualClock clock;
  server::ApiKeyTokens keys(clock);
  const auto made = base::make_api_key(), other = base::make_api_key(), odd = base::make_api_key();
  CHECK(!keys.find(made.text).token);
  store::ApiKey row = row_of(made, "ann"), strange = row_of(odd, "ann");
  row.agents = "echo plan";
  row.binds_children = true;
  row.expires = kNow + 10s;
  strange.role = "emperor";
  keys.set({row, row_of(other, "bob"), strange});
  const auto found = keys.find(made.text);
  REQUIRE(found.token);
  CHECK(found.token->caller.value == "ann");
  CHECK(found.token->agents == std::vector<std::string>{"echo", "plan"});
  CHECK(found.token->binds_children);
  CHECK(found.token->role == server::Role::calls);
  CHECK(found.token->scopes.has(server::Scope::read));
  CHECK(!found.token->scopes.has(server::Scope::cancel));
  CHECK(found.token->secret.empty());  // so it signs no page tokens
  CHECK(!keys.find(odd.text).token);

  // The id of one with the secret of another, and one that is not whole.
  const auto parts = base::read_api_key(other.text);
  const auto mixed = keys.find(base::api_key_text(made.id, parts->secret));
  CHECK(!mixed.token);
  CHECK(mixed.reason == "API key " + made.id + " has a wrong secret");
  CHECK(keys.find(made.text.substr(1)).reason == "an API key has a wrong checksum: it is not whole");
  CHECK(keys.find(base::make_api_key().text).reason.ends_with("is unknown"));

  clock.advance(10s);
  CHECK(keys.find(made.text).reason == "API key " + made.id + " has expired");
  CHECK(keys.find(other.text).token);
  store::ApiKey revoked = row_of(other, "bob");
  revoked.revoked = kNow;
  keys.set({revoked});
  CHECK(keys.find(other.text).reason == "API key " + other.id + " was revoked");
  CHECK(keys.find(made.text).reason.ends_with("is unknown"));
  CHECK(found.token->caller.value == "ann");  // a request that began keeps it
}

TEST_CASE("API keys: callers are those with a valid key that may call") {
  const auto made = base::make_api_key();
  store::ApiKey expired = row_of(made, "eve"), revoked = row_of(made, "rob"), viewer = row_of(made, "vera"),
                chief = row_of(made, "otto"), lasting = row_of(made, "ann"), strange = row_of(made, "zoe");
  expired.expires = kNow;
  revoked.revoked = kNow - 1s;
  viewer.role = "viewer";
  chief.role = "operator";
  lasting.expires = kNow + 1s;
  strange.role = "emperor";
  CHECK(server::callers_of({expired, revoked, viewer, chief, lasting, strange}, kNow) ==
        std::set<std::string>{"ann", "otto"});
}

TEST_CASE("API keys: the last use is told once for each minute, and survives a change of the keys") {
  test::ManualClock clock;
  server::ApiKeyTokens keys(clock);
  int told = 0;
  keys.set_on_used([&] { ++told; });
  const auto made = base::make_api_key(), other = base::make_api_key();
  keys.set({row_of(made, "ann"), row_of(other, "bob")});
  CHECK(keys.take_used().keys.empty());
  for (int i = 0; i < 3; ++i) keys.find(made.text);
  CHECK(told == 1);
  keys.set({row_of(made, "ann"), row_of(other, "bob")});
  const auto used = keys.take_used();
  REQUIRE(used.keys.size() == 1);
  CHECK(used.keys[0].first == made.id);
  CHECK(used.keys[0].second == std::chrono::floor<std::chrono::minutes>(kNow));
  keys.find(made.text);
  CHECK(told == 1);
  CHECK(keys.take_used().keys.empty());
  clock.advance(60s);
  keys.find(made.text);
  CHECK(told == 2);
  CHECK(keys.take_used().keys.size() == 1);
}

TEST_CASE(
    "Access: an API key counts as a bearer token and in the header for keys, with all other rules of "
    "tokens") {
  test::ManualClock clock;
  auto keys = std::make_shared<server::ApiKeyTokens>(clock);
  server::ServerOptions options;
  options.anonymous = false;
  options.api_keys = keys;
  options.key_header = "X-API-Key";
  CHECK(options.has_callers());
  const auto made = base::make_api_key(), viewer = base::make_api_key();
  store::ApiKey row = row_of(made, "ann"), views = row_of(viewer, "vera");
  row.agents = "echo";
  views.role = "viewer";
  keys->set({row, views});
  const auto as = [&](const std::string& text) { return request_with("Authorization", "Bearer " + text); };
  const auto identity = server::identify(options, as(made.text), {"echo"});
  REQUIRE(identity);
  CHECK(identity->caller.value == "ann");
  CHECK(!identity->scopes.has(server::Scope::cancel));
  CHECK(server::identify(options, request_with("x-api-key", made.text), {"echo"})->caller.value == "ann");
  CHECK(server::identify(options, as(made.text), {"plan"}).error().code == ErrorCode::permission_denied);
  CHECK(server::identify(options, as(viewer.text), {"echo"}).error().code == ErrorCode::permission_denied);
  CHECK(server::authenticate_operator(options, as(viewer.text))->name == "vera");
  CHECK(!server::authenticate_operator(options, as(made.text)));
  CHECK(server::may_send_body(options, as(made.text)));
  CHECK(!server::page_source(options, as(made.text)));
  std::string typo = made.text;
  typo.back() = typo.back() == 'x' ? 'y' : 'x';
  const auto refused = server::identify(options, as(typo), {"echo"});
  const auto unknown = server::identify(options, as(base::make_api_key().text), {"echo"});
  CHECK(refused.error().code == ErrorCode::unauthenticated);
  CHECK(refused.error().for_caller == unknown.error().for_caller);
  CHECK(refused.error().for_log.find(typo) == std::string::npos);
}

}  // namespace api_key_tokens_test

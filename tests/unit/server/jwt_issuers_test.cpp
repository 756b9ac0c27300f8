#include "server/admission/jwt_issuers.h"

#include <doctest/doctest.h>

#include "jose/jws.h"
#include "support/manual_clock.h"

namespace jwt_issuers_test {

using namespace baton;
using jose::Algorithm;
using jose::Key;
using server::JwtIssuers;
using Wait = server::TokenSource::Wait;
using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;

namespace {

constexpr std::int64_t kNow = 1'700'000'000;
constexpr const char* kUrl = "https://id.example";

const Key& first_key() {
  static const Key key = Key::generate(Key::Type::p256).value();
  return key;
}
const Key& second_key() {
  static const Key key = Key::generate(Key::Type::p256).value();
  return key;
}

std::string set_of(std::initializer_list<const Key*> keys) {
  std::string text = R"({"keys":[)";
  for (const Key* key : keys)
    text += (text.ends_with('[') ? "" : ",") + jose::write_jwk(*key, Algorithm::es256);
  return text + "]}";
}

std::string claims(const std::string& issuer = kUrl, std::int64_t expires = kNow + 3'600) {
  return R"({"iss":")" + issuer + R"(","sub":"ann","aud":"baton","scope":"send","exp":)" +
         std::to_string(expires) + "}";
}

std::string token(const Key& key, const std::string& text = claims(),
                  const char* more = R"("typ":"at+jwt")") {
  return jose::sign_jws(key, Algorithm::es256, std::string(more) + R"(,"kid":")" + key.thumbprint() + "\"",
                        text)
      .value();
}

struct Bench {
  Bench() {
    issuers.set_on_due([this] { ++woken; });
    issuers.set({rules()}, "");
  }
  static server::Issuer rules() {
    server::Issuer one;
    one.url = kUrl;
    one.audiences = {"baton"};
    return one;
  }
  // Fetches what is due; returns whether anything was.
  bool fetch(const base::Result<JwtIssuers::Fetched>& answer) {
    milliseconds wait{0};
    const auto due = issuers.next_due(wait);
    if (due) issuers.took(*due, answer);
    return due.has_value();
  }
  bool fetch(std::initializer_list<const Key*> keys) {
    return fetch(JwtIssuers::Fetched{set_of(keys), seconds(600)});
  }
  void advance(base::Duration by) {
    clock.advance(by);
    steady.advance(by);
  }

  test::ManualClock clock{kNow * 1'000}, steady{5'000'000'000};
  std::vector<std::function<void()>> timers;
  int woken = 0;
  JwtIssuers issuers{clock, steady,
                     [this](milliseconds, std::function<void()> work) { timers.push_back(std::move(work)); }};
};

}  // namespace

TEST_CASE("JwtIssuers: a token waits for the first keys, is verified once, and is known until it expires") {
  Bench bench;
  const std::string good = token(first_key());
  CHECK(bench.issuers.find(good).is_pending);
  int called = 0;
  CHECK(bench.issuers.await(good, {}, [&] { ++called; }) == Wait::begun);
  CHECK(bench.fetch({&first_key()}));
  CHECK(called == 1);
  for (const auto& timer : bench.timers) timer();
  CHECK(called == 1);
  const auto found = bench.issuers.find(good);
  REQUIRE(found.token);
  CHECK(found.token->caller == server::caller_of(kUrl, "ann"));
  CHECK(bench.issuers.find(good).token == found.token);  // the same: it is known
  CHECK(bench.issuers.await(good, {}, [&] { ++called; }) == Wait::none);
  const std::string brief = token(first_key(), claims(kUrl, kNow + 10));
  CHECK(bench.issuers.find(brief).token);
  bench.advance(seconds(70));
  CHECK_FALSE(bench.issuers.find(brief).token);
  CHECK(bench.issuers.find(brief).reason == "it has expired");
  // Five minutes later it is verified anew.
  bench.advance(JwtIssuers::kKnownTime);
  CHECK(bench.issuers.find(good).token);
  CHECK(bench.issuers.find(good).token != found.token);
}

TEST_CASE("JwtIssuers: tokens that are not the issuer's are refused, each for its reason") {
  Bench bench;
  CHECK(bench.fetch({&first_key()}));
  const std::string good = token(first_key());
  const auto reason = [&](const std::string& secret) {
    const auto found = bench.issuers.find(secret);
    CHECK_FALSE(found.token);
    CHECK_FALSE(found.is_pending);
    return found.reason;
  };
  CHECK(reason("secret").empty());
  CHECK(reason("bp1.a.b").empty());
  CHECK(reason(token(first_key(), claims("https://other.example"))) ==
        "iss is no issuer of the configuration");
  CHECK(reason(token(first_key(), claims(), R"("typ":"JWT")")) == "its typ is that of another kind of token");
  // The claims of one token under the signature of another.
  const std::string later = token(first_key(), claims(kUrl, kNow + 9'999));
  CHECK(reason(later.substr(0, later.rfind('.')) + good.substr(good.rfind('.'))) == "its signature is wrong");
  const std::string other_claims =
      jose::sign_jws(second_key(), Algorithm::es256,
                     R"("typ":"at+jwt","kid":")" + first_key().thumbprint() + "\"", claims())
          .value();
  CHECK(reason(other_claims) == "its signature is wrong");
  CHECK(reason(token(first_key(), "[]")) == "iss is no issuer of the configuration");
  server::Issuer only_rsa = Bench::rules();
  only_rsa.algorithms = {Algorithm::rs256};
  bench.issuers.set({only_rsa}, "");
  CHECK(reason(good) == "its alg is not accepted from this issuer");
}

TEST_CASE("JwtIssuers: a token of Entra ID with 200 groups is valid, and one above 16 KiB is not") {
  Bench bench;
  CHECK(bench.fetch({&first_key()}));
  const auto with_groups = [](int count) {
    std::string text = claims();
    text.pop_back();
    text += R"(,"groups":[)";
    for (int i = 0; i < count; ++i)
      text += std::string(i == 0 ? "" : ",") + R"("690222be-ff1a-4d56-abd1-7e4f7d38e474")";
    return token(first_key(), text + "]}");
  };
  CHECK(with_groups(200).size() > 10'000);
  CHECK(bench.issuers.find(with_groups(200)).token);
  CHECK(bench.issuers.find(with_groups(400)).reason == "it is larger than 16 KiB");
}

TEST_CASE("JwtIssuers: finding a token takes little time once its signature was checked, right or wrong") {
  Bench bench;
  CHECK(bench.fetch({&first_key()}));
  const std::string good = token(first_key());
  const std::string later = token(first_key(), claims(kUrl, kNow + 9'999));
  const std::string forged = later.substr(0, later.rfind('.')) + good.substr(good.rfind('.'));
  for (const std::string& secret : {good, forged}) {
    CHECK_FALSE(bench.issuers.is_quick(secret));
    CHECK((bench.issuers.find(secret).token != nullptr) == (secret == good));
    CHECK(bench.issuers.is_quick(secret));
  }
  bench.advance(JwtIssuers::kRefusedTime);
  CHECK(bench.issuers.is_quick(good));
  CHECK_FALSE(bench.issuers.is_quick(forged));
  bench.advance(JwtIssuers::kKnownTime);
  CHECK_FALSE(bench.issuers.is_quick(good));
  for (const char* other : {"", "secret", "eyes", "bp1.a.b"}) CHECK(bench.issuers.is_quick(other));
}

TEST_CASE("JwtIssuers: an unknown token waits for its check on another thread, and a known one does not") {
  Bench bench;
  CHECK(bench.fetch({&first_key()}));
  std::vector<std::pair<std::string, std::function<void()>>> queue;
  bool is_full = false;
  bench.issuers.set_apart([&](const std::string& owner, std::function<void()> work) {
    if (!is_full) queue.emplace_back(owner, std::move(work));
    return !is_full;
  });
  int called = 0;
  const auto await = [&](const std::string& secret) {
    return bench.issuers.await(secret, "192.0.2.1", [&] { ++called; });
  };
  const auto run_next = [&] {
    REQUIRE_FALSE(queue.empty());
    const auto [owner, work] = std::move(queue.front());
    queue.erase(queue.begin());
    CHECK(owner == "192.0.2.1");
    work();
  };
  const std::string good = token(first_key());
  const std::string later = token(first_key(), claims(kUrl, kNow + 9'999));
  const std::string forged = later.substr(0, later.rfind('.')) + good.substr(good.rfind('.'));
  for (const std::string& secret : {good, forged}) {
    called = 0;
    CHECK(await(secret) == Wait::begun);
    CHECK(called == 0);
    CHECK_FALSE(bench.issuers.is_quick(secret));
    run_next();
    CHECK(called == 1);
    CHECK(bench.issuers.is_quick(secret));
    CHECK(await(secret) == Wait::none);
  }
  is_full = true;
  CHECK(await(later) == Wait::full);
  CHECK(await(good) == Wait::none);
  CHECK_FALSE(bench.issuers.is_quick(later));
  is_full = false;
  // The thread that brings a key does not check the signature.
  bench.advance(minutes(2));
  const std::string rotated = token(second_key());
  called = 0;
  CHECK(await(rotated) == Wait::begun);
  run_next();
  CHECK(bench.fetch({&first_key(), &second_key()}));
  CHECK(called == 0);
  CHECK_FALSE(bench.issuers.is_quick(rotated));
  run_next();
  CHECK(called == 1);
  CHECK(bench.issuers.is_quick(rotated));
  CHECK(bench.issuers.find(rotated).token);
  CHECK(queue.empty());
}

TEST_CASE(
    "JwtIssuers: a stop ends waits whose fetch never began and keeps nothing of them, nor of later ones") {
  Bench bench;
  std::vector<std::function<void()>> queue;
  bench.issuers.set_apart([&](const std::string&, std::function<void()> work) {
    queue.push_back(std::move(work));
    return true;
  });
  const auto run_queued = [&] {
    while (!queue.empty()) {
      const auto work = std::move(queue.front());
      queue.erase(queue.begin());
      work();
    }
  };
  const std::string good = token(first_key());
  const auto calls = std::make_shared<int>(0);
  const auto done = [calls] { ++*calls; };
  const auto holders = calls.use_count();
  CHECK(bench.issuers.await(good, {}, done) == Wait::begun);
  run_queued();
  CHECK(bench.issuers.await_keys(kUrl, done));
  CHECK(bench.issuers.await(good, {}, done) == Wait::begun);  // not looked at before the stop
  CHECK(*calls == 0);
  bench.issuers.stop();
  run_queued();
  CHECK(*calls == 3);
  CHECK(calls.use_count() == holders);  // although no timer has fired
  CHECK_FALSE(bench.issuers.await_keys(kUrl, done));
  for (const auto& timer : bench.timers) timer();
  CHECK(bench.fetch({&first_key()}));
  CHECK(*calls == 3);
}

TEST_CASE("JwtIssuers: an unknown key causes one fetch a minute, whatever comes") {
  Bench bench;
  CHECK(bench.fetch({&first_key()}));
  bench.advance(minutes(2));
  const std::string rotated = token(second_key());
  bench.woken = 0;
  for (int i = 0; i < 3; ++i) CHECK(bench.issuers.find(rotated).is_pending);
  CHECK(bench.woken == 1);
  CHECK(bench.fetch({&first_key(), &second_key()}));
  CHECK(bench.issuers.find(rotated).token);
  // A flood of random names: none waits, and there is no fetch before a minute is over.
  for (int i = 0; i < 50; ++i) {
    const std::string flood =
        jose::sign_jws(first_key(), Algorithm::es256, R"("typ":"at+jwt","kid":"k)" + std::to_string(i) + "\"",
                       claims())
            .value();
    CHECK(bench.issuers.find(flood).reason == "its key is none of the issuer's");
  }
  CHECK_FALSE(bench.fetch({&first_key()}));
  bench.advance(minutes(1));
  CHECK(bench.issuers.find(token(first_key(), claims(), R"("typ":"at+jwt")")).token);
  // A key that leaves the set takes its tokens with it.
  CHECK(
      bench.issuers
          .find(
              jose::sign_jws(first_key(), Algorithm::es256, R"("typ":"at+jwt","kid":"z")", claims()).value())
          .is_pending);
  CHECK(bench.fetch({&first_key()}));
  CHECK_FALSE(bench.issuers.find(rotated).token);
}

TEST_CASE("JwtIssuers: keys are fetched ahead of their expiry, and serve for a day if no fetch succeeds") {
  Bench bench;
  milliseconds wait{0};
  CHECK(bench.fetch({&first_key()}));
  CHECK_FALSE(bench.issuers.next_due(wait));
  bench.advance(seconds(479));
  CHECK_FALSE(bench.issuers.next_due(wait));
  CHECK(wait == seconds(1));
  bench.advance(seconds(1));  // four fifths of ten minutes
  const std::string good = token(first_key(), claims(kUrl, kNow + 200'000));
  const auto down = base::fail(base::ErrorCode::unavailable, "it answers with 503");
  CHECK(bench.fetch(down));
  CHECK_FALSE(bench.fetch(down));  // not before a pause
  bench.advance(seconds(5));
  CHECK(bench.fetch(down));
  bench.advance(std::chrono::hours(23));
  CHECK(bench.issuers.find(good).token);
  CHECK(bench.fetch(JwtIssuers::Fetched{R"({"keys":[]})", seconds(0)}));
  CHECK(bench.issuers.find(good).token);
  bench.advance(std::chrono::hours(1));
  CHECK(bench.issuers.find(good).is_pending);
  CHECK(bench.fetch({&first_key()}));
  CHECK(bench.issuers.find(good).token);
  // The timer ends a wait after two seconds.
  bench.advance(std::chrono::hours(25));
  int called = 0;
  CHECK(bench.issuers.await(good, {}, [&] { ++called; }) == Wait::begun);
  for (const auto& timer : bench.timers) timer();
  CHECK(called == 1);
}

TEST_CASE("JwtIssuers: a reload keeps the keys of an issuer, forgets its tokens, and reads files again") {
  Bench bench;
  const std::string good = token(first_key());
  CHECK(bench.fetch({&first_key()}));
  CHECK(bench.issuers.find(good).token);
  server::Issuer changed = Bench::rules();
  const auto name_of_rules = [&] { return bench.issuers.issuers().at(0).rules; };
  const std::string first = name_of_rules();
  bench.issuers.set({changed}, "");
  CHECK(name_of_rules() == first);
  changed.scope_claims = {"permissions"};
  bench.issuers.set({changed}, "");
  CHECK(name_of_rules() != first);
  changed.scope_claims = Bench::rules().scope_claims;
  changed.audiences = {"other"};
  bench.issuers.set({changed}, "");
  CHECK(name_of_rules() != first);
  CHECK(bench.issuers.find(good).reason == "aud is not this server");
  CHECK_FALSE(bench.fetch({&first_key()}));
  changed.keys_file = "/keys.json";
  bench.issuers.set({changed}, "");
  CHECK(bench.fetch({&first_key()}));
  bench.issuers.set({changed}, "");
  CHECK(bench.fetch({&first_key()}));
  bench.issuers.set({}, "");
  CHECK(bench.issuers.find(good).reason == "iss is no issuer of the configuration");
}

TEST_CASE("JwtIssuers: what was asked for before a reload does not count if the keys have another place") {
  Bench bench;
  milliseconds wait{0};
  const auto old_place = bench.issuers.next_due(wait);
  REQUIRE(old_place);
  server::Issuer changed = Bench::rules();
  changed.keys_url = "https://id.example/new";
  bench.issuers.set({changed}, "");
  bench.issuers.took(*old_place, JwtIssuers::Fetched{set_of({&second_key()}), seconds(600)});
  CHECK(bench.issuers.find(token(second_key())).is_pending);
  CHECK(bench.fetch({&first_key()}));
  CHECK(bench.issuers.find(token(first_key())).token);
  // Nor does a file's content from before, if the file is to be read again.
  changed.keys_file = "/keys.json";
  bench.issuers.set({changed}, "");
  const auto old_file = bench.issuers.next_due(wait);
  REQUIRE(old_file);
  bench.issuers.set({changed}, "");
  bench.issuers.took(*old_file, JwtIssuers::Fetched{set_of({&first_key()}), seconds(600)});
  CHECK(bench.fetch({&second_key()}));
  CHECK(bench.issuers.find(token(second_key())).token);
}

}  // namespace jwt_issuers_test

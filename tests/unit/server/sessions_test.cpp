#include "server/admission/sessions.h"

#include <doctest/doctest.h>

#include "server/admission/access.h"
#include "support/manual_clock.h"

namespace sessions_test {

using namespace baton;
using namespace std::chrono_literals;
using base::ErrorCode;
using server::Role;

namespace {

struct Bench {
  Bench() {
    options.anonymous = false;
    options.sessions = sessions;
    sessions->set_rules("first");
  }
  server::Session session(Role role = Role::operates) {
    server::Session made{"id",
                         {"",
                          {"https://id\x01"
                           "ann"},
                          {"echo"},
                          role},
                         "Ann",
                         clock.now() + 60s,
                         sessions->rules_id()};
    return made;
  }
  http::Request request(std::string method = "GET", std::string cookie = {},
                        std::vector<std::pair<std::string, std::string>> more = {}) {
    http::Request asked;
    asked.method = std::move(method);
    asked.headers = {{"Host", host}};
    if (cookie.empty()) cookie = "a=b; " + name + "=" + sessions->cookie_of(session());
    asked.headers.emplace_back("Cookie", std::move(cookie));
    for (auto& header : more) asked.headers.push_back(std::move(header));
    return asked;
  }
  std::string outcome(const http::Request& asked) {
    const auto who = server::authenticate_operator(options, asked);
    if (who) return who->name + (who->may_act ? " acts" : " reads");
    return who.error().code == ErrorCode::permission_denied ? "denied" : "nobody";
  }

  test::ManualClock clock{1'700'000'000'000};
  const std::shared_ptr<const server::TokenSecret> secret = std::make_shared<const server::TokenSecret>();
  const std::shared_ptr<server::Sessions> sessions = std::make_shared<server::Sessions>(clock, secret);
  server::ServerOptions options;
  std::string name = "baton-session", host = "localhost:1";
};

const std::string kAnn =
    "https://id\x01"
    "ann acts";

}  // namespace

TEST_CASE("Session: its cookie identifies its person until it ends") {
  Bench bench;
  CHECK(bench.outcome(bench.request()) == kAnn);
  const auto found = bench.sessions->find(bench.options, bench.request());
  REQUIRE(found);
  CHECK(found->name == "Ann");
  CHECK(found->token.agents == std::vector<std::string>{"echo"});
  CHECK(found->token.scopes == server::Scopes::all());
  for (const Role role : {Role::calls, Role::views}) {
    const std::string cookie = bench.name + "=" + bench.sessions->cookie_of(bench.session(role));
    CHECK(bench.outcome(bench.request("GET", cookie)) == (role == Role::calls ? "denied"
                                                                              : "https://id\x01"
                                                                                "ann reads"));
  }
  const http::Request kept = bench.request();
  bench.clock.advance(60s);
  CHECK(bench.outcome(kept) == "nobody");
  CHECK(bench.outcome(bench.request()) == kAnn);
  bench.sessions->set_rules("second");
  CHECK(bench.outcome(kept) == "nobody");
  const http::Request again = bench.request();
  CHECK(bench.outcome(again) == kAnn);
  bench.sessions->end(bench.session());
  CHECK(bench.outcome(again) == "nobody");
}

TEST_CASE("Session: one that was signed out stays over, however many are signed out after it") {
  Bench bench;
  const auto made = [&](const std::string& id, base::Duration time) {
    server::Session session = bench.session();
    session.id = id;
    session.until = bench.clock.now() + time;
    return session;
  };
  const auto is_open = [&](const server::Session& session) {
    const std::string cookie = bench.name + "=" + bench.sessions->cookie_of(session);
    return bench.sessions->find(bench.options, bench.request("GET", cookie)).has_value();
  };
  const auto end_many = [&](std::size_t count, base::Duration time) {
    for (std::size_t i = 0; i < count; ++i) bench.sessions->end(made("other" + std::to_string(i), time));
  };
  const server::Session first = made("first", 60s), sooner = made("sooner", 59s), later = made("later", 61s);
  // A page token is judged by the end of its session, not by its own.
  bench.options.token_secret = bench.secret;
  const auto token_of = [&](const server::Session& session) {
    const server::PageSource source{server::PageSource::Kind::session, session.id,
                                    std::make_shared<const server::Token>(session.token), session.until,
                                    session.rules};
    const auto grant = server::read_page_grant(R"({"seconds":10})", source, bench.clock.now()).value();
    return server::make_page_token(bench.options, grant, source).value();
  };
  const auto serves = [&](const std::string& token) {
    return server::identify_page(bench.options, token, {"echo"}, bench.clock.now()).has_value();
  };
  const std::string of_first = token_of(first), of_later = token_of(later);
  CHECK(serves(of_first));
  bench.sessions->end(first);
  CHECK_FALSE(is_open(first));
  CHECK_FALSE(serves(of_first));
  end_many(server::Sessions::kEndedMax - 1, 120s);
  bench.sessions->end(first);  // again
  CHECK(is_open(sooner));
  bench.sessions->end(made("last", 120s));
  CHECK_FALSE(is_open(first));
  CHECK_FALSE(serves(of_first));
  CHECK_FALSE(is_open(sooner));  // the price
  CHECK(is_open(later));
  CHECK(serves(of_later));
  // Those that are over anyway take no place.
  bench.clock.advance(121s);
  end_many(server::Sessions::kEndedMax, 60s);
  CHECK(is_open(made("new", 1s)));
}

TEST_CASE("Session: a cookie that was not signed here is none, and neither is one of two") {
  Bench bench;
  const std::string value = bench.sessions->cookie_of(bench.session());
  for (std::size_t i = 0; i < value.size(); ++i) {
    std::string other = value;
    other[i] = other[i] == 'A' ? 'B' : 'A';
    CAPTURE(other);
    CHECK(bench.outcome(bench.request("GET", bench.name + "=" + other)) == "nobody");
  }
  // What was signed for another purpose is no session.
  CHECK(bench.outcome(bench.request("GET", bench.name + "=" + bench.secret->sign("page", "{}"))) == "nobody");
  CHECK(bench.outcome(bench.request("GET", bench.name + "=" + value + "; " + bench.name + "=x")) == "nobody");
  CHECK(bench.outcome(bench.request("GET", "x" + bench.name + "=" + value)) == "nobody");
}

TEST_CASE("Session: over https only a cookie that no other host can have set counts") {
  Bench bench;
  // Elsewhere others can read and set what is sent over http.
  bench.host = "here.test";
  CHECK(bench.outcome(bench.request()) == "nobody");
  bench.options.public_url = "https://here.test/";
  CHECK(bench.outcome(bench.request()) == "nobody");
  bench.name = "__Host-baton-session";
  CHECK(bench.outcome(bench.request()) == kAnn);
  CHECK(server::set_cookie("https://here.test", "a", "b", "SameSite=Strict") ==
        "__Host-a=b; Path=/; HttpOnly; Secure; SameSite=Strict");
  CHECK(server::set_cookie("http://localhost:1", "a", "b", "SameSite=Lax") ==
        "a=b; Path=/; HttpOnly; SameSite=Lax");
}

TEST_CASE("Session: what changes something needs this server's origin and the CSRF token") {
  Bench bench;
  const std::string csrf = bench.sessions->csrf_of(bench.session());
  const auto acts = [&](std::vector<std::pair<std::string, std::string>> headers,
                        const char* method = "POST") {
    return bench.outcome(bench.request(method, {}, std::move(headers)));
  };
  const std::pair<std::string, std::string> origin{"Origin", "http://localhost:1"},
      good{"X-CSRF-Token", csrf};
  for (const char* method : {"POST", "DELETE", "PATCH", "PUT", "OPTIONS"}) {
    CHECK(acts({origin, good}, method) == kAnn);
    CHECK(acts({origin}, method) == "denied");
    CHECK(acts({good}, method) == "denied");
  }
  CHECK(acts({origin, {"X-CSRF-Token", csrf + "0"}}) == "denied");
  CHECK(acts({origin, good, {"Sec-Fetch-Site", "same-origin"}}) == kAnn);
  // The pages of others have no session at all.
  for (const char* other : {"http://other.test", "https://localhost:1", "null"})
    CHECK(acts({{"Origin", other}, good}) == "nobody");
  CHECK(acts({origin, good, {"Sec-Fetch-Site", "same-site"}}) == "nobody");
  CHECK(acts({{"Origin", "http://other.test"}}, "GET") == "nobody");
  CHECK(acts({}, "GET") == kAnn);
}

TEST_CASE("Session: a token decides if there is one, and agents know no sessions") {
  Bench bench;
  bench.options.tokens =
      std::vector<server::Token>{{"otto-secret", {"otto"}, {}, Role::operates}, {"ann-secret", {"ann"}, {}}};
  CHECK(bench.outcome(bench.request("POST", {}, {{"Authorization", "Bearer otto-secret"}})) == "otto acts");
  CHECK(bench.outcome(bench.request("GET", {}, {{"Authorization", "Bearer wrong"}})) == "nobody");
  CHECK_FALSE(server::identify(bench.options, bench.request(), {"echo"}));
  CHECK(server::scopes_of(bench.options, bench.request()).empty());
  for (const auto& [path, may] : {std::pair("/operate/v1/playground", true),
                                  {"/tokens", true},
                                  {"/", false},
                                  {"/agents/echo/", false},
                                  {"/operated", false}}) {
    http::Request request = bench.request();
    request.path = path;
    CHECK(server::may_send_body(bench.options, request) == may);
  }
  // A page token keeps the name of the rules that its session has.
  bench.options.token_secret = bench.secret;
  const std::pair<std::string, std::string> origin{"Origin", "http://localhost:1"},
      csrf{"X-CSRF-Token", bench.sessions->csrf_of(bench.session())};
  http::Request request = bench.request("POST", {}, {origin, csrf});
  const auto source = server::page_source(bench.options, request);
  REQUIRE(source);
  bench.sessions->set_rules("second");
  const auto grant = server::read_page_grant("{}", *source, bench.clock.now()).value();
  const std::string made = server::make_page_token(bench.options, grant, *source).value();
  CHECK_FALSE(server::identify_page(bench.options, made, {"echo"}, bench.clock.now()));
  bench.sessions->set_rules("first");
  CHECK(server::identify_page(bench.options, made, {"echo"}, bench.clock.now()));
  request = bench.request("POST", bench.name + "=" + bench.sessions->cookie_of(bench.session(Role::views)),
                          {origin, csrf});
  CHECK(server::page_source(bench.options, request).error().code == ErrorCode::permission_denied);
}

}  // namespace sessions_test

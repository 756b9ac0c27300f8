#include "server/sign_in/sign_in.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <future>
#include <sstream>

#include "jose/jws.h"
#include "server/sign_in/pages.h"
#include "support/manual_clock.h"

namespace sign_in_test {

using namespace baton;
using namespace std::chrono_literals;
using server::sign_in::Endpoint;
using server::sign_in::may_lead_to;
using server::sign_in::Redemption;
using server::sign_in::SignIn;

namespace {

constexpr std::int64_t kNow = 1'700'000'000;
constexpr const char* kIssuer = "https://id.example";

class Asked final : public http::Exchange {
 public:
  explicit Asked(http::Request request) : request_(std::move(request)) {}
  const http::Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void reply(http::Reply reply) override { answer_.set_value(std::move(reply)); }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener) override {
    FAIL("nothing here streams");
  }
  http::Reply answer() { return future_.get(); }

 private:
  http::Request request_;
  std::promise<http::Reply> answer_;
  std::future<http::Reply> future_ = answer_.get_future();
};

std::string header_of(const http::Reply& reply, std::string_view name) {
  for (const auto& [each, value] : reply.headers) {
    if (each == name) return value;
  }
  return {};
}

std::string parameter_of(const std::string& url, const std::string& name) {
  const std::size_t at = url.find(name + "=") + name.size() + 1;
  return url.substr(at, url.find('&', at) - at);
}

struct Provider final : server::sign_in::Provider {
  base::Result<Endpoint> endpoint() override { return there; }
  std::optional<base::Result<Endpoint>> known_endpoint() override {
    if (!is_known) return std::nullopt;
    return there;
  }
  base::Result<std::string> redeem(const Redemption& redemption) override {
    ++redeemed;
    return on_redeem(redemption.code);
  }
  base::Result<Endpoint> there = Endpoint{"https://id.example/authorize"};
  bool is_known = true;
  std::atomic<int> redeemed = 0;
  std::function<base::Result<std::string>(const std::string& code)> on_redeem;
};

// A browser's sign-in after its begin.
struct Begun {
  std::string cookie, state, nonce;
};

struct Bench {
  Bench() {
    options.sessions = sessions;
    rules.url = kIssuer;
    rules.operator_roles = {"boss"};
    issuers.set({rules}, "");
    std::chrono::milliseconds wait{0};
    const std::string keys = R"({"keys":[)" + jose::write_jwk(key, jose::Algorithm::es256) + "]}";
    issuers.took(issuers.next_due(wait).value(), server::JwtIssuers::Fetched{keys, 600s});
    sign_in.set(settings);
  }
  std::shared_ptr<Asked> ask(const char* path, std::vector<std::pair<std::string, std::string>> query,
                             const std::string& cookie = {}, const char* address = "10.0.0.1") {
    http::Request request;
    request.method = "GET";
    request.path = path;
    request.query = std::move(query);
    request.headers = {{"Host", "localhost:1"}, {"Cookie", cookie}};
    request.remote_address = address;
    auto asked = std::make_shared<Asked>(std::move(request));
    sign_in.handle(asked, options);
    return asked;
  }
  // `cookies`: those that the browser has.
  Begun begin(const std::string& cookies = {}) {
    const http::Reply reply = ask("/sign-in", {{"to", "/chat"}}, cookies)->answer();
    REQUIRE(reply.status == 303);
    const std::string cookie = header_of(reply, "Set-Cookie"), url = header_of(reply, "Location");
    return {cookie.substr(0, cookie.find(';')), parameter_of(url, "state"), parameter_of(url, "nonce")};
  }
  // `code`: the nonce of the person's ID token.
  std::shared_ptr<Asked> come_back(const Begun& begun, const char* address = "10.0.0.1",
                                   std::string issuer = kIssuer) {
    return ask("/sign-in/callback",
               {{"state", begun.state}, {"code", begun.nonce}, {"iss", std::move(issuer)}}, begun.cookie,
               address);
  }
  std::string id_token(const std::string& nonce) const {
    const std::string claims = R"({"iss":"https://id.example","sub":"ann","aud":"console","roles":["boss"],)"
                               R"("nonce":")" +
                               nonce + R"(","iat":)" + std::to_string(kNow) + R"(,"exp":)" +
                               std::to_string(kNow + 600) + "}";
    return jose::sign_jws(key, jose::Algorithm::es256, R"("typ":"JWT","kid":")" + key.thumbprint() + "\"",
                          claims)
        .value();
  }
  bool has_session(const http::Reply& landing) const {
    http::Request request;
    const std::string cookie = header_of(landing, "Set-Cookie");
    request.headers = {{"Host", "localhost:1"}, {"Cookie", cookie.substr(0, cookie.find(';'))}};
    return sessions->find(options, request).has_value();
  }

  test::ManualClock clock{kNow * 1'000}, steady{5'000'000'000};
  const jose::Key key = jose::Key::generate(jose::Key::Type::p256).value();
  const std::shared_ptr<const server::TokenSecret> secret = std::make_shared<const server::TokenSecret>();
  const std::shared_ptr<server::Sessions> sessions = std::make_shared<server::Sessions>(clock, secret);
  server::ServerOptions options;
  server::Issuer rules;
  server::JwtIssuers issuers{clock, steady, [](std::chrono::milliseconds, std::function<void()>) {}};
  Provider provider;
  base::WorkerPool pool{"sign-in", 2, 64};
  server::sign_in::Settings settings{{kIssuer, "console", {}}, {"openid"}};
  SignIn sign_in{{*sessions, issuers, provider, pool, clock, secret}};
};

}  // namespace

TEST_CASE("Sign-in: it leads to the console, the chat page and below them, and nowhere else") {
  for (const char* place : {"/console", "/console/", "/console/tasks?state=working&x=1#y", "/chat",
                            "/chat#agent=echo", "/chat/?a=b", "/console/tasks/1"})
    CHECK(may_lead_to(place));
  for (const char* place :
       {"", "/", "console", "/consoles", "/chatter", "/agents", "//console", "https://x/console",
        "/console//x", "/console/../agents", "/console/..", "/console\\x", "/console x", "/console\n",
        "/console\"", "/console<", "/console/\xc3\xa9", "/operate/v1/me"}) {
    CAPTURE(place);
    CHECK_FALSE(may_lead_to(place));
  }
  // A token in a link replaces a session.
  for (const char* place :
       {"/chat#token=x", "/chat#agent=a&token=x", "/console#%74oke%6E=x", "/chat#?token=x", "/chat#token",
        "/console/tasks?a=b#&&token=", "/chat#a=b=c&token=x#y"})
    CHECK_FALSE(may_lead_to(place));
  for (const char* place : {"/chat#agent=token", "/chat#tokens=x", "/console?token=x", "/chat#", "/chat#%zz"})
    CHECK(may_lead_to(place));
  CHECK(may_lead_to("/console/" + std::string(500, 'x')));
  CHECK_FALSE(may_lead_to("/console/" + std::string(510, 'x')));
}

TEST_CASE("Sign-in: its pages show texts of others as text") {
  const auto failure =
      server::sign_in::page_of_failure(400, "<script>\"'&\x01\xff" + std::string(1'000, 'x'), "/chat#a&b");
  CHECK(failure.status == 400);
  CHECK(failure.body.find("&lt;script&gt;&quot;&#39;&amp; \xef\xbf\xbdxxx") != std::string::npos);
  CHECK(failure.body.find(std::string(401, 'x')) == std::string::npos);
  CHECK(failure.body.find("href=\"/chat#a&amp;b\"") != std::string::npos);
  CHECK(failure.body.find("/chat/style.css") != std::string::npos);
  const auto landing = server::sign_in::page_that_leads_to("/console?a=b&c=d");
  CHECK(landing.body.find("content=\"0;url=/console?a=b&amp;c=d\"") != std::string::npos);
}

TEST_CASE("Sign-in: it makes a session, and its return is tried once, even with a copy of the cookie") {
  Bench bench;
  bench.provider.on_redeem = [&](const std::string& code) { return bench.id_token(code); };
  const Begun begun = bench.begin();
  const http::Reply landing = bench.come_back(begun)->answer();
  CHECK(landing.status == 200);
  CHECK(bench.has_session(landing));
  CHECK(bench.come_back(begun)->answer().status == 400);
  CHECK(bench.provider.redeemed == 1);
}

TEST_CASE("Sign-in: three tabs of a browser sign in at once, and each ends its own sign-in") {
  Bench bench;
  bench.provider.on_redeem = [&](const std::string& code) { return bench.id_token(code); };
  std::vector<Begun> tabs;
  std::string cookies;
  for (int i = 0; i < 3; ++i) {
    tabs.push_back(bench.begin(cookies));
    cookies += (i == 0 ? "" : "; ") + tabs.back().cookie;
  }
  const auto name_of = [](const std::string& cookie) { return cookie.substr(0, cookie.find('=')); };
  // The fourth one takes the place of the first.
  CHECK(name_of(bench.begin(cookies).cookie) == name_of(tabs[0].cookie));
  for (Begun tab : tabs) {
    const std::string own = name_of(tab.cookie);
    tab.cookie = cookies;
    const http::Reply landing = bench.come_back(tab)->answer();
    CHECK(landing.status == 200);
    CHECK(bench.has_session(landing));
    CHECK(landing.headers.back().second.starts_with(own + "=; "));
    CHECK(landing.headers.back().second.ends_with("Max-Age=0"));
  }
  CHECK(bench.provider.redeemed == 3);
}

TEST_CASE("Sign-in: a reload while it is under way gives nobody rights of the earlier rules") {
  Bench bench;
  const auto reload = [&] {
    bench.settings.rules.caller_roles.emplace_back("staff");
    bench.sign_in.set(bench.settings);
  };
  bench.provider.on_redeem = [&](const std::string& code) {
    reload();
    return bench.id_token(code);
  };
  const http::Reply landing = bench.come_back(bench.begin())->answer();
  CHECK(landing.status == 200);
  CHECK_FALSE(bench.has_session(landing));
  const Begun begun = bench.begin();
  reload();
  CHECK(bench.come_back(begun)->answer().status == 400);
  CHECK(bench.provider.redeemed == 1);
}

TEST_CASE(
    "Sign-in: an answer without iss is refused if the server says that it sends one, and another's always") {
  Bench bench;
  bench.provider.on_redeem = [&](const std::string& code) { return bench.id_token(code); };
  CHECK(bench.come_back(bench.begin(), "10.0.0.1", "")->answer().status == 200);
  CHECK(bench.come_back(bench.begin(), "10.0.0.1", "https://other.example")->answer().status == 400);
  bench.provider.there->names_issuer = true;
  CHECK(bench.come_back(bench.begin(), "10.0.0.1", "")->answer().status == 400);
  CHECK(bench.come_back(bench.begin())->answer().status == 200);
}

TEST_CASE("Sign-in: one client cannot keep others out") {
  Bench bench;
  std::promise<void> released;
  const std::shared_future<void> release(released.get_future());
  bench.provider.on_redeem = [&, release](const std::string& code) {
    release.wait();
    return bench.id_token(code);
  };
  std::vector<std::shared_ptr<Asked>> waiting;
  for (int i = 0; i < SignIn::kSeatsMax; ++i)
    waiting.push_back(bench.come_back(bench.begin(), "2001:db8::1"));
  const Begun late = bench.begin();
  CHECK(bench.come_back(late, "2001:db8::2")->answer().status == 503);
  waiting.push_back(bench.come_back(bench.begin(), "10.0.0.2"));
  // What is known needs no call, so it needs no place either.
  CHECK(bench.ask("/sign-in", {}, {}, "2001:db8::1")->answer().status == 303);
  bench.provider.is_known = false;
  CHECK(bench.ask("/sign-in", {}, {}, "2001:db8::1")->answer().status == 503);
  released.set_value();
  for (const auto& each : waiting) CHECK(each->answer().status == 200);
  bench.pool.stop();
  CHECK(bench.provider.redeemed == SignIn::kSeatsMax + 1);
}

TEST_CASE("Sign-in: what anybody can make fail is logged once a minute for a network") {
  std::ostringstream text;
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(
      std::make_shared<spdlog::logger>("test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text)));
  const auto count = [&](std::string_view line) {
    int found = 0;
    for (std::size_t at = 0; (at = text.str().find(line, at)) != std::string::npos; ++at) ++found;
    return found;
  };
  Bench bench;
  bench.provider.on_redeem = [](const std::string&) -> base::Result<std::string> {
    return base::fail(base::ErrorCode::unavailable, "invalid_grant");
  };
  for (int i = 0; i < 5; ++i) CHECK(bench.come_back(bench.begin())->answer().status == 502);
  bench.provider.there = base::fail(base::ErrorCode::unavailable, "it is down");
  for (int i = 0; i < 5; ++i) CHECK(bench.ask("/sign-in", {})->answer().status == 503);
  bench.pool.stop();
  spdlog::set_default_logger(before);
  CHECK(count("gave no ID token: invalid_grant") == 1);
  CHECK(count("cannot be reached: it is down") == 1);
}

}  // namespace sign_in_test

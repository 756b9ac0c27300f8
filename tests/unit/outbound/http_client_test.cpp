#include "outbound/http_client.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>
#include <sys/resource.h>

#include "support/patience.h"
#include "support/webhook_receiver.h"
#include "unit/outbound/raw_server.h"
#include "unit/outbound/transports.h"

namespace http_client_test {

using namespace std::chrono_literals;
using baton::base::ErrorCode;
using baton::outbound::HttpRequest;
using baton::test::Blocking;
using baton::test::OverLoop;
using baton::test::patience;
using baton::test::RawServer;
using baton::test::WebhookReceiver;

namespace {

constexpr std::string_view kOk = "HTTP/1.1 200 OK\r\n";

HttpRequest request_to(const std::string& url) {
  HttpRequest request;
  request.url = url;
  request.body = R"({"a":1})";
  request.content_type = "application/json";
  request.policy.allow_private = true;
  return request;
}

template <class Transport>
baton::base::Result<baton::outbound::HttpAnswer> request_within(HttpRequest request,
                                                                std::chrono::milliseconds time) {
  request.total_timeout = time;
  return Transport::request(request);
}

// A port that is reserved while this exists, but not listened on.
class ClosedPort {
 public:
  ClosedPort() : fd_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    REQUIRE(::bind(fd_.get(), reinterpret_cast<sockaddr*>(&address), size) == 0);
    ::getsockname(fd_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    port_ = ntohs(address.sin_port);
  }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_) + "/hook"; }

 private:
  const baton::base::UniqueFd fd_;
  int port_ = 0;
};

// The result of a request to a server that sends exactly `answer`.
template <class Transport>
baton::base::Result<baton::outbound::HttpAnswer> ask(const std::string& answer,
                                                     std::size_t answer_max = 1 << 20) {
  RawServer server([&](RawServer&, int connection) { RawServer::say(connection, answer); });
  HttpRequest request = request_to(server.url());
  request.answer_max = answer_max;
  return Transport::request(request);
}

}  // namespace

TEST_CASE_TEMPLATE("http_request: a POST arrives with headers and body, and the answer is returned",
                   Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  receiver.answer_with({{201, {{"X-Seen", "yes"}}}});
  HttpRequest request = request_to(receiver.url("/hook?x=%20y&z=a+b"));
  request.headers = {{"X-Token", "secret"}};
  const auto answer = Transport::request(request);
  REQUIRE(answer.has_value());
  CHECK(answer->status == 201);
  CHECK(answer->body == "{}");
  CHECK(answer->content_type == "application/json");
  const bool seen = std::any_of(answer->headers.begin(), answer->headers.end(),
                                [](const auto& header) { return header.first == "X-Seen"; });
  CHECK(seen);

  REQUIRE(receiver.received().size() == 1);
  const auto received = receiver.received().front();
  CHECK(received.path == "/hook?x=%20y&z=a+b");
  CHECK(received.body == R"({"a":1})");
  CHECK(received.headers.at("content-type") == "application/json");
  CHECK(received.headers.at("x-token") == "secret");
  CHECK(received.headers.at("connection") == "close");
  CHECK(received.headers.at("user-agent") == "Baton");
}

TEST_CASE_TEMPLATE("http_request: the Host header has the URL's name, and no unrequested headers are sent",
                   Transport, Blocking, OverLoop) {
  RawServer server(
      [](RawServer&, int connection) { RawServer::say(connection, "HTTP/1.1 204 No Content\r\n\r\n"); });
  std::string url = server.url();
  url.replace(url.find("127.0.0.1"), 9, "LOCALHOST");
  HttpRequest request = request_to(url);
  request.method = "GET";
  request.body.clear();
  const auto answer = Transport::request(request);
  REQUIRE(answer.has_value());
  CHECK(answer->status == 204);
  CHECK(server.requests().find("GET /hook HTTP/1.1\r\n") == 0);
  CHECK(server.requests().find("Host: localhost:") != std::string::npos);
  CHECK(server.requests().find("Accept-Encoding") == std::string::npos);
}

TEST_CASE_TEMPLATE("http_request: a secret that the answer echoes is masked in head and body", Transport,
                   Blocking, OverLoop) {
  RawServer server([](RawServer&, int connection) {
    RawServer::say(connection,
                   std::string(kOk) + "X-Echo: Bearer s3cret-token\r\nTransfer-Encoding: chunked\r\n\r\n");
    RawServer::say(connection, "6\r\na s3cr\r\n");
    RawServer::say(connection, "9\r\net-token \r\n6\r\ns3cret\r\n0\r\n\r\n");
  });
  HttpRequest request = request_to(server.url());
  request.mask = std::make_shared<const baton::base::SecretMask>(std::vector<std::string>{"s3cret-token"});
  const auto answer = Transport::request(request);
  REQUIRE(answer.has_value());
  CHECK(answer->body == "a *** s3cret");
  CHECK(baton::outbound::header_of(*answer, "X-Echo") == "Bearer ***");
}

TEST_CASE_TEMPLATE("http_request: a redirect to another origin is returned with its place, and not followed",
                   Transport, Blocking, OverLoop) {
  WebhookReceiver target;
  WebhookReceiver receiver;
  receiver.answer_with({{308, {{"Location", target.url()}}}});
  const auto answer = Transport::request(request_to(receiver.url()));
  REQUIRE(answer.has_value());
  CHECK(answer->status == 308);
  CHECK(answer->moved_to == target.url());
  CHECK(target.received().empty());
}

TEST_CASE_TEMPLATE(
    "http_request: 307 and 308 within the origin are followed with the same request, 302 only for GET",
    Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  receiver.answer_with({{307, {{"Location", "/there"}}}, {308, {{"Location", receiver.url()}}}, {200, {}}});
  const auto answer = Transport::request(request_to(receiver.url()));
  REQUIRE(answer.has_value());
  CHECK(answer->status == 200);
  REQUIRE(receiver.received().size() == 3);
  CHECK(receiver.received()[2].body == receiver.received()[0].body);
  receiver.answer_with({{302, {{"Location", "/there"}}}});
  CHECK(Transport::request(request_to(receiver.url()))->status == 302);
}

TEST_CASE_TEMPLATE(
    "http_request: a key in a redirect's place is sent back to its server, and shown to nobody", Transport,
    Blocking, OverLoop) {
  WebhookReceiver target, receiver;
  receiver.answer_with({{307, {{"Location", "/there?key=s3cret-token"}}}, {200, {}}});
  HttpRequest request = request_to(receiver.url());
  request.mask = std::make_shared<const baton::base::SecretMask>(std::vector<std::string>{"s3cret-token"});
  CHECK(Transport::request(request)->status == 200);
  CHECK(receiver.received()[1].path == "/there?key=s3cret-token");
  receiver.answer_with({{307, {{"Location", target.url() + "?key=s3cret-token"}}}});
  CHECK(Transport::request(request)->moved_to == target.url() + "?key=***");
}

TEST_CASE_TEMPLATE("http_request: redirects are followed five times, and not at all if the request says so",
                   Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  receiver.answer_with(std::vector<WebhookReceiver::Answer>(7, {307, {{"Location", "/round"}}}));
  HttpRequest request = request_to(receiver.url());
  CHECK(Transport::request(request)->status == 307);
  const std::size_t asked = receiver.received().size();
  CHECK(asked == 6);
  request.follows_redirects = false;
  CHECK(Transport::request(request)->status == 307);
  CHECK(receiver.received().size() == asked + 1);
}

TEST_CASE_TEMPLATE("http_request: a private target is refused without a connection unless it is allowed",
                   Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  HttpRequest request = request_to(receiver.url());
  request.policy.allow_private = false;
  const auto refused = Transport::request(request);
  REQUIRE_FALSE(refused.has_value());
  CHECK(refused.error().code == ErrorCode::permission_denied);
  CHECK(receiver.received().empty());
}

TEST_CASE_TEMPLATE("http_request: a proxy in the environment is not used", Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  setenv("http_proxy", "http://127.0.0.1:1", 1);
  const auto answer = Transport::request(request_to(receiver.url()));
  unsetenv("http_proxy");
  REQUIRE(answer.has_value());
  CHECK(receiver.received().size() == 1);
}

TEST_CASE_TEMPLATE(
    "http_request: line ends, reserved names and other methods are refused before anything is sent",
    Transport, Blocking, OverLoop) {
  WebhookReceiver receiver;
  const std::pair<std::string, std::string> rows[] = {
      {"X-A", "b\r\nX-Injected: c"},
      {"X-A", "b\n"},
      {"X-A", std::string("b\0c", 3)},
      {"X-A", "\x7f"},
      {"X A", "b"},
      {"X:A", "b"},
      {"", "b"},
      {"X-A\r\nB", "c"},
      {"Host", "elsewhere"},
      {"content-length", "0"},
      {"Transfer-Encoding", "chunked"},
      {"Connection", "keep-alive"},
  };
  for (const auto& row : rows) {
    CAPTURE(row.first);
    HttpRequest request = request_to(receiver.url());
    request.headers = {row};
    const auto answer = Transport::request(request);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::invalid_argument);
  }
  HttpRequest request = request_to(receiver.url());
  request.content_type = "a\r\nX-Injected: b";
  CHECK(Transport::request(request).error().code == ErrorCode::invalid_argument);
  request = request_to(receiver.url());
  request.method = "PUT";
  CHECK(Transport::request(request).error().code == ErrorCode::invalid_argument);
  CHECK(receiver.received().empty());
}

TEST_CASE_TEMPLATE("http_request: a closed port and an unknown name are unavailable", Transport, Blocking,
                   OverLoop) {
  const ClosedPort nobody;
  CHECK(Transport::request(request_to(nobody.url())).error().code == ErrorCode::unavailable);
  CHECK(Transport::request(request_to("http://no-such-host.invalid/")).error().code ==
        ErrorCode::unavailable);
}

TEST_CASE_TEMPLATE("http_request: a dripping answer ends at the deadline", Transport, Blocking, OverLoop) {
  const auto ends_at_deadline = [](const RawServer::Answer& behaviour) {
    RawServer server(behaviour);
    HttpRequest request = request_to(server.url());
    request.total_timeout = 300ms;
    const auto answer = Transport::request(request);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::deadline_exceeded);
  };
  SUBCASE("silence") {
    ends_at_deadline([](RawServer& server, int connection) { server.be_silent(connection); });
  }
  SUBCASE("the first line") {
    ends_at_deadline([](RawServer& server, int connection) { server.drip(connection, "H", 5); });
  }
  SUBCASE("headers") {
    ends_at_deadline([](RawServer& server, int connection) {
      RawServer::say(connection, kOk);
      server.drip(connection, "X", 5);
    });
  }
  SUBCASE("a body of known length") {
    ends_at_deadline([](RawServer& server, int connection) {
      RawServer::say(connection, std::string(kOk) + "Content-Length: 100000\r\n\r\n");
      server.drip(connection, "x", 5);
    });
  }
  SUBCASE("chunks") {
    ends_at_deadline([](RawServer& server, int connection) {
      RawServer::say(connection, std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n");
      server.drip(connection, "1\r\nx\r\n", 5);
    });
  }
}

TEST_CASE_TEMPLATE("http_request: with head_suffices a dripping answer still gives its status", Transport,
                   Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kOk) + "Content-Length: 100000\r\n\r\n");
    self.drip(connection, "x", 5);
  });
  HttpRequest request = request_to(server.url());
  request.head_suffices = true;
  // The head itself takes time, more on a busy machine, so the deadline grows.
  auto answer = request_within<Transport>(request, 250ms);
  for (auto time = 500ms; !answer && time < patience(); time *= 2)
    answer = request_within<Transport>(request, time);
  REQUIRE(answer.has_value());
  CHECK(answer->status == 200);
}

TEST_CASE_TEMPLATE("http_request: an endless body is cut off at its limit", Transport, Blocking, OverLoop) {
  for (const char* head : {"", "Content-Length: 9000000000\r\n"}) {
    RawServer server([&](RawServer& self, int connection) {
      RawServer::say(connection, std::string(kOk) + head + "\r\n");
      self.drip(connection, std::string(10'000, 'x'), 0);
    });
    HttpRequest request = request_to(server.url());
    request.answer_max = 50'000;
    const auto answer = Transport::request(request);
    REQUIRE(answer.has_value());
    CHECK(answer->status == 200);
    CHECK(answer->body == std::string(50'000, 'x'));
  }
}

TEST_CASE_TEMPLATE("http_request: endless heads and lines are refused and not buffered", Transport, Blocking,
                   OverLoop) {
  const auto is_refused = [](const std::string& before, const std::string& repeated) {
    RawServer server([&](RawServer& self, int connection) {
      RawServer::say(connection, before);
      self.drip(connection, repeated, 0);
    });
    const auto answer = Transport::request(request_to(server.url()));
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::unavailable);
  };
  const std::string ok(kOk);
  SUBCASE("many headers") {
    is_refused(ok, "X-A: b\r\n");
  }
  SUBCASE("a long header") {
    is_refused(ok + "X-A: ", std::string(1'000, 'b'));
  }
  SUBCASE("a long first line") {
    is_refused("HTTP/1.1 200 ", std::string(1'000, 'b'));
  }
  SUBCASE("interim answers") {
    is_refused("", "HTTP/1.1 100 Continue\r\n\r\n");
  }
  SUBCASE("a long chunk size") {
    is_refused(ok + "Transfer-Encoding: chunked\r\n\r\n", std::string(1'000, '0'));
  }
}

TEST_CASE_TEMPLATE("http_request: an answer of a server that closes without reading the body is returned",
                   Transport, Blocking, OverLoop) {
  const auto answer_to = [](const std::string& said) {
    RawServer server([&](RawServer&, int connection) { RawServer::say(connection, said); }, false);
    HttpRequest request = request_to(server.url());
    request.body.assign(16 << 20, 'x');  // more than the system takes before the server reads
    request.total_timeout = patience();
    return Transport::request(request);
  };
  const auto answer = answer_to("HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nlong");
  REQUIRE_MESSAGE(answer.has_value(), answer.error().for_caller);
  CHECK(answer->status == 413);
  CHECK(answer->body == "long");
  for (const char* said : {"", "HTTP/1.1 413 Content Too"}) {
    const auto none = answer_to(said);
    REQUIRE_FALSE(none.has_value());
    CHECK(none.error().code == ErrorCode::unavailable);
    CHECK(none.error().for_caller == "the connection was lost");
  }
}

TEST_CASE_TEMPLATE("http_request: an incomplete or invalid answer is unavailable", Transport, Blocking,
                   OverLoop) {
  for (const char* text : {"", "garbage\r\n\r\n", "HTTP/1.1 200 OK\r\nX: y", "HTTP/9.9 200 OK\r\n\r\n",
                           "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nshort",
                           "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"}) {
    CAPTURE(std::string(text));
    const auto answer = ask<Transport>(text);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::unavailable);
  }
}

TEST_CASE_TEMPLATE(
    "http_request: chunked bodies, bodies up to the connection's end and interim answers are read", Transport,
    Blocking, OverLoop) {
  CHECK(
      ask<Transport>("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n")
          ->body == "abcde");
  CHECK(ask<Transport>("HTTP/1.1 200 OK\r\n\r\nabc")->body == "abc");
  CHECK(ask<Transport>("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")->body ==
        "x");
  CHECK(ask<Transport>("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"
                       "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")
            ->body == "x");
  CHECK(ask<Transport>("HTTP/1.1 101 Switching Protocols\r\n\r\n")->status == 101);
  CHECK(ask<Transport>("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")->body.empty());
  CHECK(ask<Transport>("HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n")->status == 304);
  CHECK(ask<Transport>("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc", 3)->body == "abc");
}

TEST_CASE("http_request: without a free descriptor the request fails, and the program goes on") {
  rlimit before{};
  REQUIRE(getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(setrlimit(RLIMIT_NOFILE, &none) == 0);
  const auto answer = Blocking::request(request_to("http://127.0.0.1:1024/"));
  REQUIRE(setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == ErrorCode::unavailable);
}

TEST_CASE("http_request: a stop ends a running request") {
  const baton::base::UniqueFd stop(eventfd(0, EFD_CLOEXEC));
  RawServer server([&](RawServer& self, int connection) {
    eventfd_write(stop.get(), 1);
    self.be_silent(connection);
  });
  HttpRequest request = request_to(server.url());
  request.stop_fd = stop.get();
  const auto answer = Blocking::request(request);
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == ErrorCode::unavailable);
}

TEST_CASE_TEMPLATE("http_stream: pieces arrive as they are sent, and the reader may stop", Transport,
                   Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n");
    self.drip(connection, "2\r\nab\r\n", 1);
  });
  HttpRequest request = request_to(server.url());
  request.total_timeout = 0ms;
  std::string seen;
  const auto answer = Transport::stream(request, patience(), [&](std::string_view piece) {
    seen += piece;
    return seen.size() < 10;
  });
  REQUIRE(answer.has_value());
  CHECK(answer->status == 200);
  CHECK(answer->body.empty());
  CHECK(seen.starts_with("ababababab"));  // several chunks may come in one piece
}

TEST_CASE_TEMPLATE("http_stream: silence longer than the idle time ends it", Transport, Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kOk) + "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n");
    self.be_silent(connection);
  });
  HttpRequest request = request_to(server.url());
  request.total_timeout = 0ms;
  std::string seen;
  // The first piece itself takes time, more on a busy machine, so the idle time grows.
  for (auto idle = 250ms; seen.empty() && idle < patience(); idle *= 2) {
    const auto answer = Transport::stream(request, idle, [&](std::string_view piece) {
      seen += piece;
      return true;
    });
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == ErrorCode::deadline_exceeded);
  }
  CHECK(seen == "ab");
}

TEST_CASE_TEMPLATE("http_stream: a total deadline bounds an answer that never falls silent", Transport,
                   Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kOk) + "\r\n");
    self.drip(connection, "x", 1);
  });
  HttpRequest request = request_to(server.url());
  request.total_timeout = 200ms;
  const auto answer = Transport::stream(request, patience(), [](std::string_view) { return true; });
  REQUIRE_FALSE(answer.has_value());
  CHECK(answer.error().code == ErrorCode::deadline_exceeded);
}

TEST_CASE_TEMPLATE("http_stream: an error answer is returned with its body and not shown as data", Transport,
                   Blocking, OverLoop) {
  WebhookReceiver receiver;
  receiver.answer_with({{503, {}}});
  bool shown = false;
  const auto answer = Transport::stream(request_to(receiver.url()), patience(),
                                        [&](std::string_view) { return shown = true; });
  REQUIRE(answer.has_value());
  CHECK(answer->status == 503);
  CHECK(answer->body == "{}");
  CHECK_FALSE(shown);
}

namespace {

constexpr const char* kShort = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n";

HttpRequest repeatable(const std::string& url) {
  HttpRequest request = request_to(url);
  request.repeats_safely = true;
  return request;
}

}  // namespace

TEST_CASE_TEMPLATE(
    "http_request: a request that may be repeated uses the connection that an earlier one has left",
    Transport, Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    for (const char* body : {"ab", "cd"}) {
      RawServer::say(connection, std::string(kShort) + body);
      if (*body == 'a') self.read_request(connection);
    }
  });
  CHECK(Transport::request(repeatable(server.url()))->body == "ab");
  CHECK(Transport::request(repeatable(server.url()))->body ==
        "cd");  // the server's second answer on one connection
  CHECK(server.requests().find("Connection: close") == std::string::npos);
  CHECK(server.connections() == 1);
}

TEST_CASE_TEMPLATE(
    "http_request: a kept connection that the server closes meanwhile is replaced, others get none",
    Transport, Blocking, OverLoop) {
  RawServer server(
      [](RawServer&, int connection) { RawServer::say(connection, std::string(kShort) + "ab"); });
  for (int i = 0; i < 3; ++i) CHECK(Transport::request(repeatable(server.url()))->body == "ab");
  CHECK(server.connections() == 3);
}

TEST_CASE_TEMPLATE("http_request: a kept connection serves no request with another address policy", Transport,
                   Blocking, OverLoop) {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, std::string(kShort) + "ab");
    self.be_silent(connection);
  });
  CHECK(Transport::request(repeatable(server.url())).has_value());
  HttpRequest stranger = repeatable(server.url());
  stranger.policy = {};
  CHECK(Transport::request(stranger).error().code == ErrorCode::permission_denied);
}

}  // namespace http_client_test

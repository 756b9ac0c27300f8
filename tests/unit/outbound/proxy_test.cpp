#include "outbound/proxy.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <string>

#include "outbound/http_client.h"
#include "unit/outbound/raw_server.h"
#include "unit/outbound/transports.h"

namespace proxy_test {

using baton::base::ErrorCode;
using baton::outbound::AddressPolicy;
using baton::outbound::check_target;
using baton::outbound::HttpRequest;
using baton::outbound::parse_url;
using baton::outbound::Proxy;
using baton::test::Blocking;
using baton::test::OverLoop;
using baton::test::RawServer;

namespace {

// A proxy that answers every request with `answer`.
class ScriptedProxy {
 public:
  explicit ScriptedProxy(std::string answer)
      : server_([answer = std::move(answer)](RawServer&, int connection) {
          RawServer::say(connection, answer);
        }) {
    proxy_.url = server_.url().substr(0, server_.url().rfind('/'));
  }
  HttpRequest request_to(const std::string& url) const {
    HttpRequest request;
    request.method = "GET";
    request.url = url;
    request.proxy = proxy_;
    return request;
  }
  const std::string& heard() const { return server_.requests(); }

 private:
  RawServer server_;
  Proxy proxy_;
};

constexpr const char* kRefused = "HTTP/1.1 403 Forbidden\r\nContent-Length: 2\r\n\r\nno";

}  // namespace

TEST_CASE_TEMPLATE("http_request: a proxy gets http requests whole, with the login, and resolves the name",
                   Transport, Blocking, OverLoop) {
  setenv("PROXY_TEST_LOGIN", "ann:pass", 1);
  ScriptedProxy proxy("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello");
  HttpRequest request = proxy.request_to("http://no-such-host.example/a?b");
  request.proxy.secret_env = "PROXY_TEST_LOGIN";
  const auto answer = Transport::request(request);
  unsetenv("PROXY_TEST_LOGIN");
  REQUIRE_MESSAGE(answer.has_value(), answer.error().for_caller);
  CHECK(answer->body == "hello");
  CHECK(proxy.heard().starts_with("GET http://no-such-host.example/a?b HTTP/1.1\r\n"));
  CHECK(proxy.heard().find("Host: no-such-host.example\r\n") != std::string::npos);
  CHECK(proxy.heard().find("Proxy-Authorization: Basic YW5uOnBhc3M=\r\n") != std::string::npos);
}

TEST_CASE_TEMPLATE(
    "http_request: a proxy is asked to connect to an https server, and its refusal is the reason", Transport,
    Blocking, OverLoop) {
  struct Row {
    const char* answer;
    ErrorCode code;
    const char* reason;
  };
  const Row rows[] = {
      {kRefused, ErrorCode::permission_denied, "the proxy does not allow this server (HTTP status 403)"},
      {"HTTP/1.1 407 Who?\r\n\r\n", ErrorCode::permission_denied,
       "the proxy does not accept Baton's login (HTTP status 407)"},
      {"HTTP/1.1 504 Late\r\n\r\n", ErrorCode::unavailable,
       "the proxy does not reach the server (HTTP status 504)"},
      {"HTTP/1.1 200 OK\r\n\r\nmore", ErrorCode::unavailable, "the proxy gave no usable answer"},
      {"nonsense", ErrorCode::unavailable, "the proxy gave no usable answer"},
  };
  for (const Row& row : rows) {
    CAPTURE(row.answer);
    ScriptedProxy proxy(row.answer);
    bool was_connected = false;
    HttpRequest request = proxy.request_to("https://no-such-host.example/secret");
    request.headers = {{"Authorization", "Bearer token"}};
    request.on_connected = [&] { was_connected = true; };
    const auto answer = Transport::request(request);
    REQUIRE_FALSE(answer.has_value());
    CHECK(answer.error().code == row.code);
    CHECK(answer.error().for_caller == row.reason);
    CHECK_FALSE(was_connected);  // nothing for the server was sent
    CHECK(proxy.heard() ==
          "CONNECT no-such-host.example:443 HTTP/1.1\r\nHost: no-such-host.example:443\r\nUser-Agent: "
          "Baton\r\n\r\n");
  }
}

TEST_CASE_TEMPLATE(
    "http_request: a proxy that is not there is named, and none is used for exceptions and this machine",
    Transport, Blocking, OverLoop) {
  ScriptedProxy proxy(kRefused);
  RawServer server(
      [](RawServer&, int connection) { RawServer::say(connection, "HTTP/1.1 204 No Content\r\n\r\n"); });
  HttpRequest request = proxy.request_to(server.url());
  request.policy = AddressPolicy::any();
  CHECK(Transport::request(request)->status == 204);  // 127.0.0.1 would be the proxy's own machine
  CHECK(proxy.heard().empty());

  request = proxy.request_to("http://a.example.org/");
  for (const char* host : {"a.example.org", "A.EXAMPLE.ORG", ".example.org", ".org"}) {
    request.proxy.except = {host};
    CHECK_FALSE(request.proxy.serves(*parse_url(request.url)));
  }
  for (const char* host : {"example.org", ".a.example.org", "ample.org", "b.example.org"}) {
    request.proxy.except = {host};
    CHECK(request.proxy.serves(*parse_url(request.url)));
  }
  request.proxy.except.clear();
  for (const char* host :
       {"127.1", "[::1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "localhost.", "a.localhost"})
    CHECK_FALSE(request.proxy.serves(*parse_url("http://" + std::string(host) + "/")));
  request.proxy.url = "http://127.0.0.1:1";
  CHECK(Transport::request(request).error().for_caller.starts_with("the proxy cannot be reached: "));
}

TEST_CASE(
    "check_target: behind a proxy, literal private addresses and local names are refused, public ones are "
    "not") {
  const auto allows = [](const std::string& host, const AddressPolicy& policy) {
    const Proxy proxy{"http://proxy.example:3128", {}, {}};
    return check_target(*parse_url("https://" + host + "/"), policy, proxy).has_value();
  };
  AddressPolicy private_too;
  private_too.allow_private = true;
  for (const char* host : {"10.0.0.7", "[::1]", "127.1", "0x7f.1", "localhost", "printer", "db.internal",
                           "a.local", "a.home.arpa", "a.corp.", "nas.lan"}) {
    CAPTURE(host);
    CHECK_FALSE(allows(host, {}));
    CHECK(allows(host, private_too));
  }
  // Programs read these forms differently.
  for (const char* host : {"010.0.0.7", "012.0.0.7", "0xa.7", "0xA000007", "167772167", "10.7", "10.0.0.7.",
                           "8.8.8.8.", "10.0.0.08", "a.1", "0x", "[::ffff:10.0.0.7]", "[::ffff:a00:7]",
                           "[::10.0.0.7]", "[64:ff9b::10.0.0.7]", "printer.", "a.svc", "a.test"}) {
    CAPTURE(host);
    CHECK_FALSE(allows(host, {}));
    CHECK(allows(host, AddressPolicy::any()));
  }
  for (const char* host : {"0251.0376.0251.0376", "0169.0254.0169.0254", "2852039166", "169.254.169.254.",
                           "[::ffff:a9fe:a9fe]", "metadata.google.internal.", "metadata.goog"}) {
    CAPTURE(host);
    CHECK_FALSE(allows(host, private_too));
    CHECK(allows(host, AddressPolicy::any()));
  }
  for (const char* host : {"169.254.169.254", "metadata.google.internal", "metadata"}) {
    CAPTURE(host);
    CHECK_FALSE(allows(host, private_too));
    CHECK(allows(host, AddressPolicy::any()));
  }
  for (const char* host : {"example.org", "example.org.", "local.example.org", "93.184.216.34", "1.com",
                           "0x1.example", "[2606:4700:4700::1111]"}) {
    CAPTURE(host);
    CHECK(allows(host, {}));
  }
}

TEST_CASE_TEMPLATE("http_request: a proxy gets an IPv6 address in brackets", Transport, Blocking, OverLoop) {
  ScriptedProxy proxy(kRefused);
  CHECK_FALSE(Transport::request(proxy.request_to("https://[2606:4700:4700::1111]/")).has_value());
  CHECK(Transport::request(proxy.request_to("http://[2606:4700:4700::1111]:81/x")).error().code ==
        ErrorCode::permission_denied);
  HttpRequest request = proxy.request_to("http://[2606:4700:4700::1111]:8081/x");
  CHECK(Transport::request(request)->status == 403);
  CHECK(proxy.heard().find(
            "CONNECT [2606:4700:4700::1111]:443 HTTP/1.1\r\nHost: [2606:4700:4700::1111]:443\r\n") !=
        std::string::npos);
  CHECK(proxy.heard().find("GET http://[2606:4700:4700::1111]:8081/x HTTP/1.1\r\n") != std::string::npos);
  CHECK(proxy.heard().find("Host: [2606:4700:4700::1111]:8081\r\n") != std::string::npos);
}

TEST_CASE("proxy_problem: a proxy is an http URL without a path") {
  CHECK(baton::outbound::proxy_problem("http://proxy.example:3128").empty());
  for (const char* url :
       {"https://proxy.example:3128", "proxy:3128", "http://u:p@proxy:3128", "http://proxy/path"})
    CHECK_FALSE(baton::outbound::proxy_problem(url).empty());
}

}  // namespace proxy_test

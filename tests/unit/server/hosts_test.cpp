#include "server/admission/hosts.h"

#include <doctest/doctest.h>

namespace hosts_test {

using namespace baton;

namespace {

http::Request from(std::string address, std::vector<std::pair<std::string, std::string>> headers) {
  http::Request request;
  request.headers = std::move(headers);
  request.remote_address = std::move(address);
  return request;
}

server::ServerOptions on_loopback() {
  server::ServerOptions options;
  options.any_host = false;
  return options;
}

}  // namespace

TEST_CASE("Hosts: loopback names and addresses are recognised, similar ones are not") {
  for (const char* host : {"localhost", "LocalHost:80", "localhost.", "a.localhost", "127.0.0.1",
                           "127.9.9.9:1", "[::1]", "[::1]:80", "::1"}) {
    CAPTURE(host);
    CHECK(server::is_loopback_host(host));
  }
  for (const char* host : {"", "localhost.example", "xlocalhost", "127.0.0.1.example", "128.0.0.1", "0.0.0.0",
                           "[::2]", "127.1", "::", "1::1"}) {
    CAPTURE(host);
    CHECK_FALSE(server::is_loopback_host(host));
  }
}

TEST_CASE("Hosts: a request must name loopback, the public URL's host or a listed host") {
  server::ServerOptions options = on_loopback();
  options.public_url = "https://agents.example/base";
  options.hosts = {"b.example", "c.example:81"};
  for (const char* host : {"localhost:8080", "agents.example", "Agents.Example:443", "agents.example.",
                           "b.example:9", "c.example:81", ""}) {
    CAPTURE(host);
    CHECK(server::host_is_served(options, from("127.0.0.1", {{"Host", host}})));
  }
  for (const char* host : {"evil.example", "c.example", "c.example:82", "x.b.example", "agents.example/x",
                           "a b", "localhost@evil.example", "[::1", "b.example:80:80"}) {
    CAPTURE(host);
    CHECK_FALSE(server::host_is_served(options, from("127.0.0.1", {{"Host", host}})));
    // The form that gRPC uses.
    CHECK_FALSE(server::host_is_served(options, from("127.0.0.1", {{":authority", host}})));
  }
  options.hosts = {"*"};
  CHECK(server::host_is_served(options, from("127.0.0.1", {{"Host", "any.example"}})));
  CHECK(server::host_is_served(server::ServerOptions(), from("127.0.0.1", {{"Host", "any.example"}})));
}

TEST_CASE("Hosts: X-Forwarded-* is trusted from configured proxies only") {
  server::ServerOptions options = on_loopback();
  options.proxies = {"10.0.0.0/8", "2001:db8::7"};
  options.hosts = {"agents.example"};
  const std::vector<std::pair<std::string, std::string>> headers{
      {"Host", "localhost"},
      {"X-Forwarded-Host", "agents.example"},
      {"X-Forwarded-Proto", "https"},
      {"X-Forwarded-For", "198.51.100.1, 203.0.113.9, 10.2.2.2"}};
  for (const char* proxy : {"10.1.2.3", "2001:db8::7"}) {
    const auto request = from(proxy, headers);
    CHECK(server::named_host(options, request) == "agents.example");
    CHECK(server::named_scheme(options, request) == "https");
    // The client may have invented the first address.
    CHECK(server::client_address(options, request) == "203.0.113.9");
  }
  for (const char* other : {"11.0.0.1", "2001:db8::8", "", "nonsense"}) {
    const auto request = from(other, headers);
    CHECK(server::named_host(options, request) == "localhost");
    CHECK(server::named_scheme(options, request) == "http");
    options.https = true;
    CHECK(server::named_scheme(options, request) == "https");
    options.https = false;
    CHECK(server::client_address(options, request) == other);
  }
}

TEST_CASE("Hosts: the server's own origin leaves out the scheme's usual port, as browsers do") {
  server::ServerOptions options;
  options.proxies = {"10.0.0.1"};
  const auto behind_proxy = [](const char* scheme, const char* host) {
    return from("10.0.0.1", {{"Host", host}, {"X-Forwarded-Proto", scheme}});
  };
  struct Case {
    const char *scheme, *host, *origin;
  };
  for (const Case& each : {Case{"https", "agents.example:443", "https://agents.example"},
                           Case{"http", "agents.example:80", "http://agents.example"},
                           Case{"https", "[::1]:443", "https://[::1]"},
                           Case{"https", "agents.example", "https://agents.example"},
                           Case{"HTTPS", "agents.example", "https://agents.example"},
                           Case{"https", "agents.example:80", "https://agents.example:80"},
                           Case{"http", "agents.example:443", "http://agents.example:443"},
                           Case{"https", "agents.example:8443", "https://agents.example:8443"}}) {
    CAPTURE(each.origin);
    const http::Request request = behind_proxy(each.scheme, each.host);
    CHECK(server::own_origin(options, request) == each.origin);
    CHECK(server::named_url(options, request) == each.origin);
  }
  // The proxy does not say that it speaks https.
  for (const char* url :
       {"https://agents.example", "https://agents.example:443/base", "HTTPS://agents.example"}) {
    CAPTURE(url);
    options.public_url = url;
    for (const char* host : {"agents.example", "agents.example:443"})
      CHECK(server::own_origin(options, from("127.0.0.1", {{"Host", host}})) == "https://agents.example");
  }
}

TEST_CASE("Hosts: X-Forwarded-Host allows no other host, and does not hide a wrong Host") {
  server::ServerOptions options = on_loopback();
  options.proxies = {"127.0.0.1"};
  CHECK_FALSE(server::host_is_served(options, from("127.0.0.1", {{"X-Forwarded-Host", "evil.example"}})));
  CHECK_FALSE(server::host_is_served(
      options, from("127.0.0.1", {{"Host", "evil.example"}, {"X-Forwarded-Host", "localhost"}})));
  CHECK(server::host_is_served(
      options, from("127.0.0.1", {{"Host", "localhost"}, {"X-Forwarded-Host", "localhost"}})));
}

TEST_CASE("Hosts: a client's network is its IPv4 address, in both forms, or the /64 of its IPv6 address") {
  CHECK(server::network_of("192.0.2.1") == "192.0.2.1");
  CHECK(server::network_of("::ffff:192.0.2.1") == "192.0.2.1");
  CHECK(server::network_of("::ffff:c000:202") == "192.0.2.2");
  CHECK(server::network_of("2001:db8:0:1:2:3:4:5") == "2001:db8:0:1::/64");
  CHECK(server::network_of("fe80::1%eth0") == "fe80::/64");
  CHECK(server::network_of("no address") == "no address");
}

}  // namespace hosts_test

#include "outbound/address.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "outbound/http_client.h"
#include "outbound/wait_limits.h"

namespace address_test {

using baton::base::ErrorCode;
using baton::outbound::AddressPolicy;
using baton::outbound::check_target;
using baton::outbound::is_allowed_address;
using baton::outbound::is_public_address;

namespace {

struct Row {
  const char* address;
  bool is_public;
};

auto resolve_allowed(const std::string& host, const AddressPolicy& policy) {
  return baton::outbound::resolve_allowed({"https", host, 443, "/"}, policy, {});
}

constexpr Row kRows[] = {
    {"8.8.8.8", true},
    {"1.1.1.1", true},
    {"93.184.216.34", true},
    {"9.255.255.255", true},
    {"11.0.0.0", true},
    {"100.63.255.255", true},
    {"100.128.0.0", true},
    {"172.15.255.255", true},
    {"172.32.0.0", true},
    {"192.167.255.255", true},
    {"192.169.0.0", true},
    {"198.17.255.255", true},
    {"198.20.0.0", true},
    {"223.255.255.255", true},
    {"0.0.0.0", false},
    {"0.1.2.3", false},
    {"10.0.0.0", false},
    {"10.255.255.255", false},
    {"100.64.0.0", false},
    {"100.127.255.255", false},
    {"127.0.0.1", false},
    {"127.255.255.255", false},
    {"168.63.129.15", true},
    {"168.63.129.16", false},
    {"169.254.169.254", false},
    {"172.16.0.0", false},
    {"172.31.255.255", false},
    {"192.0.0.8", false},
    {"192.0.2.1", false},
    {"192.88.99.1", false},
    {"192.168.0.1", false},
    {"198.18.0.1", false},
    {"198.19.255.255", false},
    {"198.51.100.7", false},
    {"203.0.113.9", false},
    {"224.0.0.1", false},
    {"239.255.255.255", false},
    {"240.0.0.1", false},
    {"255.255.255.255", false},
    {"2606:4700:4700::1111", true},
    {"2a00:1450:4001:831::200e", true},
    {"2003::1", true},
    {"::ffff:8.8.8.8", true},
    {"64:ff9b::8.8.8.8", true},
    {"2002:808:808::1", true},
    {"::", false},
    {"::1", false},
    {"::127.0.0.1", false},
    {"::10.1.2.3", false},
    {"::ffff:127.0.0.1", false},
    {"::ffff:10.0.0.1", false},
    {"::ffff:a9fe:a9fe", false},
    {"::ffff:0:127.0.0.1", false},
    {"64:ff9b::127.0.0.1", false},
    {"64:ff9b::a00:1", false},
    {"64:ff9b:1::8.8.8.8", false},
    {"2002:7f00:1::", false},
    {"2002:c0a8:101::1", false},
    {"100::1", false},
    {"2001::1", false},
    {"2001:0:4136:e378:8000:63bf:3fff:fdd2", false},
    {"2001:1ff::1", false},
    {"2001:db8::1", false},
    {"3fff::1", false},
    {"4000::1", false},
    {"5f00::1", false},
    {"fc00::1", false},
    {"fd12:3456::1", false},
    {"fe80::1", false},
    {"fe80::1%lo", false},
    {"febf::1", false},
    {"fec0::1", false},
    {"ff02::1", false},
    {"", false},
    {"localhost", false},
    {"0x7f.1", false},
    {"8.8.8", false},
    {"8.8.8.8 ", false},
};

}  // namespace

TEST_CASE("is_public_address: the special ranges of both families are not public, their neighbours are") {
  for (const Row& row : kRows) {
    CAPTURE(std::string(row.address));
    CHECK(is_public_address(row.address) == row.is_public);
  }
}

TEST_CASE("resolve_allowed: every spelling of loopback is refused by the check of the address") {
  for (const char* host : {"127.0.0.1", "0x7f.1", "2130706433", "127.1", "017700000001", "localhost", "::1",
                           "::ffff:127.0.0.1", "0"}) {
    CAPTURE(std::string(host));
    const auto refused = resolve_allowed(host, AddressPolicy{});
    REQUIRE_FALSE(refused.has_value());
    CHECK(refused.error().code == ErrorCode::permission_denied);
    const auto allowed = resolve_allowed(host, AddressPolicy{true});
    REQUIRE(allowed.has_value());
    CHECK_FALSE(allowed->empty());
  }
}

TEST_CASE("resolve_allowed: a dot at the end of a name does not bypass the check") {
  // Systems differ in whether they know the name in this form. It is refused in any case.
  CHECK_FALSE(resolve_allowed("localhost.", AddressPolicy{}).has_value());
}

TEST_CASE("resolve_allowed: loopback alone can be opened") {
  const AddressPolicy policy{.allow_loopback = true};
  for (const char* host : {"127.0.0.1", "localhost", "::1", "127.1"})
    CHECK(resolve_allowed(host, policy).has_value());
  for (const char* host : {"10.0.0.1", "192.168.1.1", "169.254.169.254", "::ffff:127.0.0.1", "0"})
    CHECK_FALSE(resolve_allowed(host, policy).has_value());
}

TEST_CASE("resolve_allowed: a public address passes and is returned once") {
  const auto allowed = resolve_allowed("8.8.8.8", AddressPolicy{});
  REQUIRE(allowed.has_value());
  CHECK(*allowed == std::vector<std::string>{"8.8.8.8"});
}

TEST_CASE("resolve_allowed: a name that does not exist is unavailable") {
  const auto resolved = resolve_allowed("no-such-host.invalid", AddressPolicy{true});
  REQUIRE_FALSE(resolved.has_value());
  CHECK(resolved.error().code == ErrorCode::unavailable);
}

TEST_CASE("is_allowed_address: link-local and metadata addresses need a separate permission") {
  for (const char* address : {"169.254.169.254", "169.254.0.1", "168.63.129.16", "100.100.100.200",
                              "192.0.0.192", "::ffff:169.254.169.254", "64:ff9b::a83f:8110",
                              "2002:a9fe:a9fe::", "fe80::1", "fe80::1%lo", "fd00:ec2::254", "fd20:ce::254"}) {
    CAPTURE(std::string(address));
    CHECK_FALSE(is_allowed_address(address, {}));
    CHECK_FALSE(is_allowed_address(address, {true, false, true}));
    CHECK(is_allowed_address(address, {false, true, false}));
  }
  for (const char* address : {"127.0.0.1", "10.0.0.1", "100.100.100.201", "fd00::1", "::1"}) {
    CAPTURE(std::string(address));
    CHECK(is_allowed_address(address, {true, false, false}));
    CHECK_FALSE(is_allowed_address(address, {false, true, true}));
  }
}

TEST_CASE("check_target: targets that can be refused without a look-up are refused, with the reason") {
  const auto refusal = [](const std::string& url, const AddressPolicy& policy = {}) -> std::string {
    const auto checked = check_target(*baton::outbound::parse_url(url), policy);
    if (checked) return {};
    CHECK(checked.error().code == ErrorCode::permission_denied);
    return checked.error().for_caller;
  };
  for (const char* url : {"http://127.0.0.1/", "http://127.1:8080/", "http://0x7f.1/", "http://[::1]:9000/",
                          "http://localhost/", "http://LOCALHOST./", "http://a.localhost:3000/",
                          "http://10.1.2.3/", "http://168.63.129.16/metadata", "http://[fd00:ec2::254]/"}) {
    CAPTURE(std::string(url));
    CHECK(refusal(url) == "the address of this host is not allowed");
  }
  CHECK(refusal("http://example.com:22/") == "port 22 is not allowed: use 80, 443 or a port from 1024");
  CHECK(refusal("https://example.com:25/", {true, true, false}) != "");
  CHECK(refusal("https://example.com:25/", {false, false, true}) == "");
  for (const char* url :
       {"http://example.com/", "https://example.com/", "http://example.com:443/", "http://example.com:1024/",
        "https://8.8.8.8:8443/", "http://localhost.example.com/"}) {
    CAPTURE(std::string(url));
    CHECK(refusal(url) == "");
  }
  CHECK(refusal("http://127.0.0.1:8080/", {true, false, false}) == "");
}

}  // namespace address_test

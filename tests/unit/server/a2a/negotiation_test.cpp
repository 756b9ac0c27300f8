#include "server/a2a/negotiation.h"

#include <doctest/doctest.h>

#include "server/shared/tenants.h"

namespace negotiation_test {

using namespace baton;
using server::caller_in;
using server::a2a::extensions_of;
using server::a2a::version_of;
using task::ProtocolVersion;

namespace {

http::Request with_header(std::string name, std::string value) {
  http::Request request;
  request.headers.emplace_back(std::move(name), std::move(value));
  return request;
}

task::AgentCard card_with(std::vector<task::Extension> extensions) {
  task::AgentCard card;
  card.extensions = std::move(extensions);
  return card;
}

task::Extension extension(std::string uri, bool required) {
  task::Extension made;
  made.uri = std::move(uri);
  made.required = required;
  return made;
}

}  // namespace

TEST_CASE("version_of: a patch number is ignored, Major.Minor must be one of the four") {
  CHECK(**version_of(with_header("A2A-Version", "1.0")) == ProtocolVersion::v1_0);
  CHECK(**version_of(with_header("a2a-version", " 1.0.1 ")) == ProtocolVersion::v1_0);
  CHECK(**version_of(with_header("A2A-Version", "0.3.0")) == ProtocolVersion::v0_3);
  CHECK(**version_of(with_header("A2A-Version", "0.2.6")) == ProtocolVersion::v0_2);
  CHECK(**version_of(with_header("A2A-Version", "0.1")) == ProtocolVersion::v0_1);
  for (const char* other :
       {"1", "1.7", "0.9", "0.4", "2.0", "7.0", "v1.0", "1.0beta", "10", "1.0, 0.3", "x"}) {
    CAPTURE(other);
    const auto version = version_of(with_header("A2A-Version", other));
    REQUIRE_FALSE(version);
    CHECK(version.error().code == base::ErrorCode::version_not_supported);
  }
}

TEST_CASE("version_of: the query counts if there is no header; without both there is no version") {
  http::Request request;
  CHECK_FALSE(version_of(request)->has_value());
  request.query.emplace_back("A2A-Version", "1.0");
  CHECK(**version_of(request) == ProtocolVersion::v1_0);
  request.headers.emplace_back("A2A-Version", "0.3");
  CHECK(**version_of(request) == ProtocolVersion::v0_3);
}

TEST_CASE("extensions_of: requested extensions of the card are active, under the header that asked") {
  const auto card = card_with({extension("https://a", false), extension("https://b", false)});
  const auto on = extensions_of(with_header("X-A2A-Extensions", "https://b ,https://unknown"), card);
  CHECK(on.header == "X-A2A-Extensions");
  CHECK(on.active == std::vector<std::string>{"https://b"});
  CHECK(on.missing.empty());
}

TEST_CASE("extensions_of: every header line counts") {
  const auto card = card_with({extension("https://a", false), extension("https://b", true)});
  auto request = with_header("A2A-Extensions", "https://a");
  request.headers.emplace_back("a2a-extensions", "https://b");
  CHECK(extensions_of(request, card).active == std::vector<std::string>{"https://a", "https://b"});
}

TEST_CASE("extensions_of: if both headers ask, in any order, the answer uses the new one") {
  const auto card = card_with({extension("https://a", false), extension("https://b", false)});
  const std::pair<std::string, std::string> old{"X-A2A-Extensions", "https://a"},
      fresh{"A2A-Extensions", "https://b"};
  for (const auto& headers : {std::vector{old, fresh}, std::vector{fresh, old}}) {
    http::Request request;
    request.headers = headers;
    const auto on = extensions_of(request, card);
    CHECK(on.header == "A2A-Extensions");
    CHECK(on.active.size() == 2);
  }
}

TEST_CASE("extensions_of: a required extension that is not requested is named") {
  const auto card = card_with({extension("https://a", true)});
  CHECK(extensions_of({}, card).missing == "https://a");
  CHECK(extensions_of(with_header("A2A-Extensions", "https://a"), card).missing.empty());
}

TEST_CASE("caller_in: a caller differs per tenant, and invalid tenant names are refused") {
  const task::Caller caller{"bob"};
  CHECK(caller_in("", caller) == caller);
  CHECK_FALSE(caller_in("t", caller) == caller);
  CHECK_FALSE(caller_in("t", caller) == caller_in("u", caller));
  CHECK_FALSE(server::check_tenant("a\x1f"));
  CHECK_FALSE(server::check_tenant("a/b"));
  CHECK_FALSE(server::check_tenant("v1"));
  CHECK_FALSE(server::check_tenant(std::string(257, 'x')));
  CHECK(server::check_tenant("Firma Müller"));
}

}  // namespace negotiation_test

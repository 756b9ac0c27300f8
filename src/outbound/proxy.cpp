#include "outbound/proxy.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string_view>

#include "base/base64.h"
#include "base/text.h"
#include "outbound/http_client.h"
#include "outbound/outcome.h"
#include "outbound/resolver.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kTunnelHeadMax = 16 << 10;
constexpr std::string_view kHeadEnd = "\r\n\r\n";

// Top-level domains that are never public: RFC 6761, 6762 (appendix G), 8375 and 9476, ICANN's "internal",
// and the services of a Kubernetes cluster.
constexpr std::array<std::string_view, 13> kLocalDomains{
    "localhost", "local", "internal", "home.arpa",   "intranet", "private", "corp",
    "home",      "lan",   "test",     "localdomain", "alt",      "svc"};
// Names of the metadata services of clouds.
constexpr std::array<std::string_view, 6> kMetadataNames{
    "metadata",      "metadata.google.internal",   "metadata.goog",
    "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com"};

std::string_view without_dot(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host;
}

// `domain`: a name, or a name with a leading dot, which stands for all below it.
bool is_in_domain(std::string_view host, std::string_view domain) {
  host = without_dot(host);
  if (!domain.starts_with('.')) return base::same_word(host, domain);
  return host.size() > domain.size() && base::same_word(host.substr(host.size() - domain.size()), domain);
}

bool is_local_name(std::string_view host) {
  host = without_dot(host);
  if (host.find('.') == host.npos) return true;
  return std::ranges::any_of(kLocalDomains, [&](std::string_view domain) {
    return is_in_domain(host, "." + std::string(domain)) || host == domain;
  });
}

// Returns true if the last label is a number, which no public name has (RFC 3696, 2) and every way of writing
// an IPv4 address does.
bool ends_in_number(std::string_view host) {
  std::string_view label = host.substr(host.rfind('.') + 1);
  const bool is_hex = label.starts_with("0x");
  if (is_hex) label.remove_prefix(2);
  return label.find_first_not_of(is_hex ? "0123456789abcdef" : "0123456789") == label.npos;
}

// Returns true for an IPv4 address that programs read differently: "010.0.0.7" is 8.0.0.7 to some
// and 10.0.0.7 to others, and "10.0.0.7." is a name to some.
bool is_unclear_address(const std::string& host) {
  const bool is_v6 = host.find(':') != std::string::npos;
  return !is_v6 && ends_in_number(without_dot(host)) && literal_address(host) != host;
}

// Returns the status of an HTTP/1 answer; 0 if it is not one.
int status_in(std::string_view head) {
  constexpr std::string_view kBegin = "HTTP/1.";
  if (!head.starts_with(kBegin) || head.size() < 12 || head[8] != ' ') return 0;
  return base::number_in<int>(head.substr(9, 3)).value_or(0);
}

}  // namespace

bool Proxy::serves(const Url& target) const {
  if (url.empty()) return false;
  if (is_this_machine(target.host)) return false;
  return std::ranges::none_of(except,
                              [&](const std::string& host) { return is_in_domain(target.host, host); });
}

std::string Proxy::authorization() const {
  const char* const login = secret_env.empty() ? nullptr : std::getenv(secret_env.c_str());
  return login == nullptr || *login == '\0' ? std::string() : "Basic " + base::encode_base64(login);
}

std::string proxy_problem(const std::string& url) {
  const auto parsed = parse_url(url);
  if (!parsed) return parsed.error().for_caller;
  return parsed->scheme == "http" && parsed->target == "/" ? "" : "must be like http://host:port";
}

base::Result<void> check_target(const Url& target, const AddressPolicy& policy, const Proxy& proxy) {
  auto checked = check_target(target, policy);
  if (!checked || !proxy.serves(target)) return checked;
  const std::string_view host = without_dot(target.host);
  const bool is_name = !literal_address(target.host);
  const bool is_local = is_name && !policy.allow_private && is_local_name(host);
  const bool is_metadata = is_name && !policy.allow_metadata && std::ranges::count(kMetadataNames, host) > 0;
  const bool may_be_any = policy.allow_private && policy.allow_metadata;
  if (is_local || is_metadata || (!may_be_any && is_unclear_address(target.host)))
    return fail(ErrorCode::permission_denied, "the address of this host is not allowed");
  return {};
}

std::string tunnel_request(const Url& target, const std::string& authorization) {
  const std::string authority = authority_of(target);
  std::string request =
      "CONNECT " + authority + " HTTP/1.1\r\nHost: " + authority + "\r\nUser-Agent: Baton\r\n";
  if (!authorization.empty()) request += "Proxy-Authorization: " + authorization + "\r\n";
  return request + "\r\n";
}

base::Result<bool> opens_tunnel(std::string_view answer) {
  if (answer.find(kHeadEnd) == answer.npos) {
    if (answer.size() > kTunnelHeadMax) return fail(no_tunnel());
    return false;
  }
  const int status = status_in(answer);
  // The server says nothing before this side has: further bytes would be the proxy's own.
  if (status >= 200 && status <= 299 && !answer.ends_with(kHeadEnd)) return fail(no_tunnel());
  if (status >= 200 && status <= 299) return true;
  const std::string answered = " (HTTP status " + std::to_string(status) + ")";
  if (may_pass(status) || status == 0)
    return fail(ErrorCode::unavailable, "the proxy does not reach the server" + answered);
  if (status == 407)
    return fail(ErrorCode::permission_denied, "the proxy does not accept Baton's login" + answered);
  return fail(ErrorCode::permission_denied, "the proxy does not allow this server" + answered);
}

base::Error no_tunnel() {
  return {ErrorCode::unavailable, "the proxy gave no usable answer", {}};
}

}  // namespace baton::outbound

#include "server/admission/hosts.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>
#include <optional>
#include <string>

#include "base/text.h"
#include "http/http_text.h"

namespace baton::server {
namespace {

// IPv4 addresses are stored as IPv4-mapped IPv6 addresses, so that all have one length.
using Address = std::array<std::uint8_t, 16>;

std::optional<Address> parse_address(std::string_view text) {
  const std::string copy(text);
  Address address{};
  if (inet_pton(AF_INET6, copy.c_str(), address.data()) == 1) return address;
  address[10] = address[11] = 0xff;
  if (inet_pton(AF_INET, copy.c_str(), address.data() + 12) == 1) return address;
  return std::nullopt;
}

struct Network {
  Address address;
  int bits;  // of the 128
};

std::optional<Network> parse_network(std::string_view text) {
  const std::size_t slash = text.find('/');
  const auto address = parse_address(text.substr(0, slash));
  if (!address) return std::nullopt;
  if (slash == std::string_view::npos) return Network{*address, 128};
  const bool is_ipv6 = text.find(':') != std::string_view::npos;
  const std::string_view length = text.substr(slash + 1);
  const auto bits = base::number_in<int>(length);
  if (!bits || *bits < 0 || *bits > (is_ipv6 ? 128 : 32)) return std::nullopt;
  return Network{*address, is_ipv6 ? *bits : *bits + 96};
}

bool holds(const Network& network, const Address& address) {
  for (int bit = 0; bit < network.bits; ++bit) {
    const auto byte = static_cast<std::size_t>(bit / 8);
    const int mask = 0x80 >> (bit % 8);
    if (((network.address[byte] ^ address[byte]) & mask) != 0) return false;
  }
  return true;
}

bool is_proxy(const ServerOptions& options, std::string_view text) {
  if (options.proxies.empty()) return false;
  const auto address = parse_address(text);
  return address && std::ranges::any_of(options.proxies, [&](const std::string& each) {
           const auto network = parse_network(each);
           return network && holds(*network, *address);
         });
}

bool consists_of(std::string_view text, std::string_view more) {
  return std::ranges::all_of(text, [&](unsigned char c) {
    return std::isalnum(c) || more.find(static_cast<char>(c)) != std::string_view::npos;
  });
}

std::string_view without_dot(std::string_view name) {
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

std::string_view without_usual_port(std::string_view host, bool is_https) {
  const std::string_view port = is_https ? ":443" : ":80";
  if (host.ends_with(port)) host.remove_suffix(port.size());
  return host;
}

bool same_host(std::string_view host, std::string_view allowed) {
  if (allowed == "*") return true;
  const bool any_port = without_port(allowed) == allowed;
  if (!any_port) return http::same_word(host, allowed);
  return http::same_word(without_dot(without_port(host)), without_dot(allowed));
}

bool is_served(const ServerOptions& options, std::string_view host) {
  if (host.empty()) return true;
  if (!is_host(host)) return false;
  if (is_loopback_host(host)) return true;
  if (!options.public_url.empty() && same_host(host, without_port(host_in_url(options.public_url))))
    return true;
  return std::ranges::any_of(options.hosts,
                             [&](const std::string& allowed) { return same_host(host, allowed); });
}

std::string_view own_host(const http::Request& request) {
  const std::string_view host = request.header("Host");
  return host.empty() ? request.header(":authority") : host;
}

// Returns the last member of the list. Each proxy appends its value, so the last one is the nearest proxy's.
std::string_view last_member(std::string_view list) {
  const std::size_t comma = list.rfind(',');
  return http::trimmed(comma == std::string_view::npos ? list : list.substr(comma + 1));
}

// The nearest proxy's value of the header, if the proxy is trusted.
std::string_view forwarded(const ServerOptions& options, const http::Request& request,
                           std::string_view name) {
  if (!is_proxy(options, request.remote_address)) return {};
  std::string_view value;
  for (const auto& [each, text] : request.headers) {
    if (http::same_word(each, name)) value = text;
  }
  return last_member(value);
}

}  // namespace

std::string_view without_port(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, host.find(']') + 1);
  const std::size_t colon = host.find(':');
  return colon == host.rfind(':') ? host.substr(0, colon) : host;
}

std::string network_of(std::string_view address) {
  in6_addr six{};
  const std::string text(address.substr(0, address.find('%')));
  if (inet_pton(AF_INET6, text.c_str(), &six) != 1) return std::string(address);
  std::array<char, INET6_ADDRSTRLEN> network{};
  // Some proxies write IPv4 addresses so. Their /64 is one network for all of them.
  if (IN6_IS_ADDR_V4MAPPED(&six)) {
    inet_ntop(AF_INET, &six.s6_addr[12], network.data(), network.size());
    return network.data();
  }
  std::fill(std::begin(six.s6_addr) + 8, std::end(six.s6_addr), std::uint8_t{0});
  inet_ntop(AF_INET6, &six, network.data(), network.size());
  return std::string(network.data()) + "/64";
}

bool is_loopback_host(std::string_view host) {
  std::string_view name = without_dot(without_port(host));
  if (http::same_word(name, "localhost")) return true;
  constexpr std::string_view kBelow = ".localhost";
  if (name.size() > kBelow.size() && http::same_word(name.substr(name.size() - kBelow.size()), kBelow)) {
    return true;
  }
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const auto address = parse_address(name);
  return address &&
         (holds(*parse_network("127.0.0.0/8"), *address) || holds(*parse_network("::1"), *address));
}

bool is_host(std::string_view host) {
  constexpr std::size_t kHostMax = 255;
  if (host.empty() || host.size() > kHostMax) return false;
  const std::size_t bracket = host.starts_with('[') ? host.find(']') : std::string_view::npos;
  const std::size_t name_end = bracket == std::string_view::npos ? host.find(':') : bracket + 1;
  const std::string_view name = host.substr(0, name_end);
  const std::string_view port = name_end < host.size() ? host.substr(name_end) : std::string_view();
  const bool name_good = bracket == std::string_view::npos ? !name.empty() && consists_of(name, ".-_")
                                                           : consists_of(name.substr(1, bracket - 1), ":.");
  const bool port_good = port.empty() || (port.size() > 1 && port.size() <= 6 && port[0] == ':' &&
                                          port.find_first_not_of("0123456789", 1) == std::string_view::npos);
  return name_good && port_good;
}

std::string_view host_in_url(std::string_view url) {
  const std::size_t scheme = url.find("://");
  if (scheme != std::string_view::npos) url.remove_prefix(scheme + 3);
  return url.substr(0, url.find_first_of("/?#"));
}

bool is_network(std::string_view text) {
  return parse_network(text).has_value();
}

std::string_view named_host(const ServerOptions& options, const http::Request& request) {
  const std::string_view said = forwarded(options, request, "X-Forwarded-Host");
  return said.empty() ? own_host(request) : said;
}

std::string_view named_scheme(const ServerOptions& options, const http::Request& request) {
  const std::string_view said = forwarded(options, request, "X-Forwarded-Proto");
  return base::same_word(said, "https") || (said.empty() && options.https) ? "https" : "http";
}

std::string named_url(const ServerOptions& options, const http::Request& request) {
  const std::string_view scheme = named_scheme(options, request);
  const std::string_view host = without_usual_port(named_host(options, request), scheme == "https");
  return std::string(scheme).append("://").append(host);
}

std::string own_origin(const ServerOptions& options, const http::Request& request) {
  const std::size_t scheme = base::web_scheme(options.public_url);
  const bool is_https = base::begins_with(options.public_url, "https:");
  const std::string_view known = without_usual_port(host_in_url(options.public_url), is_https);
  const std::string_view host = without_usual_port(named_host(options, request), is_https);
  if (scheme != 0 && http::same_word(host, known))
    return std::string(is_https ? "https://" : "http://").append(known);
  return named_url(options, request);
}

bool is_safe_origin(std::string_view origin) {
  return origin.starts_with("https://") || is_loopback_host(host_in_url(origin));
}

std::string_view client_address(const ServerOptions& options, const http::Request& request) {
  std::string_view client = request.remote_address;
  for (auto header = request.headers.rbegin(); header != request.headers.rend(); ++header) {
    if (!http::same_word(header->first, "X-Forwarded-For")) continue;
    std::string_view list = header->second;
    while (!list.empty() && is_proxy(options, client)) {
      const std::string_view before = last_member(list);
      // If the value is not an address, returns the proxy's own.
      if (!parse_address(before)) return client;
      client = before;
      const std::size_t comma = list.rfind(',');
      list = list.substr(0, comma == std::string_view::npos ? 0 : comma);
    }
  }
  return client;
}

// Behind a proxy both names are checked: a page that reaches this machine directly could send
// X-Forwarded-Host too.
bool host_is_served(const ServerOptions& options, const http::Request& request) {
  if (options.any_host) return true;
  const std::string_view own = own_host(request), named = named_host(options, request);
  return is_served(options, own) && (named == own || is_served(options, named));
}

}  // namespace baton::server

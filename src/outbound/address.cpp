#include "outbound/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "outbound/http_client.h"
#include "outbound/resolver.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;

struct V4Range {
  std::uint32_t first;
  int bits;
};

constexpr std::uint32_t v4(std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
  return a << 24 | b << 16 | c << 8 | d;
}

// Ranges that IANA's special-purpose registry does not list as globally reachable (RFC 6890 and later).
constexpr std::array kV4NotPublic{
    V4Range{v4(0, 0, 0, 0), 8},        // this network
    V4Range{v4(10, 0, 0, 0), 8},       // private
    V4Range{v4(100, 64, 0, 0), 10},    // carrier-grade NAT
    V4Range{v4(127, 0, 0, 0), 8},      // loopback
    V4Range{v4(169, 254, 0, 0), 16},   // link-local, with the metadata services of clouds
    V4Range{v4(172, 16, 0, 0), 12},    // private
    V4Range{v4(192, 0, 0, 0), 24},     // protocol assignments
    V4Range{v4(192, 0, 2, 0), 24},     // documentation
    V4Range{v4(192, 88, 99, 0), 24},   // 6to4 relays
    V4Range{v4(192, 168, 0, 0), 16},   // private
    V4Range{v4(198, 18, 0, 0), 15},    // benchmarks
    V4Range{v4(198, 51, 100, 0), 24},  // documentation
    V4Range{v4(203, 0, 113, 0), 24},   // documentation
    V4Range{v4(224, 0, 0, 0), 4},      // multicast
    V4Range{v4(240, 0, 0, 0), 4},      // reserved, and broadcast
};

// The metadata services of clouds, which hand out a machine's credentials.
constexpr std::array kV4Metadata{
    V4Range{v4(169, 254, 0, 0), 16},      // link-local: most clouds
    V4Range{v4(100, 100, 100, 200), 32},  // Alibaba Cloud, in the range of carrier-grade NAT
    V4Range{v4(168, 63, 129, 16), 32},    // Azure, a public address
    V4Range{v4(192, 0, 0, 192), 32},      // Oracle Cloud
};

enum class Reach { open, closed, metadata };

template <std::size_t N>
bool is_in_any(std::uint32_t address, const std::array<V4Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const V4Range& range) { return (address ^ range.first) >> (32 - range.bits) == 0; });
}

Reach reach_of_v4(std::uint32_t address) {
  if (is_in_any(address, kV4Metadata)) return Reach::metadata;
  return is_in_any(address, kV4NotPublic) ? Reach::closed : Reach::open;
}

using V6 = std::array<std::uint8_t, 16>;

struct V6Range {
  V6 first;
  int bits;
};

bool is_in(const V6& address, const V6Range& range) {
  for (int bit = 0; bit < range.bits; bit += 8) {
    const auto at = static_cast<std::size_t>(bit / 8);
    const int left = std::min(8, range.bits - bit);
    const auto mask = static_cast<std::uint8_t>(0xff << (8 - left));
    if (((address[at] ^ range.first[at]) & mask) != 0) return false;
  }
  return true;
}

// IPv6 ranges that contain an IPv4 address at `offset`: dialling them reaches that IPv4 address.
struct V4Inside {
  V6Range range;
  std::size_t offset;
};

constexpr std::array kV4Inside{
    V4Inside{{{}, 96}, 12},                                                // ::/96, compatible
    V4Inside{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96}, 12},        // ::ffff:0:0/96, mapped
    V4Inside{{{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96}, 12},        // ::ffff:0:0:0/96, translated
    V4Inside{{{0x00, 0x64, 0xff, 0x9b, 0, 0, 0, 0, 0, 0, 0, 0}, 96}, 12},  // 64:ff9b::/96, NAT64
    V4Inside{{{0x20, 0x02}, 16}, 2},                                       // 2002::/16, 6to4
};

// The parts of 2000::/3, the only global unicast range, that are not public.
constexpr std::array kV6NotPublic{
    V6Range{{0x20, 0x01, 0x00}, 23},        // protocol assignments, Teredo, ORCHID
    V6Range{{0x20, 0x01, 0x0d, 0xb8}, 32},  // documentation
    V6Range{{0x3f, 0xff, 0x00}, 20},        // documentation
};
constexpr V6Range kV6GlobalUnicast{{0x20}, 3};

constexpr std::array kV6Metadata{
    V6Range{{0xfe, 0x80}, 10},                                                         // link-local
    V6Range{{0xfd, 0x00, 0x0e, 0xc2}, 32},                                             // AWS
    V6Range{{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128},  // Google Cloud
};

template <std::size_t N>
bool is_in_any(const V6& address, const std::array<V6Range, N>& ranges) {
  return std::any_of(ranges.begin(), ranges.end(),
                     [&](const V6Range& range) { return is_in(address, range); });
}

Reach reach_of_v6(const V6& address) {
  for (const V4Inside& inside : kV4Inside) {
    if (!is_in(address, inside.range)) continue;
    std::uint32_t embedded;
    std::memcpy(&embedded, address.data() + inside.offset, sizeof embedded);
    return reach_of_v4(ntohl(embedded));
  }
  if (is_in_any(address, kV6Metadata)) return Reach::metadata;
  const bool open = is_in(address, kV6GlobalUnicast) && !is_in_any(address, kV6NotPublic);
  return open ? Reach::open : Reach::closed;
}

Reach reach_of(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return reach_of_v4(ntohl(four.s_addr));
  V6 six{};
  const std::string without_scope = address.substr(0, address.find('%'));
  if (inet_pton(AF_INET6, without_scope.c_str(), six.data()) != 1) return Reach::closed;
  return reach_of_v6(six);
}

bool is_allowed_port(int port, const AddressPolicy& policy) {
  return policy.allow_low_ports || port >= 1024 || port == 80 || port == 443;
}

bool is_loopback_address(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return ntohl(four.s_addr) >> 24 == 127;
  in6_addr six{};
  return inet_pton(AF_INET6, address.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six) != 0;
}

// RFC 6761, 6.3: always loopback.
bool is_localhost(std::string_view host) {
  if (host.ends_with('.')) host.remove_suffix(1);
  return host == "localhost" || host.ends_with(".localhost");
}

tl::unexpected<base::Error> forbidden_address() {
  return fail(ErrorCode::permission_denied, "the address of this host is not allowed");
}

}  // namespace

bool is_public_address(const std::string& address) {
  return reach_of(address) == Reach::open;
}

bool is_allowed_address(const std::string& address, const AddressPolicy& policy) {
  const Reach reach = reach_of(address);
  if (reach == Reach::metadata) return policy.allow_metadata;
  return reach == Reach::open || policy.allow_private ||
         (policy.allow_loopback && is_loopback_address(address));
}

bool is_this_machine(const std::string& host) {
  constexpr std::string_view kMapped = "::ffff:";
  auto literal = literal_address(host);
  if (literal && literal->starts_with(kMapped)) literal->erase(0, kMapped.size());
  return is_localhost(host) || (literal && is_loopback_address(*literal));
}

base::Result<void> check_target(const Url& url, const AddressPolicy& policy) {
  if (!is_allowed_port(url.port, policy)) {
    return fail(ErrorCode::permission_denied,
                "port " + std::to_string(url.port) + " is not allowed: use 80, 443 or a port from 1024");
  }
  if (is_localhost(url.host) && !policy.allow_private && !policy.allow_loopback) return forbidden_address();
  const auto literal = literal_address(url.host);
  if (literal && !is_allowed_address(*literal, policy)) return forbidden_address();
  return {};
}

base::Result<std::vector<std::string>> allowed_of(std::vector<std::string> addresses,
                                                  const AddressPolicy& policy) {
  std::erase_if(addresses, [&](const std::string& address) { return !is_allowed_address(address, policy); });
  if (addresses.empty()) return forbidden_address();
  return addresses;
}

base::Result<std::vector<std::string>> resolve_allowed(const Url& url, const AddressPolicy& policy,
                                                       const WaitLimits& limits) {
  if (const auto checked = check_target(url, policy); !checked) return fail(checked.error());
  auto addresses = resolve(url.host, limits);
  if (!addresses) return fail(std::move(addresses.error()));
  return allowed_of(std::move(*addresses), policy);
}

}  // namespace baton::outbound

#include "net/address.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <memory>

namespace baton::net {
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

// What the IANA registry of special-purpose addresses does not call globally reachable (RFC 6890 and after).
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

bool is_public_v4(std::uint32_t address) {
  return std::none_of(kV4NotPublic.begin(), kV4NotPublic.end(), [&](const V4Range& range) {
    return (address ^ range.first) >> (32 - range.bits) == 0;
  });
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

// Ranges that carry an IPv4 address, and where: whoever dials them reaches that one.
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

bool is_public_v6(const V6& address) {
  for (const V4Inside& inside : kV4Inside) {
    if (!is_in(address, inside.range)) continue;
    std::uint32_t embedded;
    std::memcpy(&embedded, address.data() + inside.offset, sizeof embedded);
    return is_public_v4(ntohl(embedded));
  }
  return is_in(address, kV6GlobalUnicast) &&
         std::none_of(kV6NotPublic.begin(), kV6NotPublic.end(),
                      [&](const V6Range& range) { return is_in(address, range); });
}

std::string text_of(const addrinfo& entry) {
  char text[NI_MAXHOST];
  // With its scope, where it has one: a link-local address cannot be dialled without.
  if (getnameinfo(entry.ai_addr, entry.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text;
}

}  // namespace

bool is_public_address(const std::string& address) {
  in_addr four{};
  if (inet_pton(AF_INET, address.c_str(), &four) == 1) return is_public_v4(ntohl(four.s_addr));
  V6 six{};
  return inet_pton(AF_INET6, address.c_str(), six.data()) == 1 && is_public_v6(six);
}

base::Result<std::vector<std::string>> resolve_allowed(const std::string& host, const AddressPolicy& policy) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* list = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  if (status != 0)
    return fail(ErrorCode::unavailable, "the host name cannot be resolved", gai_strerror(status));

  std::vector<std::string> allowed;
  bool any = false;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    const std::string text = text_of(*entry);
    if (text.empty()) continue;
    any = true;
    const bool known = std::find(allowed.begin(), allowed.end(), text) != allowed.end();
    if (!known && (policy.allow_private || is_public_address(text))) allowed.push_back(text);
  }
  if (!any) return fail(ErrorCode::unavailable, "the host name has no address");
  if (allowed.empty()) return fail(ErrorCode::permission_denied, "the address of this host is not allowed");
  return allowed;
}

}  // namespace baton::net

#include <algorithm>
#include <charconv>

#include "outbound/http_client.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;

constexpr std::size_t kUrlMax = 8192;
constexpr std::size_t kHostMax = 253;

// These replace <cctype>, which depends on the locale.
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}
bool is_name_character(char c) {
  return is_letter(c) || is_digit(c) || c == '-' || c == '.' || c == '_';
}
bool is_literal_character(char c) {
  return is_hex(c) || c == ':' || c == '.';
}
// Returns true for printable ASCII except the space. All other characters of a URL must be percent-encoded.
bool is_url_character(char c) {
  return c > 0x20 && c < 0x7f;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return result;
}

tl::unexpected<base::Error> bad_url(const char* why) {
  return fail(ErrorCode::invalid_argument, std::string("invalid URL: ") + why);
}

// Splits "host:port" or "[literal]:port" and checks both.
base::Result<void> read_authority(std::string_view authority, Url& url) {
  std::string_view port;
  if (!authority.empty() && authority.front() == '[') {
    const std::size_t end = authority.find(']');
    if (end == std::string_view::npos) return bad_url("a closing bracket is missing");
    url.host = lower(authority.substr(1, end - 1));
    port = authority.substr(end + 1);
    if (url.host.find(':') == std::string::npos ||
        !std::all_of(url.host.begin(), url.host.end(), is_literal_character)) {
      return bad_url("the address in brackets is not an IPv6 address");
    }
  } else {
    const std::size_t end = std::min(authority.find(':'), authority.size());
    url.host = lower(authority.substr(0, end));
    port = authority.substr(end);
    if (url.host.empty()) return bad_url("it has no host");
    if (!std::all_of(url.host.begin(), url.host.end(), is_name_character)) {
      return bad_url("the host name contains invalid characters");
    }
    if (url.host.front() == '.' || url.host.find("..") != std::string::npos)
      return bad_url("the host name has an empty label");
  }
  if (url.host.size() > kHostMax) return bad_url("the host name is too long");
  if (port.empty()) return {};

  const bool has_colon = port.front() == ':';
  port.remove_prefix(1);
  const bool digits =
      has_colon && !port.empty() && port.size() <= 5 && std::all_of(port.begin(), port.end(), is_digit);
  if (!digits || std::from_chars(port.data(), port.data() + port.size(), url.port).ec != std::errc{} ||
      url.port < 1 || url.port > 65535) {
    return bad_url("the port is not a number from 1 to 65535");
  }
  return {};
}

}  // namespace

std::string authority_of(const Url& url) {
  const bool is_v6 = url.host.find(':') != std::string::npos;
  return (is_v6 ? "[" + url.host + "]" : url.host) + ":" + std::to_string(url.port);
}

std::string origin_of(const Url& url) {
  return url.scheme + "://" + authority_of(url);
}

std::string origin_of(std::string_view text) {
  // For gRPC, a card may have only the host and port.
  const std::string whole = (text.find("://") == std::string_view::npos ? "http://" : "") + std::string(text);
  const auto url = parse_url(whole);
  return url ? origin_of(*url) : std::string();
}

base::Result<Url> parse_url(std::string_view text) {
  if (text.size() > kUrlMax) return bad_url("it is too long");
  if (!std::all_of(text.begin(), text.end(), is_url_character)) {
    return bad_url("it contains spaces, control characters or characters that must be percent-encoded");
  }
  const std::size_t colon = text.find("://");
  if (colon == std::string_view::npos) return bad_url("it must begin with http:// or https://");
  Url url;
  url.scheme = lower(text.substr(0, colon));
  if (url.scheme != "http" && url.scheme != "https") return bad_url("only http and https are supported");
  url.port = url.scheme == "https" ? 443 : 80;

  std::string_view rest = text.substr(colon + 3);
  rest = rest.substr(0, rest.find('#'));
  const std::size_t end = std::min(rest.find_first_of("/?"), rest.size());
  const std::string_view authority = rest.substr(0, end);
  if (authority.find('@') != std::string_view::npos)
    return bad_url("it must not contain a user name or password");
  if (const auto read = read_authority(authority, url); !read) return fail(read.error());

  url.target = std::string(rest.substr(end));
  if (url.target.empty() || url.target.front() != '/') url.target.insert(0, "/");
  return url;
}

base::Result<Url> resolved(const Url& base, std::string_view reference) {
  reference = reference.substr(0, reference.find('#'));
  const std::size_t scheme = reference.find("://");
  if (scheme != std::string_view::npos && scheme < reference.find_first_of("/?")) return parse_url(reference);
  if (reference.starts_with("//")) return parse_url(base.scheme + ":" + std::string(reference));
  const std::string_view path = std::string_view(base.target).substr(0, base.target.find('?'));
  std::string target(path);
  if (reference.starts_with('/')) {
    target.clear();
  } else if (!reference.starts_with('?')) {
    target.resize(path.rfind('/') + 1);
  }
  return parse_url(origin_of(base) + target + std::string(reference));
}

}  // namespace baton::outbound

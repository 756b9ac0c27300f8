#include "outbound/request_rules.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

constexpr int kHopsMax = 5;
// The longest silence of a server whose answer holds a part of the byte budget.
constexpr std::chrono::seconds kStallMax{30};

// Rejects control characters: a line end in a value could inject another header.
bool is_header_value(std::string_view value) {
  return std::all_of(value.begin(), value.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte >= 0x20 && byte != 0x7f;
  });
}

// Reserved headers determine where the request goes and where it ends, so only the client sets them.
bool is_reserved_header(std::string_view name) {
  constexpr std::array kReserved{"Host", "Content-Length", "Transfer-Encoding", "Connection",
                                 "Proxy-Authorization"};
  return std::any_of(kReserved.begin(), kReserved.end(),
                     [&](std::string_view reserved) { return base::same_word(name, reserved); });
}

std::string host_header(const Url& url) {
  const std::string authority = authority_of(url);
  const bool is_usual = url.port == (url.scheme == "https" ? 443 : 80);
  return is_usual ? authority.substr(0, authority.rfind(':')) : authority;
}

bool is_for_proxy(const HttpRequest& request, const Url& url) {
  return url.scheme == "http" && request.proxy.serves(url);
}

// Returns whether a request with this method may go to the place that an answer with this status names.
bool is_redirect(const std::string& method, int status) {
  if (status == 307 || status == 308) return true;
  return method == "GET" && (status == 301 || status == 302 || status == 303);
}

}  // namespace

base::Result<void> check_request(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST" && request.method != "DELETE") {
    return fail(ErrorCode::invalid_argument, "only GET, POST and DELETE requests are supported");
  }
  if (!is_header_value(request.content_type)) {
    return fail(ErrorCode::invalid_argument, "the content type contains invalid characters");
  }
  for (const auto& [name, value] : request.headers) {
    if (!base::is_token(name) || is_reserved_header(name) || !is_header_value(value)) {
      return fail(ErrorCode::invalid_argument, "a header contains invalid characters", name);
    }
  }
  return {};
}

std::string target_of(const HttpRequest& request, const Url& url) {
  return is_for_proxy(request, url) ? "http://" + host_header(url) + url.target : url.target;
}

Headers headers_of(const HttpRequest& request, const Url& url) {
  Headers headers{{"Host", host_header(url)}};
  headers.insert(headers.end(), request.headers.begin(), request.headers.end());
  const auto has = [&](std::string_view name) {
    return std::ranges::any_of(headers, [&](const auto& one) { return base::same_word(one.first, name); });
  };
  const std::string login = is_for_proxy(request, url) ? request.proxy.authorization() : "";
  if (!login.empty()) headers.emplace_back("Proxy-Authorization", login);
  if (!has("User-Agent")) headers.emplace_back("User-Agent", "Baton");
  if (!has("Accept")) headers.emplace_back("Accept", "*/*");
  if (!request.content_type.empty()) headers.emplace_back("Content-Type", request.content_type);
  return headers;
}

base::Result<void> admit(const HttpRequest& request, CallReport& report) {
  const milliseconds held = report.admit(request.despite_breaker);
  if (held.count() == 0) return {};
  if (request.on_held) request.on_held(held);
  return fail(CallReport::held_back());
}

KeptConnections& kept_connections() {
  static KeptConnections kept;
  return kept;
}

std::string key_of(const HttpRequest& request, const Url& url) {
  const AddressPolicy& policy = request.policy;
  std::string key = origin_of(url);
  for (const bool is_allowed :
       {policy.allow_private, policy.allow_metadata, policy.allow_low_ports, policy.allow_loopback})
    key += is_allowed ? " 1" : " 0";
  if (request.proxy.serves(url)) key += " " + request.proxy.url + " " + request.proxy.secret_env;
  return key;
}

milliseconds longest_silence(const HttpRequest& request) {
  const bool holds_much = request.intake != nullptr && request.intake->holds_much();
  const milliseconds longest = holds_much ? kStallMax : milliseconds(0);
  const milliseconds patience = request.patience ? request.patience() : milliseconds(0);
  if (patience.count() == 0 || longest.count() == 0) return std::max(patience, longest);
  return std::min(patience, longest);
}

void take_head(const HttpRequest& request, int status, Headers headers, HttpAnswer& answer,
               CallReport& report) {
  answer.status = status;
  answer.headers = std::move(headers);
  answer.content_type = header_of(answer, "Content-Type");
  answer.moved_to = header_of(answer, "Location");
  if (request.mask) {
    answer.content_type = request.mask->masked(answer.content_type);
    for (auto& [name, value] : answer.headers) value = request.mask->masked(value);
  }
  report.answered(status, retry_after(answer).count() > 0);
}

bool keep(std::string& body, std::string_view piece, std::size_t most) {
  const std::size_t room = most - std::min(most, body.size());
  body.append(piece.substr(0, room));
  return piece.size() <= room;
}

std::optional<Url> next_hop(const HttpRequest& request, const Url& url, int hops, HttpAnswer& answer) {
  const bool has_moved = answer.status >= 300 && answer.status <= 399;
  // The place may contain a key that the answer must not show.
  const std::string place =
      std::exchange(answer.moved_to, has_moved ? header_of(answer, "Location") : std::string());
  const bool may_follow = request.follows_redirects && is_redirect(request.method, answer.status);
  if (!may_follow || place.empty() || hops == kHopsMax) return std::nullopt;
  auto next = resolved(url, place);
  // Credentials and the body go to this origin only.
  if (!next || origin_of(*next) != origin_of(url)) return std::nullopt;
  return std::move(*next);
}

}  // namespace baton::outbound

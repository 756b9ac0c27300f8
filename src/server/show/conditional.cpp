#include "server/show/conditional.h"

#include <array>
#include <cstdio>
#include <ctime>
#include <functional>
#include <optional>

#include "http/http_text.h"

namespace baton::server {
namespace {

constexpr const char* kDateFormat = "%a, %d %b %Y %H:%M:%S GMT";

// A cheap hash is enough: it distinguishes the few texts a URL has had, and is not used for security.
std::string etag_of(std::string_view body) {
  std::array<char, 40> text{};
  const int length = std::snprintf(text.data(), text.size(), "\"%zx-%zx\"",
                                   std::hash<std::string_view>()(body), body.size());
  return {text.data(), static_cast<std::size_t>(length)};
}

// Obsolete date formats are treated as no date.
std::optional<HttpTime> read_date(std::string_view text) {
  std::tm parts{};
  const std::string copy(text);
  const char* end = strptime(copy.c_str(), kDateFormat, &parts);
  if (end == nullptr || *end != '\0') return std::nullopt;
  return std::chrono::time_point_cast<std::chrono::seconds>(
      std::chrono::system_clock::from_time_t(timegm(&parts)));
}

// Weak comparison: for a GET "W/" makes no difference.
bool names(std::string_view list, std::string_view etag) {
  while (!list.empty()) {
    std::string_view member = http::next_member(list);
    if (member == "*") return true;
    if (member.starts_with("W/")) member.remove_prefix(2);
    if (member == etag) return true;
  }
  return false;
}

bool has_it(const http::Request& request, std::string_view etag, HttpTime modified) {
  bool asked = false;
  for (const auto& [name, value] : request.headers) {
    if (!http::same_word(name, "If-None-Match")) continue;
    asked = true;
    if (names(value, etag)) return true;
  }
  if (asked || modified == HttpTime{}) return false;
  const auto since = read_date(http::trimmed(request.header("If-Modified-Since")));
  return since && *since >= modified;
}

}  // namespace

std::string http_date(HttpTime time) {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(time);
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  std::array<char, 40> text{};
  return {text.data(), std::strftime(text.data(), text.size(), kDateFormat, &parts)};
}

http::Reply conditional_reply(const http::Request& request, std::string body, HttpTime modified) {
  http::Reply reply;
  std::string etag = etag_of(body);
  if (has_it(request, etag, modified)) {
    reply.status = 304;
    reply.content_type.clear();
  } else {
    reply.body = std::move(body);
  }
  reply.headers.emplace_back("ETag", std::move(etag));
  if (modified != HttpTime{}) reply.headers.emplace_back("Last-Modified", http_date(modified));
  return reply;
}

}  // namespace baton::server

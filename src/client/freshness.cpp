#include "client/freshness.h"

#include <algorithm>
#include <cctype>

#include "base/text.h"
#include "http/http_text.h"

namespace baton::client {

std::string etag_of(const outbound::HttpAnswer& answer) {
  constexpr std::size_t kMost = 256;
  std::string etag = outbound::header_of(answer, "ETag");
  const bool is_good =
      etag.size() <= kMost && std::ranges::all_of(etag, [](unsigned char c) { return c > 0x20 && c < 0x7f; });
  return is_good ? etag : std::string();
}

std::optional<std::chrono::seconds> max_age_of(const outbound::HttpAnswer& answer) {
  constexpr std::int64_t kMost = 24 * 3'600;
  constexpr std::string_view kMaxAge = "max-age=";
  std::optional<std::chrono::seconds> found;
  std::string header = outbound::header_of(answer, "Cache-Control");
  std::ranges::transform(header, header.begin(), [](unsigned char c) { return std::tolower(c); });
  for (std::string_view rest = header; !rest.empty();) {
    const std::string_view word = http::next_member(rest);
    if (word == "no-cache" || word == "no-store") return std::chrono::seconds(0);
    if (!word.starts_with(kMaxAge)) continue;
    const auto seconds = base::number_in<std::int64_t>(word.substr(kMaxAge.size()));
    if (seconds) found = std::chrono::seconds(std::clamp<std::int64_t>(*seconds, 0, kMost));
  }
  return found;
}

std::string links_of(const outbound::HttpAnswer& answer) {
  std::string links;
  for (const auto& [name, value] : answer.headers) {
    if (http::same_word(name, "Link")) links += (links.empty() ? "" : ", ") + value;
  }
  return links;
}

}  // namespace baton::client

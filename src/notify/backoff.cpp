#include "notify/backoff.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <string>

namespace baton::notify {

base::Duration retry_pause(const Backoff& backoff, int failed, double random) {
  const auto most = static_cast<double>(backoff.max.count());
  auto pause = static_cast<double>(backoff.first.count());
  for (int i = 1; i < failed && pause < most; ++i) pause *= std::max(backoff.factor, 1.0);
  pause = std::min(pause, most) * (1 + backoff.jitter * (2 * random - 1));
  return base::Duration(static_cast<base::Duration::rep>(pause));
}

std::optional<base::Duration> retry_after(std::string_view header, base::Timestamp now) {
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(header.data(), header.data() + header.size(), seconds);
  if (error == std::errc{} && end == header.data() + header.size()) {
    constexpr std::int64_t kSecondsMax = 366LL * 24 * 3600;
    return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kSecondsMax));
  }
  std::tm date{};
  const std::string text(header);
  // The only date form of RFC 9110 that is still sent; the two old ones are treated as absent.
  const char* rest = strptime(text.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return {};
  const base::Timestamp at(std::chrono::seconds(timegm(&date)));
  return std::max(at - now, base::Duration(0));
}

}  // namespace baton::notify

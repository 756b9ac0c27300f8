#include "base/clock.h"

#include <cstdio>
#include <ctime>

namespace baton::base {

std::string to_rfc3339(Timestamp at) {
  const std::int64_t ms = to_ms(at);
  std::time_t seconds = static_cast<std::time_t>(ms / 1000);
  int fraction = static_cast<int>(ms % 1000);
  if (fraction < 0) {
    fraction += 1000;
    --seconds;
  }
  std::tm utc{};
  gmtime_r(&seconds, &utc);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, fraction);
  return text;
}

}  // namespace baton::base

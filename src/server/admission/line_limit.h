// LineLimit: bounds the lines of one kind in the log for each minute, over all clients. A limit for each
// network alone bounds nothing, because one client may have thousands of IPv6 networks.
//
// Threads: any.
#pragma once

#include <spdlog/spdlog.h>

#include <chrono>
#include <string_view>

#include "base/guarded.h"

namespace baton::server {

class LineLimit {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Counts a line, and returns whether the log may get it. If lines were left out in an earlier minute, first
  // logs how many. `kind`: why clients are refused.
  bool try_add(std::string_view kind, Time now) {
    int left_out = 0;
    const bool is_taken = minute_.with([&](Minute& minute) {
      if (now - minute.begin >= kMinute) {
        left_out = minute.left_out;
        minute = {now, 0, 0};
      }
      const bool has_room = minute.lines < kLinesMax;
      ++(has_room ? minute.lines : minute.left_out);
      return has_room;
    });
    if (left_out > 0)
      spdlog::warn("refused: {}; {} lines were left out in a minute, because of too many clients", kind,
                   left_out);
    return is_taken;
  }

  static constexpr int kLinesMax = 60;

 private:
  static constexpr std::chrono::minutes kMinute{1};

  struct Minute {
    Time begin{};
    int lines = 0, left_out = 0;
  };
  base::Guarded<Minute> minute_;
};

}  // namespace baton::server

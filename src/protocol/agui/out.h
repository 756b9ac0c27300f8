// Out: writes a view's AG-UI events, each with the time of the log event it shows.
//
// Threads: one at a time.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "json/writer.h"
#include "protocol/chat/names.h"
#include "protocol/chat/run_view.h"

namespace baton::protocol::agui {

using chat::Names;

class Out {
 public:
  Out(chat::Frames& frames, std::optional<base::Timestamp> at) : frames_(frames), at_(at) {}

  // `members` writes the event's own members; it must not write another event.
  template <class F>
  void event(std::string_view type, F&& members) {
    json::Writer out(frames_.add());
    out.object([&] {
      out.member("type", type);
      members(out);
      if (at_) out.member("timestamp", base::to_ms(*at_));
    });
  }
  void event(std::string_view type, std::string_view id_member, std::string_view id) {
    event(type, [&](json::Writer& out) { out.member(id_member, id); });
  }

 private:
  chat::Frames& frames_;
  std::optional<base::Timestamp> at_;
};

}  // namespace baton::protocol::agui

// Supervisor: what the program tells systemd, if that has started it as a service of Type=notify: that it
// serves, reloads, stops, and is alive. Anything else that sets NOTIFY_SOCKET is told the same.
//
// Threads: any. What cannot be told is left out.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::app {

class Supervisor {
 public:
  // Reads the environment, and takes what it has read out of it: agents are not to speak for the program.
  Supervisor();

  void is_ready() const { tell("READY=1"); }
  void is_reloading() const;
  void is_stopping() const { tell("STOPPING=1"); }
  void is_alive() const { tell("WATCHDOG=1"); }
  // How often it wants to hear that the program is alive; nothing: never.
  std::optional<std::chrono::milliseconds> watchdog() const { return watchdog_; }

 private:
  void tell(std::string_view state) const;

  std::string socket_;  // empty: nobody is to be told
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace baton::app

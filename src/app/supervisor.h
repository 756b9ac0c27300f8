// Supervisor: notifies systemd, or any other parent that sets NOTIFY_SOCKET, that the program is ready,
// reloads, stops and is alive (Type=notify).
//
// Threads: any. Notifications that cannot be sent are dropped.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace baton::app {

class Supervisor {
 public:
  // Reads its variables from the environment and removes them, so that agents cannot send notifications.
  Supervisor();

  void is_ready() const { notify("READY=1"); }
  void is_reloading() const;
  void is_stopping() const { notify("STOPPING=1"); }
  void is_alive() const { notify("WATCHDOG=1"); }
  // How often `is_alive` must be called; nullopt if there is no watchdog.
  std::optional<std::chrono::milliseconds> watchdog() const { return watchdog_; }

 private:
  void notify(std::string_view state) const;

  std::string socket_;  // empty: there is no supervisor
  std::optional<std::chrono::milliseconds> watchdog_;
};

}  // namespace baton::app

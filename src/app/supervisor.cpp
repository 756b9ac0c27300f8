#include "app/supervisor.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>

#include "base/text.h"
#include "base/unique_fd.h"

namespace baton::app {
namespace {

std::string taken(const char* name) {
  const char* const value = std::getenv(name);
  std::string text = value == nullptr ? "" : value;
  ::unsetenv(name);
  return text;
}

}  // namespace

Supervisor::Supervisor() : socket_(taken("NOTIFY_SOCKET")) {
  const std::string of = taken("WATCHDOG_PID"), time = taken("WATCHDOG_USEC");
  const bool is_for_us = of.empty() || of == std::to_string(::getpid());
  const auto microseconds = base::number_in<std::int64_t>(time);
  // Half of the watchdog's timeout, as sd_watchdog_enabled(3) recommends.
  if (is_for_us && microseconds && *microseconds >= 2'000)
    watchdog_ =
        std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::microseconds(*microseconds / 2));
}

void Supervisor::is_reloading() const {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  const auto microseconds =
      std::chrono::seconds(now.tv_sec) / std::chrono::microseconds(1) + now.tv_nsec / 1'000;
  notify("RELOADING=1\nMONOTONIC_USEC=" + std::to_string(microseconds));
}

// Sends a datagram to a socket with a path, or in the abstract namespace ("@").
void Supervisor::notify(std::string_view state) const {
  sockaddr_un address{};
  if (socket_.empty() || socket_.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::ranges::copy(socket_, address.sun_path);
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const base::UniqueFd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + socket_.size());
  ::sendto(socket.get(), state.data(), state.size(), MSG_NOSIGNAL | MSG_DONTWAIT,
           reinterpret_cast<const sockaddr*>(&address), size);
}

}  // namespace baton::app

#include "app/supervisor.h"

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>

#include "base/unique_fd.h"
#include "support/temp_folder.h"

namespace supervisor_test {

using namespace baton;

namespace {

// systemd's end of the notification socket.
class Listener {
 public:
  explicit Listener(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_DGRAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    REQUIRE(::bind(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0);
  }
  // The next notification, or an empty text if there is none.
  std::string next() const {
    std::array<char, 256> bytes;
    const ssize_t got = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    return got <= 0 ? std::string() : std::string(bytes.data(), static_cast<std::size_t>(got));
  }

 private:
  const base::UniqueFd socket_;
};

}  // namespace

TEST_CASE("Supervisor: notifies the socket named in the environment, and removes the variables") {
  const test::TempFolder folder;
  const std::string path = (folder.path() / "notify").string();
  const Listener listener(path);
  ::setenv("NOTIFY_SOCKET", path.c_str(), 1);
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", std::to_string(::getpid()).c_str(), 1);
  const app::Supervisor supervisor;
  CHECK(std::getenv("NOTIFY_SOCKET") == nullptr);
  CHECK(std::getenv("WATCHDOG_USEC") == nullptr);
  CHECK(supervisor.watchdog() == std::chrono::seconds(15));
  supervisor.is_ready();
  CHECK(listener.next() == "READY=1");
  supervisor.is_reloading();
  CHECK(listener.next().starts_with("RELOADING=1\nMONOTONIC_USEC="));
  supervisor.is_alive();
  CHECK(listener.next() == "WATCHDOG=1");
  supervisor.is_stopping();
  CHECK(listener.next() == "STOPPING=1");
  CHECK(listener.next().empty());
}

TEST_CASE("Supervisor: another process's watchdog is ignored, and without a socket nothing is sent") {
  ::setenv("WATCHDOG_USEC", "30000000", 1);
  ::setenv("WATCHDOG_PID", "1", 1);
  const app::Supervisor supervisor;
  CHECK_FALSE(supervisor.watchdog());
  supervisor.is_ready();
}

}  // namespace supervisor_test

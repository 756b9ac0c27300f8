#include "outbound/resolver.h"

#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <exception>
#include <map>
#include <mutex>
#include <optional>
#include <thread>

namespace baton::outbound {
namespace {

using base::ErrorCode;
using base::fail;
using std::chrono::milliseconds;

// Includes the scope, if there is one, because a link-local address cannot be dialled without it.
std::string text_of(const addrinfo& entry) {
  char text[NI_MAXHOST];
  if (getnameinfo(entry.ai_addr, entry.ai_addrlen, text, sizeof text, nullptr, 0, NI_NUMERICHOST) != 0)
    return {};
  return text;
}

Addresses look_up(const std::string& host, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags;
  addrinfo* list = nullptr;
  const int status = getaddrinfo(host.c_str(), nullptr, &hints, &list);
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(list, &freeaddrinfo);
  if (status != 0)
    return fail(ErrorCode::unavailable, "the host name cannot be resolved", gai_strerror(status));
  std::vector<std::string> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    std::string text = text_of(*entry);
    const bool known = std::find(addresses.begin(), addresses.end(), text) != addresses.end();
    if (!text.empty() && !known) addresses.push_back(std::move(text));
  }
  if (addresses.empty()) return fail(ErrorCode::unavailable, "the host name has no address");
  return addresses;
}

// Waits until `fd` is readable.
base::Result<void> wait_for(int fd, const WaitLimits& limits) {
  std::array<pollfd, 2> fds{pollfd{fd, POLLIN, 0}, pollfd{limits.stop_fd, POLLIN, 0}};
  while (true) {
    int timeout = -1;
    if (limits.deadline) {
      const auto left = std::chrono::ceil<milliseconds>(*limits.deadline - std::chrono::steady_clock::now());
      if (left.count() <= 0)
        return fail(ErrorCode::deadline_exceeded, "resolving the host name took too long");
      timeout = static_cast<int>(std::min<std::int64_t>(left.count(), 3'600'000));
    }
    const int count = ::poll(fds.data(), fds.size(), timeout);
    if (count < 0 && errno != EINTR) return fail(ErrorCode::unavailable, "the host name cannot be resolved");
    if (count > 0 && fds[1].revents != 0) return fail(canceled());
    if (count > 0 && fds[0].revents != 0) return {};
  }
}

// One look-up, and one eventfd per waiting caller.
struct Pending {
  Addresses addresses = fail(ErrorCode::unavailable, "the host name cannot be resolved");
  bool done = false;
  std::vector<std::shared_ptr<base::UniqueFd>> waiting;
};

}  // namespace

struct Resolver::State {
  State(Lookup how, std::size_t most) : lookup(std::move(how)), lookups_max(most) {}

  const Lookup lookup;
  const std::size_t lookups_max;
  std::mutex mutex;  // guards `pending` and its elements
  std::map<std::string, std::shared_ptr<Pending>> pending;

  // Runs on a detached thread, so it must not throw: an exception leaves the addresses' initial error.
  void run(const std::string& host, Pending& asked) noexcept {
    std::optional<Addresses> found;
    try {
      found = lookup(host);
    } catch (const std::exception&) {
      found.reset();
    }
    std::lock_guard lock(mutex);
    if (found) asked.addresses = std::move(*found);
    asked.done = true;
    for (const auto& waiting : asked.waiting) eventfd_write(waiting->get(), 1);
    pending.erase(host);
  }
};

Resolver::Resolver(Lookup lookup, std::size_t lookups_max)
    : state_(std::make_shared<State>(std::move(lookup), lookups_max)) {}

class Resolver::Waiter final : public Resolver::Waiting {
 public:
  Waiter(std::shared_ptr<State> state, std::shared_ptr<base::UniqueFd> wake)
      : state_(std::move(state)), wake_(std::move(wake)) {}
  ~Waiter() override {
    if (!asked_) return;
    std::lock_guard lock(state_->mutex);
    std::erase(asked_->waiting, wake_);
  }
  int fd() const override { return wake_->get(); }
  Addresses result() const override {
    std::lock_guard lock(state_->mutex);
    return asked_->addresses;
  }
  // Call with the mutex locked.
  void wait_for(std::shared_ptr<Pending> asked) {
    asked_ = std::move(asked);
    asked_->waiting.push_back(wake_);
  }
  bool is_over() const {
    std::lock_guard lock(state_->mutex);
    return asked_->done;
  }

 private:
  const std::shared_ptr<State> state_;
  const std::shared_ptr<base::UniqueFd> wake_;  // shared with the thread that looks up
  std::shared_ptr<Pending> asked_;              // shared with the thread and other waiters
};

base::Result<std::unique_ptr<Resolver::Waiter>> Resolver::wait_on(const std::string& host) const {
  const auto wake = std::make_shared<base::UniqueFd>(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!wake->valid()) return fail(ErrorCode::unavailable, "too many files are open; try again later");
  auto waiter = std::make_unique<Waiter>(state_, wake);
  std::lock_guard lock(state_->mutex);
  const auto found = state_->pending.find(host);
  if (found != state_->pending.end()) {
    waiter->wait_for(found->second);
    return waiter;
  }
  if (state_->pending.size() >= state_->lookups_max)
    return fail(ErrorCode::unavailable, "too many host names are being resolved; try again later");
  const auto asked = std::make_shared<Pending>();
  try {
    // Detached, because a lookup cannot be stopped: neither callers nor the end of the program wait for it.
    std::thread([state = state_, host, asked] {
      pthread_setname_np(pthread_self(), "resolve");
      state->run(host, *asked);
    }).detach();
  } catch (const std::system_error&) {
    return fail(ErrorCode::unavailable, "the host name cannot be resolved", "cannot create a thread");
  }
  state_->pending.emplace(host, asked);
  waiter->wait_for(asked);
  return waiter;
}

base::Result<std::unique_ptr<Resolver::Waiting>> Resolver::begin(const std::string& host) const {
  auto waiter = wait_on(host);
  if (!waiter) return fail(std::move(waiter.error()));
  return std::unique_ptr<Waiting>(std::move(*waiter));
}

Addresses Resolver::resolve(const std::string& host, const WaitLimits& limits) const {
  const auto waiter = wait_on(host);
  if (!waiter) return fail(waiter.error());
  auto waited = wait_for((*waiter)->fd(), limits);
  if (!waited && !(*waiter)->is_over()) return fail(std::move(waited.error()));
  return (*waiter)->result();
}

namespace {

const Resolver& system_resolver() {
  static const Resolver system([](const std::string& name) { return look_up(name, 0); });
  return system;
}

}  // namespace

base::Result<std::unique_ptr<Resolver::Waiting>> begin_look_up(const std::string& host) {
  return system_resolver().begin(host);
}

Addresses resolve(const std::string& host, const WaitLimits& limits) {
  if (auto literal = literal_address(host)) return std::vector<std::string>{std::move(*literal)};
  return system_resolver().resolve(host, limits);
}

std::optional<std::string> literal_address(const std::string& host) {
  const auto addresses = look_up(host, AI_NUMERICHOST);
  if (!addresses) return std::nullopt;
  return addresses->front();
}

}  // namespace baton::outbound

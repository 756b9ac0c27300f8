#include "store/postgres/bus.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

namespace baton::store::postgres {
namespace {

// PostgreSQL takes 8,000 bytes.
constexpr std::size_t kPayloadMax = 7'900;
constexpr std::chrono::milliseconds kBusRetry(200);

// A channel's name is at most 63 bytes long.
constexpr char kChannel[] =
    "SELECT 'baton_' || CASE WHEN octet_length(current_schema()::text) > 50 THEN md5(current_schema()::text) "
    "ELSE current_schema()::text END";
constexpr char kTell[] =
    "SELECT pg_notify('baton_' || CASE WHEN octet_length(current_schema()::text) > 50 THEN "
    "md5(current_schema()::text) ELSE current_schema()::text END, $1)";

// "12 345:6 78:9": node 12 has changed task 345, whose last event is 6, and task 78. "12": it calls.
std::vector<std::string> payloads_of(std::int64_t node,
                                     const std::unordered_map<task::TaskKey, task::EventNumber>& tasks) {
  const std::string sender = std::to_string(node);
  std::vector<std::string> payloads;
  for (const auto& [task, last] : tasks) {
    const std::string pair = " " + std::to_string(task.value) + ":" + std::to_string(last.value);
    if (payloads.empty() || payloads.back().size() + pair.size() > kPayloadMax) payloads.push_back(sender);
    payloads.back() += pair;
  }
  return payloads;
}

// The number with which the text begins, which is taken off; 0: none does.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

std::vector<Grown> read_pairs(std::string_view text) {
  std::vector<Grown> tasks;
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
    const std::int64_t task = take_number(text);
    if (task == 0 || !text.starts_with(':')) break;
    text.remove_prefix(1);
    tasks.push_back({{task}, {take_number(text)}});
  }
  return tasks;
}

void notify(Link& link, const std::string& payload) {
  const std::array values{sql::Parameter(payload)};
  link.send(kTell, values);
  link.finish();
}

}  // namespace

void call_others(Link& link, std::int64_t node) {
  notify(link, std::to_string(node));
}

Bus::Bus(const Address& address, std::int64_t node, Events events)
    : address_(address),
      node_(node),
      events_(std::move(events)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listener_(listening()),
      listening_([this] { listen(); }),
      telling_([this] { tell_all(); }) {}

Bus::~Bus() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  ::eventfd_write(stop_.get(), 1);
}

std::unique_ptr<Link> Bus::listening() const {
  auto link = std::make_unique<Link>(address_);
  events_.check(*link);
  link->ask("LISTEN " + quoted_name(link->ask_text(kChannel)));
  return link;
}

// Until there is something to hear. False: the bus is to stop.
bool Bus::await_word(const Link& link) const {
  std::array<pollfd, 2> watched{pollfd{link.socket(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  ::poll(watched.data(), watched.size(), -1);
  return watched[1].revents == 0;
}

void Bus::listen() {
  pthread_setname_np(pthread_self(), "bus-listen");
  while (true) {
    try {
      if (!listener_) {
        listener_ = listening();
        events_.on_missed();
        events_.on_call();
      }
      hear(*listener_);
      if (!await_word(*listener_)) return;
    } catch (const sql::Failure&) {
      listener_.reset();
      pollfd stop{stop_.get(), POLLIN, 0};
      if (::poll(&stop, 1, static_cast<int>(kBusRetry.count())) != 0) return;
    }
  }
}

void Bus::hear(Link& link) {
  std::vector<Grown> tasks;
  bool is_called = false;
  for (const std::string& payload : link.told()) {
    std::string_view text = payload;
    if (take_number(text) == node_) continue;
    std::vector<Grown> told = read_pairs(text);
    is_called = is_called || told.empty();
    tasks.insert(tasks.end(), told.begin(), told.end());
  }
  if (!tasks.empty()) events_.on_heard(std::move(tasks));
  if (is_called) events_.on_call();
}

void Bus::tell(const std::vector<Grown>& tasks) {
  {
    std::lock_guard lock(mutex_);
    for (const Grown& grown : tasks) {
      task::EventNumber& last = untold_[grown.task];
      last = std::max(last, grown.last);
    }
  }
  changed_.notify_all();
}

void Bus::tell_all() {
  pthread_setname_np(pthread_self(), "bus-tell");
  while (true) {
    std::unordered_map<task::TaskKey, task::EventNumber> tasks;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !untold_.empty(); });
      if (untold_.empty()) return;
      tasks.swap(untold_);
    }
    send(payloads_of(node_, tasks));
  }
}

// What cannot be sent is lost: whoever follows a task looks at it anyway.
void Bus::send(const std::vector<std::string>& payloads) {
  for (int tries = 0; tries < 2; ++tries) {
    try {
      if (!teller_) {
        auto link = std::make_unique<Link>(address_);
        events_.check(*link);
        teller_ = std::move(link);
      }
      for (const std::string& payload : payloads) notify(*teller_, payload);
      return;
    } catch (const sql::Failure&) {
      teller_.reset();  // it may have been cut while it was idle
    }
  }
}

}  // namespace baton::store::postgres

#include "store/postgres/nodes/bus.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "base/thread_priority.h"

namespace baton::store::postgres {
namespace {

constexpr std::chrono::milliseconds kBusRetry(200);
// A notification that has not arrived after this time counts as lost.
constexpr std::chrono::seconds kDeafAfter(3);

// A channel's name is at most 63 bytes long.
constexpr char kChannel[] =
    "SELECT 'baton_' || CASE WHEN octet_length(current_schema()::text) > 50 THEN md5(current_schema()::text) "
    "ELSE current_schema()::text END";
constexpr char kTell[] =
    "SELECT pg_notify('baton_' || CASE WHEN octet_length(current_schema()::text) > 50 THEN "
    "md5(current_schema()::text) ELSE current_schema()::text END, $1)";

void send_payload(Link& link, const std::string& payload) {
  const std::array values{sql::Parameter(payload)};
  link.send(kTell, values);
  link.finish();
}

}  // namespace

void call_others(Link& link, std::int64_t node) {
  send_payload(link, std::to_string(node));
}

Bus::Bus(const Address& address, std::int64_t node, Events events)
    : address_(address),
      node_(node),
      events_(std::move(events)),
      stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      listener_(listening()),
      listening_([this] { listen(); }),
      sending_([this] { send_all(); }) {}

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

// Waits until a notification may have arrived. Returns false if the bus must stop.
bool Bus::await_word(const Link& link) const {
  std::array<pollfd, 2> watched{pollfd{link.socket(), POLLIN, 0}, pollfd{stop_.get(), POLLIN, 0}};
  ::poll(watched.data(), watched.size(), -1);
  return watched[1].revents == 0;
}

void Bus::listen() {
  pthread_setname_np(pthread_self(), "bus-listen");
  base::set_priority(base::ThreadPriority::prompt);
  while (true) {
    try {
      if (!listener_) {
        listener_ = listening();
        unheard_since_ = base::SteadyTime::time_point();  // earlier notifications are lost
        events_.on_missed();
        events_.on_call();
        ask_all();
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

bool Bus::hears() const {
  const auto since = unheard_since_.load();
  return since == base::SteadyTime::time_point() || base::SteadyTime::now() - since < kDeafAfter;
}

void Bus::hear(Link& link) {
  Words all;
  for (const std::string& payload : link.notifications()) {
    if (read_payload(payload, node_, all) == node_) unheard_since_ = base::SteadyTime::time_point();
  }
  if (!all.tasks.empty()) events_.on_heard(std::move(all.tasks));
  if (!all.followed.empty()) events_.on_followed(std::move(all.followed));
  if (all.asks_all) events_.on_newcomer();
  for (const task::TaskKey task : all.asked) events_.on_asked(task);
  for (const task::TaskKey task : all.answered) events_.on_answered(task);
  if (all.is_call) events_.on_call();
}

void Bus::notify(const std::vector<Grown>& tasks) {
  {
    std::lock_guard lock(mutex_);
    for (const Grown& grown : tasks) {
      task::EventNumber& last = unsent_[grown.task];
      last = std::max(last, grown.last);
    }
  }
  changed_.notify_all();
}

void Bus::follow(const std::vector<Grown>& tasks) {
  std::vector<std::string> words;
  words.reserve(tasks.size());
  for (const Grown& grown : tasks) words.push_back(word_of_follower(grown));
  say(std::move(words));
}

void Bus::say(std::vector<std::string> words) {
  {
    std::lock_guard lock(mutex_);
    std::ranges::move(words, std::back_inserter(words_));
  }
  changed_.notify_all();
}

void Bus::send_all() {
  pthread_setname_np(pthread_self(), "bus-tell");
  base::set_priority(base::ThreadPriority::prompt);
  while (true) {
    std::unordered_map<task::TaskKey, task::EventNumber> tasks;
    std::vector<std::string> words;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !unsent_.empty() || !words_.empty(); });
      if (unsent_.empty() && words_.empty()) return;
      tasks.swap(unsent_);
      words.swap(words_);
    }
    for (const auto& [task, last] : tasks) words.push_back(word_of_change({task, last}));
    send(payloads_of(node_, words));
  }
}

// Payloads that cannot be sent are lost. This is safe, because a node checks the tasks that it follows
// anyway.
void Bus::send(const std::vector<std::string>& payloads) {
  for (int tries = 0; tries < 2; ++tries) {
    try {
      if (!sender_) {
        auto link = std::make_unique<Link>(address_);
        events_.check(*link);
        sender_ = std::move(link);
      }
      base::SteadyTime::time_point none;
      unheard_since_.compare_exchange_strong(none, base::SteadyTime::now());
      for (const std::string& payload : payloads) send_payload(*sender_, payload);
      return;
    } catch (const sql::Failure&) {
      unheard_since_ = base::SteadyTime::time_point();
      sender_.reset();  // it may have been cut while it was idle
    }
  }
}

}  // namespace baton::store::postgres

#include "store/postgres/nodes/bus.h"

#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "base/thread_priority.h"

namespace baton::store::postgres {
namespace {

// PostgreSQL's limit is 8,000 bytes.
constexpr std::size_t kPayloadMax = 7'900;
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

// Joins words to payloads that begin with the node's number. Examples: "12 345:6 78:9": node 12 has changed
// task 345, whose last event is 6, and task 78. "12 +345:6": it follows task 345. "12 *", "12 ?345" and "12
// !345": see Bus::ask_all, Bus::ask and Bus::answer. "12": see call_others.
std::vector<std::string> payloads_of(std::int64_t node, const std::vector<std::string>& words) {
  const std::string sender = std::to_string(node);
  std::vector<std::string> payloads;
  for (const std::string& word : words) {
    if (payloads.empty() || payloads.back().size() + word.size() > kPayloadMax) payloads.push_back(sender);
    payloads.back() += word;
  }
  return payloads;
}

// Removes the number at the front of the text and returns it; 0 if there is none.
std::int64_t take_number(std::string_view& text) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  text.remove_prefix(static_cast<std::size_t>(read.ptr - text.data()));
  return number;
}

struct Words {
  std::vector<Grown> tasks, followed;
  std::vector<task::TaskKey> asked, answered;
  bool asks_all = false;
  bool is_call = true;  // the payload has no words
};

void read_words(std::string_view text, Words& words) {
  while (text.starts_with(' ')) {
    text.remove_prefix(1);
    words.is_call = false;
    if (text.starts_with('*')) {
      text.remove_prefix(1);
      words.asks_all = true;
      continue;
    }
    const bool is_marked = text.starts_with('?') || text.starts_with('!') || text.starts_with('+');
    const char mark = is_marked ? text.front() : ':';
    if (is_marked) text.remove_prefix(1);
    const task::TaskKey task{take_number(text)};
    if (!task) return;
    if (mark == '?') words.asked.push_back(task);
    if (mark == '!') words.answered.push_back(task);
    if (mark == '?' || mark == '!') continue;
    if (!text.starts_with(':')) return;
    text.remove_prefix(1);
    (mark == '+' ? words.followed : words.tasks).push_back({task, {take_number(text)}});
  }
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
  bool is_called = false;
  for (const std::string& payload : link.told()) {
    std::string_view text = payload;
    if (take_number(text) == node_) {
      unheard_since_ = base::SteadyTime::time_point();
      continue;
    }
    all.is_call = true;
    read_words(text, all);
    is_called = is_called || all.is_call;
  }
  if (!all.tasks.empty()) events_.on_heard(std::move(all.tasks));
  if (!all.followed.empty()) events_.on_followed(std::move(all.followed));
  if (all.asks_all) events_.on_newcomer();
  for (const task::TaskKey task : all.asked) events_.on_asked(task);
  for (const task::TaskKey task : all.answered) events_.on_answered(task);
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

void Bus::follow(const std::vector<Grown>& tasks) {
  std::vector<std::string> words;
  words.reserve(tasks.size());
  for (const auto& [task, last] : tasks)
    words.push_back(" +" + std::to_string(task.value) + ":" + std::to_string(last.value));
  say(std::move(words));
}

void Bus::say(std::vector<std::string> words) {
  {
    std::lock_guard lock(mutex_);
    std::ranges::move(words, std::back_inserter(words_));
  }
  changed_.notify_all();
}

void Bus::tell_all() {
  pthread_setname_np(pthread_self(), "bus-tell");
  base::set_priority(base::ThreadPriority::prompt);
  while (true) {
    std::unordered_map<task::TaskKey, task::EventNumber> tasks;
    std::vector<std::string> words;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_stopping_ || !untold_.empty() || !words_.empty(); });
      if (untold_.empty() && words_.empty()) return;
      tasks.swap(untold_);
      words.swap(words_);
    }
    for (const auto& [task, last] : tasks)
      words.push_back(" " + std::to_string(task.value) + ":" + std::to_string(last.value));
    send(payloads_of(node_, words));
  }
}

// Payloads that cannot be sent are lost. This is safe, because a node checks the tasks that it follows
// anyway.
void Bus::send(const std::vector<std::string>& payloads) {
  for (int tries = 0; tries < 2; ++tries) {
    try {
      if (!teller_) {
        auto link = std::make_unique<Link>(address_);
        events_.check(*link);
        teller_ = std::move(link);
      }
      base::SteadyTime::time_point none;
      unheard_since_.compare_exchange_strong(none, base::SteadyTime::now());
      for (const std::string& payload : payloads) notify(*teller_, payload);
      return;
    } catch (const sql::Failure&) {
      unheard_since_ = base::SteadyTime::time_point();
      teller_.reset();  // it may have been cut while it was idle
    }
  }
}

}  // namespace baton::store::postgres

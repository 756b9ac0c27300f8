#include "store/postgres/nodes/node_peers.h"

#include <pthread.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "base/thread_priority.h"
#include "store/sql/failure.h"

namespace baton::store::postgres {
namespace {

using base::ErrorCode;
using base::fail;
using base::Result;

// Nodes that do not answer are declared dead long before this time.
constexpr std::chrono::milliseconds kJoinPatience(60'000);
constexpr std::chrono::milliseconds kAnswerPatience(500);

}  // namespace

NodePeers::NodePeers(const Place& place)
    : address_(place.address),
      writer_(place.writer),
      readers_(place.readers),
      operators_(place.operators),
      node_(place.writer.lane().node) {
  const auto check = [this](Link& link) { writer_.check(link); };
  Bus::Events of_bus;
  of_bus.check = check;
  of_bus.on_heard = [this](const std::vector<Grown>& tasks) {
    add_news([&](News& news) {
      for (const Grown& grown : tasks) {
        task::EventNumber& last = news.heard[grown.task];
        last = std::max(last, grown.last);
      }
    });
  };
  of_bus.on_followed = [this](const std::vector<Grown>& tasks) {
    followed_.add(tasks, base::SteadyTime::now());
    add_news([&](News& news) { news.followed.insert(news.followed.end(), tasks.begin(), tasks.end()); });
  };
  of_bus.on_newcomer = [this] { add_news([](News& news) { news.has_newcomer = true; }); };
  of_bus.on_missed = [this] {
    followed_.miss(base::SteadyTime::now());
    add_news([](News& news) { news.has_missed = true; });
  };
  of_bus.on_call = [this] {
    if (lease_) lease_->look();
  };
  of_bus.on_asked = [this](task::TaskKey task) { add_news([&](News& news) { news.asked.push_back(task); }); };
  of_bus.on_answered = [this](task::TaskKey task) {
    {
      std::lock_guard lock(mutex_);
      if (const auto asking = asking_.find(task); asking != asking_.end()) asking->second = true;
    }
    changed_.notify_all();
  };
  Lease::Events of_lease;
  of_lease.check = check;
  of_lease.on_lost = [this] { writer_.end(kTakenOver); };
  of_lease.on_adopted = [this](const std::vector<task::TaskKey>& tasks) {
    add_news([&](News& news) {
      news.takes_over = true;
      news.adopted.insert(news.adopted.end(), tasks.begin(), tasks.end());
    });
  };
  of_lease.on_asked_to_drain = [this] { add_news([](News& news) { news.is_asked_to_drain = true; }); };
  of_lease.on_alone_again = [this](std::int64_t number) {
    add_news([&](News& news) { news.alone_again = number; });
  };
  lease_.emplace(address_, node_, place.times, std::move(of_lease));
  bus_.emplace(address_, node_, std::move(of_bus));
  claims_ = std::make_shared<Claims>(address_, check);
  thread_ = std::jthread([this] { run(); });
}

NodePeers::~NodePeers() {
  claims_->end();
  bus_.reset();
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

Result<void> NodePeers::join() {
  if (lease_->await_joined(kJoinPatience)) {
    followed_.miss(base::SteadyTime::now());
    bus_->ask_all();
    return {};
  }
  return fail(ErrorCode::unavailable, "the other servers on this database do not answer",
              "node " + std::to_string(node_) + " waited for them without result");
}

template <class F>
void NodePeers::add_news(F&& add) {
  {
    std::lock_guard lock(mutex_);
    add(news_);
  }
  changed_.notify_all();
}

void NodePeers::run() {
  pthread_setname_np(pthread_self(), "peers");
  base::set_priority(base::ThreadPriority::prompt);
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] {
      return is_stopping_ || news_.is_for_all() || (listener_ != nullptr && news_.is_asked_to_drain);
    });
    if (is_stopping_) return;
    const News news = std::exchange(news_, {});
    Listener* const listener = listener_;
    // Kept for a listener that is set later.
    news_.is_asked_to_drain = listener == nullptr && news.is_asked_to_drain;
    is_calling_ = true;
    lock.unlock();
    pass_on(listener, news);
    lock.lock();
    is_calling_ = false;
    changed_.notify_all();
  }
}

void NodePeers::pass_on(Listener* listener, const News& news) {
  if (listener != nullptr) {
    if (news.takes_over) listener->adopted(news.adopted);
    std::vector<Grown> heard;
    for (const auto& [task, last] : news.heard) heard.push_back({task, last});
    if (!heard.empty()) listener->heard(heard);
    for (const task::TaskKey task : news.asked) {
      if (listener->follows(task)) bus_->answer(task);
    }
    if (news.has_newcomer) listener->has_newcomer();
    if (!news.followed.empty()) listener->others_follow(news.followed);
    if (news.has_missed || news.alone_again) listener->missed();
    if (news.is_asked_to_drain) listener->asked_to_drain();
  }
  if (news.alone_again) lease_->rely_on_memory(*news.alone_again);
}

void NodePeers::listen(Listener* listener) {
  std::unique_lock lock(mutex_);
  listener_ = listener;
  changed_.notify_all();
  changed_.wait(lock, [this] { return !is_calling_; });
}

void NodePeers::notify(const std::vector<Grown>& tasks) {
  if (lease_->has_others()) bus_->notify(tasks);
}

void NodePeers::notify_followers(const std::vector<Grown>& tasks) {
  if (!lease_->has_others()) return;
  // The information which tasks are followed comes by the bus too, so it is useless while the bus does not
  // hear.
  const std::vector<Grown> followed = bus_->hears() ? followed_.of(tasks, base::SteadyTime::now()) : tasks;
  if (!followed.empty()) bus_->notify(followed);
}

void NodePeers::follow(const std::vector<Grown>& tasks) {
  if (lease_->has_others() && !tasks.empty()) bus_->follow(tasks);
}

bool NodePeers::is_followed_elsewhere(task::TaskKey task) {
  if (!lease_->has_others()) return false;
  if (!bus_->hears()) return true;
  std::unique_lock lock(mutex_);
  asking_.try_emplace(task, false);
  bus_->ask(task);
  changed_.wait_for(lock, kAnswerPatience, [&] {
    const auto asking = asking_.find(task);
    return is_stopping_ || asking == asking_.end() || asking->second;
  });
  const auto asked = asking_.extract(task);  // concurrent callers get the same answer
  return asked.empty() || asked.mapped();
}

Result<Peers::Claim> NodePeers::claim(const task::Caller& caller, const std::string& name) {
  if (!lease_->has_others()) return std::make_shared<const std::string>(name);
  return claims_->claim(caller, name);
}

Result<std::vector<TaskEnd>> NodePeers::ends(const std::vector<task::TaskKey>& tasks) const {
  return sql::catching("looking for news", [&]() -> Result<std::vector<TaskEnd>> {
    auto lent = readers_.lend();
    const sql::Snapshot snapshot(*lent);
    sql::Query query = (*lent).query(
        "SELECT task_key, last_event, version, owner, cancel_requested, state, ask FROM tasks "
        "WHERE task_key = ANY (CAST(? AS bigint[]))",
        keys_array(tasks));
    std::vector<TaskEnd> ends;
    while (query.step()) {
      const auto state = task::state_named(query.text(5));
      const bool asks = state && task::is_waiting(*state);
      ends.push_back({{query.integer(0)},
                      {query.integer(1)},
                      {query.integer(2)},
                      {query.integer(3)},
                      query.truth(4),
                      asks ? std::string() : query.text(6)});
    }
    return ends;
  });
}

void NodePeers::announce(std::vector<NodeAgent> agents, std::function<NodeReport()> report) {
  std::ranges::sort(agents, {}, &NodeAgent::name);
  lease_->announce(std::move(agents), std::move(report));
}

Result<std::vector<Node>> NodePeers::nodes() const {
  return sql::catching("reading the nodes", [&]() -> Result<std::vector<Node>> {
    auto lent = operators_.lend();
    const sql::Snapshot snapshot(*lent);
    return all_nodes(*lent);
  });
}

Result<void> NodePeers::ask_to_drain(NodeId node) {
  return sql::catching("asking a node to drain", [&]() -> Result<void> {
    Link link(address_);
    writer_.check(link);
    if (!postgres::ask_to_drain(link, node)) return fail(ErrorCode::not_found, "node not found");
    if (node.value == node_) {
      lease_->look();
    } else {
      call_others(link, node_);
    }
    return {};
  });
}

void NodePeers::leave() {
  writer_.retire();
  lease_->leave();
}

}  // namespace baton::store::postgres

// HostQueues: the due deliveries by caller and receiver, and which of them may be sent next.
//
// Promises: one delivery at a time for each (task, config). Callers take turns, and so do the receivers of
// each. A caller gets another sender only while it has fewer than are free, so there is always one left for a
// caller that has none, however slow the receivers of the others are. Of a caller's senders, at most
// `per_host` send to one receiver, and a second one only while that leaves the caller another; a receiver
// whose last answer did not come in time gets one, and all such receivers together at most a quarter of all
// senders. Threads: one at a time.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "store/task_store.h"

namespace baton::notify {

// What counts as one receiver: the registered domain of a URL's host, as whoever has one can make any number
// of names below it. Common suffixes of two labels ("co.uk") are known, no list of all of them: at worst, two
// receivers of one caller share their senders. An address in a public range is one receiver with all its
// ports (an IPv6 network of 64 bits likewise); any other, and a name of one label, is one for each port.
std::string receiver_of(std::string_view url);

// Who makes the calls of a task: its caller, without the tenant, which a caller may choose freely.
std::string payer_of(const task::Caller& caller);

struct Waiting {
  std::string caller;
  std::string host;
  store::Delivery delivery;
};

class HostQueues {
 public:
  enum class Added { added, known, full };
  // How many are kept of one receiver and of one caller; the rest stay in the store for the time being.
  static constexpr std::size_t kPerHostMax = 64;
  static constexpr std::size_t kPerCallerMax = 4096;

  HostQueues(int senders, int per_host) : senders_(senders), per_host_(per_host) {}

  // `known`: another delivery of this (task, config) is waiting, under way or not yet released.
  Added add(Waiting waiting);

  // Takes one that may be sent now. Its sender is busy until `sent`, its config until `release`.
  std::optional<Waiting> next();
  void sent(const Waiting& taken, bool slow);
  void release(const store::Delivery& delivery);

  // Whether the delivery's (task, config) is taken already.
  bool knows(const store::Delivery& delivery) const {
    return known_.contains({delivery.task, delivery.config_key});
  }
  // Waiting, under way or not yet released.
  std::size_t known() const { return known_.size(); }

 private:
  struct Host {
    std::deque<store::Delivery> waiting;
    int in_flight = 0;
    bool slow = false;  // as it was when its senders were taken
  };
  struct Caller {
    std::map<std::string, Host> hosts;
    std::size_t waiting = 0;
    int in_flight = 0;
    int slow_in_flight = 0;
    std::string turn;  // the receiver that was served last
  };
  using ConfigKey = std::pair<task::TaskKey, store::PushConfigKey>;
  using HostKey = std::pair<std::string, std::string>;  // caller and receiver

  int left_for(const Caller& caller) const;
  bool may_send(const std::string& caller, const Caller& has, const std::string& name,
                const Host& host) const;
  std::optional<Waiting> next_of(const std::string& caller, Caller& has);

  const int senders_;
  const int per_host_;
  int in_flight_ = 0;
  std::map<std::string, Caller> callers_;
  std::string turn_;  // the caller that was served last
  std::set<ConfigKey> known_;
  std::set<HostKey> slow_;
};

}  // namespace baton::notify

// HostQueues: the due deliveries by caller and receiver, and which of them may be sent next.
//
// Promises: one delivery at a time for each (task, config). Callers take turns, and so do the receivers of
// each caller. A caller gets another sender only while it has fewer than are free, so one is always left for
// a caller that has none, however slow the receivers of others are. At most `per_host` of a caller's senders
// send to one receiver, and a second one only while that leaves the caller another. A slow receiver (its last
// answer did not come in time) gets one sender, and a caller's slow receivers together at most a quarter of
// all senders, but at least one.
// Threads: one at a time.
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

// Returns the receiver of a URL: the registered domain of its host, because the owner of a domain can create
// any number of names below it. Common suffixes of two labels ("co.uk") are known, but not all; at worst, two
// receivers of one caller share their senders. A public address is one receiver with all its ports (for IPv6,
// with its network of 64 bits). Any other address, and a name of one label, is one receiver per port. Empty
// if the URL is invalid.
std::string receiver_of(std::string_view url);

// Returns the account to charge for deliveries: the task's caller without its tenant, which callers choose
// freely.
std::string payer_of(const task::Caller& caller);

struct Waiting {
  std::string caller;
  std::string host;
  store::Delivery delivery;
};

class HostQueues {
 public:
  enum class Added { added, known, full };
  // How many deliveries are queued per receiver and per caller; the rest wait in the store.
  static constexpr std::size_t kPerHostMax = 64;
  static constexpr std::size_t kPerCallerMax = 4096;

  HostQueues(int senders, int per_host) : senders_(senders), per_host_(per_host) {}

  // `known`: another delivery of this (task, config) is queued, in flight or not yet released.
  Added add(Waiting waiting);

  // Removes a delivery that may be sent now. Its sender is busy until `sent`, its config until `release`.
  std::optional<Waiting> next();
  void sent(const Waiting& taken, bool slow);
  void release(const store::Delivery& delivery);

  // Returns true if a delivery of the same (task, config) is queued, in flight or not yet released.
  bool knows(const store::Delivery& delivery) const {
    return known_.contains({delivery.task, delivery.config_key});
  }
  // Deliveries that are queued, in flight or not yet released.
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

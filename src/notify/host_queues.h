// HostQueues: the deliveries that are due, by receiver, and which of them may be sent next.
//
// Promises: one delivery at a time for each (task, config); at most `per_host` at a time to one receiver; a
// receiver whose last answer did not come in time gets one sender, and all such receivers together get half
// of the senders, so that however many there are, the others go on. Receivers take turns. Threads: one at a
// time.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_set>
#include <utility>

#include "store/task_store.h"

namespace baton::notify {

struct Waiting {
  std::string host;
  store::Delivery delivery;
};

class HostQueues {
 public:
  enum class Added { added, known, full };
  // How many of one receiver are kept; the rest stays in the store for the time being.
  static constexpr std::size_t kPerHostMax = 64;

  HostQueues(int senders, int per_host) : senders_(senders), per_host_(per_host) {}

  // `known`: another delivery of this (task, config) is waiting, under way or not yet released.
  Added add(Waiting waiting);

  // Takes one that may be sent now. Its sender is busy until `sent`, its config until `release`.
  std::optional<Waiting> next();
  void sent(const std::string& host, bool slow);
  void release(const store::Delivery& delivery);

  // Waiting, under way or not yet released.
  std::size_t known() const { return known_.size(); }

 private:
  struct Host {
    std::deque<store::Delivery> waiting;
    int in_flight = 0;
    bool slow = false;  // as it was when its senders were taken
  };
  using ConfigKey = std::pair<task::TaskKey, store::PushConfigKey>;

  bool may_send(const std::string& name, const Host& host) const;

  const int senders_;
  const int per_host_;
  int in_flight_ = 0;
  int slow_in_flight_ = 0;
  std::map<std::string, Host> hosts_;
  std::string turn_;  // the receiver that was served last
  std::set<ConfigKey> known_;
  std::unordered_set<std::string> slow_;
};

}  // namespace baton::notify

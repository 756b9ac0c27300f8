#include "store/sql/connection_pool.h"

#include <algorithm>

namespace baton::store::sql {

void ConnectionPool::open(int connections, const std::function<std::unique_ptr<Connection>()>& make) {
  for (int i = 0; i < std::max(connections, 1); ++i) {
    connections_.push_back(make());
    give_back(*connections_.back());
  }
}

ConnectionPool::Lent ConnectionPool::lend() {
  std::unique_lock lock(mutex_);
  returned_.wait(lock, [this] { return !free_.empty(); });
  // Takes the connection that was used last, because it has the warmest page cache.
  Connection& connection = *free_.back();
  free_.pop_back();
  return Lent(*this, connection);
}

void ConnectionPool::give_back(Connection& connection) {
  {
    std::lock_guard lock(mutex_);
    free_.push_back(&connection);
  }
  returned_.notify_one();
}

}  // namespace baton::store::sql

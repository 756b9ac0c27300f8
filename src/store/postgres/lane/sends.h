// Sends: rows of `sends`, found by the table's own index. A filter in memory (three bytes per send) tells
// which sends have certainly not come to this node before, so that nearly no send waits for an answer of the
// server. A send that has also come to another node is not stored twice: the group fails with raced, and the
// filter knows the send from then on.
//
// Threads: as for RecentSends.
#pragma once

#include <deque>
#include <optional>

#include "store/sql/digest_filter.h"
#include "store/sql/writer_dialect.h"

namespace baton::store::postgres {

class Sends final : public sql::RecentSends {
 public:
  explicit Sends(base::Duration retention) : retention_(retention) {}

  void refresh(sql::Connection& connection) override;
  bool may_have(const task::SendDigest& digest) const override;
  std::optional<EarlierSend> find(sql::Connection& connection, const task::SendDigest& digest,
                                  base::Timestamp now) const override;
  void add(sql::Connection& connection, const task::SendDigest& digest, const EarlierSend& send,
           base::Timestamp now) override;
  // The filter may contain sends that were not stored; that only costs a look-up in the table.
  void forget() override {}

 private:
  // Consecutive sends that share a filter.
  struct Stretch {
    explicit Stretch(std::size_t most) : filter(most), room(most) {}
    sql::DigestFilter filter;
    std::size_t room;
    base::Timestamp newest{};
  };

  void remember(std::uint64_t high, base::Timestamp at);
  void drop_expired(sql::Connection& connection, base::Timestamp now);

  const base::Duration retention_;
  bool is_loaded_ = false;
  std::uint64_t added_ = 0;
  std::deque<Stretch> stretches_;  // oldest first
};

// Changes send times after `now` to `now`, so that those sends expire on time.
void pull_in_sends(sql::Connection& connection, base::Timestamp now);

}  // namespace baton::store::postgres

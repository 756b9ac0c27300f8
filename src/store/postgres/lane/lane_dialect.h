// LaneDialect: the writer's dialect for PostgreSQL. Keys come in blocks from sequences, sends are found in
// their table, and totals are kept per lane.
//
// Threads: as for WriterDialect and RecentSends.
#pragma once

#include <array>
#include <cstdint>

#include "base/clock.h"
#include "store/postgres/lane/sends.h"
#include "store/postgres/lane/writer.h"
#include "store/sql/writer_dialect.h"

namespace baton::store::postgres {

class LaneDialect final : public sql::WriterDialect {
 public:
  LaneDialect(Writer& writer, const base::Clock& clock, base::Duration send_retention)
      : writer_(writer), clock_(clock), sends_(send_retention) {}

  NodeId node() const override { return {writer_.lane().node}; }
  std::int64_t new_key(sql::KeyOf kind) override;
  sql::RecentSends& sends() override { return sends_; }
  bool fits_key(std::initializer_list<std::string_view> texts) const override;
  DeliveryRows deliveries(const std::vector<DeliveryKey>& keys) override;
  void add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                    std::int64_t more) override;
  void keep_context(task::ContextKey context) override;
  void claim_context(task::ContextKey context) override;
  void wake_deliveries(const Waiting& waiting) override;

 private:
  struct Block {
    std::int64_t next = 0, end = 0;
    base::Timestamp reserved{};
  };

  Writer& writer_;
  const base::Clock& clock_;
  Sends sends_;
  std::array<Block, 4> blocks_{};
};

}  // namespace baton::store::postgres

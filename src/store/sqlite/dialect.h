// Dialect: the writer's dialect for SQLite. A file has only one writer, so keys are counted in memory. Sends
// are found by a SendIndex.
//
// Threads: as for WriterDialect and RecentSends.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "base/clock.h"
#include "store/sql/writer_dialect.h"
#include "store/sqlite/connection.h"
#include "store/sqlite/send_index.h"

namespace baton::store::sqlite {

class Dialect final : public sql::WriterDialect {
 public:
  Dialect(Connection& connection, base::Duration send_retention, std::size_t send_slice_max)
      : connection_(connection), sends_(send_retention, send_slice_max) {}

  // Call when the tables exist, before anything is written.
  void start();

  NodeId node() const override { return {}; }
  std::int64_t new_key(sql::KeyOf kind) override { return ++last_[static_cast<std::size_t>(kind)]; }
  sql::RecentSends& sends() override { return sends_; }
  bool fits_key(std::initializer_list<std::string_view>) const override { return true; }
  void add_to_total(const task::AgentName& agent, const task::Caller& caller, task::State state,
                    std::int64_t more) override;
  void keep_context(task::ContextKey) override {}
  void claim_context(task::ContextKey) override {}
  void wake_deliveries(const Waiting&) override {}

 private:
  Connection& connection_;
  SendIndex sends_;
  std::array<std::int64_t, 4> last_{};  // the largest key of each kind that was ever used
};

}  // namespace baton::store::sqlite

// WriteLog: the writes of one group, kept until the outcome of the group is known. They are sent late,
// combined to sets, and are sent again if the connection was lost.
//
// Threads: one at a time. Errors: sql::Failure.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "store/postgres/lane/session.h"
#include "store/postgres/lane/sets.h"
#include "store/sql/connection.h"

namespace baton::store::postgres {

class WriteLog {
 public:
  using Parameters = Link::Parameters;
  // Adds a write. `sql` is identified by its address; texts are copied.
  void add(const char* sql, Parameters parameters) { put(sql, parameters, false); }
  // Adds a write that is not combined with others. If `send` follows, it is the last statement that is sent.
  void add_alone(const char* sql, Parameters parameters) { put(sql, parameters, true); }
  // Queues the writes that were not sent yet.
  void send(Session& session);
  // Makes the next `send` send all writes again.
  void rewind();
  void clear();

 private:
  struct Write {
    const char* sql;
    std::size_t first, count;  // of parameters_
    bool is_alone;
  };
  // Runs of one statement that were not sent yet.
  struct Run {
    std::size_t last, first;  // places in writes_; the first one's guard counts
  };
  struct Pending {
    const char* sql = nullptr;
    const SetForm* set = nullptr;
    std::vector<Run> runs;
  };

  Parameters parameters_of(const Write& write) const {
    return {parameters_.data() + write.first, write.count};
  }
  Parameters parameters_of(const Run& run) const { return parameters_of(writes_[run.last]); }
  std::string_view kept(std::string_view text);
  void put(const char* sql, Parameters parameters, bool is_alone);
  const std::optional<SetForm>& form_of(const Write& write);
  bool meets_another(const Write& write, const SetForm& set) const;
  void put_aside(std::size_t run, const SetForm& set);
  void send_sets(Session& session);
  void send_set(Session& session, Pending& pending) const;

  std::vector<Write> writes_;
  std::vector<sql::Parameter> parameters_;
  std::deque<std::string> texts_;  // blocks that do not move
  std::size_t sent_ = 0;
  std::unordered_map<const char*, std::optional<SetForm>> forms_;
  std::vector<Pending> pending_;
  std::size_t pending_bytes_ = 0;
  // For each updated row of each table, the statement that updates it.
  std::unordered_map<std::string_view, std::unordered_map<std::int64_t, std::pair<const char*, std::size_t>>>
      updated_;
};

}  // namespace baton::store::postgres

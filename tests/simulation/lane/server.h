// Server: PostgreSQL as a lane meets it, behind libpq's functions (libpq.cpp). It knows the writer's
// statements and a few of the tests'; what it does not know ends the run.
//
// A connection may be lost at any statement, on the way there or back; what the server had received goes on
// all the same, and a backend that is told to end may still commit. The server restarts, a standby takes its
// place that may lack what was confirmed last, and other nodes write the same rows.
//
// Threads: one.
#pragma once

#include <libpq-fe.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "simulation/random.h"

namespace baton::simulation {

using LaneKey = std::pair<std::int64_t, std::int64_t>;  // node, lane

struct Tables {
  std::map<LaneKey, std::int64_t> lanes;  // last_group
  std::set<std::int64_t> marks;
  std::map<std::int64_t, std::int64_t> counters;  // version
};

struct Violation : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Answer {
  ExecStatusType status = PGRES_COMMAND_OK;
  std::string state;  // SQLSTATE of an error
  std::string command, tuples;
  std::vector<std::vector<std::optional<std::string>>> rows;
  bool is_truth = false;  // the last column is a bool
};

// `sql` of a prepared statement is its text. Empty: a sync.
struct Statement {
  std::string sql;
  std::vector<std::string> values;
};

struct Backend {
  int number = 0;
  bool has_client = true;  // who reads the answers
  bool is_ending = false;  // told to end
  bool is_over = false;
  std::deque<Statement> received;
  std::deque<Answer> answers;
  bool is_open = false, has_failed = false;  // a transaction
  bool skips = false;                        // up to the next sync: a statement has failed
  int flushes = -1;                          // turns that the commit under way takes yet; -1: there is none
  // Of the open transaction: the tables as it leaves them, applied when it is committed.
  std::vector<std::pair<LaneKey, std::int64_t>> lanes;
  std::vector<std::int64_t> marks;
  std::vector<std::pair<std::int64_t, std::int64_t>> counters;
  std::set<std::string> rows;  // that it has locked
};
using BackendPtr = std::shared_ptr<Backend>;

class Server {
 public:
  Server(std::uint64_t seed, bool loses_commits);

  // A new connection; none: there is no server at the moment.
  BackendPtr connect();
  // Something else happens: time passes, backends work, something breaks. Before every look of a client.
  void turn();
  // Whether the connection is cut now.
  bool is_cut();
  // No more faults. What backends had received is done.
  void calm();
  // A node comes, with a lane; another one declares it dead.
  void enter(std::int64_t node) { tables_.lanes[{node, 0}] = 0; }
  void declare_dead(std::int64_t node);

  const Tables& tables() const { return tables_; }
  // Confirmed commits were lost, and a client may have seen that.
  bool has_lost_commits() const { return has_lost_; }
  bool is_declared_dead() const { return is_declared_dead_; }

  // To standard output, if the run is to be told.
  void say(const std::string& what) const;

  Random random;
  bool is_told = false;

 private:
  // Does the backend's next statement, if it can. False: it has none, or has to wait.
  bool work(Backend& backend);
  void finish(Backend& backend);
  std::optional<Answer> run(Backend& backend, const Statement& statement);
  std::optional<Answer> write(Backend& backend, const Statement& statement);
  Answer look(Backend& backend, const Statement& statement);
  Answer commit(Backend& backend);
  void roll_back(Backend& backend);
  // Whether the backend has the row now; else another one does.
  bool lock(Backend& backend, const std::string& row);
  void end_all(bool at_once);
  void fail_over();
  void write_elsewhere();
  std::int64_t last_of(const Backend& backend, LaneKey lane, bool& is_there) const;

  std::vector<BackendPtr> backends_;
  Tables tables_;
  std::deque<Tables> earlier_;  // before each of the last commits
  int last_number_ = 0;
  int away_ = 0, standby_ = 0;  // turns: no server, or one that only reads
  bool loses_commits_, has_lost_ = false, is_declared_dead_ = false, is_calm_ = false;
  bool is_stopping_ = false;  // backends of before a restart may be committing
};

// What libpq.cpp talks to.
Server*& the_server();

// Binary parameters.
std::int64_t number_of(const std::string& bytes);
std::vector<std::int64_t> numbers_of(const std::string& array);

}  // namespace baton::simulation

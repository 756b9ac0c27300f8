// Server: PostgreSQL as a lane sees it, behind libpq's functions (libpq.cpp). It knows the writer's
// statements and a few of the tests'; any other statement ends the run.
//
// A connection may be lost at any statement, in either direction. The server still executes what it had
// received, and a backend that was ordered to end may still commit. The server restarts, a standby takes over
// that may lack the last confirmed commits, and other nodes write the same rows.
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

// `sql` is the text, also of a prepared statement. An empty one is a sync.
struct Statement {
  std::string sql;
  std::vector<std::string> values;
};

struct Backend {
  int number = 0;
  bool has_client = true;  // a client still reads the answers
  bool is_ending = false;  // was ordered to end
  bool is_over = false;
  std::deque<Statement> received;
  std::deque<Answer> answers;
  bool is_open = false, has_failed = false;  // a transaction
  bool skips = false;                        // a statement has failed: skips all up to the next sync
  int flushes = -1;                          // turns until the commit under way is done; -1: no commit
  // The writes of the open transaction, applied when it commits.
  std::vector<std::pair<LaneKey, std::int64_t>> lanes;
  std::vector<std::int64_t> marks;
  std::vector<std::pair<std::int64_t, std::int64_t>> counters;
  std::set<std::string> rows;  // the locks it holds
};
using BackendPtr = std::shared_ptr<Backend>;

class Server {
 public:
  Server(std::uint64_t seed, bool loses_commits);

  // Returns a new connection, or null if there is no server at the moment.
  BackendPtr connect();
  // Lets time pass, backends work and faults happen. Called whenever a client connects or looks for answers.
  void turn();
  // Whether the connection is cut now.
  bool is_cut();
  // Stops all faults, and executes what the backends have received.
  void calm();
  // A node joins, with a lane; another node declares it dead.
  void enter(std::int64_t node) { tables_.lanes[{node, 0}] = 0; }
  void declare_dead(std::int64_t node);

  const Tables& tables() const { return tables_; }
  // Confirmed commits were lost, and a client may have seen that.
  bool has_lost_commits() const { return has_lost_; }
  bool is_declared_dead() const { return is_declared_dead_; }

  // Prints to standard output, if `is_told`.
  void say(const std::string& what) const;

  Random random;
  bool is_told = false;

 private:
  // Executes the backend's next statement. Returns false if there is none, or if it has to wait.
  bool work(Backend& backend);
  void finish(Backend& backend);
  std::optional<Answer> run(Backend& backend, const Statement& statement);
  std::optional<Answer> write(Backend& backend, const Statement& statement);
  Answer look(Backend& backend, const Statement& statement);
  Answer commit(Backend& backend);
  void roll_back(Backend& backend);
  // Locks the row for the backend. Returns false if another one holds it.
  bool lock(Backend& backend, const std::string& row);
  void end_all(bool at_once);
  void fail_over();
  void write_elsewhere();
  std::int64_t last_of(const Backend& backend, LaneKey lane, bool& is_there) const;

  std::vector<BackendPtr> backends_;
  Tables tables_;
  std::deque<Tables> earlier_;  // the tables before each of the last commits
  int last_number_ = 0;
  int away_ = 0, standby_ = 0;  // turns left without a server, or with one that only reads
  bool loses_commits_, has_lost_ = false, is_declared_dead_ = false, is_calm_ = false;
  bool is_stopping_ = false;  // backends from before a restart may still commit
};

// The server that libpq.cpp talks to.
Server*& the_server();

// Decode binary parameters.
std::int64_t number_of(const std::string& bytes);
std::vector<std::int64_t> numbers_of(const std::string& array);

}  // namespace baton::simulation

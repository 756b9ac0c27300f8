// TaskTree: a task with the children that it and its children have delegated to, as the parents' logs name
// them. Read level by level, so that what is left out of a large tree is its lowest part.
//
// Threads: one at a time. `read_some` blocks on the disk.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "json/writer.h"
#include "server/shared/services.h"
#include "task/head.h"

namespace baton::server {

class TaskTree {
 public:
  struct Limits {
    std::size_t tasks = 10'000;
    int depth = 100;
    std::size_t bytes = std::size_t{512} << 20;  // of the logs that are read
  };
  // About what a tree of so many tasks and its JSON take in memory.
  static constexpr std::size_t kMemoryMax = std::size_t{16} << 20;

  TaskTree(const Services& services, const task::TaskHead& root) : TaskTree(services, root, Limits()) {}
  TaskTree(const Services& services, const task::TaskHead& root, const Limits& limits);

  // Reads about a hundred more tasks; returns whether all are read.
  base::Result<bool> read_some();
  // What "The tree of a task" in schema/README.md describes.
  // With the store's keys, for operators.
  enum class Keys { hidden, shown };
  std::string to_json(base::Timestamp now, Keys keys = Keys::hidden) const;

 private:
  struct Node {
    task::TaskKey key;  // none: the task could not be made
    int depth = 0;
    bool is_left_out = false;
    std::string id, agent, label, state, error;
    std::string_view kind;
    base::Timestamp begun{}, ended{};
    int attempt = 0;
    std::int64_t tokens = 0;
    std::vector<std::size_t> children;
  };

  base::Result<void> read(std::size_t at);
  base::Result<void> read_log(std::size_t at, const task::TaskHead& head);
  void take(std::size_t at, const task::Subagent& event);
  void describe(Node& node, const task::TaskHead& head) const;
  void cut(Node& node, std::string_view why);
  void write(json::Writer& out, const Node& node, Keys keys) const;

  const Services& services_;
  const task::Caller caller_;
  const Limits limits_;
  std::vector<Node> nodes_;  // the first one is the root
  std::size_t next_ = 0;     // to be read
  std::set<task::TaskKey> seen_;
  std::map<std::string, std::size_t> children_;  // of the node being read, by the subagent's id
  std::size_t bytes_ = 0;
  std::string_view cut_;  // why something is left out; empty: nothing is
};

}  // namespace baton::server

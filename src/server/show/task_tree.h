// TaskTree: a task and its descendants, found through the logs of the parents. The tree is read level by
// level, so that a large tree lacks its lowest levels.
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
  // The approximate memory of a tree of that many tasks and its JSON.
  static constexpr std::size_t kMemoryMax = std::size_t{16} << 20;

  TaskTree(const Services& services, const task::TaskHead& root) : TaskTree(services, root, Limits()) {}
  TaskTree(const Services& services, const task::TaskHead& root, const Limits& limits);

  // Reads about a hundred more tasks. Returns whether all are read.
  base::Result<bool> read_some();
  // What "The tree of a task" in schema/TASKS.md describes.
  // With the store's keys, for operators.
  enum class Keys { hidden, shown };
  // The format is described under "The tree of a task" in schema/README.md.
  std::string to_json(base::Timestamp now, Keys keys = Keys::hidden) const;

 private:
  struct Node {
    task::TaskKey key;  // 0 if the task could not be created
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
  void add(std::size_t at, const task::Subagent& event);
  void describe(Node& node, const task::TaskHead& head) const;
  void cut(Node& node, std::string_view why);
  void write(json::Writer& out, const Node& node, Keys keys) const;

  const Services& services_;
  const task::Caller caller_;
  const Limits limits_;
  std::vector<Node> nodes_;  // the first one is the root
  std::size_t next_ = 0;     // the next node to read
  std::set<task::TaskKey> seen_;
  std::map<std::string, std::size_t> children_;  // of the node being read, by the subagent's id
  std::size_t bytes_ = 0;
  std::string_view cut_;  // why the tree is incomplete; empty: it is complete
};

}  // namespace baton::server

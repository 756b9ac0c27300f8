// PlanSources: the values that a plan refers to and that do not change while it runs: those of the
// caller's message and of the children that have ended. Each is read and parsed once and then kept, also
// from one turn to the next (plan_memory.h).
//
// Threads: not thread-safe. `child` blocks on the disk.
// Memory: children are dropped once they take more than kChildrenMax together; they are read again when
// they are needed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "json/document.h"
#include "task/task.h"

namespace baton::agents {

// A value together with what owns it, so that it stays valid while this is held.
struct PlanValue {
  json::Value value = {};
  std::shared_ptr<const json::Document> owner = {};
};

// The value of a text that is JSON; missing if it is not.
PlanValue parsed_value(std::string text);
// A string.
PlanValue string_value(std::string_view text);

class PlanSources {
 public:
  // Reads the child that was delegated to under this name.
  using ReadChild = std::function<base::Result<task::Task>(const std::string& call)>;

  // A child that has ended.
  class Child {
   public:
    explicit Child(task::Task task) : task_(std::move(task)) {}
    const task::Task& task() const { return task_; }
    const std::string& text();
    // The first data part of its result; missing if there is none.
    const PlanValue& data();

   private:
    const task::Task task_;
    std::optional<std::string> text_;
    std::optional<PlanValue> data_;
  };

  // A list that a map goes over.
  struct Items {
    std::vector<json::Value> values;
    std::vector<task::Part> parts;  // of a list of files: one for each value
    PlanValue list;                 // owns the values
    std::string problem = {};       // why there is no list; empty: there is one
  };

  explicit PlanSources(task::Message message) : message_(std::move(message)) {}
  PlanSources(const PlanSources&) = delete;
  PlanSources& operator=(const PlanSources&) = delete;

  const task::Message& message() const { return message_; }
  const PlanValue& message_text();
  const PlanValue& message_data();
  const PlanValue& message_metadata();

  // Null if it cannot be read.
  std::shared_ptr<Child> child(const std::string& call, const ReadChild& read);

  // By the map's path. The lists themselves are made by PlanValues.
  std::unordered_map<std::string, Items>& items() { return items_; }
  // The values that PlanValues has made from the results of steps that have ended, by keys that it
  // chooses.
  std::unordered_map<std::string, PlanValue>& made() { return made_; }
  // Adds to the result of `bytes`.
  void note_bytes(std::size_t bytes) { bytes_ += bytes; }

  // The memory this takes, approximately.
  std::size_t bytes() const;

 private:
  static constexpr std::size_t kChildrenMax = std::size_t{32} << 20;

  const task::Message message_;
  std::optional<PlanValue> text_, data_, metadata_;
  std::unordered_map<std::string, std::shared_ptr<Child>> children_;
  std::size_t children_bytes_ = 0;
  std::unordered_map<std::string, Items> items_;
  std::unordered_map<std::string, PlanValue> made_;
  std::size_t bytes_ = 0;
};

}  // namespace baton::agents

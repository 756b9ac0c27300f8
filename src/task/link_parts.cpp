#include "task/link_parts.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace baton::task {
namespace {

// Smaller parts are not linked, because that would save too little.
constexpr std::size_t kLinkedMin = 4 << 10;
// Escaping turns one byte into at most this many ("\u0001").
constexpr std::size_t kEscapedMax = 6;

struct Candidate {
  Part* part;
  const Task* task;
  std::string_view kind;  // the segment of the path: "artifacts" or "messages"
  std::string_view owner;
  std::size_t index;
  std::size_t bytes;
};

std::size_t json_size(const Part& part) {
  if (part.kind != Part::Kind::text) return part.content.size();
  std::size_t bytes = part.content.size();
  for (const char c : part.content) {
    if (static_cast<unsigned char>(c) < 0x20) {
      bytes += kEscapedMax - 1;
    } else if (c == '"' || c == '\\') {
      ++bytes;
    }
  }
  return bytes;
}

class Answer {
 public:
  explicit Answer(std::span<Task> tasks) {
    for (Task& task : tasks) {
      bytes_ += weight_of(task);
      for (Artifact& artifact : task.artifacts) add(artifact.parts, task, "artifacts", artifact.id.value);
      for (Message& message : task.history) add(message.parts, task, "messages", message.id.value);
      if (auto& message = task.status.message) add(message->parts, task, "messages", message->id.value);
    }
  }

  void shrink_to(std::size_t bytes_max, const std::string& agent_url) {
    std::ranges::sort(candidates_, std::ranges::greater(), &Candidate::bytes);
    for (const Candidate& candidate : candidates_) {
      if (bytes_ <= bytes_max) return;
      std::string url = agent_url;
      url.append("/tasks/").append(base::percent_encoded(candidate.task->id.value));
      url.append("/").append(candidate.kind).append("/").append(base::percent_encoded(candidate.owner));
      url.append("/parts/").append(std::to_string(candidate.index));
      bytes_ -= std::min(bytes_, candidate.bytes);
      bytes_ += url.size();
      candidate.part->kind = Part::Kind::url;
      candidate.part->content = std::move(url);
      candidate.part->content.shrink_to_fit();
    }
  }

 private:
  void add(std::vector<Part>& parts, const Task& task, std::string_view kind, std::string_view owner) {
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].content.size() < kLinkedMin || parts[i].kind == Part::Kind::url) continue;
      const std::size_t bytes = json_size(parts[i]);
      bytes_ += bytes - parts[i].content.size();
      candidates_.push_back({&parts[i], &task, kind, owner, i, bytes});
    }
  }

  std::size_t bytes_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace

void link_large_parts(std::span<Task> tasks, std::size_t bytes_max, const std::string& agent_url) {
  std::size_t weight = 0;
  for (const Task& task : tasks) weight += weight_of(task);
  if (weight <= bytes_max / kEscapedMax) return;
  Answer(tasks).shrink_to(bytes_max, agent_url);
}

}  // namespace baton::task

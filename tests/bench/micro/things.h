// The data of the microbenchmarks: the short echo that the whole bench uses.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>

#include "store/task_store.h"
#include "task/event.h"
#include "task/task.h"

namespace baton::bench {

inline const std::string kText = "Hello, world";
inline const std::string kId = "019a5f0e-7d9a-7c41-9d3e-0123456789ab";

inline task::Message message_of(task::Role role) {
  task::Message message;
  message.id = {kId};
  message.role = role;
  message.parts.push_back(task::Part::of_text(kText));
  return message;
}

inline task::ArtifactChunk chunk_of(bool append, bool last) {
  task::ArtifactChunk chunk;
  chunk.artifact.id = {"reply"};
  chunk.artifact.name = "reply";
  chunk.artifact.parts.push_back(task::Part::of_text(kText));
  chunk.append = append;
  chunk.last_chunk = last;
  return chunk;
}

inline task::StatusChanged status_of(task::State state) {
  return {{state, {}, base::from_ms(1'700'000'000'000)}, {}};
}

inline task::Task finished_task() {
  task::Task task;
  task.id = {kId};
  task.context = {kId};
  task.status = status_of(task::State::completed).status;
  task.artifacts.push_back(chunk_of(false, true).artifact);
  task.history.push_back(message_of(task::Role::user));
  task.last_event = {5};
  return task;
}

// A temporary folder on the current folder's disk, because /tmp may be in memory.
class WorkFolder {
 public:
  WorkFolder() {
    std::string pattern = (std::filesystem::current_path() / "baton-micro-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) abort();
    path_ = pattern;
  }
  ~WorkFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  WorkFolder(const WorkFolder&) = delete;
  WorkFolder& operator=(const WorkFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace baton::bench

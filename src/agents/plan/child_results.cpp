#include "agents/plan/child_results.h"

#include <algorithm>
#include <utility>

namespace baton::agents {

const task::Part* first_data(const std::vector<task::Part>& parts) {
  const auto data = std::ranges::find(parts, task::Part::Kind::data, &task::Part::kind);
  return data == parts.end() ? nullptr : &*data;
}

task::Json data_of_result(const task::Task& task) {
  for (const task::Artifact& artifact : task.artifacts) {
    const task::Part* data = first_data(artifact.parts);
    if (data != nullptr) return {data->content};
  }
  const task::Part* data = task.status.message ? first_data(task.status.message->parts) : nullptr;
  return data == nullptr ? task::Json{} : task::Json{data->content};
}

std::vector<task::Part> without_text(std::vector<task::Part> parts) {
  std::erase_if(parts, [](const task::Part& part) { return part.kind == task::Part::Kind::text; });
  return parts;
}

std::string text_of_result(const task::Task& task) {
  std::string text;
  for (const task::Artifact& artifact : task.artifacts) {
    for (const task::Part& part : artifact.parts) {
      if (part.kind != task::Part::Kind::text) continue;
      if (!text.empty() && &part == &artifact.parts.front()) text += "\n";
      text += part.content;
    }
  }
  if (!text.empty() || !task.status.message) return text;
  return task::text_of(*task.status.message);
}

std::vector<task::Part> files_of_result(const task::Task& task) {
  std::vector<task::Part> files;
  for (const task::Artifact& artifact : task.artifacts) {
    for (task::Part part : without_text(artifact.parts)) {
      if (part.filename.empty()) part.filename = artifact.name;
      files.push_back(std::move(part));
    }
  }
  if (files.empty() && task.status.message) files = without_text(task.status.message->parts);
  return files;
}

}  // namespace baton::agents

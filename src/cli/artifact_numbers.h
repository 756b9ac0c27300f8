// ArtifactNumbers: one number for each artifact of a task. A2A 0.1 has numbers; later versions have ids,
// which are numbered in order of arrival.
#pragma once

#include <map>
#include <string>

#include "task/message.h"

namespace baton::cli {

class ArtifactNumbers {
 public:
  int of(const task::Artifact& artifact) {
    if (artifact.id.empty()) return artifact.ordinal;
    return numbers_.try_emplace(artifact.id.value, static_cast<int>(numbers_.size())).first->second;
  }

 private:
  std::map<std::string, int> numbers_;
};

}  // namespace baton::cli

// FileSaver: writes the files in a task's artifacts into one folder, under names that stay inside it.
//
// Existing files are replaced only with `force`. A file that this object wrote is replaced when its artifact
// is sent again from the start.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "cli/artifact_numbers.h"
#include "protocol/a2a/client/updates.h"

namespace baton::cli {

class FileSaver {
 public:
  FileSaver(std::string folder, bool force) : folder_(std::move(folder)), force_(force) {}

  // Saves the files of an event. Returns a line for each file: the name it was saved as, or the error.
  std::vector<std::string> save(const protocol::a2a::Update& update);

  // True if every file up to this point was saved.
  bool all_saved() const { return all_saved_; }

 private:
  using Place = std::pair<int, std::size_t>;  // artifact, position of the part in it

  std::string save(const task::Part& part, const std::string& name_wanted, Place place);
  base::Result<void> write(const std::string& path, std::string_view bytes, bool replace);
  std::string free_path(const std::string& name) const;

  const std::string folder_;
  const bool force_;
  ArtifactNumbers numbers_;
  std::map<Place, std::string> paths_;       // of the files written here
  std::map<int, std::size_t> parts_so_far_;  // of each artifact
  bool all_saved_ = true;
};

// Returns a safe file name: the last component, without characters that shells, terminals and file systems
// treat specially, and never hidden; `fallback` if no characters are left.
std::string safe_file_name(std::string_view wanted, std::string_view fallback);

}  // namespace baton::cli

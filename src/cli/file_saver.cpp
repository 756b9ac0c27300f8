#include "cli/file_saver.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/base64.h"
#include "base/text.h"
#include "base/unique_fd.h"
#include "cli/printable.h"

namespace baton::cli {
namespace {

constexpr std::size_t kNameMax = 200;

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR) return false;
    bytes.remove_prefix(written > 0 ? static_cast<std::size_t>(written) : 0);
  }
  return true;
}

auto not_written(const std::string& path) {
  return base::fail(base::ErrorCode::unavailable, "cannot write " + path + ": " + std::strerror(errno));
}

}  // namespace

std::string safe_file_name(std::string_view wanted, std::string_view fallback) {
  const std::size_t slash = wanted.find_last_of("/\\");
  if (slash != std::string_view::npos) wanted.remove_prefix(slash + 1);
  std::string name = safe_characters(wanted, "<>:\"|?*$`");
  // Not hidden, no "..", and not like an option.
  name.erase(0, std::min(name.find_first_not_of(".- "), name.size()));
  if (name.size() > kNameMax) {
    // Keeps the extension, and does not split a UTF-8 character.
    const std::size_t dot = name.rfind('.');
    const std::string extension = dot != std::string::npos && name.size() - dot <= 16 ? name.substr(dot) : "";
    name = std::string(base::beginning_of(name, kNameMax - extension.size())) + extension;
  }
  return name.empty() ? std::string(fallback) : name;
}

std::vector<std::string> FileSaver::save(const protocol::a2a::Update& update) {
  std::vector<std::string> lines;
  const auto take_artifact = [&](const task::Artifact& artifact, bool append) {
    const int number = numbers_.of(artifact);
    std::size_t& position = parts_so_far_[number];
    if (!append) position = 0;
    for (const task::Part& part : artifact.parts) {
      const Place place{number, position++};
      if (part.kind != task::Part::Kind::raw) continue;
      const std::string& wanted = part.filename.empty() ? artifact.name : part.filename;
      lines.push_back(save(part, wanted, place));
    }
  };
  if (const auto* chunk = std::get_if<protocol::a2a::ArtifactUpdate>(&update))
    take_artifact(chunk->artifact, chunk->append);
  if (const auto* task = std::get_if<task::Task>(&update)) {
    for (const task::Artifact& artifact : task->artifacts) take_artifact(artifact, false);
  }
  if (const auto* reply = std::get_if<protocol::a2a::MessageReply>(&update)) {
    task::Artifact answer;
    answer.parts = reply->message.parts;
    take_artifact(answer, true);
  }
  return lines;
}

std::string FileSaver::save(const task::Part& part, const std::string& name_wanted, Place place) {
  const std::string fallback = "artifact-" + std::to_string(place.first) + "-" + std::to_string(place.second);
  const auto bytes = base::decode_base64(part.content);
  const auto known = paths_.find(place);
  const bool ours = known != paths_.end();
  const std::string path = ours ? known->second : free_path(safe_file_name(name_wanted, fallback));
  const auto written =
      bytes ? write(path, *bytes, ours || force_)
            : base::fail(base::ErrorCode::invalid_argument, "cannot write " + path + ": not base64");
  if (!written) {
    all_saved_ = false;
    return written.error().for_caller;
  }
  paths_[place] = path;
  return "saved " + path + " (" + std::to_string(bytes->size()) + " bytes)";
}

// Two files of one task may have the same name: the second gets a number.
std::string FileSaver::free_path(const std::string& name) const {
  const std::size_t dot = name.rfind('.');
  const std::string stem = name.substr(0, dot), extension = dot == std::string::npos ? "" : name.substr(dot);
  std::string path = folder_ + "/" + name;
  const auto taken = [&] {
    return std::ranges::any_of(paths_, [&](const auto& entry) { return entry.second == path; });
  };
  for (int number = 2; taken(); ++number)
    path = folder_ + "/" + stem + "-" + std::to_string(number) + extension;
  return path;
}

base::Result<void> FileSaver::write(const std::string& path, std::string_view bytes, bool replace) {
  if (::mkdir(folder_.c_str(), 0777) != 0 && errno != EEXIST) return not_written(folder_);
  // O_EXCL makes only files that do not exist. Links are never followed.
  const int how = O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | (replace ? O_TRUNC : O_EXCL);
  const base::UniqueFd file(::open(path.c_str(), how, 0666));
  if (!file.valid() && errno == EEXIST) {
    return base::fail(base::ErrorCode::already_exists, path + " already exists; --force replaces it");
  }
  if (!file.valid() || !write_all(file.get(), bytes)) return not_written(path);
  return {};
}

}  // namespace baton::cli

#include "agents/command/part_files.h"

#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/base64.h"

namespace baton::agents {
namespace {

namespace fs = std::filesystem;
using base::ErrorCode;
using task::Part;

constexpr std::size_t kNameMax = 100;

// Makes an untrusted file name harmless to shells and file systems.
std::string harmless(std::string_view name) {
  name = name.substr(0, kNameMax);
  std::string safe;
  for (const char c : name) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       c == '.' || c == '_' || c == '-';
    safe += plain ? c : '_';
  }
  return safe.empty() ? "file" : safe;
}

base::Result<void> cannot_write(const std::string& what, const std::string& why) {
  return base::fail(ErrorCode::unavailable, "the message's files could not be given to the agent",
                    "cannot write " + what + ": " + why);
}

base::Result<void> given_up() {
  return base::fail(ErrorCode::unavailable, "the turn was abandoned");
}

std::string name_of(const Part& part, std::size_t number) {
  return std::to_string(number) +
         (part.kind == Part::Kind::data ? "-data.json" : "-" + harmless(part.filename));
}

bool is_file(const Part& part) {
  return part.kind != Part::Kind::text;
}

constexpr char kFolderPattern[] = "baton-XXXXXX";
constexpr std::size_t kAroundName = 2;  // the slash before a file's name and the zero after it

}  // namespace

bool PartFiles::are_in(const task::Message& message) {
  return std::ranges::any_of(message.parts, is_file);
}

PartFiles::PartFiles(const task::Message& message, const PartFileLimits& limits)
    : limits_(limits), count_(static_cast<std::size_t>(std::ranges::count_if(message.parts, is_file))) {
  if (count_ <= static_cast<std::size_t>(limits.files_max))
    std::ranges::copy_if(message.parts, std::back_inserter(parts_), is_file);
}

PartFiles::~PartFiles() {
  if (folder_.empty()) return;
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) spdlog::warn("cannot remove {}: {}", folder_.string(), error.message());
}

base::Result<void> PartFiles::write() {
  if (stopped_) return given_up();
  std::error_code error;
  const fs::path pattern = fs::temp_directory_path(error) / kFolderPattern;
  if (error) return cannot_write("files of a message", error.message());
  if (auto checked = check(pattern); !checked) return checked;
  if (auto made = make_folder(pattern); !made) return made;
  for (Part& part : parts_) {
    if (stopped_) return given_up();
    if (auto added = add(std::exchange(part, {})); !added) return added;
  }
  return {};
}

// All folders of this pattern have paths of the same length, so `pattern` stands for the real folder.
base::Result<void> PartFiles::check(const fs::path& pattern) const {
  if (parts_.size() < count_) {
    return base::fail(ErrorCode::too_large, "the message has " + std::to_string(count_) +
                                                " files and data parts, but this agent accepts at most " +
                                                std::to_string(limits_.files_max));
  }
  std::size_t bytes = 0;
  for (const Part& part : parts_) {
    if (part.kind == Part::Kind::url) {
      return base::fail(ErrorCode::invalid_argument,
                        "this agent accepts no files by URL: send the file itself");
    }
    bytes += pattern.native().size() + kAroundName + name_of(part, count_).size();
  }
  if (bytes <= limits_.arguments_max) return {};
  return base::fail(ErrorCode::too_large, "the paths of the message's files are " + std::to_string(bytes) +
                                              " bytes long, but this agent accepts at most " +
                                              std::to_string(limits_.arguments_max));
}

base::Result<void> PartFiles::make_folder(const fs::path& pattern) {
  std::string name = pattern.string();
  if (mkdtemp(name.data()) == nullptr) return cannot_write(name, strerrordesc_np(errno));
  folder_ = std::move(name);
  return {};
}

base::Result<void> PartFiles::add(const Part& part) {
  const std::string name = name_of(part, paths_.size() + 1);
  if (part.kind == Part::Kind::data) return put(name, part.content);
  const std::optional<std::string> bytes = base::decode_base64(part.content);
  if (!bytes) return base::fail(ErrorCode::invalid_argument, "the bytes of a file are not valid base64");
  return put(name, *bytes);
}

base::Result<void> PartFiles::put(const std::string& name, std::string_view content) {
  const fs::path file = folder_ / name;
  std::ofstream out(file, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) return cannot_write(file.string(), strerrordesc_np(errno));
  paths_.push_back(file.string());
  return {};
}

}  // namespace baton::agents

#include "agents/command/part_files.h"

#include <spdlog/spdlog.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>

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

}  // namespace

PartFiles::~PartFiles() {
  if (folder_.empty()) return;
  std::error_code error;
  fs::remove_all(folder_, error);
  if (error) spdlog::warn("cannot remove {}: {}", folder_.string(), error.message());
}

base::Result<void> PartFiles::write(const task::Message& message) {
  for (const Part& part : message.parts) {
    if (part.kind == Part::Kind::text) continue;
    if (auto added = add(part); !added) return added;
  }
  return {};
}

base::Result<void> PartFiles::add(const Part& part) {
  const std::string number = std::to_string(paths_.size() + 1);
  if (part.kind == Part::Kind::data) return put(number + "-data.json", part.content);
  if (part.kind == Part::Kind::url) {
    return base::fail(ErrorCode::invalid_argument,
                      "this agent takes files by their bytes, not by URL: send the file itself");
  }
  const std::optional<std::string> bytes = base::decode_base64(part.content);
  if (!bytes) return base::fail(ErrorCode::invalid_argument, "the bytes of a file are not valid base64");
  return put(number + "-" + harmless(part.filename), *bytes);
}

base::Result<void> PartFiles::put(const std::string& name, std::string_view content) {
  if (folder_.empty()) {
    std::error_code error;
    std::string pattern = (fs::temp_directory_path(error) / "baton-XXXXXX").string();
    if (error) return cannot_write("files of a message", error.message());
    if (mkdtemp(pattern.data()) == nullptr) return cannot_write(pattern, strerrordesc_np(errno));
    folder_ = pattern;
  }
  const fs::path file = folder_ / name;
  std::ofstream out(file, std::ios::binary);
  out.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!out.flush()) return cannot_write(file.string(), strerrordesc_np(errno));
  paths_.push_back(file.string());
  return {};
}

}  // namespace baton::agents

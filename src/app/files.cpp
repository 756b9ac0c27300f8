#include "app/files.h"

#include <sys/stat.h>
#include <sys/statvfs.h>

#include <fstream>

#include "base/text.h"

namespace baton::app {

base::Result<std::string> read_file(const std::string& name, std::size_t size_max) {
  std::ifstream file(name, std::ios::binary);
  if (!file) return base::fail(base::ErrorCode::not_found, "cannot read the file " + name);
  std::string text;
  std::string piece(64 << 10, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > size_max) {
      return base::fail(base::ErrorCode::too_large,
                        "the file " + name + " is larger than " + std::to_string(size_max) + " bytes");
    }
  }
  // A folder can be opened, but not read.
  if (file.bad()) return base::fail(base::ErrorCode::not_found, "cannot read the file " + name);
  return text;
}

base::Result<std::string> read_text_file(const std::string& name, std::size_t size_max) {
  auto text = read_file(name, size_max);
  if (text) text->erase(0, text->size() - base::without_mark(*text).size());
  return text;
}

base::Result<std::string> database_in_file(const std::string& name) {
  constexpr std::size_t kSizeMax = 64 << 10;
  auto text = read_text_file(name, kSizeMax);
  if (!text) return text;
  text->resize(text->find_last_not_of(" \r\n") + 1);
  if (text->empty()) return base::fail(base::ErrorCode::invalid_argument, name + " is empty");
  return text;
}

// Allows files of read-only mounts: containers mount secrets that way, readable by every user.
bool is_exposed(const std::string& file) {
  struct stat info {};
  struct statvfs mount {};
  if (file.empty() || ::stat(file.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  if ((info.st_mode & S_IROTH) == 0) return false;
  return ::statvfs(file.c_str(), &mount) != 0 || (mount.f_flag & ST_RDONLY) == 0;
}

}  // namespace baton::app

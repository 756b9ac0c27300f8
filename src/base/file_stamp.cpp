#include "base/file_stamp.h"

#include <sys/stat.h>

namespace baton::base {

std::string file_stamp(const std::string& path) {
  std::string stamp = path + '\0';
  struct stat at {};
  if (::stat(path.c_str(), &at) != 0) return stamp;
  for (const auto part :
       {static_cast<long long>(at.st_dev), static_cast<long long>(at.st_ino),
        static_cast<long long>(at.st_size), static_cast<long long>(at.st_mtim.tv_sec),
        static_cast<long long>(at.st_mtim.tv_nsec), static_cast<long long>(at.st_ctim.tv_sec),
        static_cast<long long>(at.st_ctim.tv_nsec)}) {
    stamp += std::to_string(part) + ' ';
  }
  return stamp;
}

}  // namespace baton::base

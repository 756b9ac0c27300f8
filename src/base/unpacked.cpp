#include "base/unpacked.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>

#include "base/embedded.h"
#include "base/hex.h"
#include "base/sha256.h"
#include "base/unique_fd.h"

namespace baton::base {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kOwnerOnly = 0700, kForOthers = 077, kForOthersToWrite = 022;
// Not writable: the files are compared at the next start, and changes would not last.
constexpr mode_t kFileMode = 0400;
constexpr std::string_view kShared = "share/";

tl::unexpected<Error> failed(const fs::path& path, const std::string& what) {
  return fail(ErrorCode::unavailable, path.string() + ": " + what + " (" + std::strerror(errno) + ")");
}

tl::unexpected<Error> unsafe(const fs::path& path, const std::string& why) {
  return fail(ErrorCode::permission_denied, path.string() + " " + why);
}

// A folder that no other user can replace or rename things of: with the sticky bit, as in /tmp, they can add
// theirs only.
Result<void> check_above(const fs::path& folder) {
  struct stat facts {};
  if (::lstat(folder.c_str(), &facts) != 0) return failed(folder, "cannot be inspected");
  if (facts.st_uid != 0 && facts.st_uid != ::geteuid()) return unsafe(folder, "belongs to another user");
  if ((facts.st_mode & kForOthersToWrite) != 0 && (facts.st_mode & S_ISVTX) == 0)
    return unsafe(folder, "can be changed by other users");
  return {};
}

// Resolves links in the path of an existing folder, and checks all of its folders.
Result<fs::path> safe_folder(const fs::path& folder) {
  std::error_code error;
  const fs::path real = fs::canonical(folder, error);
  if (error) return fail(ErrorCode::unavailable, folder.string() + ": " + error.message());
  fs::path above;
  for (const fs::path& name : real) {
    above /= name;
    if (auto checked = check_above(above); !checked) return fail(checked.error());
  }
  return real;
}

// Makes the folder and those above it that are missing, each in a checked one.
Result<void> make_folders(const fs::path& folder) {
  struct stat ignored {};
  if (::lstat(folder.c_str(), &ignored) == 0) return {};
  if (auto made = make_folders(folder.parent_path()); !made) return made;
  if (auto safe = safe_folder(folder.parent_path()); !safe) return fail(safe.error());
  if (::mkdir(folder.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return failed(folder, "cannot be created");
  return {};
}

// Makes the folder, in a safe folder, this user's alone. Fails if something else has its name.
Result<void> make_private(const fs::path& folder) {
  if (::mkdir(folder.c_str(), kOwnerOnly) != 0 && errno != EEXIST) return failed(folder, "cannot be created");
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd.valid() && (errno == ENOTDIR || errno == ELOOP)) return unsafe(folder, "is not a folder");
  if (!fd.valid()) return failed(folder, "cannot be opened");
  struct stat facts {};
  if (::fstat(fd.get(), &facts) != 0) return failed(folder, "cannot be inspected");
  if (facts.st_uid != ::geteuid()) return unsafe(folder, "belongs to another user");
  if ((facts.st_mode & kForOthers) != 0 && ::fchmod(fd.get(), kOwnerOnly) != 0)
    return failed(folder, "can be read by other users, and its mode cannot be changed");
  return {};
}

bool has_content(const fs::path& file, std::string_view text) {
  std::ifstream in(file, std::ios::binary);
  const std::string found{std::istreambuf_iterator<char>(in), {}};
  return in.good() && found == text;
}

// True if the folder has the files and nothing else, all of it this user's. Modes do not matter in a folder
// that no other user can enter: with a umask of 002, Python makes __pycache__ writable for the group.
bool has_files(const fs::path& folder, const FileTexts& files) {
  const auto is_own = [](const fs::path& path, mode_t kind) {
    struct stat facts {};
    return ::lstat(path.c_str(), &facts) == 0 && facts.st_uid == ::geteuid() &&
           (facts.st_mode & S_IFMT) == kind;
  };
  if (!is_own(folder, S_IFDIR)) return false;
  std::size_t found = 0;
  std::error_code error;
  for (fs::recursive_directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& path = entry->path();
    if (is_own(path, S_IFDIR)) {
      if (path.filename() == "__pycache__") entry.disable_recursion_pending();
      continue;
    }
    const auto file = files.find(path.lexically_relative(folder).string());
    if (!is_own(path, S_IFREG) || file == files.end() || !has_content(path, file->second)) return false;
    ++found;
  }
  return !error && found == files.size();
}

Result<void> write_file(const fs::path& file, std::string_view text) {
  if (auto made = make_folders(file.parent_path()); !made) return made;
  const UniqueFd fd(::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
  if (!fd.valid()) return failed(file, "cannot be written");
  while (!text.empty()) {
    const ssize_t wrote = ::write(fd.get(), text.data(), text.size());
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return failed(file, "cannot be written");
    text.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

// A new private folder with the files; `pattern` ends in XXXXXX.
Result<fs::path> write_new(const FileTexts& files, const fs::path& pattern) {
  std::string name = pattern.string();
  if (::mkdtemp(name.data()) == nullptr) return failed(pattern.parent_path(), "cannot hold a new folder");
  for (const auto& [file, text] : files) {
    if (auto written = write_file(fs::path(name) / file, text); !written) {
      std::error_code ignored;
      fs::remove_all(name, ignored);
      return fail(written.error());
    }
  }
  return fs::path(name);
}

std::string digest_of(const FileTexts& files) {
  Sha256 sha;
  for (const auto& [file, text] : files) {
    sha.add(file);
    sha.add(text);
  }
  std::string name;
  for (const std::uint64_t part : sha.first_128_bits()) {
    for (int shift = 60; shift >= 0; shift -= 4) name += kLowerHex[(part >> shift) & 0xf];
  }
  return name;
}

// Moves the new folder into place. If another start was faster, that one's folder stays.
Result<Unpacked> put(const fs::path& fresh, const fs::path& place, const FileTexts& files) {
  if (::rename(fresh.c_str(), place.c_str()) == 0) return Unpacked{place, {}};
  if (has_files(place, files)) {
    std::error_code ignored;
    fs::remove_all(fresh, ignored);
    return Unpacked{place, {}};
  }
  if (::renameat2(AT_FDCWD, fresh.c_str(), AT_FDCWD, place.c_str(), RENAME_EXCHANGE) != 0)
    return failed(place, "was changed and cannot be replaced");
  const std::string name = fresh.string();
  const std::string kept = place.string() + ".changed" + name.substr(name.rfind('-'));
  if (::rename(name.c_str(), kept.c_str()) != 0) return failed(fresh, "cannot be renamed");
  return Unpacked{place,
                  place.string() + " was changed. Baton restored it; the changed files are in " + kept};
}

// The private folder of a program without a cache folder, removed with this object.
struct TemporaryFolder {
  TemporaryFolder() = default;
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path.empty()) fs::remove_all(path, ignored);
  }
  fs::path path;
};

Result<Unpacked> unpack_for_now(const std::string& reason) {
  static TemporaryFolder folder;
  std::error_code error;
  const auto shared = safe_folder(fs::temp_directory_path(error));
  if (!shared) return fail(shared.error());
  const auto made = write_new(files_to_unpack(), *shared / "baton-XXXXXX");
  if (!made) return fail(made.error());
  folder.path = *made;
  return Unpacked{*made, "the files that come with Baton were unpacked to " + made->string() +
                             " for this run only: " + reason};
}

}  // namespace

FileTexts files_to_unpack() {
  FileTexts files;
  for (const EmbeddedFile& file : embedded_files()) {
    const std::string name(file.name);
    if (name.starts_with(kShared)) files.emplace(name.substr(kShared.size()), file.text);
    if (name.ends_with(".schema.json")) files.emplace("schema/" + name, file.text);
  }
  return files;
}

Result<Unpacked> unpack(const FileTexts& files, const fs::path& cache) {
  if (auto made = make_folders(cache.parent_path()); !made) return fail(made.error());
  const auto above = safe_folder(cache.parent_path());
  if (!above) return fail(above.error());
  const fs::path folder = *above / cache.filename(), place = folder / digest_of(files);
  if (auto made = make_private(folder); !made) return fail(made.error());
  if (has_files(place, files)) return Unpacked{place, {}};
  const auto fresh = write_new(files, folder / "new-XXXXXX");
  if (!fresh) return fail(fresh.error());
  auto moved = put(*fresh, place, files);
  std::error_code ignored;
  if (!moved) fs::remove_all(*fresh, ignored);
  return moved;
}

fs::path cache_folder() {
  const auto variable = [](const char* name) {
    const char* value = std::getenv(name);
    const fs::path path = value == nullptr ? "" : value;
    return path.is_absolute() ? path : fs::path();
  };
  if (const fs::path given = variable("XDG_CACHE_HOME"); !given.empty()) return given / "baton";
  const fs::path home = variable("HOME");
  std::error_code ignored;
  return fs::is_directory(home, ignored) ? home / ".cache/baton" : fs::path();
}

const Result<Unpacked>& unpacked() {
  static const Result<Unpacked> once = []() -> Result<Unpacked> {
    const fs::path cache = cache_folder();
    if (cache.empty()) return unpack_for_now("XDG_CACHE_HOME is not set, and HOME is no folder");
    auto made = unpack(files_to_unpack(), cache);
    return made ? made : unpack_for_now(made.error().for_caller);
  }();
  return once;
}

}  // namespace baton::base

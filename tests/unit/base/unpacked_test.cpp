#include "base/unpacked.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <thread>

#include "support/temp_folder.h"

namespace unpacked_test {

using namespace baton;
namespace fs = std::filesystem;

namespace {

const base::FileTexts kFiles{{"lib/python/baton/__init__.py", "import sys\n"},
                             {"agent-cards/echo/card.json", "{}\n"}};

constexpr uid_t kOther = 65534;

struct Bench {
  base::Result<base::Unpacked> unpack() const { return base::unpack(kFiles, cache); }
  // The names in the cache folder.
  std::size_t entries() const {
    return static_cast<std::size_t>(std::distance(fs::directory_iterator(cache), fs::directory_iterator()));
  }

  test::TempFolder home;
  fs::path cache = home.path() / "deep/cache/baton";
};

struct stat facts_of(const fs::path& path) {
  struct stat facts {};
  REQUIRE(::lstat(path.c_str(), &facts) == 0);
  return facts;
}

// Overwrites a file that is not writable.
void change(const fs::path& file, const std::string& text) {
  fs::remove(file);
  std::ofstream(file) << text;
}

}  // namespace

TEST_CASE("unpack: files are written to folders of this user alone, and are not writable") {
  const Bench bench;
  const auto made = bench.unpack();
  REQUIRE(made);
  CHECK(made->note.empty());
  CHECK(test::TempFolder::read(made->folder / "agent-cards/echo/card.json") == "{}\n");
  for (const fs::path& folder : {bench.home.path() / "deep", bench.cache, made->folder, made->folder / "lib"})
    CHECK((facts_of(folder).st_mode & 0777) == 0700);
  CHECK((facts_of(made->folder / "lib/python/baton/__init__.py").st_mode & 0777) == 0400);
}

TEST_CASE("unpack: files that are there are left alone, and what Python caches beside them, too") {
  const Bench bench;
  const fs::path folder = bench.unpack().value().folder;
  const auto before = facts_of(folder).st_ino;
  fs::create_directory(folder / "lib/python/baton/__pycache__");
  REQUIRE(::chmod((folder / "lib/python/baton/__pycache__").c_str(), 0775) == 0);
  std::ofstream(folder / "lib/python/baton/__pycache__/__init__.pyc") << "bytes";
  CHECK(bench.unpack().value().folder == folder);
  CHECK(facts_of(folder).st_ino == before);
}

TEST_CASE(
    "unpack: a changed, added or missing file, and a link: the folder is restored and the old one kept") {
  const Bench bench;
  const fs::path folder = bench.unpack().value().folder;
  const fs::path library = folder / "lib/python/baton/__init__.py";
  SUBCASE("changed") {
    change(library, "import os\n");
  }
  SUBCASE("added") {
    std::ofstream(folder / "lib/python/json.py") << "evil";
  }
  SUBCASE("missing") {
    fs::remove(library);
  }
  SUBCASE("a link to a file of the same content") {
    fs::rename(library, bench.home.path() / "elsewhere");
    fs::create_symlink(bench.home.path() / "elsewhere", library);
  }
  SUBCASE("a link in place of a folder") {
    fs::rename(folder / "lib", bench.home.path() / "elsewhere");
    fs::create_symlink(bench.home.path() / "elsewhere", folder / "lib");
  }
  SUBCASE("a file in place of the folder") {
    fs::remove_all(folder);
    std::ofstream(folder) << "no folder";
  }
  const auto again = bench.unpack();
  REQUIRE(again);
  CHECK(again->folder == folder);
  CHECK(again->note.find(folder.string() + ".changed-") != std::string::npos);
  CHECK(test::TempFolder::read(library) == "import sys\n");
  CHECK(fs::is_directory(fs::symlink_status(folder / "lib")));
  CHECK_FALSE(fs::exists(folder / "lib/python/json.py"));
  CHECK(bench.entries() == 2);
}

TEST_CASE("unpack: a link in place of the cache folder is refused, and nothing is written where it leads") {
  const Bench bench;
  fs::create_directories(bench.cache.parent_path());
  fs::create_directory(bench.home.path() / "theirs");
  fs::create_symlink(bench.home.path() / "theirs", bench.cache);
  const auto made = bench.unpack();
  REQUIRE_FALSE(made);
  CHECK(made.error().code == base::ErrorCode::permission_denied);
  CHECK(fs::is_empty(bench.home.path() / "theirs"));
}

TEST_CASE("unpack: a folder above that others can change is refused; one with a sticky bit is not") {
  const Bench bench;
  fs::create_directories(bench.home.path() / "deep");
  REQUIRE(::chmod((bench.home.path() / "deep").c_str(), 0777) == 0);
  const auto made = bench.unpack();
  REQUIRE_FALSE(made);
  CHECK(made.error().code == base::ErrorCode::permission_denied);
  CHECK(fs::is_empty(bench.home.path() / "deep"));
  REQUIRE(::chmod((bench.home.path() / "deep").c_str(), 01777) == 0);
  CHECK(bench.unpack());
}

TEST_CASE("unpack: a cache folder that others could read is closed to them") {
  const Bench bench;
  fs::create_directories(bench.cache);
  REQUIRE(::chmod(bench.cache.c_str(), 0755) == 0);
  CHECK(bench.unpack());
  CHECK((facts_of(bench.cache).st_mode & 0777) == 0700);
}

TEST_CASE("unpack: a cache folder of another user is refused") {
  Bench bench;
  REQUIRE(bench.unpack());
  // Only root can give a folder away; for any other user root has one.
  if (::geteuid() == 0) {
    REQUIRE(::chown(bench.cache.c_str(), kOther, kOther) == 0);
  } else {
    bench.cache = "/usr";
  }
  const auto again = bench.unpack();
  REQUIRE_FALSE(again);
  CHECK(again.error().for_caller == bench.cache.string() + " belongs to another user");
}

TEST_CASE("unpack: a file of the same content is replaced if another user or a link has its place") {
  const Bench bench;
  const fs::path file = bench.unpack().value().folder / "agent-cards/echo/card.json";
  if (::geteuid() == 0) {
    REQUIRE(::chown(file.c_str(), kOther, kOther) == 0);
  } else {
    fs::rename(file, bench.home.path() / "card.json");
    fs::create_symlink(bench.home.path() / "card.json", file);
  }
  REQUIRE(bench.unpack());
  CHECK(facts_of(file).st_uid == ::geteuid());
  CHECK((facts_of(file).st_mode & S_IFMT) == S_IFREG);
}

TEST_CASE("unpack: two starts at once leave one folder") {
  const Bench bench;
  std::array<base::Result<base::Unpacked>, 4> made;
  std::array<std::thread, 4> starts;
  for (std::size_t i = 0; i < starts.size(); ++i)
    starts[i] = std::thread([&, i] { made[i] = bench.unpack(); });
  for (std::thread& start : starts) start.join();
  for (const auto& one : made) {
    REQUIRE(one);
    CHECK(one->note.empty());
  }
  CHECK(bench.entries() == 1);
}

TEST_CASE("files_to_unpack: the libraries, the shipped agents and the schemas") {
  const base::FileTexts files = base::files_to_unpack();
  CHECK(files.contains("lib/python/baton/__init__.py"));
  CHECK(files.contains("lib/node/baton/package.json"));
  CHECK(files.contains("agent-cards/echo/card.json"));
  CHECK(files.contains("schema/agent-card.schema.json"));
  CHECK_FALSE(files.contains("agent-cards/templates/python/echo.py"));
}

TEST_CASE(
    "cache_folder: it is XDG_CACHE_HOME's, or else the home's; a relative path or a home that is not there "
    "does not count") {
  const test::TempFolder home;
  const std::string before = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", home.path().c_str(), 1);
  CHECK(base::cache_folder() == home.path() / ".cache/baton");
  setenv("XDG_CACHE_HOME", "cache", 1);
  CHECK(base::cache_folder() == home.path() / ".cache/baton");
  setenv("XDG_CACHE_HOME", "/var/cache/ann", 1);
  CHECK(base::cache_folder() == "/var/cache/ann/baton");
  unsetenv("XDG_CACHE_HOME");
  setenv("HOME", (home.path() / "nobody").c_str(), 1);
  CHECK(base::cache_folder().empty());
  unsetenv("HOME");
  CHECK(base::cache_folder().empty());
  setenv("HOME", before.c_str(), 1);
}

}  // namespace unpacked_test

#include "cli/file_saver.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "app/files.h"
#include "base/base64.h"

namespace baton::cli::file_saver_test {
namespace {

namespace fs = std::filesystem;

// A folder that is removed at the end of the test.
struct TemporaryFolder {
  TemporaryFolder() {
    char pattern[] = "/tmp/baton-test-XXXXXX";
    REQUIRE(mkdtemp(pattern) != nullptr);
    path = pattern;
  }
  ~TemporaryFolder() { fs::remove_all(path); }
  std::string read(const std::string& name) const {
    return app::read_file(path + "/" + name, 1 << 20).value_or("(none)");
  }
  std::string path;
};

protocol::a2a::ArtifactUpdate file(const std::string& name, const std::string& bytes, int index = 0,
                                   bool append = false) {
  protocol::a2a::ArtifactUpdate update;
  update.artifact.ordinal = index;
  update.artifact.parts = {{task::Part::Kind::raw, base::encode_base64(bytes), name, "text/plain", {}}};
  update.append = append;
  return update;
}

TEST_CASE("FileSaver: names stay inside the folder and are harmless") {
  const std::vector<std::pair<std::string, std::string>> table{
      {"report.svg", "report.svg"},
      {"../../etc/passwd", "passwd"},
      {"/etc/shadow", "shadow"},
      {"..\\..\\boot.ini", "boot.ini"},
      {"..", "fallback"},
      {"", "fallback"},
      {"a/", "fallback"},
      {".bashrc", "bashrc"},
      {"-rf", "rf"},
      {"a\nb\x1b[2J", "a_b_[2J"},
      {"what?*.txt", "what__.txt"},
      {"Größe 漢.txt", "Größe 漢.txt"},
      {"gpj\xE2\x80\xAEtxt.exe", "gpj_txt.exe"},
      {"\xC2\x9B"
       "31m.txt",
       "_31m.txt"},
      {"a\xE2\x80\x8F\xE2\x81\xA6.txt", "a__.txt"},
      {"broken\xff.txt", "broken_.txt"},
  };
  for (const auto& [wanted, name] : table) {
    CAPTURE(wanted);
    CHECK(safe_file_name(wanted, "fallback") == name);
  }
  const std::string long_name = safe_file_name(std::string(1000, 'x') + ".svg", "f");
  CHECK(long_name.size() == 200);
  CHECK(long_name.ends_with(".svg"));
}

TEST_CASE("FileSaver: files of artifacts are written, other parts are not") {
  const TemporaryFolder folder;
  FileSaver saver(folder.path + "/out", false);
  auto update = file("a.txt", "hello");
  update.artifact.parts.push_back(task::Part::of_text("no file"));
  CHECK(saver.save(update).size() == 1);
  CHECK(saver.all_saved());
  CHECK(folder.read("out/a.txt") == "hello");
}

TEST_CASE("FileSaver: an existing file is not replaced, unless forced") {
  const TemporaryFolder folder;
  std::ofstream(folder.path + "/a.txt") << "mine";
  FileSaver careful(folder.path, false);
  const auto lines = careful.save(file("a.txt", "theirs"));
  REQUIRE(lines.size() == 1);
  CHECK(lines[0].find("--force") != std::string::npos);
  CHECK_FALSE(careful.all_saved());
  CHECK(folder.read("a.txt") == "mine");

  FileSaver forced(folder.path, true);
  forced.save(file("a.txt", "theirs"));
  CHECK(forced.all_saved());
  CHECK(folder.read("a.txt") == "theirs");
}

TEST_CASE("FileSaver: a link is not followed, not even when forced") {
  const TemporaryFolder folder;
  std::ofstream(folder.path + "/target") << "mine";
  fs::create_symlink(folder.path + "/target", folder.path + "/a.txt");
  FileSaver forced(folder.path, true);
  forced.save(file("a.txt", "theirs"));
  CHECK_FALSE(forced.all_saved());
  CHECK(folder.read("target") == "mine");
}

TEST_CASE("FileSaver: two files with one name are both kept, and a restarted artifact replaces its own") {
  const TemporaryFolder folder;
  FileSaver saver(folder.path, false);
  saver.save(file("a.txt", "one", 0));
  saver.save(file("a.txt", "two", 1));
  saver.save(file("a.txt", "three", 1, true));
  CHECK(folder.read("a.txt") == "one");
  CHECK(folder.read("a-2.txt") == "two");
  CHECK(folder.read("a-3.txt") == "three");
  saver.save(file("a.txt", "again", 0));
  CHECK(folder.read("a.txt") == "again");
  CHECK(saver.all_saved());
}

TEST_CASE("FileSaver: a file without a name gets the artifact's name, or one made of its position") {
  const TemporaryFolder folder;
  FileSaver saver(folder.path, false);
  auto named = file("", "x", 0);
  named.artifact.name = "chart";
  saver.save(named);
  saver.save(file("", "y", 1));
  CHECK(folder.read("chart") == "x");
  CHECK(folder.read("artifact-1-0") == "y");
}

TEST_CASE("FileSaver: artifacts are distinguished by their ids, and files of a reply are saved too") {
  const TemporaryFolder folder;
  FileSaver saver(folder.path, false);
  auto first = file("a.txt", "one"), second = file("a.txt", "two");
  first.artifact.id.value = "x";
  second.artifact.id.value = "y";
  saver.save(first);
  saver.save(second);
  CHECK(folder.read("a.txt") == "one");
  CHECK(folder.read("a-2.txt") == "two");
  protocol::a2a::MessageReply reply;
  reply.message.parts = file("b.txt", "three").artifact.parts;
  FileSaver(folder.path, false).save(reply);
  CHECK(folder.read("b.txt") == "three");
}

}  // namespace
}  // namespace baton::cli::file_saver_test

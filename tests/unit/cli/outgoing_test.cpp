#include "cli/outgoing.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "base/base64.h"

namespace baton::cli::outgoing_test {
namespace {

using Kind = task::Part::Kind;

TEST_CASE("Outgoing message: words, data and URIs become parts in this order") {
  const auto message = make_message({{"hello", "world"}, {}, {"https://x.example/t.csv"}, {R"({"a": 1})"}});
  REQUIRE(message.has_value());
  CHECK(message->role == task::Role::user);
  REQUIRE(message->parts.size() == 3);
  CHECK(message->parts[0] == task::Part::of_text("hello world"));
  CHECK(message->parts[1] == task::Part{Kind::url, "https://x.example/t.csv", "t.csv", "text/csv", {}});
  CHECK(message->parts[2] == task::Part::of_data(task::Json{R"({"a": 1})"}));
}

TEST_CASE("Outgoing message: a file is sent with its bytes, name and type") {
  char pattern[] = "/tmp/baton-test-XXXXXX.csv";
  const int fd = mkstemps(pattern, 4);
  REQUIRE(fd >= 0);
  close(fd);
  const std::string bytes("a,b\n1,\0\xff\n", 10);
  std::ofstream(pattern, std::ios::binary) << bytes;
  const auto message = make_message({{}, {pattern}, {}, {}});
  unlink(pattern);
  REQUIRE(message.has_value());
  REQUIRE(message->parts.size() == 1);
  CHECK(message->parts[0].kind == Kind::raw);
  CHECK(base::decode_base64(message->parts[0].content) == bytes);
  CHECK(std::string("/tmp/") + message->parts[0].filename == pattern);
  CHECK(message->parts[0].media_type == "text/csv");
}

TEST_CASE("Outgoing message: a type after a file's name is used, unless the whole is a file's name") {
  char folder[] = "/tmp/baton-test-XXXXXX";
  REQUIRE(mkdtemp(folder) != nullptr);
  const std::string plain = std::string(folder) + "/a.bin", odd = plain + ":b";
  std::ofstream(plain) << "1";
  std::ofstream(odd) << "2";
  const auto message = make_message({{}, {plain, plain + ":application/pdf", odd}, {}, {}});
  unlink(plain.c_str());
  unlink(odd.c_str());
  rmdir(folder);
  REQUIRE(message.has_value());
  REQUIRE(message->parts.size() == 3);
  CHECK(message->parts[0].media_type == "application/octet-stream");
  CHECK(message->parts[1].media_type == "application/pdf");
  CHECK(message->parts[1].filename == "a.bin");
  CHECK(message->parts[2].filename == "a.bin:b");
}

TEST_CASE("Outgoing message: an invalid part is refused before anything is sent") {
  CHECK_FALSE(make_message({}).has_value());
  CHECK_FALSE(make_message({{"\xff"}, {}, {}, {}}).has_value());
  CHECK_FALSE(make_message({{}, {"/nowhere/at/all"}, {}, {}}).has_value());
  CHECK_FALSE(make_message({{}, {"/"}, {}, {}}).has_value());
  const auto bad = make_message({{"x"}, {}, {}, {"{a:1}"}});
  REQUIRE_FALSE(bad.has_value());
  CHECK(bad.error().for_caller.starts_with("--data is not JSON: "));
}

TEST_CASE("Outgoing message: the type of a file comes from its extension, in any case") {
  CHECK(media_type_of("A.CSV") == "text/csv");
  CHECK(media_type_of("x.tar.gz") == "application/gzip");
  CHECK(media_type_of("README") == "application/octet-stream");
  CHECK(media_type_of("x.unheard-of") == "application/octet-stream");
}

}  // namespace
}  // namespace baton::cli::outgoing_test

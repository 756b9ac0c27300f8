#include "protocol/sse/sse_writer.h"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

namespace baton::protocol::sse_writer_test {
namespace {

TEST_CASE("SSE writer: an event carries its number before its data and ends with an empty line") {
  std::string out;
  append_sse(out, 7, R"({"a":1})");
  CHECK(out == "id: 7\ndata: {\"a\":1}\n\n");
}

TEST_CASE("SSE writer: an event without a number has only data") {
  std::string out;
  append_sse(out, 0, "{}");
  CHECK(out == "data: {}\n\n");
}

TEST_CASE("SSE writer: the largest number is written in full") {
  std::string out;
  append_sse(out, std::numeric_limits<std::int64_t>::max(), "{}");
  CHECK(out == "id: 9223372036854775807\ndata: {}\n\n");
}

}  // namespace
}  // namespace baton::protocol::sse_writer_test

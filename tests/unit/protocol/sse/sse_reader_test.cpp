#include "protocol/sse/sse_reader.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace baton::protocol::sse_reader_test {
namespace {

struct Case {
  std::string name;
  std::string bytes;
  std::vector<std::string> data;  // of each event, in order
  std::string last_id;
};

const std::vector<Case>& cases() {
  static const std::vector<Case> table{
      {"one event", "data: a\n\n", {"a"}, ""},
      {"no space after the colon", "data:a\n\n", {"a"}, ""},
      {"only one space is taken away", "data:  a\n\n", {" a"}, ""},
      {"several data lines are joined", "data: a\ndata: b\ndata\n\n", {"a\nb\n"}, ""},
      {"carriage returns end lines", "data: a\r\rdata: b\r\r", {"a", "b"}, ""},
      {"CR LF ends one line, not two", "data: a\r\ndata: b\r\n\r\n", {"a\nb"}, ""},
      {"mixed line ends", "id: 1\rdata: a\r\n\ndata: b\n\r", {"a", "b"}, "1"},
      {"comments are skipped", ": hello\ndata: a\n: again\n\n:\n\n", {"a"}, ""},
      {"a number without data moves the last id", "id: 4\ndata: a\n\nid: 5\n\n", {"a"}, "5"},
      {"the id of an unfinished block does not count", "id: 4\ndata: a\n\nid: 5\ndata: b\n", {"a"}, "4"},
      {"an id with a zero byte is ignored", std::string("id: 4\n\nid: 5\0\ndata: a\n\n", 23), {"a"}, "4"},
      {"an empty id resets it", "id: 4\n\nid\ndata: a\n\n", {"a"}, ""},
      {"unknown fields are ignored", "datum: x\ndata: a\nfoo\n\n", {"a"}, ""},
      {"an event without words is a keep-alive",
       "data\n\ndata:\n\nid: 7\ndata: \n\ndata:  \t\n\ndata:\ndata:\n\ndata: a\n\n",
       {"a"},
       "7"},
      {"bytes that are not UTF-8 are replaced",
       "data: a\xC3\n\ndata: \xE2\x82 \xC3\xA9\n\n",
       {"a\xEF\xBF\xBD", "\xEF\xBF\xBD\xEF\xBF\xBD \xC3\xA9"},
       ""},
      {"an event name alone is none", "event: x\n\ndata: a\n\n", {"a"}, ""},
      {"a byte order mark is dropped",
       "\xEF\xBB\xBF"
       "data: a\n\n",
       {"a"},
       ""},
      {"an unfinished event is dropped", "data: a\n\ndata: b", {"a"}, ""},
      {"empty lines between events", "\n\n\ndata: a\n\n\n\ndata: b\n\n", {"a", "b"}, ""},
      {"a colon inside the value stays", "data: {\"a\": 1}\n\n", {"{\"a\": 1}"}, ""},
  };
  return table;
}

std::vector<std::string> read(SseReader& reader, std::string_view bytes, std::size_t step) {
  std::vector<std::string> data;
  for (std::size_t at = 0; at < bytes.size(); at += step) {
    const auto going = reader.feed(bytes.substr(at, step), [&](const SseEvent& event) {
      data.push_back(event.data);
      return true;
    });
    REQUIRE(going.has_value());
    CHECK(*going);
  }
  return data;
}

TEST_CASE("SseReader: every form is read the same way in pieces of any size") {
  for (const Case& example : cases()) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{2}, std::size_t{3}, std::size_t{1000}}) {
      CAPTURE(example.name);
      CAPTURE(step);
      SseReader reader;
      CHECK(read(reader, example.bytes, step) == example.data);
      CHECK(reader.last_id() == example.last_id);
    }
  }
}

TEST_CASE("SseReader: an event has its type and whether it has its own number") {
  SseReader reader;
  std::vector<SseEvent> events;
  const auto going = reader.feed("id: 1\nevent: error\ndata: a\n\ndata: b\n\n", [&](const SseEvent& event) {
    events.push_back(event);
    return true;
  });
  REQUIRE(going.has_value());
  REQUIRE(events.size() == 2);
  CHECK(events[0].type == "error");
  CHECK(events[0].numbered);
  CHECK(events[1].type == "message");
  CHECK_FALSE(events[1].numbered);
  CHECK(reader.last_id() == "1");
}

TEST_CASE("SseReader: a field called error is the data of such an event only for a reader that wants it") {
  using enum SseReader::ErrorField;
  for (const auto field : {unknown, event}) {
    SseReader reader(1'000, field);
    std::vector<std::string> seen;
    const auto going =
        reader.feed("data: a\n\nerror: {\"code\":500}\n\ndata: [DONE]\n\n", [&](const SseEvent& one) {
          seen.push_back(one.type + " " + one.data);
          return true;
        });
    REQUIRE(going.has_value());
    std::vector<std::string> wanted{"message a", "message [DONE]"};
    if (field == event) wanted.insert(wanted.begin() + 1, "error {\"code\":500}");
    CHECK(seen == wanted);
  }
}

TEST_CASE("SseReader: JSON without a field is an error's data for a reader that wants it, within a stream") {
  struct Row {
    std::string bytes;
    std::vector<std::string> seen;  // type and data
  };
  const Row rows[] = {
      {"data: a\n\n{\"error\":{}}\n\ndata: b\n\n", {"message a", "error {\"error\":{}}\n", "message b"}},
      {": hi\n\n[{\n  \"error\": {\n  }\n}]", {"error [{\n  \"error\": {\n  }\n}]\n"}},
      {"data: a\n\n{\"error\":1}\ndata: [DONE]\n\n",
       {"message a", "error {\"error\":1}\n", "message [DONE]"}},
      {"data: a\nb\n\nfoo: {\n\n", {"message a"}},
      // It is no stream.
      {"{\"error\":1}\n\n{\n  \"error\": 1\n}\n\n", {}},
  };
  for (const Row& row : rows) {
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}}) {
      CAPTURE(row.bytes);
      SseReader reader(1'000, SseReader::ErrorField::event);
      std::vector<std::string> seen;
      const SseReader::OnEvent on_event = [&](const SseEvent& one) {
        seen.push_back(one.type + " " + one.data);
        CHECK(one.is_bare == (one.type == "error"));
        return true;
      };
      for (std::size_t at = 0; at < row.bytes.size(); at += step)
        REQUIRE(reader.feed(std::string_view(row.bytes).substr(at, step), on_event).value_or(false));
      CHECK(reader.feed_end(on_event));
      CHECK(seen == row.seen);
    }
  }
  SseReader standard;
  CHECK(read(standard, "data: a\n\n{\"error\":1}\n\n", 1000) == std::vector<std::string>{"a"});
}

TEST_CASE("SseReader: the end of a stream completes the last event, if that has data") {
  struct Row {
    std::string bytes;
    std::vector<std::string> data;
    std::string last_id;
  };
  const Row rows[] = {
      {"data: a\n\ndata: b", {"a", "b"}, ""},
      {"data: a\n\nid: 2\ndata: b\n", {"a", "b"}, "2"},
      {"data: a\n\nid: 2\r\ndata: b\r", {"a", "b"}, "2"},
      {"data: a\n\n", {"a"}, ""},
      {"id: 1\ndata: a\n\nid: 2\n", {"a"}, "1"},
      {"id: 1\ndata: a\n\nid: 2", {"a"}, "1"},
      {"", {}, ""},
  };
  for (const Row& row : rows) {
    CAPTURE(row.bytes);
    SseReader reader;
    std::vector<std::string> data = read(reader, row.bytes, 3);
    for (int times = 0; times < 2; ++times) {
      CHECK(reader.feed_end([&](const SseEvent& event) {
        data.push_back(event.data);
        return true;
      }));
    }
    CHECK(data == row.data);
    CHECK(reader.last_id() == row.last_id);
  }
}

TEST_CASE("SseReader: retry is kept only if it is a number") {
  SseReader reader;
  CHECK(read(reader, "retry: soon\n\nretry: -3\n\n", 1000).empty());
  CHECK_FALSE(reader.retry().has_value());
  CHECK(read(reader, "retry: 250\n\n", 1000).empty());
  CHECK(reader.retry() == std::chrono::milliseconds(250));
}

TEST_CASE("SseReader: an event over the limit is an error, several events of that size together are not") {
  SseReader small(16);
  CHECK(read(small, "data: 12345\n\ndata: 12345\n\ndata: 12345\n\n", 1000).size() == 3);
  const auto one_line = small.feed("data: 0123456789abcdef", [](const SseEvent&) { return true; });
  REQUIRE_FALSE(one_line.has_value());
  CHECK(one_line.error().code == base::ErrorCode::too_large);

  SseReader lines(16);
  const auto many = lines.feed("data: 1\ndata: 2\ndata: 3\n", [](const SseEvent&) { return true; });
  CHECK_FALSE(many.has_value());
}

TEST_CASE("SseReader: reads nothing more once the receiver stops it") {
  SseReader reader;
  int seen = 0;
  const auto stop = [&](const SseEvent&) {
    ++seen;
    return false;
  };
  const auto going = reader.feed("id: 1\ndata: a\n\nid: 2\ndata: b\n\n", stop);
  REQUIRE(going.has_value());
  CHECK_FALSE(*going);
  const auto after = reader.feed("id: 3\ndata: c\n\n", stop);
  REQUIRE(after.has_value());
  CHECK_FALSE(*after);
  CHECK(seen == 1);
  CHECK(reader.last_id() == "1");
}

}  // namespace
}  // namespace baton::protocol::sse_reader_test

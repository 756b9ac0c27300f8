#include "server/show/event_json.h"

#include <doctest/doctest.h>

#include "json/document.h"

namespace event_json_test {

using namespace baton;
using server::kEventContentMax;

namespace {

json::Document shown(task::EventBody body) {
  std::string text;
  server::append_event(text, task::Event{{7}, base::from_ms(0), std::move(body)});
  auto document = json::Document::parse(std::move(text));
  REQUIRE(document);
  return std::move(*document);
}

}  // namespace

TEST_CASE("EventJson: an event has its number, its time and its type") {
  const auto event = shown(task::Intervention{"otto", "cancel", "it hangs", "4"});
  CHECK(
      event.root().raw() ==
      R"({"number":7,"at":"1970-01-01T00:00:00.000Z","type":"intervention","actor":"otto","action":"cancel",)"
      R"("reason":"it hangs","detail":"4"})");
}

TEST_CASE("EventJson: only the size of standard error is shown, because viewers read the log") {
  const auto event = shown(task::ExecutorState{{}, {}, {}, "secret"});
  CHECK(event.root()["type"].str() == "stderr");
  CHECK(event.root()["bytes"].integer() == 6);
  CHECK(event.root().raw().find("secret") == std::string_view::npos);
}

TEST_CASE("EventJson: a long text is cut between two characters, and the length of the rest is shown") {
  const std::string text = "x" + [] {
    std::string all;
    for (int i = 0; i < 10'000; ++i) all += "ü";
    return all;
  }();
  const auto event = shown(task::TextDelta{{"r"}, 0, text});
  const std::string kept = event.root()["text"].str();
  CHECK(kept.size() == kEventContentMax - 1);
  CHECK(event.root()["cutBytes"].integer() == static_cast<std::int64_t>(text.size() - kept.size()));
}

TEST_CASE("EventJson: a large value becomes a text with its beginning") {
  const std::string value = "[\"" + std::string(kEventContentMax, 'x') + "\"]";
  const auto event = shown(task::StateSnapshot{{value}});
  CHECK(event.root()["snapshot"].str() == value.substr(0, kEventContentMax));
  CHECK(event.root()["cutBytes"].integer() == 4);
  CHECK(shown(task::StateSnapshot{{"[1]"}}).root()["snapshot"].is_array());
}

TEST_CASE("EventJson: a message's parts share the room, and a file that does not fit is left out") {
  task::Message message;
  message.id.value = "m";
  message.parts.push_back(task::Part::of_text("short"));
  message.parts.push_back({task::Part::Kind::raw, std::string(kEventContentMax, 'A'), "a.bin", {}, {}});
  message.parts.push_back(task::Part::of_text("short too"));
  const auto event = shown(task::MessageAdded{std::move(message)});
  const json::Value parts = event.root()["message"]["parts"];
  REQUIRE(parts.size() == 3);
  auto part = parts.begin();
  CHECK((*part)["text"].str() == "short");
  CHECK((*++part)["filename"].str() == "a.bin");
  CHECK((*part)["raw"].str().empty());
  CHECK((*++part)["text"].str() == "short too");
  CHECK(event.root()["cutBytes"].integer() == static_cast<std::int64_t>(kEventContentMax));
}

TEST_CASE("EventJson: callers see neither operators' actions, nor agents' own state, nor keys of tasks") {
  const auto written = [](task::EventBody body) {
    std::string text = "before";
    const task::Event event{{7}, base::from_ms(0), std::move(body)};
    const bool is_shown = server::append_event(text, event, server::LogReaders::callers);
    CHECK(is_shown == (text != "before"));
    return text.substr(std::string("before").size());
  };
  CHECK(written(task::Intervention{"otto", "cancel", "it hangs", ""}).empty());
  CHECK(written(task::ExecutorState{{R"({"n":1})"}}).empty());
  task::Subagent child;
  child.id = "c1";
  child.name = "hand";
  child.task = {42};
  const std::string shown_child = written(child);
  CHECK(shown_child.find(R"("name":"hand")") != std::string::npos);
  CHECK(shown_child.find("42") == std::string::npos);
}

}  // namespace event_json_test

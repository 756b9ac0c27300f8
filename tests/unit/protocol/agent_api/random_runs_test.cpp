// Checks the streams of random runs: whatever an agent does, the stream must obey the protocol's rules.
#include <random>

#include "agent_api_bench.h"
#include "stream_checker.h"

namespace agent_api_random_runs_test {

using namespace baton;
using namespace baton::test::agent_api;

namespace {

struct Run {
  std::vector<EventBody> bodies;
  std::string said;  // all text of replies
  State end = State::completed;
  bool withdrawn = false;
};

class RunMaker {
 public:
  explicit RunMaker(unsigned seed) : random_(seed) {}

  Run make() {
    run_ = {};
    run_.bodies = {status(State::submitted), status(State::working)};
    for (unsigned steps = random_() % 20; steps > 0; --steps) add_something();
    if (!reply_.empty() && random_() % 2 == 0) say("", true);
    end();
    return run_;
  }

 private:
  std::string new_id(const char* kind) { return kind + std::to_string(++ids_); }

  void add(EventBody body) { run_.bodies.push_back(std::move(body)); }

  void say(const std::string& piece, bool last) {
    const bool first = reply_.empty();
    if (first) reply_ = new_id("r");
    add(text(piece, first, last, reply_));
    run_.said += piece;
    if (last) reply_.clear();
  }

  void think() {
    const bool first = span_.empty();
    if (first) span_ = new_id("z");
    const bool last = random_() % 2 == 0;
    add(task::ReasoningDelta{{span_}, random_() % 5 == 0 ? "" : "hm\n", first, last});
    if (last) span_.clear();
  }

  void make_artifact() {
    static const std::vector<Part> kParts{Part::of_text("t\"ext"),
                                          Part::of_text(""),
                                          Part::of_data({"[1]"}),
                                          {Part::Kind::raw, "AAEC", "f", "image/png", {}},
                                          {Part::Kind::url, "https://x/f", "", "", {}}};
    std::vector<Part> parts;
    for (unsigned count = random_() % 4; count > 0; --count)
      parts.push_back(kParts[random_() % kParts.size()]);
    add(artifact(std::move(parts), random_() % 2 == 0, random_() % 2 == 0, random_() % 2 == 0 ? "a" : "b"));
  }

  void use_tool() {
    const std::string id = new_id("c");
    add(task::ToolCall{id, "tool", {R"({"a":[null]})"}, false});
    if (random_() % 4 != 0) add(task::ToolResult{id, {R"("ok")"}, random_() % 3 == 0 ? "bad" : ""});
  }

  void add_something() {
    switch (random_() % 9) {
      case 0:
      case 1:
      case 2:
        return say(random_() % 6 == 0 ? "" : "wörd ", random_() % 3 == 0);
      case 3:
        return think();
      case 4:
        return make_artifact();
      case 5:
        return use_tool();
      case 6:
        return add(task::Usage{{R"({"inputTokens":1})"}});
      case 7:
        return add(status(State::working, "note"));
      default:
        if (random_() % 4 == 0) return withdraw();
        return add(task::StateSnapshot{{"{}"}});
    }
  }

  void withdraw() {
    run_.withdrawn = true;
    add(task::Withdrawn{{{reply_}, {"a"}}});
    reply_.clear();
    span_.clear();
  }

  void end() {
    constexpr State kEnds[] = {State::completed,      State::completed,     State::failed,  State::canceled,
                               State::input_required, State::auth_required, State::rejected};
    run_.end = kEnds[random_() % std::size(kEnds)];
    add(random_() % 2 == 0 ? status(run_.end) : status(run_.end, "last words", "q1"));
    reply_.clear();
    span_.clear();
  }

  std::mt19937 random_;
  Run run_;
  int ids_ = 0;
  std::string reply_, span_;
};

std::string said_in(const std::vector<std::string>& messages) {
  std::string said;
  for (const std::string& message : messages) {
    const Document document = parsed(message);
    if (document.root()["type"].string() != "message" || !document.root()["metadata"].missing()) continue;
    for (const Value content : document.root()["content"]) said += content["text"].str();
  }
  return said;
}

}  // namespace

TEST_CASE("Agent API view: random runs obey every rule and lose no text") {
  RunMaker maker(20261121);
  int compared = 0;
  for (int i = 0; i < 500; ++i) {
    CAPTURE(i);
    const Run run = maker.make();
    const StreamChecker checker(shown(log(run.bodies)));
    if (run.withdrawn) continue;
    CHECK(checker.output().size() <= checker.completed().size());
    if (run.end != State::completed) continue;
    const std::string said = said_in(checker.output());
    CHECK((said == run.said || said == run.said + "last words"));
    ++compared;
  }
  CHECK(compared > 20);
}

TEST_CASE("Agent API view: a run shown again has the same frames for each event") {
  RunMaker maker(7);
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const auto events = log(maker.make().bodies);
    const auto once = shown(events);
    const auto view = protocol::chat::agent_api_protocol().view(facts());
    std::vector<std::string> again;
    for (const task::Event& event : events) {
      protocol::chat::Frames frames;
      view->show(event, frames);
      for (const auto& frame : frames.all()) again.push_back(frame.data);
    }
    CHECK(again == once);
  }
}

TEST_CASE("Agent API view: frames that the client has are not written, and the others are the same") {
  RunMaker maker(11);
  for (int i = 0; i < 30; ++i) {
    CAPTURE(i);
    const auto events = log(maker.make().bodies);
    const auto all = shown(events);
    for (std::size_t has = 0; has <= all.size(); ++has) {
      const auto view = protocol::chat::agent_api_protocol().view(facts());
      protocol::chat::Frames frames;
      frames.skip(static_cast<std::int64_t>(has));
      for (const task::Event& event : events) view->show(event, frames);
      std::vector<std::string> rest(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(has));
      for (const auto& frame : frames.all()) rest.push_back(frame.data);
      CHECK(rest == all);
    }
  }
}

}  // namespace agent_api_random_runs_test

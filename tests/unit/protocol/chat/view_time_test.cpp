// Showing a log takes time linear in its length, in every protocol that shows runs, however often an agent
// begins or replaces its replies (support/growth.h).
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "protocol/agui/read_input.h"
#include "protocol/chat/protocol.h"
#include "protocol/chat/transcript.h"
#include "protocol/openai/protocols.h"
#include "support/growth.h"
#include "unit/protocol/agkit/run_log.h"

namespace view_time_test {

using namespace baton;
using test::RunLog;

namespace {

task::TextDelta piece(const std::string& reply, bool first, bool last) {
  return {{reply}, 0, "x", first, last};
}

RunLog replies(std::size_t count) {
  RunLog log;
  log.begin();
  for (std::size_t i = 0; i < count; ++i) log.add(piece("t-r" + std::to_string(i), true, true));
  return log;
}

RunLog restarts(std::size_t count) {
  RunLog log;
  log.begin();
  for (std::size_t i = 0; i < count; ++i) log.add(piece("t-r", true, i % 2 == 0));
  return log;
}

RunLog open_replies(std::size_t count) {
  RunLog log;
  log.begin();
  for (const bool first : {true, false})
    for (std::size_t i = 0; i < count; ++i) log.add(piece("t-r" + std::to_string(i), first, !first));
  return log;
}

RunLog replies_begun_again(std::size_t count) {
  RunLog log;
  log.begin();
  for (int times = 0; times < 2; ++times)
    for (std::size_t i = 0; i < count; ++i) log.add(piece("t-r" + std::to_string(i), true, true));
  return log;
}

RunLog open_steps(std::size_t count) {
  using Phase = task::Step::Phase;
  RunLog log;
  log.begin();
  for (const Phase phase : {Phase::start, Phase::finish})
    for (std::size_t i = 0; i < count; ++i) log.add(task::Step{"s" + std::to_string(i), phase});
  return log;
}

RunLog open_subagents(std::size_t count) {
  using Phase = task::Subagent::Phase;
  RunLog log;
  log.begin();
  for (const Phase phase : {Phase::started, Phase::finished}) {
    for (std::size_t i = 0; i < count; ++i) {
      task::Subagent subagent;
      subagent.id = "t-s" + std::to_string(i);
      subagent.phase = phase;
      log.add(std::move(subagent));
    }
  }
  return log;
}

RunLog models(std::size_t count) {
  RunLog log;
  log.begin();
  for (std::size_t i = 0; i < count; ++i)
    log.add(task::Usage{{R"({"inputTokens":1,"model":"m)" + std::to_string(i) + "\"}"}});
  return log;
}

RunLog withdrawn(std::size_t count) {
  RunLog log = replies(count);
  task::Withdrawn all;
  for (std::size_t i = 0; i < count; ++i) all.artifacts.push_back({"t-r" + std::to_string(i)});
  return log.add(std::move(all));
}

RunLog calls(std::size_t count) {
  RunLog log;
  log.begin();
  for (std::size_t i = 0; i < count; ++i) log.call("c" + std::to_string(i), "f", "{}");
  for (std::size_t i = 0; i < count; ++i) log.result("c" + std::to_string(i), "1");
  return log;
}

// A question whose text nearly has its URL at every place.
RunLog long_question(std::size_t count) {
  const task::Json url{R"({"url":")" + std::string(32 * count, 'a') + R"(b"})"};
  RunLog log;
  log.begin();
  return log.state(task::State::auth_required,
                   {task::Part::of_text(std::string(64 * count, 'a')), task::Part::of_data(url)}, "q1");
}

const std::map<std::string, RunLog (*)(std::size_t)> kLogs{{"replies", replies},
                                                           {"restarts", restarts},
                                                           {"open replies", open_replies},
                                                           {"replies begun again", replies_begun_again},
                                                           {"open steps", open_steps},
                                                           {"open subagents", open_subagents},
                                                           {"withdrawn replies", withdrawn},
                                                           {"calls", calls},
                                                           {"a long question", long_question},
                                                           {"models", models}};

}  // namespace

TEST_CASE("Chat views: a log of many replies, of restarts, of calls or of steps is shown in linear time") {
  using namespace protocol::chat;
  test::keep_memory();
  const auto agent_server = make_agent_server_protocol("response");
  const std::map<std::string, const Protocol*> protocols{
      {"AG-UI", &agui_protocol()},
      {"AG-UI 1.0", &agui_protocol()},
      {"AG-Kit", &agkit_protocol()},
      {"Agent API", &agent_api_protocol()},
      {"Agent Server", agent_server.get()},
      {"Completions", &protocol::openai::completions(true)},
      {"Responses", &protocol::openai::responses()}};
  constexpr std::size_t kCount = 1'000;
  for (const auto& [what, make] : kLogs) {
    for (const auto& [name, protocol] : protocols) {
      test::check_growth(name + ": " + what, kCount, [&](std::size_t count) {
        protocol::chat::RunFacts facts = test::run_facts();
        facts.newer = name == "AG-UI 1.0";
        return [log = make(count), protocol, facts] { (void)test::frames_of(*protocol, log, facts); };
      });
    }
    test::check_growth("messages: " + what, kCount, [&](std::size_t count) {
      return [log = make(count)] {
        Transcript transcript({"t"});
        for (const task::Event& event : log.events()) transcript.add(event);
        (void)transcript.take();
      };
    });
  }
}

TEST_CASE("AG-UI: the snapshots that take words back are bounded together") {
  protocol::chat::RunFacts facts = test::run_facts();
  facts.messages.text = R"([{"id":"u","role":"user","content":")" +
                        std::string(protocol::agui::kSnapshotMax / 2, 'x') + R"("}])";
  std::size_t bytes = 0;
  for (const auto& frame : test::frames_of(protocol::chat::agui_protocol(), restarts(1'000), facts))
    bytes += frame.data.size();
  CHECK(bytes > protocol::agui::kSnapshotsMax / 2);
  CHECK(bytes < 2 * protocol::agui::kSnapshotsMax);
}

}  // namespace view_time_test

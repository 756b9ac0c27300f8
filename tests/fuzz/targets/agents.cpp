// What agents and their authors write: lines, cards and plans.
#include "agents/cards/read_settings.h"
#include "agents/command/from_agent.h"
#include "agents/plan/plan.h"
#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "json/document.h"
#include "protocol/card/card.h"

namespace baton::fuzz {
namespace {

void line(std::string_view input) {
  const auto read = agents::line::decode(input);
  static_cast<void>(agents::line::decode_any(input));
  if (!read) return;
  const auto& message = read->message;
  if (const auto* text = std::get_if<agents::line::Text>(&message))
    check_text(text->delta, "a text is not UTF-8");
  if (const auto* body = std::get_if<task::EventBody>(&message)) check_body(*body);
  if (const auto* delegate = std::get_if<agents::line::Delegate>(&message)) check_message(delegate->message);
  if (const auto* ask = std::get_if<agents::line::Ask>(&message)) check_message(ask->message);
  if (const auto* auth = std::get_if<agents::line::Auth>(&message)) check_message(auth->message);
  if (const auto* done = std::get_if<agents::line::Finish>(&message)) {
    if (done->message) check_message(*done->message);
  }
}

void plan(std::string_view input) {
  std::vector<json::SchemaProblem> problems;
  if (!json::Document::parse_view(input)) {
    require(!agents::read_begun_plan(input), "a plan that is not JSON was read");
    return;
  }
  const auto read = agents::read_plan(input, "/baton/plan", problems);
  const auto begun = agents::read_begun_plan(input);
  if (!problems.empty()) return;
  require(read && begun, "a plan without problems cannot be read again");
  std::size_t steps = 0;
  agents::for_each_step(read->root, [&](const agents::PlanStep& step) {
    ++steps;
    require(agents::stands_in(step, read->root), "a step is not in its plan");
  });
  std::size_t again = 0;
  agents::for_each_step(begun->root, [&](const agents::PlanStep&) { ++again; });
  require(steps == again, "a plan that has begun has other steps");
  static_cast<void>(agents::agents_of(*read));
}

void settings(std::string_view input) {
  const auto document = json::Document::parse_view(input);
  if (!document) return;
  auto problems = protocol::check_card(input);
  if (!problems.empty()) return;
  const auto read = agents::read_settings(document->root()["baton"], "/nonexistent", problems);
  auto tool = read.tool;
  agents::read_skill_inputs(document->root()["skills"], tool, problems);
}

const Targets kTargets{{"agent-line", line}, {"agent-plan", plan}, {"agent-card", settings}};

}  // namespace
}  // namespace baton::fuzz

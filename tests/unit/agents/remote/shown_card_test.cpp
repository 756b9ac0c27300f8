#include "agents/remote/shown_card.h"

#include <doctest/doctest.h>

#include <string>

namespace baton::agents::shown_card_test {
namespace {

task::AgentCard remote_card() {
  task::AgentCard card;
  card.name = "Theirs";
  card.description = "What it does.";
  card.version = "7";
  card.provider = task::Provider{"Them", "https://them.example"};
  card.documentation_url = "https://them.example/docs";
  card.icon_url = "https://them.example/icon";
  card.default_input_modes = {"text/plain", "image/png"};
  card.default_output_modes = {"application/json"};
  card.skills = {{"s", "Skill", "What.", {"tag"}, {"example"}, {"text/csv"}, {}, {{{"theirs", {}}}}}};
  card.streaming = false;
  card.extensions = {{"urn:theirs", "", true, {}}};
  card.security_schemes.emplace_back().name = "theirs";
  card.security = {{{"theirs", {}}}};
  return card;
}

}  // namespace

TEST_CASE("shown_card: members the author left out come from the remote card, and no others") {
  task::AgentCard own;
  own.name = "Ours";
  const task::AgentCard shown = shown_card(own, remote_card());
  task::AgentCard expected = own;
  expected.description = "What it does.";
  expected.version = "7";
  expected.default_input_modes = {"text/plain", "image/png"};
  expected.default_output_modes = {"application/json"};
  expected.skills = {{"s", "Skill", "What.", {"tag"}, {"example"}, {"text/csv"}, {}, {}}};
  CHECK(shown == expected);
}

TEST_CASE("shown_card: members that the author has set stay") {
  task::AgentCard own = remote_card();
  own.description = "Ours";
  own.version = "1";
  own.default_input_modes = own.default_output_modes = {"text/html"};
  own.skills = {{"own", "Own", "", {}, {}, {}, {}, {}}};
  CHECK(shown_card(own, remote_card()) == own);
}

TEST_CASE("shown_card: texts are cut between characters, and control characters become spaces") {
  task::AgentCard remote;
  std::string text = "a\nb";
  while (text.size() < 3'000) text += "\xC3\xA9";
  remote.description = text;
  remote.version = "\xFF";
  const task::AgentCard shown = shown_card({}, remote);
  CHECK(shown.description.starts_with("a b\xC3\xA9"));
  CHECK(shown.description.size() == 1'999);
  CHECK(shown.version.empty());
}

TEST_CASE("shown_card: lists are bounded, and skills without a name or with a repeated id are left out") {
  task::AgentCard remote;
  for (int i = 0; i < 300; ++i) {
    remote.skills.push_back(
        {std::to_string(i / 2), "n", "", std::vector<std::string>(50, "t"), {}, {}, {}, {}});
    remote.default_input_modes.push_back("text/x" + std::to_string(i));
  }
  remote.skills.insert(remote.skills.begin(),
                       {{"", "no id", "", {}, {}, {}, {}, {}}, {"no name", "", "", {}, {}, {}, {}, {}}});
  remote.default_output_modes = {"text", "text/plain", "<b>/</b>", std::string(200, 'a') + "/b"};
  const task::AgentCard shown = shown_card({}, remote);
  REQUIRE(shown.skills.size() == 100);
  CHECK(shown.skills[0].id == "0");
  CHECK(shown.skills[1].id == "1");
  CHECK(shown.skills[0].tags.size() == 30);
  CHECK(shown.default_input_modes.size() == 50);
  CHECK(shown.default_output_modes == std::vector<std::string>{"text/plain"});
}

}  // namespace baton::agents::shown_card_test

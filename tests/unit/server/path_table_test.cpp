#include "server/shared/path_table.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "server/shared/tenants.h"

namespace path_table_test {

using namespace baton;
using server::find_path;
using server::PathMatch;
using server::PathRow;
using server::paths_at;
using server::Place;
using server::Stage;

namespace {

constexpr Place kPlaces[] = {Place::root, Place::operators, Place::operator_api, Place::agent,
                             Place::agent_ids};

// A path of the pattern, in which each place has its name; a number is 1.
std::string example_of(std::string_view pattern) {
  std::string example;
  while (!pattern.empty()) {
    if (pattern == "[/]") break;
    if (pattern.front() != '{') {
      example += pattern.front();
      pattern.remove_prefix(1);
      continue;
    }
    const std::string_view name = pattern.substr(1, pattern.find('}') - 1);
    example += name.front() == '#' ? "1" : "some-" + std::string(name.substr(0, name.find('.')));
    pattern.remove_prefix(pattern.find('}') + 1);
  }
  return example;
}

bool is_old(const PathRow& row) {
  const auto* rest = std::get_if<server::RestOperation>(&row.answered_by);
  return rest != nullptr && !rest->versions.contains(task::ProtocolVersion::v1_0);
}

std::string first_method(const PathRow& row) {
  return row.methods.empty() ? "GET" : std::string(row.methods.substr(0, row.methods.find(',')));
}

}  // namespace

TEST_CASE("PathTable: an example of each row's pattern leads to that row, and to no row of another pattern") {
  std::size_t rows = 0;
  for (const Place place : kPlaces) {
    for (const PathRow& row : paths_at(place)) {
      CAPTURE(row.pattern);
      ++rows;
      const std::string path = (is_old(row) ? "/v1" : "") + example_of(row.pattern);
      const PathMatch found = find_path(paths_at(place), first_method(row), path);
      CHECK(found.row == &row);
      CHECK(found.allowed);
      CHECK(found.tenant.empty());
      for (const PathRow& other : paths_at(place)) {
        if (&other == &row) continue;
        const PathMatch wrong = find_path(std::span(&other, 1), first_method(row), path);
        // A task's id may be anything, so a verb's path fits the row without one; a row of the same pattern
        // serves other methods.
        const bool is_verb = row.pattern.find("}:") != std::string_view::npos;
        if (other.pattern != row.pattern && !is_verb) CHECK(wrong.row == nullptr);
        CHECK_FALSE(wrong.allowed);
      }
    }
  }
  CHECK(rows > 70);
  for (const PathRow& row : paths_at(Place::agent))
    CHECK(find_path(paths_at(Place::agent_ids), first_method(row), example_of(row.pattern)).row == nullptr);
  for (const PathRow& row : paths_at(Place::agent_ids))
    CHECK(find_path(paths_at(Place::agent), first_method(row), example_of(row.pattern)).row == nullptr);
}

TEST_CASE("PathTable: GET serves HEAD, unless the row says otherwise; Allow lists the methods of the path") {
  for (const Place place : kPlaces) {
    for (const PathRow& row : paths_at(place)) {
      CAPTURE(row.pattern);
      const std::string path = (is_old(row) ? "/v1" : "") + example_of(row.pattern);
      const PathMatch head = find_path(paths_at(place), "HEAD", path);
      const bool gets = row.methods.find("GET") != std::string_view::npos;
      if (gets) CHECK(head.allowed == (row.head != server::Head::refused));
      if (row.methods.empty()) continue;
      const PathMatch wrong = find_path(paths_at(place), "BREW", path);
      CHECK_FALSE(wrong.allowed);
      CHECK(wrong.allow.find(row.methods) != std::string::npos);
      CHECK((wrong.allow.find("HEAD") != std::string::npos) ==
            (row.head == server::Head::served_and_allowed));
    }
  }
  const auto allow = [](Place place, std::string_view path) {
    return find_path(paths_at(place), "BREW", path).allow;
  };
  CHECK(allow(Place::agent, "/") == "POST");
  CHECK(allow(Place::agent, "/plan.svg") == "GET");
  CHECK(allow(Place::agent_ids, "/conversations/c") == "GET, PATCH, DELETE");
  CHECK(allow(Place::agent_ids, "/tasks/t/pushNotificationConfigs/c") == "GET, DELETE");
  CHECK(allow(Place::agent_ids, "/tasks/t:subscribe") == "POST, GET");
  CHECK(allow(Place::agent_ids, "/acme/tasks/t/log") == "GET, HEAD");
  CHECK(allow(Place::operator_api, "/operate/v1/bulk") == "GET, POST");
}

TEST_CASE("PathTable: a place takes one segment, decoded where the path is as it was received") {
  const auto conversation = [](std::string_view path) {
    return find_path(paths_at(Place::agent_ids), "GET", path);
  };
  CHECK(conversation("/conversations/a%2Fb%3Ac")["id"] == "a/b:c");
  CHECK(conversation("/conversations/a")["none"].empty());
  CHECK(conversation("/conversations/").is(Stage::conversations));
  for (const char* path : {"/conversations/a/b", "/conversations/%zz", "/conversations/%ff", "/conversation"})
    CHECK(conversation(path).row == nullptr);
  const PathMatch hosted = find_path(paths_at(Place::root), "POST", "/v1/aibot/bots/a%62/send-message");
  CHECK(hosted["agent"] == "a%62");  // decoded before
  for (const char* path : {"/v1/responses/\xff", "/v1/models/\xc3", "/v1/responses/\xed\xa0\x80/cancel"})
    CHECK(find_path(paths_at(Place::root), "GET", path).row == nullptr);
  CHECK(find_path(paths_at(Place::root), "GET", "/v1/responses/\xc3\xa4").row != nullptr);
  CHECK(find_path(paths_at(Place::operators), "GET", "/operate/v1/\xff").row != nullptr);  // answers itself
  CHECK(find_path(paths_at(Place::root), "POST", "/v1/aibot/bots//send-message").row == nullptr);
}

TEST_CASE(
    "Tenants: a word is reserved if a path below an agent could be taken for one of A2A 1.0 in a tenant") {
  const auto words = server::reserved_words();
  CHECK(std::set<std::string_view>(words.begin(), words.end()) ==
        std::set<std::string_view>{"v1", "tasks", "agents", "conversations", ".", ".."});
  for (const std::string_view word : words) CHECK_FALSE(server::check_tenant(word));
  for (const char* word : {"stream", "chat", "agent", "stop", "console", "operate", ".well-known", "V1"})
    CHECK(server::check_tenant(word));
}

}  // namespace path_table_test

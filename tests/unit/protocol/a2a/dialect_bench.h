// For tests of dialects: short functions to read and write, and a task with all members set.
#pragma once

#include <doctest/doctest.h>

#include <string>

#include "protocol/a2a/dialect.h"

namespace baton::test {

using protocol::a2a::Dialect;

inline json::Document parsed(const std::string& json) {
  auto document = json::Document::parse(json);
  REQUIRE_MESSAGE(document, json);
  return std::move(*document);
}

// The value that was read; fails the test on an error.
template <class T>
T value_of(base::Result<T> read) {
  REQUIRE_MESSAGE(read, (read ? "" : read.error().for_caller));
  return std::move(*read);
}

template <class T>
std::string error_of(const base::Result<T>& read) {
  if (read) return "";
  CHECK(read.error().code == base::ErrorCode::invalid_argument);
  return read.error().for_caller;
}

inline protocol::a2a::SendRequest send(const Dialect& dialect, const std::string& params) {
  const auto document = parsed(params);
  return value_of(dialect.read_send(document.root()));
}

inline std::string send_error(const Dialect& dialect, const std::string& params) {
  const auto document = parsed(params);
  return error_of(dialect.read_send(document.root()));
}

// The JSON that `write` writes.
template <class F>
std::string written(F&& write) {
  std::string out;
  json::Writer writer(out);
  write(writer);
  return out;
}

inline std::string task_shown(const Dialect& dialect, const task::Task& task) {
  return written([&](json::Writer& out) { dialect.write_task(out, task); });
}

// The JSON of an event of task t1 in context c1, or "" if it is not shown.
inline std::string shown(const Dialect& dialect, const task::Event& event, bool last = false) {
  bool is_shown = false;
  std::string out = written([&](json::Writer& writer) {
    is_shown = dialect.write_event(writer, {{"t1"}, {"c1"}}, event, {last});
  });
  return is_shown ? out : "";
}

inline std::string status_shown(const Dialect& dialect, task::State state, bool last = false) {
  return shown(dialect, {{1}, {}, task::StatusChanged{{state, std::nullopt, {}}, {}}}, last);
}

inline bool has(const std::string& text, std::string_view piece) {
  return text.find(piece) != std::string::npos;
}

// One part of each kind, with all members set.
inline std::vector<task::Part> rich_parts() {
  using Kind = task::Part::Kind;
  return {{Kind::text, "hi", "a.md", "text/markdown", {R"({ "a" : 1.0 })"}},
          {Kind::raw, "aGk=", "a.txt", "text/plain", {}},
          {Kind::url, "https://x.example/y", "y", "image/png", {"{}"}},
          {Kind::data, R"({ "n" : 123456789012345678901 })", "", "", {}},
          {Kind::data, "[1, 2]", "", "application/json", {R"({"b":null})"}}};
}

inline task::Message rich_message(task::Role role) {
  task::Message message;
  message.id.value = role == task::Role::user ? "m1" : "m2";
  message.role = role;
  message.parts = rich_parts();
  message.metadata.text = R"({"m":[1, 2]})";
  message.extensions = {"https://x.example/ext"};
  message.reference_tasks = {{"t0"}};
  return message;
}

inline task::Artifact rich_artifact() {
  return {{"a1"}, 3, "answer", "what was asked", rich_parts(), {R"({"k":true})"}, {"https://x.example/ext"}};
}

inline task::Task rich_task(task::State state) {
  task::Task task;
  task.id.value = "t1";
  task.context.value = "c1";
  task.status = {state, rich_message(task::Role::agent), base::from_ms(1'000)};
  task.artifacts = {rich_artifact()};
  task.history = {rich_message(task::Role::user), rich_message(task::Role::agent)};
  task.metadata.text = R"({ "origin" : "test" })";
  return task;
}

// A task with only the required members.
inline task::Task bare_task(task::State state) {
  task::Task task;
  task.id.value = "t1";
  task.context.value = "c1";
  task.status.state = state;
  return task;
}

}  // namespace baton::test

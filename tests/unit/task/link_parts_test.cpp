#include "task/link_parts.h"

#include <doctest/doctest.h>

namespace link_parts_test {

using namespace baton;

namespace {

constexpr std::size_t kKib = 1 << 10;

task::Task task_with(std::vector<task::Part> artifact, std::vector<task::Part> said = {}) {
  task::Task task;
  task.id = {"t 1"};
  task.artifacts.push_back({{"a/1"}, 0, {}, {}, std::move(artifact), {}, {}});
  task::Message message;
  message.id = {"m1"};
  message.parts = std::move(said);
  task.history.push_back(std::move(message));
  return task;
}

}  // namespace

TEST_CASE("link_large_parts: the largest parts become links until the rest fits") {
  task::Part file{task::Part::Kind::raw, std::string(600 * kKib, 'A'), "a.pdf", "application/pdf", {"{}"}};
  task::Task task = task_with({task::Part::of_text(std::string(300 * kKib, 'x')), file},
                              {task::Part::of_text(std::string(500 * kKib, 'y'))});
  task::link_large_parts({&task, 1}, 900 * kKib, "http://h/agents/one");
  const task::Part& linked = task.artifacts[0].parts[1];
  CHECK(linked.kind == task::Part::Kind::url);
  CHECK(linked.content == "http://h/agents/one/tasks/t%201/artifacts/a%2F1/parts/1");
  CHECK(linked.filename == "a.pdf");
  CHECK(linked.media_type == "application/pdf");
  CHECK(linked.metadata.text == "{}");
  CHECK(task.artifacts[0].parts[0].kind == task::Part::Kind::text);
  CHECK(task.history[0].parts[0].kind == task::Part::Kind::text);

  task::link_large_parts({&task, 1}, 400 * kKib, "http://h/agents/one");
  CHECK(task.history[0].parts[0].content == "http://h/agents/one/tasks/t%201/messages/m1/parts/0");
}

TEST_CASE("link_large_parts: text counts with its length in JSON") {
  task::Task task = task_with({task::Part::of_text(std::string(200 * kKib, '\x01'))});
  task::link_large_parts({&task, 1}, 1000 * kKib, "http://h");
  CHECK(task.artifacts[0].parts[0].kind == task::Part::Kind::url);
}

TEST_CASE("link_large_parts: small parts stay, however many there are") {
  task::Task task = task_with(std::vector(1000, task::Part::of_text(std::string(2 * kKib, 'x'))));
  task::link_large_parts({&task, 1}, 100 * kKib, "http://h");
  for (const task::Part& part : task.artifacts[0].parts) CHECK(part.kind == task::Part::Kind::text);
}

}  // namespace link_parts_test

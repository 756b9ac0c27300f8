#include <doctest/doctest.h>

#include "task/task.h"

namespace submission_test {

using namespace baton;

TEST_CASE("Submission: everything that a client can send with a message counts") {
  const task::Submission empty;
  const std::string large(10'000, 'x');
  task::Submission message, metadata, tools, state, extensions, hops, history;
  message.message.parts.push_back(task::Part::of_text(large));
  metadata.metadata = {large};
  tools.tools = {large};
  state.state = {large};
  extensions.extensions = {large};
  hops.hops = {large};
  history.history = {message.message};
  for (const task::Submission* one : {&message, &metadata, &tools, &state, &extensions, &hops, &history}) {
    CHECK(task::weight_of(*one) >= task::weight_of(empty) + large.size());
  }
}

}  // namespace submission_test

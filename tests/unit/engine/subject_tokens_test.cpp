#include "engine/turns/subject_tokens.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>

namespace subject_tokens_test {

using namespace baton;

namespace {

task::TaskHead task_of(int key, const std::string& caller) {
  task::TaskHead head;
  head.key = {key};
  head.caller = {caller};
  return head;
}

}  // namespace

TEST_CASE("SubjectTokens: a message without a token takes away the one that an earlier message brought") {
  engine::SubjectTokens tokens;
  const auto token = std::make_shared<task::SubjectToken>();
  tokens.put(task_of(1, "ann"), token);
  tokens.put(task_of(2, "ann"), token);
  tokens.put(task_of(1, "ann"), nullptr);
  CHECK(tokens.find(task_of(1, "ann")) == nullptr);
  CHECK(tokens.find(task_of(2, "ann")) == token);
}

TEST_CASE("SubjectTokens: a caller with many tasks pushes out its own tokens, not another's") {
  engine::SubjectTokens tokens(3);
  const auto token = std::make_shared<task::SubjectToken>();
  tokens.put(task_of(1, "bob"), token);
  for (int key = 2; key <= 9; ++key) tokens.put(task_of(key, "ann"), token);
  CHECK(tokens.find(task_of(1, "bob")) == token);
  CHECK(tokens.find(task_of(7, "ann")) == nullptr);
  CHECK(tokens.find(task_of(8, "ann")) == token);
  CHECK(tokens.find(task_of(9, "ann")) == token);
  tokens.erase(task_of(9, "ann"));
  tokens.put(task_of(2, "bob"), token);
  CHECK(tokens.find(task_of(8, "ann")) == token);
}

}  // namespace subject_tokens_test

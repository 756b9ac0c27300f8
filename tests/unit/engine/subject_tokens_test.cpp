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

TEST_CASE("SubjectTokens: the bound is that of all callers' tokens, of one caller or of many") {
  engine::SubjectTokens tokens(3);
  const auto token = std::make_shared<task::SubjectToken>();
  const auto found = [&](int last, const auto& caller_of) {
    int count = 0;
    for (int key = 1; key <= last; ++key) count += tokens.find(task_of(key, caller_of(key))) != nullptr;
    return count;
  };
  const auto ann = [](int) { return std::string("ann"); };
  for (int key = 1; key <= 5; ++key) tokens.put(task_of(key, "ann"), token);
  CHECK(found(5, ann) == 3);
  for (int key = 1; key <= 5; ++key) tokens.erase(task_of(key, "ann"));
  const auto each = [](int key) { return std::to_string(key); };
  for (int key = 1; key <= 3; ++key) tokens.put(task_of(key, each(key)), token);
  CHECK(found(3, each) == 3);
  for (int key = 4; key <= 5; ++key) tokens.put(task_of(key, each(key)), token);
  CHECK(found(5, each) == 3);
}

TEST_CASE("SubjectTokens: the caller that has the most now loses one, not the one that had the most before") {
  engine::SubjectTokens tokens(6);
  const auto token = std::make_shared<task::SubjectToken>();
  const auto has = [&](int key, const std::string& caller) {
    return tokens.find(task_of(key, caller)) != nullptr;
  };
  for (int key = 1; key <= 4; ++key) tokens.put(task_of(key, "zoe"), token);
  for (int key = 5; key <= 6; ++key) tokens.put(task_of(key, "ann"), token);
  for (int key = 1; key <= 3; ++key) tokens.erase(task_of(key, "zoe"));
  for (int key = 7; key <= 9; ++key) tokens.put(task_of(key, "bob"), token);
  tokens.put(task_of(10, "cy"), token);
  CHECK(has(4, "zoe"));
  CHECK(has(5, "ann"));
  CHECK(has(6, "ann"));
  CHECK_FALSE(has(7, "bob"));
  CHECK(has(9, "bob"));
  tokens.erase(task_of(4, "zoe"));
  tokens.erase(task_of(10, "cy"));
  for (int key = 11; key <= 12; ++key) tokens.put(task_of(key, "zoe"), token);
  tokens.put(task_of(13, "ann"), token);
  tokens.put(task_of(14, "bob"), token);
  CHECK_FALSE(has(5, "ann"));
  CHECK(has(14, "bob"));
}

}  // namespace subject_tokens_test

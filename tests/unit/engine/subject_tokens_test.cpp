#include "engine/turns/subject_tokens.h"

#include <doctest/doctest.h>

#include <memory>

namespace subject_tokens_test {

using namespace baton;

TEST_CASE("SubjectTokens: a message without a token takes away the one that an earlier message brought") {
  engine::SubjectTokens tokens;
  const auto token = std::make_shared<task::SubjectToken>();
  tokens.put(task::TaskKey{1}, token);
  tokens.put(task::TaskKey{2}, token);
  tokens.put(task::TaskKey{1}, nullptr);
  CHECK(tokens.find(task::TaskKey{1}) == nullptr);
  CHECK(tokens.find(task::TaskKey{2}) == token);
}

}  // namespace subject_tokens_test

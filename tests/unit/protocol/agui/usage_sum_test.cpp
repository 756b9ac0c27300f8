#include "protocol/agui/usage_sum.h"

#include <doctest/doctest.h>

#include <initializer_list>

namespace usage_sum_test {

using baton::json::Writer;
using baton::protocol::agui::UsageSum;

namespace {

std::string sum_of(std::initializer_list<const char*> used) {
  UsageSum sum;
  for (const char* one : used) sum.add({one});
  std::string text;
  Writer out(text);
  out.object([&] { sum.write(out); });
  return text;
}

}  // namespace

TEST_CASE("UsageSum: there is one sum for each provider and model, in order of first use") {
  CHECK(sum_of({}) == "{}");
  CHECK(sum_of({R"({"provider":"p","model":"m","inputTokens":1})", R"({"model":"n","totalTokens":5})",
                R"({"provider":"p","model":"m","inputTokens":2,"outputTokens":0})"}) ==
        R"({"usage":[{"provider":"p","model":"m","inputTokens":3,"outputTokens":0},)"
        R"({"model":"n","totalTokens":5}]})");
}

TEST_CASE("UsageSum: values that clients would refuse are left out") {
  CHECK(sum_of({R"({"model":"m"})", "1", R"({"inputTokens":-1,"outputTokens":1.5,"totalTokens":"2"})"}) ==
        "{}");
  CHECK(sum_of({R"({"inputTokens":9007199254740991})", R"({"inputTokens":9223372036854775807,"cost":1})"}) ==
        R"({"usage":[{"inputTokens":9007199254740991}]})");
}

}  // namespace usage_sum_test

#include "outbound/refusal.h"

#include <doctest/doctest.h>

#include <string>

namespace refusal_test {

using baton::outbound::HttpAnswer;
using baton::outbound::refusal_text;
using baton::outbound::RefusalView;

HttpAnswer answer_of(int status, std::string body, std::string challenge = {}) {
  HttpAnswer answer;
  answer.status = status;
  answer.body = std::move(body);
  if (!challenge.empty()) answer.headers.emplace_back("www-authenticate", std::move(challenge));
  return answer;
}

TEST_CASE("refusal_text: the server's own words are found in whatever form they come") {
  const std::pair<const char*, const char*> rows[] = {
      {R"({"error":{"message":"no","code":400}})", "no"},
      {R"({"type":"error","error":{"type":"invalid_request_error","message":"no"}})", "no"},
      {R"([{"error":{"message":"no","status":"INVALID_ARGUMENT"}}])", "no"},
      {R"({"error":"no"})", "no"},
      {R"({"detail":"no"})", "no"},
      {R"({"title":"Not right","detail":"no"})", "no"},
      {R"({"statusCode":400,"message":["a","b"],"error":"Bad Request"})", "a; b"},
      {R"({"Message":"no"})", "no"},
      {R"({"errors":[{"message":"a"},{"message":"b"}]})", "a; b"},
      {R"({"detail":[{"loc":["body","messages",0],"msg":"Field required"}]})",
       "body.messages.0: Field required"},
      {R"({"error":"invalid_scope","error_description":"no such scope"})", "invalid_scope: no such scope"},
      {R"({"error":{"message":"Provider returned error","metadata":{"raw":"overloaded"}}})",
       "Provider returned error: overloaded"},
      {R"("no")", "no"},
      {"upstream is\nnot \x1b[31mthere\n", "upstream is not [31mthere"},
  };
  for (const auto& [body, words] : rows) {
    CAPTURE(body);
    CHECK(refusal_text(answer_of(400, body)) == std::string("HTTP status 400: ") + words);
  }
  for (const char* body : {"", "<html>no</html>", "{}", "[]", "null", "7", "\xff\xfe", R"({"error":{}})"}) {
    CAPTURE(body);
    CHECK(refusal_text(answer_of(524, body)) == "HTTP status 524");
  }
  CHECK(refusal_text(answer_of(401, "", R"(Bearer error="invalid_token", error_description="it is old")")) ==
        "HTTP status 401: it is old");
}

TEST_CASE("refusal_text: a redirect's place is named") {
  HttpAnswer answer = answer_of(308, "");
  answer.moved_to = "https://there.example/";
  CHECK(refusal_text(answer) == "HTTP status 308: it has moved to https://there.example/");
}

TEST_CASE("refusal_text: secrets, and in answers about keys what may be one, are hidden") {
  const HttpAnswer answer = answer_of(401, R"({"error":{"message":"bad key sk-p4***9 for abcd1234 at k1"}})");
  CHECK(refusal_text(answer) == "HTTP status 401: bad key *** for *** at k1");
  CHECK(refusal_text(answer, {.secret = "k1"}) == "HTTP status 401: bad key *** for *** at ***");
  CHECK(refusal_text(answer, {.secret = "abcd1234", .shows_keys = true}) ==
        "HTTP status 401: bad key sk-p4***9 for *** at k1");
  CHECK(refusal_text(answer_of(400, "abcd1234"), {.is_about_keys = true}) == "HTTP status 400: ***");
  CHECK(refusal_text(answer_of(400, "abcd1234")) == "HTTP status 400: abcd1234");
}

TEST_CASE("refusal_text: long, wide and deep bodies give bounded words") {
  CHECK(refusal_text(answer_of(500, std::string(100'000, 'x'))).size() < 350);
  std::string wide = R"({"errors":[)";
  for (int i = 0; i < 2'000; ++i) wide += R"("again and again",)";
  wide.back() = ']';
  CHECK(refusal_text(answer_of(500, wide + "}")).size() < 350);
  std::string deep;
  for (int i = 0; i < 50; ++i) deep += R"({"error":)";
  CHECK(refusal_text(answer_of(500, deep + "\"no\"" + std::string(50, '}'))) == "HTTP status 500");
}

}  // namespace refusal_test

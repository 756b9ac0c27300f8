// Seeded mutations of valid requests. A request that the parser accepts must pass a second, naive check that
// follows RFC 9112 alone, must not depend on how the bytes were split, and must parse the same when written
// again.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <random>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "http/request_parser.h"

namespace request_fuzz_test {

using baton::base::percent_encoded;
using baton::http::Limits;
using baton::http::ParsedRequest;
using baton::http::Request;
using baton::http::RequestParser;

namespace {

constexpr int kRounds = 10'000;

const std::vector<std::string> kSeeds{
    "GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n",
    "POST /agents/echo?a=1&b=%20+x HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nConnection: close\r\n\r\n{}{}",
    "POST /v1/tasks/a%2Fb:cancel HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: "
    "chunked\r\n\r\n2;x=y\r\n{}\r\n0\r\n"
    "T: x\r\n\r\n",
    "GET http://example.org:80/p?a=b HTTP/1.1\r\nHost: example.org:80\r\nA: b\r\n\r\n",
    "OPTIONS * HTTP/1.0\r\nAccept: text/event-stream, */*;q=0.1\r\n\r\n",
    "HEAD /x HTTP/1.0\r\nConnection: keep-alive\r\nAuthorization: Bearer a.b-c\r\nContent-Length: 1\r\n\r\nx",
};

// Pieces that request smuggling is made of.
const std::vector<std::string> kPieces{"\r\n",
                                       "\n",
                                       "\r",
                                       " ",
                                       "\t",
                                       ":",
                                       std::string(1, '\0'),
                                       "\x7f",
                                       "\x0b",
                                       "\xff",
                                       "+",
                                       "-",
                                       "0x",
                                       "0",
                                       "9",
                                       ",",
                                       ";",
                                       "%",
                                       "%0d%0a",
                                       "#",
                                       "?",
                                       "&",
                                       "=",
                                       "@",
                                       "/",
                                       "*",
                                       "[",
                                       "Content-Length: 3\r\n",
                                       "content-length:3\r\n",
                                       "Content-Length : 3\r\n",
                                       "Content-Length: +3\r\n",
                                       "Transfer-Encoding: chunked\r\n",
                                       "Transfer-Encoding: xchunked\r\n",
                                       "Transfer-Encoding: gzip, chunked\r\n",
                                       "Transfer-Encoding:\tCHUNKED\r\n",
                                       " Transfer-Encoding: chunked\r\n",
                                       "Host: other\r\n",
                                       "Host:\r\n",
                                       "GET / HTTP/1.1\r\n",
                                       " HTTP/1.1",
                                       "HTTP/1.0",
                                       "http://other",
                                       "\r\n\r\n",
                                       "chunked",
                                       "0\r\n\r\n"};

class Mutator {
 public:
  explicit Mutator(unsigned seed) : random_(seed) {}

  std::string next() {
    std::string text = kSeeds[pick(kSeeds.size())];
    for (std::size_t left = pick(4); left > 0; --left) mutate(text);
    return text;
  }
  std::size_t pick(std::size_t count) { return random_() % count; }

 private:
  void mutate(std::string& text) {
    const std::size_t at = pick(text.size() + 1);
    const std::size_t length = std::min(pick(9), text.size() - at);
    switch (pick(5)) {
      case 0:
        text.insert(at, kPieces[pick(kPieces.size())]);
        return;
      case 1:
        text.erase(at, length);
        return;
      case 2:
        text.insert(pick(text.size() + 1), text.substr(at, length * 4));
        return;
      case 3:
        if (at < text.size()) text[at] = static_cast<char>(pick(256));
        return;
      default: {
        // Inserts at the start of a line, where a whole line is meaningful.
        const std::size_t line = text.find("\r\n", at);
        text.insert(line == std::string::npos ? 0 : line + 2, kPieces[pick(kPieces.size())]);
      }
    }
  }

  std::mt19937 random_;
};

struct Outcome {
  RequestParser::State state;
  int status;
  std::size_t used;
  ParsedRequest parsed;
};

// Parses the text, fed in pieces of `step` bytes.
Outcome outcome_of(std::string_view text, std::size_t step) {
  static const Limits limits;
  RequestParser parser(limits);
  std::size_t used = 0;
  while (used < text.size()) {
    const std::size_t count = parser.feed(text.substr(used, step));
    used += count;
    if (count < std::min(step, text.size() - used + count)) break;
  }
  const int status = parser.refusal().status;
  const RequestParser::State state = parser.state();
  return {state, status, used, state == RequestParser::State::complete ? parser.take() : ParsedRequest()};
}

std::string lower(std::string text) {
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::vector<std::string> values_of(const std::vector<std::string>& lines, const std::string& name) {
  std::vector<std::string> values;
  for (const std::string& line : lines) {
    const std::size_t colon = line.find(':');
    if (lower(line.substr(0, colon)) != name) continue;
    values.push_back(std::regex_replace(line.substr(colon + 1), std::regex("^[ \t]+|[ \t]+$"), ""));
  }
  return values;
}

// The reason why no parser may accept this head; empty if there is none.
std::string objection(std::string text) {
  while (text.starts_with("\r\n")) text.erase(0, 2);
  const std::size_t end = text.find("\r\n\r\n");
  if (end == std::string::npos) return "no blank line";
  text.resize(end + 2);
  std::vector<std::string> lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t line_end = text.find("\r\n", at);
    lines.push_back(text.substr(at, line_end - at));
    at = line_end + 2;
  }
  for (const std::string& line : lines) {
    if (std::ranges::any_of(line, [](unsigned char c) { return (c < 32 && c != '\t') || c == 127; }))
      return "a control character";
  }
  static const std::regex kFirst(
      R"([!#$%&'*+.^_`|~0-9A-Za-z-]+ (/[^ \t#]*|\*|[hH][tT][tT][pP][sS]?://[^ \t#/?@]+([/?][^ \t#]*)?) HTTP/1\.[01])");
  static const std::regex kHeader(R"([!#$%&'*+.^_`|~0-9A-Za-z-]+:[^]*)");
  if (!std::regex_match(lines[0], kFirst)) return "the request line";
  const std::string first = lines[0];
  const bool is_1_0 = first.ends_with("0");
  lines.erase(lines.begin());
  for (const std::string& line : lines) {
    if (!std::regex_match(line, kHeader)) return "a header line";
  }
  const auto hosts = values_of(lines, "host"), lengths = values_of(lines, "content-length"),
             codings = values_of(lines, "transfer-encoding");
  if (hosts.size() > 1 || (hosts.empty() && !is_1_0)) return "Host";
  std::smatch absolute;
  const bool names_host = std::regex_search(first, absolute, std::regex(R"( [^ /?]+://([^ /?]+))"));
  if (names_host && !hosts.empty() && lower(hosts[0]) != lower(absolute[1])) return "two hosts";
  if (lengths.size() + codings.size() > 1) return "two lengths";
  if (!codings.empty() && (is_1_0 || lower(codings[0]) != "chunked")) return "Transfer-Encoding";
  if (!lengths.empty() && !std::regex_match(lengths[0], std::regex("[0-9]+"))) return "Content-Length";
  return {};
}

std::string written(const ParsedRequest& parsed) {
  const Request& request = parsed.request;
  std::string text = request.method + " " + request.raw_path;
  for (std::size_t i = 0; i < request.query.size(); ++i) {
    const auto& [name, value] = request.query[i];
    text += (i == 0 ? "?" : "&") + percent_encoded(name) + "=" + percent_encoded(value);
  }
  text += parsed.http_1_0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n";
  for (const auto& [name, value] : request.headers)
    text.append(name).append(": ").append(value).append("\r\n");
  text += parsed.keep_alive ? "Connection: keep-alive\r\n" : "Connection: close\r\n";
  if (parsed.expects_continue) text += "Expect: 100-continue\r\n";
  return text + "Content-Length: " + std::to_string(request.body.size()) + "\r\n\r\n" + request.body;
}

void check_same(const ParsedRequest& one, const ParsedRequest& other) {
  CHECK(one.request.method == other.request.method);
  CHECK(one.request.path == other.request.path);
  CHECK(one.request.raw_path == other.request.raw_path);
  CHECK(one.request.query == other.request.query);
  CHECK(one.request.headers == other.request.headers);
  CHECK(one.request.body == other.request.body);
  CHECK(one.http_1_0 == other.http_1_0);
  CHECK(one.keep_alive == other.keep_alive);
  CHECK(one.expects_continue == other.expects_continue);
}

}  // namespace

TEST_CASE("RequestParser: mutated requests are refused, or valid and the same when split or written again") {
  Mutator mutator(9112);
  int accepted = 0, refused = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string text = mutator.next();
    const Outcome whole = outcome_of(text, text.size() + 1);
    const Outcome cut = outcome_of(text, 1 + mutator.pick(7));
    CAPTURE(round);
    CAPTURE(text);
    REQUIRE(whole.state == cut.state);
    REQUIRE(whole.status == cut.status);
    refused += whole.state == RequestParser::State::refused;
    const bool complete = whole.state == RequestParser::State::complete;
    if (complete || whole.state == RequestParser::State::body) REQUIRE(objection(text) == "");
    if (!complete) continue;
    ++accepted;
    REQUIRE(whole.used == cut.used);
    check_same(whole.parsed, cut.parsed);
    const Outcome again = outcome_of(written(whole.parsed), 64 << 10);
    REQUIRE(again.state == RequestParser::State::complete);
    check_same(whole.parsed, again.parsed);
  }
  // Fails if the parser refuses everything or the mutations change nothing.
  CHECK(accepted > kRounds / 4);
  CHECK(refused > kRounds / 4);
}

}  // namespace request_fuzz_test

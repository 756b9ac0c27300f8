// Parses bytes to requests, with heads as clients send them.
#include <benchmark/benchmark.h>

#include <string>

#include "http/request_parser.h"

namespace baton::bench {
namespace {

const std::string kHealth = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
const std::string kSdk =
    "POST /agents/echo HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nAccept: */*\r\nAccept-Encoding: gzip, deflate\r\n"
    "Connection: keep-alive\r\nUser-Agent: python-httpx/0.27.2\r\nA2A-Version: 1.0\r\n"
    "Authorization: Bearer 0123456789abcdef0123456789abcdef\r\nContent-Length: 0\r\n"
    "Content-Type: application/json\r\n\r\n";
const std::string kBrowser =
    "GET /v1/tasks?contextId=0192aa&pageSize=50&pageToken=abc%3D%3D HTTP/1.1\r\nHost: localhost:8080\r\n"
    "Connection: keep-alive\r\nsec-ch-ua: \"Chromium\";v=\"130\", \"Not?A_Brand\";v=\"99\"\r\n"
    "sec-ch-ua-mobile: ?0\r\nsec-ch-ua-platform: \"Linux\"\r\nUser-Agent: Mozilla/5.0 (X11; Linux x86_64) "
    "AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36\r\nAccept: text/event-stream\r\n"
    "Origin: http://localhost:3000\r\nSec-Fetch-Site: same-site\r\nSec-Fetch-Mode: cors\r\n"
    "Sec-Fetch-Dest: empty\r\nReferer: http://localhost:3000/\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
    "Accept-Language: en-US,en;q=0.9\r\nLast-Event-ID: 17\r\n\r\n";

void parse_head(benchmark::State& state, const std::string& head) {
  const http::Limits limits;
  http::RequestParser parser(limits);
  for (auto _ : state) {
    parser.feed(head);
    if (parser.state() != http::RequestParser::State::complete) state.SkipWithError("refused");
    benchmark::DoNotOptimize(parser.take());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(head.size()));
}

BENCHMARK_CAPTURE(parse_head, health, kHealth);
BENCHMARK_CAPTURE(parse_head, sdk, kSdk);
BENCHMARK_CAPTURE(parse_head, browser, kBrowser);

}  // namespace
}  // namespace baton::bench

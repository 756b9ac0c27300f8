#include "app/otlp.h"

#include <doctest/doctest.h>
#include <poll.h>

#include <thread>

#include "app/trace_exporter.h"
#include "json/document.h"
#include "support/patience.h"
#include "unit/outbound/raw_server.h"

namespace otlp_test {

using namespace baton;

namespace {

base::Span example() {
  base::Span span;
  span.trace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
  span.parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-1111111111111111-01";
  span.name = "invoke_agent echo";
  span.kind = base::Span::Kind::server;
  span.took = std::chrono::milliseconds(250);
  span.end = std::chrono::system_clock::time_point(std::chrono::seconds(1'800'000'000));
  span.with("gen_ai.agent.name", "echo").with("baton.turn", std::int64_t{9'007'199'254'740'993});
  return span;
}

json::Document written(const base::Span& span) {
  auto document = json::Document::parse(app::otlp_request({span}, {"0.1.0", "one"}));
  REQUIRE(document);
  return std::move(*document);
}

json::Value first(json::Value list) {
  return *list.begin();
}

json::Value span_in(const json::Document& document) {
  const json::Value scope = first(first(document.root()["resourceSpans"])["scopeSpans"]);
  return first(scope["spans"]);
}

// A collector's answer that takes a batch.
std::string taken(const std::string& body = "{}") {
  return "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

std::string metrics_of(const app::TraceExporter& exporter) {
  base::MetricsText text;
  exporter.add_to(text);
  return text.text();
}

}  // namespace

TEST_CASE("OTLP: ids are hex, 64-bit numbers strings, enumerations numbers") {
  const auto document = written(example());
  const json::Value span = span_in(document);
  CHECK(span["traceId"].str() == "4bf92f3577b34da6a3ce929d0e0e4736");
  CHECK(span["spanId"].str() == "00f067aa0ba902b7");
  CHECK(span["parentSpanId"].str() == "1111111111111111");
  CHECK(span["kind"].json().text == "2");
  CHECK(span["startTimeUnixNano"].str() == "1799999999750000000");
  CHECK(span["endTimeUnixNano"].str() == "1800000000000000000");
  CHECK(span["attributes"].json().text == R"([{"key":"gen_ai.agent.name","value":{"stringValue":"echo"}},)"
                                          R"({"key":"baton.turn","value":{"intValue":"9007199254740993"}}])");
  CHECK(span["status"].missing());
  CHECK(span["links"].missing());
}

TEST_CASE("OTLP: a failure has the status error and its type") {
  base::Span span = example();
  span.error = "unavailable";
  span.links.push_back(span.parent);
  const auto document = written(span);
  CHECK(span_in(document)["status"].json().text == R"({"code":2,"message":"unavailable"})");
  CHECK(span_in(document)["attributes"].json().text.find(R"("error.type")") != std::string::npos);
  CHECK(span_in(document)["links"].json().text ==
        R"([{"traceId":"4bf92f3577b34da6a3ce929d0e0e4736","spanId":"1111111111111111"}])");
}

TEST_CASE("OTLP: a span that begins its trace has no parent") {
  base::Span span = example();
  span.parent.clear();
  CHECK(span_in(written(span))["parentSpanId"].missing());
}

TEST_CASE("OTLP: partial success is read as a string or a number, and other values are ignored") {
  CHECK(app::rejected_spans(R"({"partialSuccess":{"rejectedSpans":"3"}})") == 3);
  CHECK(app::rejected_spans(R"({"partialSuccess":{"rejectedSpans":4}})") == 4);
  for (const char* other : {"", "{}", "[]", "no JSON", R"({"partialSuccess":{}})",
                            R"({"partialSuccess":null})", R"({"partialSuccess":{"rejectedSpans":"-3"}})"}) {
    CHECK(app::rejected_spans(other) == 0);
  }
}

TEST_CASE("TraceExporter: each span has one outcome, those that the collector rejects from a batch, too") {
  test::RawServer collector([](test::RawServer&, int connection) {
    test::RawServer::say(connection, taken(R"({"partialSuccess":{"rejectedSpans":"1"}})"));
  });
  base::SpanQueue spans(1);
  for (int i = 0; i < 3; ++i) spans.add(example());
  const app::TraceExporter exporter(spans, collector.url(), {}, {"0.1.0", "one"},
                                    std::chrono::milliseconds(10));
  const auto has = [&](const std::string& line) {
    return metrics_of(exporter).find(line) != std::string::npos;
  };
  CHECK(test::eventually([&] { return has("rejected\"} 1\n") && !has("sent\"} 0\n"); }));
  CHECK(has("sent\"} 2\n"));
  CHECK(has("rejected\"} 1\n"));
}

TEST_CASE("TraceExporter: a slow collector gets no more at the end than fits into the time for that") {
  test::RawServer collector([](test::RawServer&, int connection) {
    // Takes its time, unless the exporter gives up first.
    pollfd left{connection, POLLRDHUP, 0};
    ::poll(&left, 1, 1'000);
    test::RawServer::say(connection, taken());
  });
  base::SpanQueue spans(1);
  for (std::size_t i = 0; i < 4 * app::TraceExporter::kBatchMax; ++i) spans.add(example());
  spans.stop();
  {
    const app::TraceExporter exporter(spans, collector.url(), {}, {"0.1.0", "one"},
                                      std::chrono::milliseconds(0));
  }
  CHECK(collector.connections() <= 2);
}

TEST_CASE("TraceExporter: headers are read from lines or a list") {
  const app::TraceHeaders wanted{{"Authorization", "Bearer a=b"}, {"X-Tenant", "t"}};
  CHECK(app::read_headers("Authorization: Bearer a=b\r\n\nX-Tenant: t\n") == wanted);
  CHECK(app::read_headers("X-Tenant=t") == app::TraceHeaders{{"X-Tenant", "t"}});
  CHECK(app::read_headers("nonsense, =x").empty());
}

TEST_CASE("TraceExporter: a header's value is percent-decoded after an equals sign, but not after a colon") {
  const app::TraceHeaders wanted{{"Authorization", "Bearer a,b="}, {"X-Tenant", "100%"}};
  CHECK(app::read_headers("Authorization=Bearer%20a%2Cb%3D,X-Tenant=100%") == wanted);
  CHECK(app::read_headers("X-Tenant: a%20b") == app::TraceHeaders{{"X-Tenant", "a%20b"}});
}

}  // namespace otlp_test

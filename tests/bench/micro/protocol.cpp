// Parses and writes JSON, sends and answers of each A2A version, stored events, and blocks of a stream.
#include <benchmark/benchmark.h>

#include "micro/things.h"
#include "protocol/a2a/dialect.h"
#include "protocol/sse/sse_writer.h"
#include "store/event_codec.h"

namespace baton::bench {
namespace {

using protocol::a2a::Dialect;
using Of = const Dialect& (*)();

const std::string kSend01 = R"({"id":")" + kId + R"(","sessionId":")" + kId +
                            R"(","message":{"role":"user","parts":[{"type":"text","text":"Hello, world"}]}})";
const std::string kSend03 = R"({"message":{"kind":"message","messageId":")" + kId +
                            R"(","role":"user","parts":[{"kind":"text","text":"Hello, world"}]},)"
                            R"("configuration":{"blocking":true}})";
const std::string kSend03Rest = R"({"message":{"messageId":")" + kId +
                                R"(","role":"ROLE_USER","content":[{"text":"Hello, world"}]},)"
                                R"("configuration":{"blocking":true}})";
const std::string kSend10 =
    R"({"message":{"messageId":")" + kId + R"(","role":"ROLE_USER","parts":[{"text":"Hello, world"}]}})";

void parse_json(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    auto document = json::Document::parse_view(text);
    if (!document) state.SkipWithError("not JSON");
    benchmark::DoNotOptimize(document);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void decode_send(benchmark::State& state, Of dialect, const std::string& text) {
  for (auto _ : state) {
    const auto document = json::Document::parse_view(text);
    auto request = dialect().read_send(document->root());
    if (!request) state.SkipWithError("refused");
    benchmark::DoNotOptimize(request);
  }
}

void encode_task(benchmark::State& state, Of dialect) {
  const task::Task task = finished_task();
  std::string text;
  for (auto _ : state) {
    text.clear();
    json::Writer out(text);
    dialect().write_sent(out, task);
    benchmark::DoNotOptimize(text.data());
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void encode_event(benchmark::State& state, Of dialect) {
  const protocol::a2a::TaskNames names{{kId}, {kId}};
  const task::Event event{{4}, base::from_ms(1'700'000'000'000), chunk_of(false, true)};
  std::string text;
  for (auto _ : state) {
    text.clear();
    json::Writer out(text);
    if (!dialect().write_event(out, names, event, {})) state.SkipWithError("not shown");
    benchmark::DoNotOptimize(text.data());
  }
}

void encode_stored(benchmark::State& state, const task::EventBody& body) {
  for (auto _ : state) benchmark::DoNotOptimize(store::codec::encode(body));
}

void decode_stored(benchmark::State& state, const task::EventBody& body) {
  const std::string text = store::codec::encode(body);
  const int kind = static_cast<int>(store::codec::kind_of(body));
  for (auto _ : state) {
    auto event = store::codec::decode(kind, text);
    if (!event) state.SkipWithError("unreadable");
    benchmark::DoNotOptimize(event);
  }
}

void write_sse_block(benchmark::State& state) {
  const std::string data(static_cast<std::size_t>(state.range(0)), 'x');
  std::string out;
  std::int64_t number = 0;
  for (auto _ : state) {
    out.clear();
    protocol::append_sse(out, ++number, data);
    benchmark::DoNotOptimize(out.data());
  }
  state.SetBytesProcessed(state.iterations() * state.range(0));
}

BENCHMARK_CAPTURE(parse_json, send_1_0, kSend10);
BENCHMARK_CAPTURE(parse_json, text_of_1_mib, '"' + std::string(1 << 20, 'x') + '"');
BENCHMARK_CAPTURE(decode_send, v0_1, protocol::a2a::v0_1, kSend01);
BENCHMARK_CAPTURE(decode_send, v0_3, protocol::a2a::v0_3, kSend03);
BENCHMARK_CAPTURE(decode_send, v0_3_rest, protocol::a2a::v0_3_rest, kSend03Rest);
BENCHMARK_CAPTURE(decode_send, v1_0, protocol::a2a::v1_0, kSend10);
BENCHMARK_CAPTURE(encode_task, v0_1, protocol::a2a::v0_1);
BENCHMARK_CAPTURE(encode_task, v0_3, protocol::a2a::v0_3);
BENCHMARK_CAPTURE(encode_task, v0_3_rest, protocol::a2a::v0_3_rest);
BENCHMARK_CAPTURE(encode_task, v1_0, protocol::a2a::v1_0);
BENCHMARK_CAPTURE(encode_event, v0_1, protocol::a2a::v0_1);
BENCHMARK_CAPTURE(encode_event, v0_3, protocol::a2a::v0_3);
BENCHMARK_CAPTURE(encode_event, v0_3_rest, protocol::a2a::v0_3_rest);
BENCHMARK_CAPTURE(encode_event, v1_0, protocol::a2a::v1_0);
BENCHMARK_CAPTURE(encode_stored, message, task::MessageAdded{message_of(task::Role::user)});
BENCHMARK_CAPTURE(encode_stored, chunk, chunk_of(false, true));
BENCHMARK_CAPTURE(encode_stored, status, status_of(task::State::completed));
BENCHMARK_CAPTURE(decode_stored, message, task::MessageAdded{message_of(task::Role::user)});
BENCHMARK_CAPTURE(decode_stored, chunk, chunk_of(false, true));
BENCHMARK_CAPTURE(decode_stored, status, status_of(task::State::completed));
BENCHMARK(write_sse_block)->Arg(200)->Arg(20'000);

}  // namespace
}  // namespace baton::bench

#include "grpc/grpc_server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>

#include "grpc/methods.h"
#include "grpc/proto_json.h"
#include "support/patience.h"
#include "unit/grpc/client_call.h"

namespace baton::grpc::grpc_server_test {
namespace {

using server::http::Exchange;
using server::http::Reply;
using server::http::Request;
using server::http::StreamSource;
using server::http::Waker;
using std::chrono_literals::operator""ms;

// The default agent.
std::string desk() {
  return "desk";
}

// What a stream gives, said by the test; and whether the stream is still there.
struct Script {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::string> blocks;
  bool ends = false;
  Waker waker;
  int sources = 0;

  void say(std::string block, bool last = false) {
    Waker wake;
    {
      std::lock_guard lock(mutex);
      blocks.push_back(std::move(block));
      ends = last;
      wake = waker;
    }
    if (wake) wake();
  }
  bool wait_for_sources(int count) {
    std::unique_lock lock(mutex);
    return changed.wait_for(lock, test::patience(), [&] { return sources == count; });
  }
};

class ScriptedSource final : public StreamSource {
 public:
  ScriptedSource(std::shared_ptr<Script> script, Waker waker) : script_(std::move(script)) {
    std::lock_guard lock(script_->mutex);
    script_->waker = std::move(waker);
    ++script_->sources;
    script_->changed.notify_all();
  }
  ~ScriptedSource() override {
    std::lock_guard lock(script_->mutex);
    --script_->sources;
    script_->changed.notify_all();
  }
  Next pull(std::string& out, std::size_t) override {
    std::lock_guard lock(script_->mutex);
    if (!script_->blocks.empty()) {
      out += script_->blocks.front();
      script_->blocks.pop_front();
    }
    if (!script_->blocks.empty()) return Next::more;
    return script_->ends ? Next::end : Next::wait;
  }

 private:
  const std::shared_ptr<Script> script_;
};

struct Bench {
  explicit Bench(server::http::Handler handler, server::http::Limits limits = {})
      : server(desk, limits, std::move(handler)) {
    const auto bound = server.start("127.0.0.1", 0);
    REQUIRE(bound.has_value());
    port = *bound;
  }
  GrpcServer server;
  ProtoJson messages;
  int port = 0;

  std::string bytes(const std::string& message, const std::string& json) const {
    return messages.to_bytes(message, json).value();
  }
  std::string json(const std::string& message, const std::string& from) const {
    return messages.to_json(message, from).value();
  }
};

server::http::Handler streaming(const std::shared_ptr<Script>& script) {
  return [script](std::shared_ptr<Exchange> exchange) {
    // Held by the opener, as the routes do.
    exchange->open_stream({{"A2A-Extensions", "u"}}, [script, exchange](Waker waker) {
      return std::make_unique<ScriptedSource>(script, std::move(waker));
    });
  };
}

constexpr const char* kGetTask = "/lf.a2a.v1.A2AService/GetTask";
constexpr const char* kSubscribe = "/lf.a2a.v1.A2AService/SubscribeToTask";
const std::string kStatusJson =
    R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})";

TEST_CASE("gRPC server: a call is the REST request, and its answer the call's") {
  Request seen;
  Bench bench([&](const std::shared_ptr<Exchange>& exchange) {
    seen = exchange->request();
    Reply reply;
    reply.headers = {{"X-A2A-Extensions", "u"}, {"Vary", "Origin"}};
    reply.body = R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"},"unknown":1})";
    exchange->reply(std::move(reply));
  });
  ClientCall call(bench.port, kGetTask,
                  bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t","historyLength":0})"),
                  {{"authorization", "Bearer x"}});
  const auto task = call.read();
  REQUIRE(task.has_value());
  CHECK(bench.json("lf.a2a.v1.Task", *task) ==
        R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}})");
  CHECK(!call.read());
  CHECK(call.finish().ok());
  CHECK(call.header("x-a2a-extensions") == "u");
  CHECK(call.header("vary").empty());
  CHECK(seen.raw_path == "/agents/desk/tasks/t");
  CHECK(seen.header("Authorization") == "Bearer x");
  CHECK(seen.query == std::vector<std::pair<std::string, std::string>>{{"historyLength", "0"}});
}

TEST_CASE("gRPC server: errors of the routes, of calls, and a request that nobody answered") {
  Bench bench([](const std::shared_ptr<Exchange>& exchange) {
    if (exchange->request().path.ends_with("forgotten")) return;
    if (exchange->request().path.ends_with("odd")) return exchange->reply({200, "", {}, R"({"id":{}})"});
    Reply reply;
    reply.status = 404;
    reply.body =
        R"({"error":{"code":404,"status":"NOT_FOUND","message":"gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org"}]}})";
    exchange->reply(std::move(reply));
  });
  const auto status_for = [&](const std::string& method, const std::string& bytes) {
    ClientCall call(bench.port, method, bytes);
    CHECK(!call.read());
    return call.finish();
  };
  const auto named = [&](const std::string& id) {
    return status_for(kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":")" + id + R"("})"));
  };
  const auto missing = named("t");
  CHECK(missing.error_code() == ::grpc::StatusCode::NOT_FOUND);
  CHECK(missing.error_message() == "gone");
  CHECK(bench.json("google.rpc.Status", missing.error_details()).find("TASK_NOT_FOUND") != std::string::npos);
  CHECK(named("forgotten").error_code() == ::grpc::StatusCode::INTERNAL);
  CHECK(named("odd").error_code() == ::grpc::StatusCode::INTERNAL);
  CHECK(named("").error_code() == ::grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status_for(kGetTask, "\xff").error_code() == ::grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status_for("/lf.a2a.v1.A2AService/Else", "").error_code() == ::grpc::StatusCode::UNIMPLEMENTED);
}

TEST_CASE("gRPC server: a stream gives each event as it comes, and ends with its source") {
  const auto script = std::make_shared<Script>();
  Bench bench(streaming(script));
  const std::string block = "id: 1\ndata: " + kStatusJson + "\n\n";
  script->say(block + ": awake\n\n" + block);
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  for (int i = 0; i < 2; ++i) {
    const auto event = call.read();
    REQUIRE(event.has_value());
    CHECK(bench.json("lf.a2a.v1.StreamResponse", *event) == kStatusJson);
  }
  CHECK(call.header("a2a-extensions") == "u");
  script->say("id: 2\n\n");
  script->say(block.substr(0, 20));
  script->say(block.substr(20), true);
  CHECK(call.read().has_value());
  CHECK(!call.read());
  CHECK(call.finish().ok());
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: an error inside a stream is the call's, after what came before it") {
  const auto script = std::make_shared<Script>();
  Bench bench(streaming(script));
  script->say("data: " + kStatusJson +
              "\n\nevent: error\ndata: {\"error\":{\"code\":429,\"status\":\"RESOURCE_EXHAUSTED\"}}\n\n");
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  CHECK(call.read().has_value());
  CHECK(!call.read());
  CHECK(call.finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: who hangs up gives the stream's place back, and no more streams than places") {
  const auto script = std::make_shared<Script>();
  server::http::Limits limits;
  limits.streams_max = 1;
  Bench bench(streaming(script), limits);
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  ClientCall first(bench.port, kSubscribe, request);
  REQUIRE(script->wait_for_sources(1));
  {
    ClientCall second(bench.port, kSubscribe, request);
    CHECK(!second.read());
    CHECK(second.finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  }
  first.cancel();
  CHECK(first.finish().error_code() == ::grpc::StatusCode::CANCELLED);
  REQUIRE(script->wait_for_sources(0));
  ClientCall third(bench.port, kSubscribe, request);
  CHECK(script->wait_for_sources(1));
}

TEST_CASE(
    "gRPC server: a stream that opens only after its client has left takes no place and stays nowhere") {
  const auto script = std::make_shared<Script>();
  script->say("data: " + kStatusJson + "\n\n");
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Exchange> kept;
  std::atomic<bool> opened{false}, freed{false};
  server::http::Limits limits;
  limits.streams_max = 1;
  limits.connections_max = 1;  // so that the second call is let in when the first is over here too
  Bench bench(
      [&, stream = streaming(script)](std::shared_ptr<Exchange> exchange) {
        std::lock_guard lock(mutex);
        if (!kept) {
          kept = std::move(exchange);
          return changed.notify_all();
        }
        const std::weak_ptr<Exchange> late = kept;
        stream(std::move(kept));
        freed = late.expired();
        opened = true;
        stream(std::move(exchange));
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  ClientCall first(bench.port, kSubscribe, request);
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, test::patience(), [&] { return kept != nullptr; }));
  }
  first.cancel();
  CHECK(first.finish().error_code() == ::grpc::StatusCode::CANCELLED);
  const auto until = std::chrono::steady_clock::now() + test::patience();
  bool streams = false;
  while (!opened && std::chrono::steady_clock::now() < until) {
    ClientCall second(bench.port, kSubscribe, request);
    streams = second.read().has_value();
  }
  CHECK(opened);
  CHECK(freed);
  CHECK(streams);
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: a message over the limit is refused before anybody sees it") {
  std::atomic<int> requests{0};
  server::http::Limits limits;
  limits.body_max = 1000;
  Bench bench([&](const std::shared_ptr<Exchange>&) { ++requests; }, limits);
  ClientCall call(bench.port, kGetTask,
                  bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":")" + std::string(2000, 'x') + R"("})"));
  CHECK(!call.read());
  CHECK(call.finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(requests == 0);
}

TEST_CASE("gRPC server: a message that is compressed is refused, however long it is inside") {
  std::atomic<int> requests{0};
  Bench bench([&](const std::shared_ptr<Exchange>&) { ++requests; });
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    for (const std::size_t length : {std::size_t{1000}, std::size_t{16} << 20}) {
      ClientCall call(bench.port, kGetTask, std::string(length, 'x'), {}, compression);
      CHECK(call.finish().error_code() == ::grpc::StatusCode::UNIMPLEMENTED);
    }
  }
  CHECK(requests == 0);
}

TEST_CASE("gRPC server: stopping ends what is open, and an answer after that does no harm") {
  const auto script = std::make_shared<Script>();
  std::shared_ptr<Exchange> kept;
  std::mutex mutex;
  std::condition_variable changed;
  Bench bench([&, stream = streaming(script)](std::shared_ptr<Exchange> exchange) {
    if (exchange->request().raw_path.ends_with(":subscribe")) return stream(std::move(exchange));
    std::lock_guard lock(mutex);
    kept = std::move(exchange);
    changed.notify_all();
  });
  ClientCall stream(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  REQUIRE(script->wait_for_sources(1));
  ClientCall call(bench.port, kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})"));
  {
    std::unique_lock lock(mutex);
    REQUIRE(changed.wait_for(lock, test::patience(), [&] { return kept != nullptr; }));
  }
  bench.server.stop(1ms);
  CHECK(!stream.finish().ok());
  CHECK(!call.finish().ok());
  CHECK(script->wait_for_sources(0));
  script->say("data: {}\n\n");
  kept->reply({});
  kept.reset();
}

TEST_CASE("gRPC server: a call that is not admitted by its head is refused in its generation's words") {
  std::atomic<int> requests{0};
  std::string asked_for;
  GrpcServer server(
      desk, {}, [&](const std::shared_ptr<Exchange>&) { ++requests; }, {},
      [&](const Request& head) -> base::Result<void> {
        asked_for = head.path + " " + std::string(head.header("Authorization"));
        return base::fail(base::ErrorCode::unauthenticated, "a valid bearer token is needed");
      });
  const auto port = server.start("127.0.0.1", 0);
  REQUIRE(port.has_value());
  const ProtoJson messages;
  for (const char* method : {kGetTask, "/a2a.v1.A2AService/GetTask"}) {
    ClientCall call(*port, method, "", {{"authorization", "Bearer x"}, {"baton-agent", "shop"}});
    CHECK(!call.read());
    const auto status = call.finish();
    CHECK(status.error_code() == ::grpc::StatusCode::UNAUTHENTICATED);
    const auto details = messages.to_json("google.rpc.Status", status.error_details());
    REQUIRE(details.has_value());
    CHECK(details->find("UNAUTHENTICATED") != std::string::npos);
  }
  CHECK(requests == 0);
  CHECK(asked_for == "/agents/shop Bearer x");
}

TEST_CASE("gRPC server: overload says when to come back, as a message that clients can read") {
  Bench bench([](const std::shared_ptr<Exchange>& exchange) {
    exchange->reply({429, "", {}, R"({"code":429,"message":"Too many requests","data":{"retryAfter":3}})"});
  });
  ClientCall call(bench.port, "/a2a.v1.A2AService/GetTask",
                  bench.bytes("a2a.v1.GetTaskRequest", R"({"name":"tasks/t"})"));
  CHECK(!call.read());
  const auto status = call.finish();
  CHECK(status.error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(bench.json("google.rpc.Status", status.error_details()).find(R"("retryDelay":"3s")") !=
        std::string::npos);
}

TEST_CASE("gRPC server: a port that is taken is an error") {
  Bench bench([](const std::shared_ptr<Exchange>&) {});
  GrpcServer second(desk, {}, [](const std::shared_ptr<Exchange>&) {});
  CHECK(!second.start("127.0.0.1", bench.port));
}

}  // namespace
}  // namespace baton::grpc::grpc_server_test

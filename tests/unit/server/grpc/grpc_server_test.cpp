#include "server/grpc/grpc_server.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/guarded.h"
#include "protocol/grpc/methods.h"
#include "protocol/grpc/schema.h"
#include "server/grpc/call.h"
#include "server/shared/answer_budget.h"
#include "support/engine_bench.h"
#include "support/patience.h"
#include "unit/server/grpc/client_call.h"
#include "unit/server/grpc/raw_call.h"
#include "unit/server/grpc/scripted_stream.h"

namespace baton::server::grpc::grpc_server_test {
namespace {

using base::ErrorCode;
using http::Request;
using http::Waker;
using server::a2a::CallPtr;
using server::a2a::Operation;
using std::chrono_literals::operator""ms;
using test::eventually;

// The default agent.
std::string desk() {
  return "desk";
}

// A server that admits every call and passes each request to the test instead of the operation.
struct Bench {
  explicit Bench(Operate operate, http::Limits limits = {})
      : server(
            desk, limits, [this](const Request& head) { return admitted(head); }, {}, std::move(operate)) {
    agent.card.extensions = {{"u", {}, false, {}}};
    const auto bound = server.start("127.0.0.1", 0);
    REQUIRE(bound.has_value());
    port = *bound;
  }
  server::Admitted admitted(const Request& head) {
    const std::lock_guard lock(mutex);
    seen = head;
    return {services, {head.path == "/agents/none" ? nullptr : &agent, false, {}, true}, {"ann"}};
  }

  test::EngineBench engine;
  agents::Agent agent;
  const agents::Catalogue catalogue{std::vector<agents::Agent>(1)};
  server::ServerOptions options;
  base::WorkerPool readers{"log-read", 1, 1};
  server::Services services{engine.engine(), catalogue, options, readers, {}};
  std::mutex mutex;
  Request seen;
  GrpcServer server;
  const protocol::grpc::MessageSchema schema;
  const protocol::grpc::ProtoJson messages{schema};
  int port = 0;

  std::string bytes(const std::string& message, const std::string& json) const {
    return messages.to_bytes(message, json).value();
  }
  std::string json(const std::string& message, const std::string& from) const {
    return messages.to_json(message, from).value();
  }
};

Operate streaming(const std::shared_ptr<Script>& script) {
  return [script](const CallPtr& call, Operation, const server::a2a::Request&) {
    // The opener holds it, as the operations' openers do.
    call->open_stream(
        [script, call](Waker waker) { return std::make_unique<ScriptedSource>(script, std::move(waker)); });
  };
}

constexpr const char* kGetTask = "/lf.a2a.v1.A2AService/GetTask";
constexpr const char* kSubscribe = "/lf.a2a.v1.A2AService/SubscribeToTask";
const std::string kStatusJson =
    R"({"statusUpdate":{"taskId":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING"}}})";

std::string status_frame() {
  const protocol::grpc::MessageSchema schema;
  std::string frame;
  append_frame(frame, FrameKind::message,
               protocol::grpc::ProtoJson(schema).to_bytes("lf.a2a.v1.StreamResponse", kStatusJson).value());
  return frame;
}

// More than a client takes before it reads.
constexpr std::size_t kLarge = 1 << 20;

std::string frame_of(std::size_t bytes) {
  std::string frame;
  append_frame(frame, FrameKind::message, std::string(bytes, 'x'));
  return frame;
}

std::string large_frame() {
  return frame_of(kLarge);
}

server::a2a::TaskAnswer answer_of(std::size_t bytes) {
  task::Task task;
  task.id.value = std::string(bytes, 'x');
  return {std::move(task)};
}

server::a2a::TaskAnswer large_answer() {
  return answer_of(kLarge);
}

// What the sources of streams hold behind their first event.
struct Held {
  std::atomic<std::size_t> bytes{0};
  std::atomic<int> sources{0};
  base::Guarded<std::vector<Waker>> wakers;
};

class Holding final : public http::StreamSource {
 public:
  Holding(Held& held, Waker waker) : held_(held) {
    held_.wakers.with([&](std::vector<Waker>& all) { all.push_back(std::move(waker)); });
    ++held_.sources;
  }
  ~Holding() override { --held_.sources; }
  Next pull(std::string& out, std::size_t) override {
    if (!std::exchange(pulled_, true)) out = large_frame();
    return Next::wait;
  }
  std::size_t held() const override { return held_.bytes; }

 private:
  Held& held_;
  bool pulled_ = false;
};

// A stream whose first event holds a share of the budget until the client has taken it.
class Sharing final : public http::StreamSource {
 public:
  explicit Sharing(server::AnswerBudget::SharePtr share) : share_(std::move(share)) {}
  Next pull(std::string& out, std::size_t) override {
    if (std::exchange(pulled_, true)) {
      share_.reset();
      return Next::wait;
    }
    out = large_frame();
    return Next::more;
  }
  bool has_share() const override { return share_ != nullptr; }

 private:
  server::AnswerBudget::SharePtr share_;
  bool pulled_ = false;
};

// Clients may be as slow as this machine.
http::Limits patient_limits() {
  http::Limits limits;
  limits.stall_time = limits.keep_awake = test::patience();
  return limits;
}

TEST_CASE("gRPC server: a call becomes a request, and the answer's value becomes its message") {
  std::optional<protocol::a2a::TaskRequest> asked;
  Bench bench([&](const CallPtr& call, Operation operation, server::a2a::Request request) {
    CHECK(operation == Operation::get);
    asked = std::get<protocol::a2a::TaskRequest>(std::move(request));
    task::Task task;
    task.id.value = "t";
    task.context = {"c"};
    task.status.state = task::State::working;
    call->answer(server::a2a::TaskAnswer{std::move(task)});
  });
  ClientCall call(bench.port, kGetTask,
                  bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t","historyLength":0})"),
                  {{"authorization", "Bearer x"}, {"x-a2a-extensions", "u"}});
  const auto task = call.read();
  REQUIRE(task.has_value());
  CHECK(
      bench.json("lf.a2a.v1.Task", *task) ==
      R"({"id":"t","contextId":"c","status":{"state":"TASK_STATE_WORKING","timestamp":"1970-01-01T00:00:00Z"}})");
  CHECK(!call.read());
  CHECK(call.finish().ok());
  CHECK(call.header("x-a2a-extensions") == "u");
  CHECK(bench.seen.path == "/agents/desk");
  CHECK(bench.seen.header("Authorization") == "Bearer x");
  CHECK(bench.seen.remote_address == "127.0.0.1");
  REQUIRE(asked.has_value());
  CHECK(asked->id.value == "t");
  CHECK(asked->history_length == 0);
}

TEST_CASE("gRPC server: errors of operations and of calls, and an unanswered request, become statuses") {
  Bench bench([](const CallPtr& call, Operation, const server::a2a::Request& request) {
    const task::TaskId id = std::get<protocol::a2a::TaskRequest>(request).id;
    if (id.value == "forgotten") return;
    call->refuse({ErrorCode::task_not_found, "gone", {}}, id);
    call->refuse({ErrorCode::internal, "only the first answer counts", {}});
  });
  const auto status_for = [&](const std::string& method, const std::string& bytes, Metadata metadata = {}) {
    ClientCall call(bench.port, method, bytes, std::move(metadata));
    CHECK(!call.read());
    return call.finish();
  };
  const auto named = [&](const std::string& id, Metadata metadata = {}) {
    return status_for(kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":")" + id + R"("})"),
                      std::move(metadata));
  };
  const auto missing = named("t");
  CHECK(missing.error_code() == ::grpc::StatusCode::NOT_FOUND);
  CHECK(missing.error_message() == "Task not found: gone");
  CHECK(
      bench.json("google.rpc.Status", missing.error_details()) ==
      R"({"code":5,"message":"Task not found: gone","details":[{"@type":"type.googleapis.com/google.rpc.ErrorInfo","reason":"TASK_NOT_FOUND","domain":"a2a-protocol.org","metadata":{"taskId":"t"}}]})");
  CHECK(named("forgotten").error_code() == ::grpc::StatusCode::INTERNAL);
  CHECK(named("").error_code() == ::grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status_for(kGetTask, "\xff").error_code() == ::grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status_for(kGetTask, "\x12\x02\xc3\x28").error_code() == ::grpc::StatusCode::INVALID_ARGUMENT);
  CHECK(status_for("/lf.a2a.v1.A2AService/Else", "").error_code() == ::grpc::StatusCode::UNIMPLEMENTED);
  CHECK(named("t", {{"a2a-version", "0.3"}}).error_code() == ::grpc::StatusCode::FAILED_PRECONDITION);
  const auto nobody = named("t", {{"baton-agent", "none"}});
  CHECK(nobody.error_code() == ::grpc::StatusCode::NOT_FOUND);
  CHECK(nobody.error_message() == "agent not found");
}

TEST_CASE("gRPC server: a stream sends each item as it arrives, and ends with its source") {
  const auto script = std::make_shared<Script>();
  Bench bench(streaming(script));
  script->say(status_frame() + status_frame());
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"),
                  {{"a2a-extensions", "u"}});
  for (int i = 0; i < 2; ++i) {
    const auto event = call.read();
    REQUIRE(event.has_value());
    CHECK(bench.json("lf.a2a.v1.StreamResponse", *event) == kStatusJson);
  }
  CHECK(call.header("a2a-extensions") == "u");
  script->say("");
  script->say(status_frame(), true);
  CHECK(call.read().has_value());
  CHECK(!call.read());
  CHECK(call.finish().ok());
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: an error inside a stream ends the call after the items before it") {
  const auto script = std::make_shared<Script>();
  Bench bench([&](const CallPtr& call, Operation operation, server::a2a::Request request) {
    std::string frames = status_frame();
    call->items()->error_frame(frames, {ErrorCode::overloaded, "later", {}}, {});
    script->say(frames);
    streaming(script)(call, operation, std::move(request));
  });
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  CHECK(call.read().has_value());
  CHECK(!call.read());
  const auto status = call.finish();
  CHECK(status.error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(status.error_message() == "later");
  CHECK(bench.json("google.rpc.Status", status.error_details()).find(R"("retryDelay":"1s")") !=
        std::string::npos);
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: a stream that is complete when it opens is sent as one answer") {
  Bench bench([](const CallPtr& call, Operation, const server::a2a::Request&) {
    call->answer_stream(status_frame() + status_frame());
  });
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  CHECK(call.read().has_value());
  CHECK(call.read().has_value());
  CHECK(!call.read());
  CHECK(call.finish().ok());
}

TEST_CASE("gRPC server: an answer keeps its share of the budget until its client has taken it") {
  bool is_stream = false;
  SUBCASE("one message") {}
  SUBCASE("a stream that is complete when it opens") {
    is_stream = true;
  }
  base::WorkerPool pool("test", 1, 1);
  base::EventLoop timers("test");
  server::AnswerBudget budget(kLarge, 1, test::patience(), pool, timers);
  std::weak_ptr<server::AnswerBudget::Share> share;
  std::weak_ptr<server::a2a::Call> answered;
  std::promise<void> done;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        budget.enter("ann", kLarge, [&](server::AnswerBudget::SharePtr taken) { call->share = taken; });
        share = call->share;
        answered = call;
        is_stream ? call->answer_stream(large_frame()) : call->answer(large_answer());
        done.set_value();
      },
      patient_limits());
  ClientCall call(bench.port, kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})"));
  done.get_future().wait();
  REQUIRE(eventually([&] { return answered.expired(); }));
  CHECK(!share.expired());
  const auto message = call.read();
  REQUIRE(message.has_value());
  CHECK(message->size() >= kLarge);
  CHECK(!call.read());
  CHECK(call.finish().ok());
  CHECK(eventually([&] { return share.expired(); }));
}

TEST_CASE("gRPC server: the source of a stream lives until the client has taken its last message") {
  const auto large = std::make_shared<Script>(), small = std::make_shared<Script>();
  std::atomic<int> calls{0};
  Bench bench(
      [&](const CallPtr& call, Operation operation, const server::a2a::Request& request) {
        streaming(calls++ == 0 ? large : small)(call, operation, request);
      },
      patient_limits());
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  large->say(large_frame(), true);
  ClientCall slow(bench.port, kSubscribe, request);
  REQUIRE(eventually([&] {
    const std::lock_guard lock(large->mutex);
    return large->sources == 1 && large->blocks.empty();
  }));
  // All sources have one thread, which has come past the end of the slow call once these are served.
  for (int i = 0; i < 2; ++i) {
    small->say(status_frame(), true);
    ClientCall quick(bench.port, kSubscribe, request);
    CHECK(quick.read().has_value());
    CHECK(!quick.read());
    CHECK(quick.finish().ok());
  }
  {
    const std::lock_guard lock(large->mutex);
    CHECK(large->sources == 1);
  }
  CHECK(slow.read().has_value());
  CHECK(!slow.read());
  CHECK(slow.finish().ok());
  CHECK(large->wait_for_sources(0));
}

// The client would also end the call, at its deadline.
bool is_cut_off(const ::grpc::Status& status) {
  return !status.ok() && status.error_code() != ::grpc::StatusCode::DEADLINE_EXCEEDED;
}

TEST_CASE("gRPC server: a client that takes nothing of a stream for the stall time loses it") {
  const auto script = std::make_shared<Script>();
  script->say(large_frame());
  http::Limits limits = patient_limits();
  limits.stall_time = 50ms;
  Bench bench(streaming(script), limits);
  ClientCall call(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  REQUIRE(eventually([&] {
    const std::lock_guard lock(script->mutex);
    return script->blocks.empty();
  }));
  CHECK(script->wait_for_sources(0));
  CHECK(!call.read());
  CHECK(is_cut_off(call.finish()));
}

TEST_CASE("gRPC server: a client that takes nothing of a stream loses it although it takes other answers") {
  constexpr std::size_t kUnread = 80 << 10;  // more than a client takes before it reads
  constexpr std::size_t kRead = 8 << 10;
  const auto script = std::make_shared<Script>();
  script->say(frame_of(kUnread));
  http::Limits limits = patient_limits();
  limits.stall_time = 50ms;
  Bench bench(
      [&](const CallPtr& call, Operation operation, const server::a2a::Request& request) {
        if (operation == Operation::subscribe) return streaming(script)(call, operation, request);
        call->answer(answer_of(kRead));
      },
      limits);
  ClientCall unread(bench.port, kSubscribe, bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})"));
  REQUIRE(eventually([&] {
    const std::lock_guard lock(script->mutex);
    return script->blocks.empty();
  }));
  // The library has one connection for all calls of a program to a server.
  const std::string request = bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})");
  CHECK(eventually([&] {
    ClientCall(bench.port, kGetTask, request).read();
    const std::lock_guard lock(script->mutex);
    return script->sources == 0;
  }));
  CHECK(!unread.read());
  CHECK(is_cut_off(unread.finish()));
}

TEST_CASE("gRPC server: a client that takes its answer slowly keeps it for longer than the stall time") {
  constexpr std::size_t kPart = 8 << 10;
  http::Limits limits = patient_limits();
  limits.stall_time = test::patience() / 60;
  const auto end = std::chrono::steady_clock::now() + 4 * limits.stall_time;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) { call->answer(large_answer()); },
      limits);
  RawCall call(bench.port, kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})"));
  // A quarter of the answer is taken in parts; a pause between two of them is a fraction of the stall time.
  for (std::size_t left = kLarge / 4 / kPart; left > 0; --left) {
    REQUIRE(call.take(kPart));
    std::this_thread::sleep_for((end - std::chrono::steady_clock::now()) / static_cast<int>(left));
  }
  CHECK(call.take(kLarge / 2));
}

TEST_CASE("gRPC server: a client that takes its answer slowly returns its share if others wait for room") {
  constexpr std::size_t kPart = 8 << 10;
  bool is_stream = false;
  SUBCASE("an answer") {}
  SUBCASE("the first event of a stream") {
    is_stream = true;
  }
  base::WorkerPool pool("test", 1, 1);
  base::EventLoop timers("test");
  server::AnswerBudget budget(kLarge, 1, test::patience(), pool, timers);
  std::promise<void> answered;
  http::Limits limits = patient_limits();
  limits.stall_time = test::patience() / 600;
  limits.held_time = 0ms;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        budget.enter("ann", kLarge, [&](server::AnswerBudget::SharePtr taken) { call->share = taken; });
        if (is_stream) {
          call->open_stream([share = std::exchange(call->share, nullptr)](const Waker&) {
            return std::make_unique<Sharing>(share);
          });
        } else {
          call->answer(large_answer());
        }
        answered.set_value();
      },
      limits);
  bench.services.answers = &budget;
  const std::string request = is_stream ? "lf.a2a.v1.SubscribeToTaskRequest" : "lf.a2a.v1.GetTaskRequest";
  RawCall call(bench.port, is_stream ? kSubscribe : kGetTask, bench.bytes(request, R"({"id":"t"})"));
  answered.get_future().wait();
  std::promise<bool> entered;
  auto has_room = entered.get_future();
  budget.enter("bob", 1,
               [&](const server::AnswerBudget::SharePtr& share) { entered.set_value(bool(share)); });
  // The client takes parts of one half, each within a fraction of the stall time.
  std::size_t left = kLarge / 2 / kPart;
  while (left > 0 && has_room.wait_for(limits.stall_time / 4) != std::future_status::ready &&
         call.take(kPart))
    --left;
  CHECK(left > 0);
  CHECK(has_room.get());
}

TEST_CASE("gRPC server: a client that takes nothing of its answer for the stall time returns its share") {
  base::WorkerPool pool("test", 1, 1);
  base::EventLoop timers("test");
  server::AnswerBudget budget(kLarge, 1, test::patience(), pool, timers);
  std::promise<std::weak_ptr<server::AnswerBudget::Share>> share;
  http::Limits limits = patient_limits();
  limits.stall_time = 50ms;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        budget.enter("ann", kLarge, [&](server::AnswerBudget::SharePtr taken) { call->share = taken; });
        share.set_value(call->share);
        call->answer(large_answer());
      },
      limits);
  ClientCall call(bench.port, kGetTask, bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})"));
  const auto held = share.get_future().get();
  CHECK(eventually([&] { return held.expired(); }));
  CHECK(!call.read());
  CHECK(is_cut_off(call.finish()));
}

TEST_CASE(
    "gRPC server: above the limit of unsent bytes an unread answer is broken off, unless it has a share") {
  constexpr int kCalls = 5;  // each counts for a quarter of the limit
  bool is_held = false;
  SUBCASE("not held") {}
  SUBCASE("held") {
    is_held = true;
  }
  base::WorkerPool pool("test", 1, 1);
  base::EventLoop timers("test");
  server::AnswerBudget budget(2 * kCalls * kLarge, 1, test::patience(), pool, timers);
  std::atomic<int> answered{0};
  http::Limits limits = patient_limits();
  limits.unsent_max = kLarge;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        if (is_held) {
          budget.enter("ann", kLarge, [&](server::AnswerBudget::SharePtr taken) { call->share = taken; });
        }
        call->answer(large_answer());
        ++answered;
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})");
  std::vector<std::unique_ptr<ClientCall>> calls;
  for (int i = 0; i < kCalls; ++i) {
    calls.push_back(std::make_unique<ClientCall>(bench.port, kGetTask, request));
    REQUIRE(eventually([&] { return answered == i + 1; }));
  }
  int whole = 0;
  for (const auto& call : calls) whole += call->read().value_or("").size() >= kLarge ? 1 : 0;
  CHECK(whole == (is_held ? kCalls : kCalls - 1));
}

TEST_CASE(
    "gRPC server: a client that takes its answer bit by bit keeps it longer than one that takes nothing") {
  constexpr int kFit = 4;  // each counts for a quarter of the limit
  constexpr std::size_t kPart = 64 << 10;
  std::atomic<int> answered{0};
  http::Limits limits = patient_limits();
  limits.unsent_max = kLarge;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        call->answer(large_answer());
        ++answered;
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})");
  std::vector<std::unique_ptr<RawCall>> calls;
  const auto begin_call = [&] {
    calls.push_back(std::make_unique<RawCall>(bench.port, kGetTask, request));
    REQUIRE(eventually([&] { return answered == std::ssize(calls); }));
  };
  for (int i = 0; i < kFit; ++i) begin_call();
  REQUIRE(calls[0]->take(kPart));
  begin_call();
  REQUIRE(calls[0]->take(kLarge - kPart));
  CHECK(calls[1]->ends());
}

TEST_CASE("gRPC server: bytes that a client took of a stream earlier are no progress now") {
  constexpr std::size_t kPrefix = 5;  // of a message of gRPC
  constexpr std::size_t kPart = 8 << 10;
  const auto idle = std::make_shared<Script>(), slow = std::make_shared<Script>(),
             last = std::make_shared<Script>();
  std::atomic<int> calls{0};
  http::Limits limits = patient_limits();
  limits.unsent_max = kLarge * 9 / 4;
  Bench bench(
      [&](const CallPtr& call, Operation operation, const server::a2a::Request& request) {
        const int number = calls++;
        streaming(number == 0 ? idle : number == 1 ? slow : last)(call, operation, request);
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  const auto pulled = [](const std::shared_ptr<Script>& script) {
    return eventually([&] {
      const std::lock_guard lock(script->mutex);
      return script->blocks.empty();
    });
  };
  // The client's request for more bytes acknowledges those that it has taken.
  const auto take = [](RawCall& call, std::size_t bytes) { return call.take(bytes - 1) && call.take(1); };
  // Less waits for this client than for the next one, but it takes nothing of it.
  idle->say(frame_of(kPart));
  RawCall first(bench.port, kSubscribe, request);
  REQUIRE(take(first, kPrefix + kPart));
  idle->say(frame_of(kLarge - kLarge / 20));
  REQUIRE(pulled(idle));
  slow->say(large_frame());
  RawCall second(bench.port, kSubscribe, request);
  REQUIRE(take(second, kPart));
  last->say(frame_of(kLarge / 2));
  RawCall third(bench.port, kSubscribe, request);
  CHECK(first.ends());
  CHECK(second.take(kLarge / 2));
}

TEST_CASE("gRPC server: what a source holds behind unread events counts once it wakes the stream") {
  Held held;
  http::Limits limits = patient_limits();
  limits.unsent_max = 5 * kLarge / 2;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        call->open_stream([&](Waker waker) { return std::make_unique<Holding>(held, std::move(waker)); });
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  ClientCall first(bench.port, kSubscribe, request), second(bench.port, kSubscribe, request);
  REQUIRE(eventually([&] { return held.sources == 2; }));
  held.bytes = kLarge;
  for (const Waker& wake : held.wakers.with([](const std::vector<Waker>& all) { return all; })) wake();
  CHECK(eventually([&] { return held.sources == 1; }));
}

TEST_CASE("gRPC server: above the limit of unsent bytes the call is broken off that holds the most by far") {
  constexpr std::size_t kMuch = std::size_t{1} << 50;
  Held small, large;
  large.bytes = kMuch;
  std::atomic<int> calls{0};
  http::Limits limits = patient_limits();
  limits.unsent_max = kMuch;
  Bench bench(
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        Held& held = calls++ == 0 ? small : large;
        call->open_stream([&](Waker waker) { return std::make_unique<Holding>(held, std::move(waker)); });
      },
      limits);
  const std::string request = bench.bytes("lf.a2a.v1.SubscribeToTaskRequest", R"({"id":"t"})");
  // The client of the small stream has taken nothing for longer.
  ClientCall first(bench.port, kSubscribe, request);
  REQUIRE(eventually([&] { return small.sources == 1; }));
  ClientCall second(bench.port, kSubscribe, request);
  CHECK(!second.read());
  CHECK(first.read().has_value());
}

TEST_CASE("gRPC server: streams are bounded, and a client that hangs up releases its place") {
  const auto script = std::make_shared<Script>();
  http::Limits limits;
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
  script->say(status_frame());
  // The place is released a moment after the source is destroyed.
  CHECK(eventually([&] { return ClientCall(bench.port, kSubscribe, request).read().has_value(); }));
}

TEST_CASE("gRPC server: a stream that opens after its client has left is freed and uses no place") {
  const auto script = std::make_shared<Script>();
  script->say(status_frame());
  std::mutex mutex;
  std::condition_variable changed;
  CallPtr kept;
  std::atomic<bool> opened{false}, freed{false};
  http::Limits limits;
  limits.streams_max = 1;
  limits.connections_max = 1;  // so that the second call is admitted only after the first one has ended here
  Bench bench(
      [&, stream = streaming(script)](CallPtr call, Operation operation,
                                      const server::a2a::Request& request) {
        std::lock_guard lock(mutex);
        if (!kept) {
          kept = std::move(call);
          return changed.notify_all();
        }
        const std::weak_ptr<server::a2a::Call> late = kept;
        stream(std::exchange(kept, nullptr), operation, request);
        // The thread that ended the call may hold it for a moment longer.
        freed = eventually([&] { return late.expired(); });
        opened = true;
        stream(call, operation, request);
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
  bool streams = false;
  CHECK(eventually([&] {
    streams = ClientCall(bench.port, kSubscribe, request).read().has_value();
    return opened.load();
  }));
  CHECK(freed);
  CHECK(streams);
  CHECK(script->wait_for_sources(0));
}

TEST_CASE("gRPC server: a message over the limit is refused before it is handled") {
  std::atomic<int> requests{0};
  http::Limits limits;
  limits.body_max = 1000;
  Bench bench([&](const CallPtr&, Operation, const server::a2a::Request&) { ++requests; }, limits);
  ClientCall call(bench.port, kGetTask,
                  bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":")" + std::string(2000, 'x') + R"("})"));
  CHECK(!call.read());
  CHECK(call.finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
  CHECK(requests == 0);
}

TEST_CASE("gRPC server: a compressed message is refused, whatever its decompressed size") {
  std::atomic<int> requests{0};
  Bench bench([&](const CallPtr&, Operation, const server::a2a::Request&) { ++requests; });
  for (const auto compression : {GRPC_COMPRESS_GZIP, GRPC_COMPRESS_DEFLATE}) {
    for (const std::size_t length : {std::size_t{1000}, std::size_t{16} << 20}) {
      ClientCall call(bench.port, kGetTask, std::string(length, 'x'), {}, compression);
      CHECK(call.finish().error_code() == ::grpc::StatusCode::UNIMPLEMENTED);
    }
  }
  CHECK(requests == 0);
}

TEST_CASE("gRPC server: stop ends open calls, and later answers do nothing") {
  const auto script = std::make_shared<Script>();
  CallPtr kept;
  std::mutex mutex;
  std::condition_variable changed;
  Bench bench([&, stream = streaming(script)](const CallPtr& call, Operation operation,
                                              const server::a2a::Request& request) {
    if (operation == Operation::subscribe) return stream(call, operation, request);
    std::lock_guard lock(mutex);
    kept = call;
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
  script->say(status_frame());
  kept->answer(server::a2a::TaskAnswer{});
  kept.reset();
}

TEST_CASE("gRPC server: a call refused by its head gets the error of its version") {
  std::atomic<int> requests{0};
  std::string asked_for;
  GrpcServer server(
      desk, {},
      [&](const Request& head) -> base::Result<server::Admitted> {
        asked_for = head.path + " " + std::string(head.header("Authorization"));
        return base::fail(ErrorCode::unauthenticated, "a valid bearer token is required");
      },
      {}, [&](const CallPtr&, Operation, const server::a2a::Request&) { ++requests; });
  const auto port = server.start("127.0.0.1", 0);
  REQUIRE(port.has_value());
  const protocol::grpc::MessageSchema schema;
  const protocol::grpc::ProtoJson messages(schema);
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

TEST_CASE("gRPC server: a call waits for the check of its token, others do not, and then it is decided") {
  std::atomic<int> requests{0};
  Bench bench([](const CallPtr&, Operation, const server::a2a::Request&) {});
  base::Guarded<std::vector<std::function<void()>>> waiting;
  const auto admitted = [&](const Request& head) -> base::Result<server::Admitted> {
    if (head.header("Authorization") != "Bearer forged") return bench.admitted(head);
    return base::fail(ErrorCode::unauthenticated, "a valid bearer token is required");
  };
  const auto await = [&](const Request& head, std::function<void()> done) {
    if (head.header("Authorization") == "Bearer late") return TokenSource::Wait::full;
    if (head.header("Authorization") == "Bearer just known") return TokenSource::Wait::none;
    waiting.with([&](auto& all) { all.push_back(std::move(done)); });
    return TokenSource::Wait::begun;
  };
  GrpcServer server(
      desk, {}, admitted, {},
      [&](const CallPtr& call, Operation, const server::a2a::Request&) {
        ++requests;
        call->answer(answer_of(1));
      },
      {[](const Request& head) { return head.header("Authorization") == "Bearer known"; }, await});
  const auto port = server.start("127.0.0.1", 0);
  REQUIRE(port.has_value());
  const std::string request = bench.bytes("lf.a2a.v1.GetTaskRequest", R"({"id":"t"})");
  const auto with = [](const char* token, const char* agent = "desk") {
    return Metadata{{"authorization", std::string("Bearer ") + token}, {"baton-agent", agent}};
  };
  const auto end_checks = [&](std::size_t count) {
    REQUIRE(eventually([&] { return waiting.with([](const auto& all) { return all.size(); }) == count; }));
    for (const auto& done : waiting.with([](auto& all) { return std::exchange(all, {}); })) done();
  };
  {
    ClientCall fresh(*port, kGetTask, request, with("fresh"));
    ClientCall forged(*port, kGetTask, request, with("forged"));
    ClientCall nowhere(*port, kGetTask, request, with("fresh", "none"));
    for (const char* token : {"known", "just known"}) {
      ClientCall other(*port, kGetTask, request, with(token));
      CHECK(other.read().has_value());
    }
    ClientCall late(*port, kGetTask, request, with("late"));
    CHECK(!late.read());
    CHECK(late.finish().error_code() == ::grpc::StatusCode::RESOURCE_EXHAUSTED);
    CHECK(requests == 2);
    end_checks(3);
    CHECK(fresh.read().has_value());
    CHECK(!fresh.read());
    CHECK(fresh.finish().ok());
    CHECK(!forged.read());
    CHECK(forged.finish().error_code() == ::grpc::StatusCode::UNAUTHENTICATED);
    CHECK(!nowhere.read());
    CHECK(nowhere.finish().error_code() == ::grpc::StatusCode::NOT_FOUND);
    CHECK(requests == 3);
  }
  // A check that ends after the server's stop does nothing.
  ClientCall open(*port, kGetTask, request, with("fresh"));
  REQUIRE(eventually([&] { return waiting.with([](const auto& all) { return all.size(); }) == 1; }));
  server.stop(1ms);
  CHECK(!open.finish().ok());
  end_checks(1);
  CHECK(requests == 3);
}

TEST_CASE("gRPC server: a port in use is an error") {
  Bench bench([](const CallPtr&, Operation, const server::a2a::Request&) {});
  GrpcServer second(desk, {}, [&](const Request& head) { return bench.admitted(head); });
  CHECK(!second.start("127.0.0.1", bench.port));
}

}  // namespace
}  // namespace baton::server::grpc::grpc_server_test

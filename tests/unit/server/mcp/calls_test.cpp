// MCP requests on an engine, with an exchange that the test reads.
#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/worker_pool.h"
#include "protocol/mcp/echoes.h"
#include "server/mcp/mcp.h"
#include "support/engine_bench.h"
#include "support/fake_peers.h"
#include "support/patience.h"

namespace calls_test {

using namespace baton;
using test::EngineBench;
using test::FakePeers;

namespace {

class Exchange final : public http::Exchange {
 public:
  explicit Exchange(http::Request request) : request_(std::move(request)) {}

  const http::Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void block(std::function<void()> work) override {
    has_blocked = true;
    work();
  }
  void reply(http::Reply reply) override {
    std::lock_guard lock(mutex_);
    answer_ = std::move(reply);
    changed_.notify_all();
  }
  void open_stream(std::vector<std::pair<std::string, std::string>>, http::StreamOpener opener) override {
    stream = opener([] {});
  }

  // Empty if there is no answer in time.
  std::string wait() {
    std::unique_lock lock(mutex_);
    changed_.wait_for(lock, test::patience(), [&] { return answer_.has_value(); });
    return answer_ ? answer_->body : std::string();
  }
  // As if it was sent.
  void drop_answer() {
    std::lock_guard lock(mutex_);
    answer_.reset();
  }
  // What the stream has now.
  std::string pull() {
    std::string out;
    if (stream) stream->pull(out, 16 << 10);
    return out;
  }

  bool has_blocked = false;
  std::unique_ptr<http::StreamSource> stream;

 private:
  http::Request request_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<http::Reply> answer_;
};
using ExchangePtr = std::shared_ptr<Exchange>;

// Takes any token as alice's, and counts how often it is asked.
class Tokens final : public server::TokenSource {
 public:
  Found find(std::string_view) override {
    ++asked;
    return {token_};
  }
  Wait await(std::string_view, const std::string&, std::function<void()>) override { return Wait::none; }
  std::vector<Issuer> issuers() const override { return {}; }

  int asked = 0;

 private:
  const server::TokenPtr token_ = std::make_shared<const server::Token>(server::Token{{}, {"alice"}, {}});
};

const std::string kTakesHandles = R"({"extensions":{"io.modelcontextprotocol/tasks":{}}})";

struct Bench {
  explicit Bench(EngineBench::Options made = {}) : engine(std::move(made)) {
    agents::Agent agent;
    agent.name.value = agent.card.name = "scripted";
    std::vector<agents::Agent> all;
    all.push_back(std::move(agent));
    catalogue = agents::Catalogue(std::move(all));
  }
  ~Bench() {
    engine.engine().drain();
    readers.stop();
    for (const ExchangePtr& one : exchanges) one->stream.reset();  // it holds its exchange
  }

  ExchangePtr handle(http::Request request) {
    request.path = request.raw_path = "/mcp";
    if (!token.empty()) request.headers.emplace_back("Authorization", "Bearer " + token);
    const auto exchange = std::make_shared<Exchange>(std::move(request));
    exchanges.push_back(exchange);
    server::mcp::handle(exchange,
                        {{services, "http://127.0.0.1:80"}, std::nullopt, {}, running, list_changes});
    return exchange;
  }
  ExchangePtr post(std::string body, std::vector<std::pair<std::string, std::string>> headers) {
    http::Request request;
    request.method = "POST";
    request.headers = std::move(headers);
    request.headers.emplace_back("Content-Type", "application/json");
    request.body = std::move(body);
    return handle(std::move(request));
  }
  // A request of 2026-07-28 by a client with these abilities. `params`: members, each with a comma after it.
  ExchangePtr ask(const std::string& method, const std::string& name, const std::string& params,
                  const std::string& abilities) {
    return post(R"({"jsonrpc":"2.0","id":1,"method":")" + method + R"(","params":{)" + params +
                    R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)" +
                    R"("io.modelcontextprotocol/clientCapabilities":)" + abilities + "}}}",
                {{"MCP-Protocol-Version", "2026-07-28"}, {"Mcp-Method", method}, {"Mcp-Name", name}});
  }
  // A stream about these tasks, names with a comma between them.
  ExchangePtr listen(const std::string& tasks) {
    return ask("subscriptions/listen", "", R"("notifications":{"taskIds":[)" + tasks + "]},", kTakesHandles);
  }
  // The stream of a legacy call of the task, from its beginning on. `session`: of the call; empty: none.
  ExchangePtr resume(const std::string& task, const std::string& session = {}) {
    return take_up(protocol::mcp::make_event_id({{task}, {}, 0, "7", "\"p\""}), session);
  }
  // The rest of such a stream, after the event with this id.
  ExchangePtr take_up(const std::string& id, const std::string& session = {}) {
    http::Request request;
    request.method = "GET";
    request.headers = {{"Last-Event-ID", id}};
    if (!session.empty()) request.headers.emplace_back("Mcp-Session-Id", session);
    return handle(std::move(request));
  }
  // Makes a task that has ended, with so many bytes of output.
  void end(const std::string& task, std::size_t bytes) {
    const auto turn = begin(task);
    turn->sink->text(std::string(bytes, 'x'));
    turn->sink->finish(agents::Done{});
    REQUIRE(engine.wait(engine.engine().reader().head(EngineBench::ref(task))->key));
  }
  // Gets true once no answer counts.
  std::future<bool> no_answers() {
    auto none = std::make_shared<std::promise<bool>>();
    answers.enter({}, kAnswersMax,
                  [none](const server::AnswerBudget::SharePtr& all) { none->set_value(all != nullptr); });
    return none->get_future();
  }
  // Waits for the reads that were asked for.
  void read() {
    std::promise<void> read;
    while (!readers.try_submit([&] { read.set_value(); })) std::this_thread::yield();
    read.get_future().wait();
  }
  // Begins a task, and returns its running turn.
  test::ScriptedExecutor::RunningPtr begin(const std::string& task) {
    REQUIRE(engine.submit(EngineBench::message("hi", task)));
    const auto turn = engine.scripted().next();
    REQUIRE(turn);
    return turn;
  }

  EngineBench engine;
  agents::Catalogue catalogue{std::vector<agents::Agent>()};
  server::ServerOptions options;
  static constexpr int kReadsMax = 100;
  base::WorkerPool readers{"log-read", 1, kReadsMax};
  static constexpr std::size_t kAnswersMax = 16 << 20, kAnswersWaiting = 100;
  server::AnswerBudget answers{kAnswersMax, kAnswersWaiting, test::patience(), readers,
                               engine.engine().timers()};
  server::Services services{engine.engine(), catalogue, options, readers, {}, &answers};
  std::string token;  // of the requests; empty: they have none
  server::mcp::RunningCalls running;
  const server::mcp::ListChanges list_changes;
  std::vector<ExchangePtr> exchanges;
};

task::StatusChanged note(const std::string& words, const std::string& metadata = {}) {
  task::StatusChanged changed;
  changed.status.state = task::State::working;
  changed.status.message.emplace();
  changed.status.message->parts.push_back(task::Part::of_text(words));
  changed.metadata.text = metadata;
  return changed;
}

task::Message question() {
  task::Message message;
  message.role = task::Role::agent;
  message.parts.push_back(task::Part::of_text("Which one?"));
  return message;
}

// Waits until the task's log ends with this note.
void wait_for_note(EngineBench& engine, const std::string& task, const std::string& words) {
  const auto key = engine.engine().reader().head(EngineBench::ref(task))->key;
  const auto is_there = [&] {
    const auto log = engine.engine().reader().events(key, {}, 10'000);
    const auto* last = log && !log->empty() ? task::status_in(log->back()) : nullptr;
    return last != nullptr && last->status.message && task::text_of(*last->status.message) == words;
  };
  while (!is_there()) std::this_thread::yield();
}

bool has(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

int count_of(const std::string& text, std::string_view part) {
  int count = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::vector<std::string> ids_in(const std::string& told) {
  std::vector<std::string> ids;
  for (std::size_t at = told.find("id: "); at != told.npos; at = told.find("id: ", at + 1))
    ids.push_back(told.substr(at + 4, told.find('\n', at) - at - 4));
  return ids;
}

// Pulls until the stream has said this. Returns all that it said; empty if it did not in time.
std::string pull_to(const ExchangePtr& stream, std::string_view part) {
  const auto until = std::chrono::steady_clock::now() + test::patience();
  std::string told;
  while (!has(told, part)) {
    if (std::chrono::steady_clock::now() > until) return {};
    std::this_thread::yield();
    told += stream->pull();
  }
  return told;
}

bool is_ready(const std::future<bool>& future) {
  return future.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}
bool comes_true(std::future<bool>& future) {
  return future.wait_for(test::patience()) == std::future_status::ready && future.get();
}

constexpr std::size_t kLarge = 300'000;  // such an answer counts

}  // namespace

TEST_CASE("MCP: on a shared store the thread that flushes answers no call by reading the store") {
  FakePeers peers;
  std::atomic<bool> holds{false};
  std::promise<void> entered, open;
  EngineBench::Options options;
  options.wiring.peers = &peers;
  options.faults.flush = [&](int) {
    store::FlushFaults faults;
    faults.before = [&] {
      if (!holds.exchange(false)) return;
      entered.set_value();
      open.get_future().wait();
    };
    return faults;
  };
  Bench bench(std::move(options));
  const auto call = bench.ask("tools/call", "scripted", R"("name":"scripted","arguments":{"message":"hi"},)",
                              R"({"elicitation":{}})");
  const auto turn = bench.engine.scripted().next();
  REQUIRE(turn);
  holds = true;
  turn->sink->finish(agents::Asked{"a1", false, question()});
  entered.get_future().wait();
  // Another change of the task is pending when its question is published: a read waits for its flush.
  const auto head = bench.engine.store().find({task::kAnonymous, {"scripted"}, turn->turn.task});
  REQUIRE(head);
  bench.engine.engine().cancels().cancel(head->key, std::shared_ptr<const task::AuditEntry>(),
                                         engine::Cancels::Heard());
  open.set_value();
  CHECK(has(call->wait(), "\"result\""));
}

TEST_CASE("MCP: a client that does not read makes its stream of progress no larger") {
  constexpr int kNotes = 500;
  Bench bench;
  const auto turn = bench.begin("t1");
  for (int i = 0; i < kNotes; ++i)
    turn->sink->emit(note("step " + std::to_string(i) + std::string(400, '.')));
  turn->sink->emit(note("last step"));
  wait_for_note(bench.engine, "t1", "last step");
  const auto stream = bench.resume("t1");
  bench.read();
  const std::string told = stream->pull();
  CHECK(has(told, "step 1."));
  CHECK(told.size() < 100'000);
  turn->sink->finish(agents::Done{});
  std::string rest;
  while (!has(rest, "structuredContent")) rest += stream->pull();
}

TEST_CASE("MCP: progress of any size can be told, and the stream be taken up again after it") {
  Bench bench;
  const auto turn = bench.begin("t1");
  turn->sink->emit(note("", R"({"progress":1e300})"));
  turn->sink->emit(note("more"));
  wait_for_note(bench.engine, "t1", "more");
  const auto stream = bench.resume("t1");
  bench.read();
  const std::string told = stream->pull();
  const std::vector<std::string> ids = ids_in(told);
  for (const std::string& id : ids) {
    CAPTURE(id);
    CHECK(protocol::mcp::read_event_id(id).has_value());
  }
  CHECK(ids.size() >= 2);
  turn->sink->finish(agents::Done{});
}

TEST_CASE("MCP: a stream that is taken up again tells only the progress after its last event") {
  Bench bench;
  const auto turn = bench.begin("t1");
  turn->sink->emit(note("one"));
  wait_for_note(bench.engine, "t1", "one");
  const std::vector<std::string> ids = ids_in(pull_to(bench.resume("t1"), R"("one")"));
  REQUIRE_FALSE(ids.empty());
  turn->sink->emit(note("two"));
  wait_for_note(bench.engine, "t1", "two");
  const auto rest = bench.take_up(ids.back());
  const std::string told = pull_to(rest, R"("two")");
  CHECK(has(told, R"("two")"));
  CHECK_FALSE(has(told, R"("one")"));
  turn->sink->finish(agents::Done{});
  CHECK(has(pull_to(rest, R"("result")"), "completed"));
}

TEST_CASE("MCP: every event of a stream names its type, without which Spring AI's client drops it") {
  Bench bench;
  const auto turn = bench.begin("t1");
  turn->sink->emit(note("one"));
  wait_for_note(bench.engine, "t1", "one");
  const auto listening = bench.listen(R"("t1")"), resumed = bench.resume("t1");
  std::string told = pull_to(listening, "notifications/tasks") + pull_to(resumed, "notifications/progress");
  turn->sink->finish(agents::Done{});
  told += pull_to(resumed, R"("result")");
  CHECK(count_of(told, "\ndata: ") >= 3);
  CHECK(count_of(told, "event: message\ndata: ") == count_of(told, "\ndata: "));
}

TEST_CASE("MCP: a call that waits for a task needs the scope read, or is refused as every other request") {
  Bench bench;
  server::Scopes sends;
  sends.add(server::Scope::send);
  bench.options.tokens =
      std::vector<server::Token>{{"secret", {"alice"}, {}, server::Role::calls, false, sends}};
  bench.options.anonymous = false;
  bench.token = "secret";
  const auto refused =
      bench.ask("tools/call", "scripted", R"("name":"scripted","arguments":{"taskId":"t1"},)", kTakesHandles);
  CHECK(refused->wait() == "{\"error\":\"this token lacks the scope read\"}\n");
}

TEST_CASE("MCP: a stream about tasks looks for no more ids than it may have") {
  Bench bench;
  const auto turn = bench.begin("t1");
  const auto listening = [&](int unknown) {
    std::string ids;
    for (int i = 0; i < unknown; ++i) ids += "\"x" + std::to_string(i) + "\",";
    return bench.listen(ids + R"("t1")");
  };
  const auto few = listening(99), many = listening(100);
  CHECK(has(few->pull(), R"("taskIds":["t1"])"));
  CHECK_FALSE(has(many->pull(), "taskIds"));
  turn->sink->finish(agents::Done{});
}

TEST_CASE("MCP: a large answer counts until it is sent") {
  Bench bench;
  bench.end("t1", kLarge);
  const auto got = bench.ask("tasks/get", "t1", R"("taskId":"t1",)", kTakesHandles);
  CHECK(has(got->wait(), "structuredContent"));
  auto none = bench.no_answers();
  CHECK_FALSE(is_ready(none));
  got->drop_answer();
  CHECK(comes_true(none));
}

TEST_CASE("MCP: a large answer in a stream counts until the stream has ended") {
  Bench bench;
  bench.end("t1", kLarge);
  const auto resumed = bench.resume("t1");
  CHECK(has(pull_to(resumed, "structuredContent"), "structuredContent"));
  auto none = bench.no_answers();
  CHECK_FALSE(is_ready(none));
  resumed->stream.reset();
  CHECK(comes_true(none));
}

TEST_CASE("MCP: a large task in a stream that stays open counts until it is sent") {
  Bench bench;
  bench.end("t1", kLarge);
  const auto stream = bench.listen(R"("t1")");
  CHECK(has(pull_to(stream, "structuredContent"), "notifications/tasks"));
  auto none = bench.no_answers();
  CHECK_FALSE(is_ready(none));
  CHECK(stream->pull().empty());
  CHECK(comes_true(none));
}

TEST_CASE("MCP: the status of a large task is sent in its stream once there is room to read the task") {
  Bench bench;
  bench.end("t1", kLarge);
  server::AnswerBudget::SharePtr all;
  bench.answers.enter({}, Bench::kAnswersMax, [&](server::AnswerBudget::SharePtr share) { all = share; });
  REQUIRE(all);
  for (std::size_t i = 0; i < Bench::kAnswersWaiting; ++i)
    bench.answers.enter({}, 1, [](const server::AnswerBudget::SharePtr&) {});
  const auto stream = bench.listen(R"("t1")");
  bench.read();
  CHECK_FALSE(has(stream->pull(), "notifications/tasks"));
  all.reset();
  CHECK(has(pull_to(stream, "structuredContent"), "notifications/tasks"));
}

TEST_CASE("MCP: a stream about many tasks checks its caller no more often, and without a place less often") {
  Bench bench;
  const auto tokens = std::make_shared<Tokens>();
  bench.options.jwt = tokens;
  bench.token = "t";
  bench.options.streams.set_max(2);
  const auto checks_of = [&](const std::string& ids) {
    const int before = tokens->asked;
    bench.listen(ids);
    return tokens->asked - before;
  };
  const int one = checks_of(R"("x")");
  CHECK(checks_of(R"("x","y","z")") == one);
  CHECK(checks_of(R"("x")") < one);
}

TEST_CASE("MCP: a stream about many tasks takes one place among those that wait for a reader") {
  Bench bench;
  for (const char* task : {"t1", "t2", "t3"}) bench.end(task, 10);
  std::promise<void> entered, open;
  REQUIRE(bench.readers.try_submit([&] {
    entered.set_value();
    open.get_future().wait();
  }));
  entered.get_future().wait();
  const auto stream = bench.listen(R"("t1","t2","t3")");
  int left = 0;
  while (bench.readers.try_submit([] {})) ++left;
  CHECK(left == Bench::kReadsMax - 1);
  open.set_value();
  CHECK(count_of(pull_to(stream, R"("taskId":"t3")"), "notifications/tasks") == 3);
}

TEST_CASE("MCP: a stream about large tasks reads one, and the next when its client has read") {
  Bench bench;
  for (const char* task : {"t1", "t2", "t3"}) bench.end(task, 100'000);
  const auto stream = bench.listen(R"("t1","t2","t3")");
  bench.read();
  std::string told = stream->pull();
  CHECK(count_of(told, "notifications/tasks") == 1);
  told += pull_to(stream, R"("taskId":"t3")");
  CHECK(count_of(told, "notifications/tasks") == 3);
}

TEST_CASE("MCP: the refusal of an answer to a call's question tells the model which task still waits") {
  Bench bench;
  const auto call = [&](const std::string& more) {
    return bench.ask("tools/call", "scripted", R"("name":"scripted","arguments":{"message":"hi"},)" + more,
                     R"({"elicitation":{}})");
  };
  const auto asked = call("");
  const auto turn = bench.engine.scripted().next();
  REQUIRE(turn);
  task::Message form = question();
  form.parts.push_back(task::Part::of_data(
      {R"({"schema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}})"}));
  turn->sink->finish(agents::Asked{"a1", false, std::move(form)});
  REQUIRE(has(asked->wait(), "input_required"));
  const task::TaskId task = turn->turn.task;
  const std::string ask = bench.engine.engine().reader().head(EngineBench::ref(task.value))->ask;
  const auto refused =
      call(R"("requestState":")" + protocol::mcp::make_request_state({task, ask}) +
           R"(","inputResponses":{")" + ask + R"(":{"action":"accept","content":{"n":"x"}}},)");
  CHECK(has(refused->wait(), R"("isError":true)"));
  CHECK(has(refused->wait(), task.value));
}

TEST_CASE("MCP: the cancel of a call, which may read the store, does not run on the connection's thread") {
  Bench bench;
  const auto begun = bench.post(
      R"({"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}})",
      {});
  CHECK_FALSE(begun->has_blocked);
  const auto notified =
      bench.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})", {});
  CHECK(notified->has_blocked);
}

TEST_CASE("MCP: a session cancels its call also after it has taken up the stream again") {
  Bench bench;
  const auto session = [](const char* nonce) {
    return protocol::mcp::make_session_id({"2025-11-25", {}}, task::kAnonymous.value, nonce);
  };
  const auto cancel_in = [&](const char* nonce) {
    bench.post(R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}})",
               {{"Mcp-Session-Id", session(nonce)}});
  };
  const auto turn = bench.begin("t1");
  bench.resume("t1", session("n1"));
  cancel_in("n2");
  CHECK_FALSE(bench.engine.engine().reader().head(EngineBench::ref("t1"))->cancel_requested);
  cancel_in("n1");
  CHECK(bench.engine.scripted().wait_for([&] { return turn->canceled; }));
  turn->sink->finish(agents::Canceled{});
}

}  // namespace calls_test

#include "notify/notifier.h"

#include <doctest/doctest.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <numeric>
#include <sstream>

#include "base/log.h"
#include "support/manual_clock.h"
#include "support/memory_deliveries.h"
#include "support/patience.h"
#include "support/webhook_receiver.h"
#include "unit/outbound/raw_server.h"

namespace notifier_test {

using namespace std::chrono_literals;
using baton::notify::DeliveryQueue;
using baton::notify::Notifier;
using baton::notify::NotifierOptions;
using baton::notify::Rendered;
using baton::store::Delivery;
using baton::task::EventNumber;
using baton::task::PushConfig;
using baton::task::TaskKey;
using baton::test::eventually;
using baton::test::ManualClock;
using baton::test::MemoryDeliveries;
using baton::test::patience;
using baton::test::RawServer;
using baton::test::WebhookReceiver;
using Entry = MemoryDeliveries::Entry;

namespace {

PushConfig config(const std::string& id, const std::string& url) {
  PushConfig result;
  result.id = {id};
  result.url = url;
  return result;
}

baton::base::Result<Rendered> render(const DeliveryQueue& queue, const Delivery& delivery) {
  const auto task = queue.read(delivery.task, {}, delivery.event);
  if (!task) return baton::base::fail(task.error());
  return Rendered{task->id, {"application/json", task->id.value + "@" + text_of(*task->status.message)}};
}

// A notifier and everything it needs. `restart` replaces it, as a new start of the program would.
class Fixture {
 public:
  explicit Fixture(bool allow_private = true) {
    options.policy.allow_private = allow_private;
    options.retry.jitter = 0;
    restart();
  }
  void restart() {
    notifier.reset();
    notifier.emplace(store, clock, options, rendered);
    notifier->start();
  }
  void add(std::int64_t task, std::int64_t event, const PushConfig& to) {
    store.add(TaskKey{task}, EventNumber{event}, to, clock.now());
    notifier->wake();
  }
  // Advances the clock until something is due again.
  void advance(baton::base::Duration by) {
    clock.advance(by);
    notifier->wake();
  }
  // Waits until the first delivery has failed the given number of times.
  bool wait_for_retries(std::size_t count) {
    return store.wait_until(
        [&](const std::vector<Entry>& all) { return all.front().retries.size() >= count; });
  }

  ManualClock clock;
  MemoryDeliveries store;
  NotifierOptions options;
  baton::notify::Render rendered = render;
  std::optional<Notifier> notifier;
};

// The threads of this program whose names begin like this.
std::ptrdiff_t threads_named(std::string_view begin) {
  std::ptrdiff_t count = 0;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::string name;
    std::ifstream(thread.path() / "comm") >> name;
    if (name.starts_with(begin)) ++count;
  }
  return count;
}

std::vector<std::string> bodies(const WebhookReceiver& receiver) {
  std::vector<std::string> result;
  for (const auto& received : receiver.received()) result.push_back(received.body);
  return result;
}

}  // namespace

TEST_CASE("Notifier: a signature has the time of the clock that receivers know, and new keys sign at once") {
  WebhookReceiver receiver;
  Fixture fixture;
  ManualClock shown;
  shown.advance(1'000'000s);  // somebody has set the machine's clock
  fixture.options.signing_clock = &shown;
  fixture.restart();
  PushConfig signing = config("c", receiver.url());
  signing.schemes = {"HMAC-SHA256"};
  signing.credentials = "key";
  fixture.add(7, 1, signing);
  REQUIRE(fixture.store.wait_until_settled());
  fixture.notifier->set_keys({baton::notify::WebhookKey::hmac("more")});
  fixture.add(7, 2, signing);
  REQUIRE(fixture.store.wait_until_settled());
  const auto received = receiver.received();
  REQUIRE(received.size() == 2);
  const std::string at = std::to_string(
      std::chrono::duration_cast<std::chrono::seconds>(shown.now().time_since_epoch()).count());
  CHECK(received[0].headers.at("webhook-timestamp") == at);
  CHECK(received[0].headers.at("x-baton-signature").starts_with("t=" + at + ",v1="));
  CHECK(received[0].headers.at("webhook-signature").find(' ') == std::string::npos);
  CHECK(received[1].headers.at("webhook-signature").find(" v1,") != std::string::npos);
}

TEST_CASE("Notifier: deliveries of one config arrive in order, each with the state of its event") {
  WebhookReceiver receiver;
  Fixture fixture;
  std::vector<std::string> expected;
  for (int event = 1; event <= 20; ++event) {
    fixture.store.add(TaskKey{7}, EventNumber{event}, config("c", receiver.url()), fixture.clock.now());
    expected.push_back("task-7@" + std::to_string(event));
  }
  fixture.notifier->wake();
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(bodies(receiver) == expected);
  CHECK(receiver.received().front().headers.at("content-type") == "application/json");
  CHECK(receiver.received().front().headers.at("x-baton-delivery") == "task-7/1");
  fixture.notifier->stop();
  CHECK(fixture.notifier->counters().delivered == 20);
  CHECK(fixture.notifier->counters().in_flight == 0);
}

TEST_CASE("Notifier: a failed attempt is repeated after growing pauses, and later deliveries wait") {
  WebhookReceiver receiver;
  receiver.answer_with({{500, {}}, {404, {}}, {429, {{"Retry-After", "30"}}}});
  Fixture fixture;
  const auto began = fixture.clock.now();
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.add(1, 2, config("c", receiver.url()));
  REQUIRE(fixture.wait_for_retries(1));
  fixture.advance(1s);
  REQUIRE(fixture.wait_for_retries(2));
  fixture.advance(2s);
  REQUIRE(fixture.wait_for_retries(3));
  fixture.advance(30s);
  REQUIRE(fixture.store.wait_until_settled());
  const auto entries = fixture.store.entries();
  CHECK(entries[0].retries == std::vector{began + 1s, began + 3s, began + 33s});
  CHECK(bodies(receiver) ==
        std::vector<std::string>{"task-1@1", "task-1@1", "task-1@1", "task-1@1", "task-1@2"});
  CHECK(receiver.received()[3].headers.at("x-baton-attempt") == "4");
  fixture.notifier->stop();
  CHECK(fixture.notifier->counters().failed_attempts == 3);
}

TEST_CASE("Notifier: a delivery that keeps failing is given up in the end, and the next one is sent") {
  WebhookReceiver receiver;
  receiver.answer_with({{500, {}}, {500, {}}});
  Fixture fixture;
  fixture.add(1, 1, config("c", receiver.url()));
  REQUIRE(fixture.wait_for_retries(1));
  fixture.advance(24h);
  REQUIRE(fixture.store.wait_until([](const auto& all) { return all[0].given_up; }));
  CHECK(fixture.store.entries()[0].error == "answered 500");
  fixture.add(1, 2, config("c", receiver.url()));
  REQUIRE(fixture.store.wait_until_settled());
  CHECK_FALSE(fixture.store.entries()[1].given_up);
}

TEST_CASE("Notifier: on 410, or if its task was deleted, a delivery is given up at once") {
  WebhookReceiver receiver;
  receiver.answer_with({{410, {}}});
  Fixture fixture;
  fixture.store.deleted = TaskKey{2};
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.add(2, 1, config("c", receiver.url()));
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(fixture.store.entries()[0].given_up);
  CHECK(fixture.store.entries()[1].given_up);
  CHECK(receiver.received().size() == 1);
  fixture.notifier->stop();
  CHECK(fixture.notifier->counters().given_up == 2);
}

TEST_CASE("Notifier: a redirect is a failure and is not followed") {
  WebhookReceiver target;
  WebhookReceiver receiver;
  receiver.answer_with({{307, {{"Location", target.url()}}}});
  Fixture fixture;
  fixture.add(1, 1, config("c", receiver.url()));
  REQUIRE(fixture.wait_for_retries(1));
  CHECK(target.received().empty());
  CHECK(fixture.store.entries()[0].error == "answered 307; redirects are not followed");
}

TEST_CASE("Notifier: a private target is given up with a reason unless it is allowed") {
  WebhookReceiver receiver;
  Fixture fixture(false);
  fixture.add(1, 1, config("c", receiver.url()));
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(fixture.store.entries()[0].given_up);
  CHECK(fixture.store.entries()[0].error == "the address of this host is not allowed");
  CHECK(receiver.received().empty());
}

TEST_CASE("Notifier: a dripping answer ends at the deadline, and the delivery is retried") {
  RawServer server([](RawServer& self, int connection) { self.drip(connection, "H", 5); });
  Fixture fixture;
  fixture.options.timeout = 300ms;
  fixture.restart();
  fixture.add(1, 1, config("c", server.url()));
  REQUIRE(fixture.wait_for_retries(1));
  CHECK(fixture.store.entries()[0].error == "the server took too long to answer");
}

TEST_CASE("Notifier: an endless answer counts by its status") {
  RawServer server([](RawServer& self, int connection) {
    RawServer::say(connection, "HTTP/1.1 200 OK\r\n\r\n");
    self.drip(connection, std::string(10'000, 'x'), 0);
  });
  Fixture fixture;
  fixture.add(1, 1, config("c", server.url()));
  REQUIRE(fixture.store.wait_until_settled());
  CHECK_FALSE(fixture.store.entries()[0].given_up);
}

TEST_CASE("Notifier: token and credentials are sent, and the log shows neither") {
  std::ostringstream text;
  const auto sink = std::make_shared<spdlog::sinks::ostream_sink_mt>(text);
  const auto before = spdlog::default_logger();
  sink->set_formatter(baton::base::text_log_formatter());
  spdlog::set_default_logger(std::make_shared<spdlog::logger>("test", sink));
  {
    WebhookReceiver receiver;
    receiver.answer_with({{500, {}}});
    Fixture fixture;
    PushConfig to = config("my-config", receiver.url("/hook?key=secret-key"));
    to.token = "secret-token";
    to.schemes = {"bearer"};
    to.credentials = "secret-credentials";
    fixture.add(1, 1, to);
    REQUIRE(fixture.wait_for_retries(1));
    fixture.advance(1s);
    REQUIRE(fixture.store.wait_until_settled());
    CHECK(receiver.received()[1].headers.at("x-a2a-notification-token") == "secret-token");
    CHECK(receiver.received()[1].headers.at("authorization") == "Bearer secret-credentials");
  }
  spdlog::set_default_logger(before);
  CHECK(text.str().find("task=task-1 config=my-config event=1 attempt=1 webhook failed: answered 500") !=
        std::string::npos);
  CHECK(text.str().find("task=task-1 config=my-config event=1 attempt=2 webhook delivered") !=
        std::string::npos);
  CHECK(text.str().find("secret") == std::string::npos);
}

TEST_CASE("Notifier: a delivery with an invalid header is given up at once") {
  WebhookReceiver receiver;
  Fixture fixture;
  PushConfig to = config("c", receiver.url());
  to.token = "a\r\nX-Injected: b";
  fixture.add(1, 1, to);
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(fixture.store.entries()[0].given_up);
  CHECK(receiver.received().empty());
}

TEST_CASE("Notifier: a slow receiver does not delay others and gets only its share of senders") {
  WebhookReceiver slow;
  WebhookReceiver quick;
  slow.hold();
  Fixture fixture;
  // More than the queue keeps for one receiver, and more than one read of the store returns.
  for (int task = 1; task <= 400; ++task) {
    fixture.store.add(TaskKey{task}, EventNumber{1}, config("c", slow.url()), fixture.clock.now());
  }
  fixture.notifier->wake();
  REQUIRE(slow.wait_for(2));
  for (int task = 401; task <= 410; ++task) fixture.add(task, 1, config("c", quick.url()));
  REQUIRE(fixture.store.wait_until([](const auto& all) {
    return std::all_of(all.begin() + 400, all.end(), [](const Entry& entry) { return !entry.open; });
  }));
  CHECK(quick.received().size() == 10);
  CHECK(slow.received().size() == 2);
  slow.release();
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(slow.received().size() == 400);
  CHECK(slow.held_max() <= 2);
}

TEST_CASE("Notifier: a caller with many slow receivers does not delay another caller") {
  std::vector<std::unique_ptr<WebhookReceiver>> tarpits;
  Fixture fixture;
  fixture.store.alices_from = {2001};
  for (int task = 1; task <= 240; ++task) {  // more than there are senders
    if (task <= 40) {
      tarpits.push_back(std::make_unique<WebhookReceiver>());
      tarpits.back()->hold();
    }
    const auto& tarpit = tarpits[static_cast<std::size_t>(task) % tarpits.size()];
    fixture.store.add(TaskKey{task}, EventNumber{1}, config("c", tarpit->url()), fixture.clock.now());
  }
  fixture.notifier->wake();
  const auto held = [&] {
    return std::accumulate(tarpits.begin(), tarpits.end(), 0,
                           [](int sum, const auto& tarpit) { return sum + tarpit->held_max(); });
  };
  CHECK(eventually([&] { return held() >= fixture.options.senders / 2; }));
  WebhookReceiver quick;
  for (int task = 2001; task <= 2010; ++task) {
    fixture.store.add(TaskKey{task}, EventNumber{1}, config("c", quick.url()), fixture.clock.now());
  }
  fixture.notifier->wake();
  REQUIRE(quick.wait_for(10));
  CHECK(held() == fixture.options.senders / 2);
  for (const auto& tarpit : tarpits) tarpit->release();
}

TEST_CASE("Notifier: deliveries that wait for their receivers hold no threads") {
  std::vector<std::unique_ptr<RawServer>> silent;
  Fixture fixture;
  fixture.options.stop_grace = 1ms;
  fixture.restart();
  const int all = fixture.options.senders / 2;  // of one caller
  for (int task = 1; task <= all; ++task) {
    silent.push_back(
        std::make_unique<RawServer>([](RawServer& self, int connection) { self.be_silent(connection); }));
    fixture.add(task, 1, config("c", silent.back()->url()));
  }
  const auto are_asked = [&] {
    return std::ranges::all_of(silent, [](const auto& server) { return server->connections() == 1; });
  };
  CHECK(eventually(are_asked));
  CHECK(fixture.notifier->counters().in_flight == all);
  CHECK(threads_named("notify") <= 5);
}

TEST_CASE("Notifier: a body that finds no room is read again, and others are sent meanwhile") {
  WebhookReceiver receiver;
  Fixture fixture;
  std::atomic<bool> has_room = false;
  fixture.rendered = [&](const DeliveryQueue& queue,
                         const Delivery& delivery) -> baton::base::Result<Rendered> {
    if (delivery.task == TaskKey{1} && !has_room)
      return baton::base::fail(baton::base::ErrorCode::overloaded, "no room");
    return render(queue, delivery);
  };
  fixture.restart();
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.add(2, 1, config("c", receiver.url()));
  REQUIRE(receiver.wait_for(1));
  has_room = true;
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(bodies(receiver) == std::vector<std::string>{"task-2@1", "task-1@1"});
  CHECK(fixture.store.entries()[0].retries.empty());
}

TEST_CASE("Notifier: configs of one task do not wait for each other") {
  WebhookReceiver slow;
  WebhookReceiver quick;
  slow.hold();
  Fixture fixture;
  for (int event = 1; event <= 3; ++event) {
    fixture.add(1, event, config("slow", slow.url()));
    fixture.add(1, event, config("quick", quick.url()));
  }
  REQUIRE(quick.wait_for(3));
  REQUIRE(slow.wait_for(1));
  CHECK(slow.received().size() == 1);
  slow.release();
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(bodies(slow) == std::vector<std::string>{"task-1@1", "task-1@2", "task-1@3"});
}

TEST_CASE("Notifier: stop waits for a send that ends in time, and its result is stored") {
  WebhookReceiver receiver;
  receiver.hold();
  Fixture fixture;
  fixture.options.stop_grace = patience();
  fixture.restart();
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.add(1, 2, config("c", receiver.url()));
  REQUIRE(receiver.wait_for(1));
  std::thread stopper([&] { fixture.notifier->stop(); });
  receiver.release();
  stopper.join();
  const auto entries = fixture.store.entries();
  CHECK_FALSE(entries[0].open);
  CHECK(fixture.notifier->counters().in_flight == 0);
}

TEST_CASE("Notifier: stop abandons a send that does not end, and a restart repeats it") {
  WebhookReceiver receiver;
  receiver.hold();
  Fixture fixture;
  fixture.options.stop_grace = 50ms;
  fixture.restart();
  for (int event = 1; event <= 3; ++event) fixture.add(1, event, config("c", receiver.url()));
  REQUIRE(receiver.wait_for(1));
  fixture.notifier->stop();
  CHECK(fixture.store.entries()[0].open);
  CHECK(fixture.store.entries()[0].delivery.attempts == 0);
  receiver.release();
  fixture.restart();
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(bodies(receiver) == std::vector<std::string>{"task-1@1", "task-1@1", "task-1@2", "task-1@3"});
}

TEST_CASE("Notifier: a send whose answer has begun when stop abandons it is delivered") {
  std::atomic<bool> has_begun{false};
  RawServer server([&](RawServer& self, int connection) {
    RawServer::say(connection, "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n");
    has_begun = true;
    self.be_silent(connection);
  });
  Fixture fixture;
  fixture.options.stop_grace = patience() / 60;  // time to read what has been sent
  fixture.restart();
  fixture.add(1, 1, config("c", server.url()));
  CHECK(eventually([&] { return has_begun.load(); }));
  fixture.notifier->stop();
  CHECK_FALSE(fixture.store.entries()[0].open);
  CHECK(fixture.notifier->counters().delivered == 1);
}

TEST_CASE("Notifier: a result that cannot be stored is kept, and the webhook is not sent again") {
  WebhookReceiver receiver;
  Fixture fixture;
  fixture.store.fail_records(1);
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.add(1, 2, config("c", receiver.url()));
  REQUIRE(fixture.store.wait_until_settled());
  CHECK(fixture.store.records_refused() == 1);
  CHECK(bodies(receiver) == std::vector<std::string>{"task-1@1", "task-1@2"});
}

TEST_CASE("Notifier: after a result that an operator's action made obsolete the config sends what is due") {
  WebhookReceiver receiver;
  Fixture fixture;
  fixture.store.fail_records(1, baton::base::ErrorCode::not_found);
  fixture.add(1, 1, config("c", receiver.url()));
  REQUIRE(fixture.store.wait_until_settled());
  // The delivery is still due, as if an operator had sent it again, so it arrives twice.
  CHECK(fixture.store.records_refused() == 1);
  CHECK(bodies(receiver) == std::vector<std::string>{"task-1@1", "task-1@1"});
}

TEST_CASE("Notifier: if switched off it sends nothing and stops at once") {
  WebhookReceiver receiver;
  Fixture fixture;
  fixture.options.enabled = false;
  fixture.restart();
  fixture.add(1, 1, config("c", receiver.url()));
  fixture.notifier->stop();
  CHECK(receiver.received().empty());
  CHECK(fixture.store.entries()[0].open);
}

TEST_CASE("Notifier: a delivery that becomes due by time is sent without a wake") {
  WebhookReceiver receiver;
  receiver.answer_with({{500, {}}});
  baton::base::SystemClock clock;
  MemoryDeliveries store;
  NotifierOptions options;
  options.policy.allow_private = true;
  options.retry.first = 20ms;
  Notifier notifier(store, clock, options, render);
  store.add(TaskKey{1}, EventNumber{1}, config("c", receiver.url()), clock.now());
  notifier.start();
  REQUIRE(store.wait_until_settled());
  CHECK(receiver.received().size() == 2);
}

}  // namespace notifier_test

#include "outbound/kept_connections.h"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <utility>

namespace kept_connections_test {

using baton::outbound::Channel;
using baton::outbound::KeptConnections;
using baton::outbound::SteadyTime;
using std::chrono::seconds;

namespace {

class FakeChannel final : public Channel {
 public:
  FakeChannel(std::string name, bool is_quiet) : name_(std::move(name)), is_quiet_(is_quiet) {}
  int fd() const override { return -1; }
  baton::base::Result<std::optional<std::size_t>> read(char*, std::size_t) override { return std::nullopt; }
  baton::base::Result<std::size_t> write(std::string_view) override { return 0; }
  baton::base::Result<bool> flush() override { return true; }
  bool has_more() const override { return false; }
  bool is_quiet() const override { return is_quiet_; }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  const bool is_quiet_;
};

struct Bench {
  SteadyTime now{};
  KeptConnections kept{{2, 3, seconds(15), seconds(60), [this] { return now; }}};

  void keep(const std::string& key, const std::string& name, bool is_quiet = true) {
    kept.keep(key, {std::make_unique<FakeChannel>(name, is_quiet), now});
  }
  // The name of the connection that is taken; empty: none.
  std::string take(const std::string& key) {
    const auto taken = kept.take(key);
    return taken.channel ? static_cast<const FakeChannel&>(*taken.channel).name() : "";
  }
};

}  // namespace

TEST_CASE("KeptConnections: the last connection to a server is taken first, and each once") {
  Bench bench;
  bench.keep("a", "1");
  bench.keep("a", "2");
  bench.keep("b", "3");
  CHECK(bench.take("c").empty());
  CHECK(bench.take("a") == "2");
  CHECK(bench.take("a") == "1");
  CHECK(bench.take("a").empty());
  CHECK(bench.take("b") == "3");
}

TEST_CASE("KeptConnections: past a limit the oldest is closed, of its server or of all") {
  Bench bench;
  bench.keep("a", "1");
  bench.keep("a", "2");
  bench.keep("a", "3");
  bench.keep("b", "4");
  bench.keep("c", "5");  // the fourth of three: "2" goes
  CHECK(bench.take("a") == "3");
  CHECK(bench.take("a").empty());
  CHECK(bench.take("b") == "4");
  CHECK(bench.take("c") == "5");
}

TEST_CASE(
    "KeptConnections: one that its server has closed, that waited too long or is too old is not taken") {
  Bench bench;
  bench.keep("a", "1");
  bench.keep("a", "2", false);
  CHECK(bench.take("a") == "1");
  bench.keep("a", "3");
  bench.now += seconds(15);
  CHECK(bench.take("a").empty());
  bench.keep("a", "4");
  for (int i = 0; i < 5; ++i) {
    bench.now += seconds(11);
    auto taken = bench.kept.take("a");
    REQUIRE(taken.channel);
    bench.kept.keep("a", std::move(taken));
  }
  bench.now += seconds(11);  // it has been in use all the time, but was opened 66 seconds ago
  CHECK(bench.take("a").empty());
}

}  // namespace kept_connections_test

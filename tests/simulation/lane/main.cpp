// baton_lane_simulation: the writing connection of a node (store/postgres/lane/writer.h) on a simulated
// server. Runs seeds, and reports those that break a promise:
// - a confirmed group is there, once, and whole; after the database has lost one, no group is confirmed any
//   more;
// - a group that was refused or rolled back is not there;
// - a group of unknown outcome is there as a whole or not at all; if it is there, no later group is
//   confirmed;
// - the writer ends only if another node has taken over, the database has lost confirmed groups, or a group
//   that was reported as unknown is there.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/threads.h"
#include "server.h"
#include "store/postgres/lane/writer.h"

namespace baton::simulation {
namespace {

using base::ErrorCode;
using store::postgres::Address;
using store::postgres::SchemaLock;
using store::postgres::Writer;

constexpr std::int64_t kNode = 7;
constexpr int kGroups = 25;

constexpr char kMark[] = "INSERT INTO marks (mark_key) VALUES (?1)";
constexpr char kCount[] =
    "/* guarded */ UPDATE counters SET version = ?1 WHERE counter_key = ?2 AND counters.version = ?3";
constexpr char kLook[] = "SELECT version FROM counters WHERE counter_key = ?1";

class Run {
 public:
  Run(std::uint64_t seed, bool is_told) : server_(seed, seed % 3 == 0), random_(seed + 1) {
    server_.is_told = is_told;
    the_server() = &server_;
    base::SteadyTime::passed() = {};
  }

  void go() {
    Address address;
    std::unique_ptr<Writer> writer;
    while (!writer) {
      try {
        writer =
            std::make_unique<Writer>(address, SchemaLock::shared, [this](const std::string&) { ++ends_; });
        writer->link().ask("SELECT pg_try_advisory_lock_shared(1, 2)");
        server_.enter(kNode);
        writer->adopt({kNode, 0});
      } catch (const store::sql::Failure&) {
        writer.reset();
      }
    }
    const bool dies = random_.chance(200);
    for (int i = 0; i < kGroups && writer->lost().empty(); ++i) {
      if (dies && i == kGroups / 2) server_.declare_dead(kNode);
      group(*writer);
    }
    const std::string why = writer->lost();
    writer.reset();
    server_.calm();
    check_all();
    if (!why.empty() && ends_ != 1) throw Violation("its end was told " + std::to_string(ends_) + " times");
    const bool may_end = server_.is_declared_dead() || server_.has_lost_commits() || is_unknown_there_;
    if (!why.empty() && !may_end) throw Violation("it has ended without a reason: " + why);
  }

 private:
  void group(Writer& writer) {
    std::set<std::int64_t> marks;
    bool is_open = false;
    try {
      writer.begin();
      is_open = true;
      fill(writer, marks);
      if (random_.chance(100)) {
        writer.rollback();
        return refused_.push_back(std::move(marks));
      }
      writer.commit();
      server_.say("the group is confirmed");
      confirm(std::move(marks));
    } catch (const store::sql::Failure& failure) {
      server_.say(std::string("the group fails: ") + failure.what());
      writer.rollback();
      if (failure.code() == ErrorCode::raced) return refused_.push_back(std::move(marks));
      if (failure.code() != ErrorCode::unavailable)
        throw Violation(std::string("a group has failed otherwise: ") + failure.what());
      if (is_open) unknown_.push_back(std::move(marks));
    }
  }

  void fill(Writer& writer, std::set<std::int64_t>& marks) {
    for (std::int64_t left = random_.between(1, 4); left > 0; --left) {
      const std::int64_t what = marks.empty() ? 0 : random_.below(10);
      if (what < 7) {
        const std::int64_t mark = ++last_mark_;
        marks.insert(mark);
        writer.run(kMark, mark);
      } else if (what == 7) {
        const std::int64_t mark = -random_.between(1, 40);  // another node may have inserted it
        if (!tried_.insert(mark).second) continue;
        writer.run(kMark, mark);
      } else {
        const std::int64_t key = random_.below(3);
        if (std::exchange(counts_in_, groups_) == groups_) continue;
        std::int64_t version = 0;
        {
          auto query = writer.query(kLook, key);
          if (query.step()) version = query.integer(0);
        }
        writer.run(kCount, version + 1, key, version);
      }
    }
    ++groups_;
  }

  void confirm(std::set<std::int64_t> marks) {
    confirmed_.push_back(std::move(marks));
    // Allowed if the database has lost the record that the node is dead.
    if (server_.is_declared_dead() && !server_.has_lost_commits())
      throw Violation("a dead node's group was confirmed");
    // A group must not be confirmed after a hole. Not checked if this group was lost while its confirmation
    // was under way.
    const bool is_there = count(confirmed_.back()) > 0;
    for (const auto& group : confirmed_) {
      if (is_there && count(group) != group.size())
        throw Violation("a group is confirmed, and an earlier one is not there");
    }
    for (const auto& group : unknown_) {
      if (count(group) != 0) throw Violation("a group is confirmed after one that it does not know of");
    }
  }

  std::size_t count(const std::set<std::int64_t>& marks) const {
    std::size_t there = 0;
    for (const std::int64_t mark : marks) there += server_.tables().marks.count(mark);
    return there;
  }

  void check_all() {
    for (const auto& group : refused_) {
      if (count(group) != 0) throw Violation("a refused group is there");
    }
    for (const auto& group : unknown_) {
      const std::size_t there = count(group);
      if (there != 0 && there != group.size()) throw Violation("half of a group is there");
      is_unknown_there_ = is_unknown_there_ || there != 0;
    }
    for (const auto& group : confirmed_) {
      const std::size_t there = count(group);
      if (there != 0 && there != group.size()) throw Violation("half of a confirmed group is there");
      if (there == 0 && !group.empty() && !server_.has_lost_commits())
        throw Violation("a confirmed group is not there");
    }
  }

  Server server_;
  Random random_;
  int ends_ = 0;
  std::int64_t last_mark_ = 0;
  int groups_ = 0, counts_in_ = -1;  // counts_in_: the last group that changed a counter
  std::set<std::int64_t> tried_;
  std::vector<std::set<std::int64_t>> confirmed_, refused_, unknown_;
  bool is_unknown_there_ = false;
};

}  // namespace
}  // namespace baton::simulation

// Options: [--first SEED] [--seeds N], or --replay SEED, which prints what happens.
int main(int count, char** words) {
  std::int64_t first = 1, seeds = 1'000;
  bool is_told = false;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string option = words[i];
    is_told = option == "--replay";
    (option == "--seeds" ? seeds : first) = std::atoll(words[i + 1]);
    if (is_told) seeds = 1;
  }
  std::int64_t failed = 0;
  for (std::int64_t seed = first; seed < first + seeds; ++seed) {
    try {
      baton::simulation::Run(static_cast<std::uint64_t>(seed), is_told).go();
    } catch (const baton::simulation::Violation& violation) {
      if (++failed <= 10) std::printf("seed %lld: %s\n", static_cast<long long>(seed), violation.what());
    }
  }
  std::printf("%lld passed, %lld failed\n", static_cast<long long>(seeds - failed),
              static_cast<long long>(failed));
  return failed == 0 ? 0 : 1;
}

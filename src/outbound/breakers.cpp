#include "outbound/breakers.h"

#include <algorithm>
#include <utility>

#include "base/id.h"
#include "outbound/outcome.h"

namespace baton::outbound {
namespace {

using std::chrono::milliseconds;

Breakers::Options with_defaults(Breakers::Options options) {
  if (!options.now) options.now = [] { return std::chrono::steady_clock::now(); };
  if (!options.random)
    options.random = [] { return static_cast<double>(base::random_number() % 1'000) / 999; };
  return options;
}

}  // namespace

Breakers::Breakers(Options options) : options_(with_defaults(std::move(options))) {}

milliseconds Breakers::admit(const std::string& origin, bool anyway) {
  const Time now = options_.now();
  return origins_.with([&](Origins& origins) {
    Origin& at = find(origins, origin, now);
    at.used = now;
    const Time until = std::max(at.open_until, at.probe_until);
    const bool is_early = at.status.state != State::closed && now < until;
    if (is_early && !anyway) {
      ++at.status.held;
      if (now >= at.open_until) return options_.probe_wait;
      return std::chrono::ceil<milliseconds>(at.open_until - now);
    }
    if (at.status.state != State::closed && !is_early) {
      at.status.state = State::half_open;
      at.probe_until = now + options_.probe_max;
    }
    ++at.status.calls;
    ++at.under_way;
    return milliseconds(0);
  });
}

void Breakers::report(const std::string& origin, Went went) {
  const Time now = options_.now();
  origins_.with([&](Origins& origins) {
    const auto found = origins.find(origin);
    if (found == origins.end()) return;
    Origin& at = found->second;
    at.under_way = std::max(0, at.under_way - 1);
    if (at.status.state == State::half_open) at.probe_until = {};
    if (went == Went::unknown) return;
    if (went == Went::answered) {
      at.failures_in_a_row = 0;
      at.open_for = milliseconds(0);
      at.open_until = {};
      at.status.state = State::closed;
      return;
    }
    ++at.status.failures;
    ++at.failures_in_a_row;
    // A failure does not reopen an open breaker: the call was sent before it opened, or despite it.
    const bool opens = at.status.state == State::half_open ||
                       (at.status.state == State::closed && at.failures_in_a_row >= options_.failures_max);
    if (opens) open(at, now);
  });
}

void Breakers::open(Origin& origin, Time now) const {
  const bool is_first = origin.open_for.count() == 0;
  origin.open_for = is_first ? options_.open_first : std::min(origin.open_for * 2, options_.open_max);
  const double share = 0.5 + options_.random() / 2;
  origin.open_until =
      now + milliseconds(static_cast<std::int64_t>(static_cast<double>(origin.open_for.count()) * share));
  origin.status.state = State::open;
  ++origin.status.opened;
}

// Finds or adds an origin. A new one replaces the one unused for longest, but never one with a call in
// flight. If all have calls in flight, the limit is exceeded.
Breakers::Origin& Breakers::find(Origins& origins, const std::string& name, Time now) const {
  if (const auto known = origins.find(name); known != origins.end()) return known->second;
  if (origins.size() >= options_.origins_max) {
    auto oldest = origins.end();
    for (auto one = origins.begin(); one != origins.end(); ++one) {
      if (one->second.under_way > 0) continue;
      if (oldest == origins.end() || one->second.used < oldest->second.used) oldest = one;
    }
    if (oldest != origins.end()) origins.erase(oldest);
  }
  Origin& made = origins[name];
  made.status.origin = name;
  made.used = now;
  return made;
}

std::vector<Breakers::Status> Breakers::all() const {
  return origins_.with([](const Origins& origins) {
    std::vector<Status> all;
    for (const auto& [name, origin] : origins) all.push_back(origin.status);
    return all;
  });
}

void Breakers::add_to(base::MetricsText& out) const {
  using Type = base::MetricsText::Type;
  const std::vector<Status> origins = all();
  const auto family = [&](std::string_view name, Type type, std::string_view help, auto&& value) {
    out.family(name, type, help);
    for (const Status& one : origins) {
      out.value({{"origin", one.origin}}, static_cast<std::int64_t>(value(one)));
    }
  };
  family("baton_outbound_breaker_state", Type::gauge,
         "State of the circuit breaker for each server called: 0 closed, 1 half open, 2 open.",
         [](const Status& one) { return static_cast<int>(one.state); });
  family("baton_outbound_failures_total", Type::counter,
         "Calls that failed to connect or got no valid answer.",
         [](const Status& one) { return one.failures; });
  family("baton_outbound_held_total", Type::counter, "Calls held back by an open circuit breaker.",
         [](const Status& one) { return one.held; });
  family("baton_outbound_opened_total", Type::counter, "Number of times the circuit breaker opened.",
         [](const Status& one) { return one.opened; });
}

Breakers::Went Breakers::went(int status, bool has_retry_after) {
  // 503 without a time may be the server's or a proxy's word for a server that is down.
  if (status == 503) return has_retry_after ? Went::unknown : Went::failed;
  // 408 says that the request came too slowly, 501 what the server cannot do.
  const bool is_well = status == 408 || status == 501;
  return outcome_of(status) == Outcome::lost && !is_well ? Went::failed : Went::answered;
}

}  // namespace baton::outbound

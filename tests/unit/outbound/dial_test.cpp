#include "outbound/dial.h"

#include <doctest/doctest.h>
#include <sys/eventfd.h>

#include <string>

#include "support/patience.h"
#include "unit/outbound/listener.h"

namespace dial_test {

using baton::base::ErrorCode;
using baton::base::UniqueFd;
using baton::outbound::dial;
using baton::outbound::HttpRequest;
using baton::outbound::parse_url;
using baton::outbound::WaitLimits;
using baton::test::Listener;
using baton::test::patience;
using std::chrono::milliseconds;

TEST_CASE("dial: an address that does not answer is left at the deadline, at a stop or after its time") {
  Listener hanging("127.0.0.2", 0, 0);
  hanging.hang();
  for (const char* scheme : {"http", "https"}) {
    const auto url = *parse_url(scheme + ("://127.0.0.2:" + std::to_string(hanging.port())));
    HttpRequest request;
    request.policy.allow_private = true;
    request.connect_timeout = 10 * patience();
    WaitLimits limits;
    limits.deadline = std::chrono::steady_clock::now() + milliseconds(20);
    CHECK(dial(request, url, limits).error().code == ErrorCode::deadline_exceeded);
    const UniqueFd stop(eventfd(1, EFD_CLOEXEC));
    limits.deadline.reset();
    limits.stop_fd = stop.get();
    CHECK(dial(request, url, limits).error().for_caller == "the request was canceled");
    request.connect_timeout = milliseconds(20);
    limits.stop_fd = -1;
    CHECK(dial(request, url, limits).error().code == ErrorCode::deadline_exceeded);
  }
}

TEST_CASE("dial: a server that accepts and says nothing in the handshake is left after the idle time") {
  const Listener silent("127.0.0.1", 0, 16);
  HttpRequest request;
  request.policy.allow_private = true;
  WaitLimits limits;
  limits.idle = milliseconds(20);
  const auto url = *parse_url("https://127.0.0.1:" + std::to_string(silent.port()));
  CHECK(dial(request, url, limits).error().code == ErrorCode::deadline_exceeded);
  CHECK(dial(request, *parse_url("http" + origin_of(url).substr(5)), limits).has_value());
}

}  // namespace dial_test

// The two transports of an HttpRequest, for tests of what they share:
//   TEST_CASE_TEMPLATE("...", Transport, Blocking, OverLoop) { Transport::request(request) ... }
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "base/event_loop.h"
#include "outbound/call.h"
#include "outbound/http_client.h"

namespace baton::test {

using OnData = std::function<bool(std::string_view)>;

// cpp-httplib, on the calling thread.
struct Blocking {
  static base::Result<outbound::HttpAnswer> request(const outbound::HttpRequest& request) {
    return outbound::http_request(request);
  }
  static base::Result<outbound::HttpAnswer> stream(const outbound::HttpRequest& request,
                                                   std::chrono::milliseconds idle, const OnData& on_data) {
    return outbound::http_stream(request, idle, on_data);
  }
};

// A Call, on a loop of the calling thread.
struct OverLoop {
  static base::Result<outbound::HttpAnswer> request(const outbound::HttpRequest& request) {
    return stream(request, std::chrono::milliseconds(0), {});
  }
  static base::Result<outbound::HttpAnswer> stream(const outbound::HttpRequest& request,
                                                   std::chrono::milliseconds idle, const OnData& on_data) {
    base::EventLoop loop("call");
    std::optional<base::Result<outbound::HttpAnswer>> ended;
    outbound::Call call(loop, std::make_shared<const outbound::HttpRequest>(request), idle,
                        {on_data, [&](auto result) { ended = std::move(result); }});
    call.start();
    loop.run_here([&] { return ended.has_value(); });
    return std::move(*ended);
  }
};

}  // namespace baton::test

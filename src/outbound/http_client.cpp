#include "outbound/http_client.h"

#include <poll.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/event_loop.h"
#include "base/text.h"
#include "outbound/call.h"

namespace baton::outbound {
namespace {

// Makes the call on a loop of the calling thread.
base::Result<HttpAnswer> wait_for(const HttpRequest& request, std::chrono::milliseconds idle,
                                  std::function<bool(std::string_view)> on_data) {
  base::EventLoop loop("call");
  base::Result<HttpAnswer> result;
  bool is_over = false;
  // The request is the caller's, who outlives the call.
  const std::shared_ptr<const HttpRequest> borrowed(std::shared_ptr<const HttpRequest>(), &request);
  Call call(loop, borrowed, idle, {std::move(on_data), [&](base::Result<HttpAnswer> ended) {
                                     result = std::move(ended);
                                     is_over = true;
                                   }});
  call.start();
  loop.run_here([&] { return is_over; });
  return result;
}

}  // namespace

std::string header_of(const HttpAnswer& answer, std::string_view name) {
  const auto found = std::ranges::find_if(
      answer.headers, [&](const auto& header) { return base::same_word(header.first, name); });
  return found == answer.headers.end() ? std::string() : found->second;
}

bool is_stopped(int stop_fd) {
  pollfd stop{stop_fd, POLLIN, 0};
  return stop_fd >= 0 && ::poll(&stop, 1, 0) > 0;
}

std::chrono::seconds retry_after(const HttpAnswer& answer) {
  constexpr std::int64_t kMost = 3'600;
  const auto seconds = base::number_in<std::int64_t>(header_of(answer, "Retry-After")).value_or(0);
  return std::chrono::seconds(std::clamp<std::int64_t>(seconds, 0, kMost));
}

base::Result<HttpAnswer> http_request(const HttpRequest& request) {
  return wait_for(request, std::chrono::milliseconds(0), {});
}

base::Result<HttpAnswer> http_stream(const HttpRequest& request, std::chrono::milliseconds idle_timeout,
                                     const std::function<bool(std::string_view)>& on_data) {
  return wait_for(request, idle_timeout, on_data);
}

}  // namespace baton::outbound

// Endpoint: an A2A 0.1 agent somewhere, and the calls that a client makes of it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "net/http_client.h"
#include "task/json.h"

namespace baton::cli {

// Why a call has no result.
struct CallError {
  std::string text;
  std::int64_t rpc_code = 0;  // what the protocol answered; 0: it did not
  bool lost = false;          // no answer, or none yet: it may go well another time
};

// One connection of a stream.
struct StreamRequest {
  std::string body;
  std::optional<std::int64_t> after;  // Last-Event-ID
};
struct StreamEnd {
  std::optional<CallError> error;  // absent: the server, or `on_event`, ended it
  std::int64_t last_number = 0;    // of its blocks, also of those without an event
  bool opened = false;             // the server said something on it
};
// Gets an event's number (0: none) and the JSON of its result; answers whether to go on.
using OnStreamEvent = std::function<bool(std::int64_t number, std::string_view result)>;

class Endpoint {
 public:
  // `stop_fd`: see net::HttpRequest.
  Endpoint(std::string url, std::string token, int stop_fd = -1)
      : url_(std::move(url)), token_(std::move(token)), stop_fd_(stop_fd) {}

  // The result of one JSON-RPC request.
  tl::expected<task::Json, CallError> call(std::string body, std::chrono::milliseconds timeout) const;

  // Blocks until the stream ends.
  StreamEnd stream(const StreamRequest& request, const OnStreamEvent& on_event) const;

  // GETs `path` under the endpoint's URL.
  tl::expected<std::string, CallError> get(std::string_view path) const;

  const std::string& url() const { return url_; }

 private:
  net::HttpRequest request(std::string body) const;

  const std::string url_;
  const std::string token_;
  const int stop_fd_;
};

// `url`, or the agent's place under it.
std::string endpoint_url(std::string url, std::string_view agent);

}  // namespace baton::cli

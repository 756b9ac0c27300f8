// TokenCall: one HTTP request over an event loop, with the credentials of its caller. A token that is refused
// (401) is renewed once.
//
// Threads: the loop's. Destroying it cancels the request, like a Call.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "outbound/credentials.h"
#include "outbound/http_client.h"

namespace baton::outbound {

class TokenCall {
 public:
  // What calls share.
  struct Services {
    base::EventLoop& loop;
    base::WorkerPool& blocking;  // reads secrets from files
  };
  struct End {
    base::Result<HttpAnswer> answer;          // not set if `no_token` is
    std::optional<TokenError> no_token = {};  // there is no token, and nothing was sent
    bool was_connected = false;               // false: nothing was sent
    bool has_begun = false;                   // a piece of the answer was read
    std::chrono::milliseconds held{0};   // the breaker holds the request back for so long; 0: it does not
    std::string token = {};              // the one that was sent; never to be shown
    std::optional<CallerAsk> asks = {};  // it may succeed once the caller has done this
  };
  struct Events {
    std::function<bool(std::string_view)> on_data;  // as that of a Call
    std::function<void(End)> on_end;                // called once; may destroy the TokenCall
  };

  // `request`: without the token; this sets its mask, on_connected and on_held. `credentials`: null if none
  // are to be sent. `key_header`: the one that has the token; empty: Authorization, as a bearer token.
  // `idle`: as that of a Call.
  TokenCall(const Services& services, HttpRequest request, std::shared_ptr<Credentials> credentials,
            std::string key_header, std::chrono::milliseconds idle, Events events);
  ~TokenCall();
  TokenCall(const TokenCall&) = delete;
  TokenCall& operator=(const TokenCall&) = delete;

  // These are like those of Call.
  void start();
  void pause();
  void resume();

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

}  // namespace baton::outbound

// A POST to a server elsewhere, with credentials, and its answer in pieces (token_call.h).
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "outbound/credentials.h"
#include "outbound/http_client.h"
#include "outbound/rules.h"
#include "outbound/server.h"
#include "outbound/token_call.h"

namespace baton::outbound {

struct Post {
  std::string url;
  std::string body;                                               // JSON
  std::string accept;                                             // media types
  std::chrono::milliseconds time_max{};                           // for all of it
  bool despite_breaker = false;                                   // see HttpRequest
  std::string trace = {};                                         // the header `traceparent`; empty: none
  Intake* intake = nullptr;                                       // see http_stream
  std::function<std::chrono::milliseconds()> patience = {};       // see HttpRequest
  std::vector<std::pair<std::string, std::string>> headers = {};  // further ones
};

// The result of a Post.
struct Posted {
  // no_token: there is no token to send. unreachable: the request was not sent. lost: no whole answer
  // came. refused: the answer has a status other than 2xx. forbidden: Baton's own rules stopped it.
  // answered: the answer was read completely, or until `on_data` stopped it.
  enum class Kind { no_token, unreachable, lost, refused, forbidden, answered };
  Kind kind = Kind::answered;
  std::string text;                          // why, unless `answered` or `refused`
  bool may_come = true;                      // no_token: another try may have one
  HttpAnswer answer;                         // refused, answered
  bool has_begun = false;                    // a part of the answer was read
  bool held = false;                         // unreachable or no_token: held by the origin's breaker
  std::chrono::milliseconds retry_after{0};  // the delay that the breaker or the server asks for; 0: none
  std::string token;                         // the token that was sent; never to be shown
  std::optional<CallerAsk> asks = {};  // no_token or refused: it may succeed once the caller has done this
};

// A Post over an event loop. Threads: the loop's. Destroying it cancels the request, like a Call.
class PostCall {
 public:
  using Services = TokenCall::Services;
  // `rules` and the intake must outlive this. `on_end` is called once and may destroy this.
  PostCall(const Services& services, const Server& server, const Rules& rules,
           std::shared_ptr<Credentials> credentials, Post post, std::function<bool(std::string_view)> on_data,
           std::function<void(Posted)> on_end);

  // These are like those of Call.
  void start() { call_.start(); }
  void pause() { call_.pause(); }
  void resume() { call_.resume(); }

 private:
  TokenCall call_;
};

}  // namespace baton::outbound

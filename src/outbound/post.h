// A POST to a server elsewhere, with credentials, and its answer in pieces. A token that is refused (401) is
// renewed once.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/event_loop.h"
#include "base/worker_pool.h"
#include "outbound/credentials.h"
#include "outbound/http_client.h"
#include "outbound/rules.h"
#include "outbound/server.h"

namespace baton::outbound {

struct Post {
  std::string url;
  std::string body;                      // JSON
  std::string accept;                    // media types
  std::chrono::milliseconds time_max{};  // for all of it
  int stop_fd = -1;                      // these two: see HttpRequest
  bool despite_breaker = false;
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
};

// Blocks. `on_data`: see http_stream.
Posted send_post(const Server& server, const Rules& rules, Credentials& credentials, const Post& post,
                 const std::function<bool(std::string_view)>& on_data);

// A Post over an event loop. Threads: the loop's. Destroying it cancels the request, like a Call.
class PostCall {
 public:
  // What calls of one server share.
  struct Services {
    base::EventLoop& loop;
    base::WorkerPool& blocking;  // reads secrets from files
  };
  // All but the credentials must outlive this. `on_end` is called once and may destroy this.
  PostCall(const Services& services, const Server& server, const Rules& rules,
           std::shared_ptr<Credentials> credentials, Post post, std::function<bool(std::string_view)> on_data,
           std::function<void(Posted)> on_end);
  ~PostCall();
  PostCall(const PostCall&) = delete;
  PostCall& operator=(const PostCall&) = delete;

  // These are like those of Call.
  void start();
  void pause();
  void resume();

 private:
  class Running;
  const std::shared_ptr<Running> running_;  // shared with its callbacks while one of them runs
};

}  // namespace baton::outbound

// Crowd: many connections to one server, each with one request in flight, on one thread with epoll.
//
// Every request has the same text, except that "@ID@" is replaced by a new id each time.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "client/response_reader.h"

namespace baton::bench {

using Clock = std::chrono::steady_clock;

struct Target {
  std::string host;
  int port = 0;
  std::string path;
  std::vector<std::string> headers;
  std::string body;  // empty: a GET
};

class Crowd {
 public:
  struct Member {
    int fd = -1;
    bool connecting = false, awaits_room = false;
    std::string unsent;
    ResponseReader reader;
    Clock::time_point began, last;  // the times of the request and of the last received bytes
    int events_seen = 0;            // events counted by earlier calls of `on_news`
    bool failed = false;
  };
  // Called when a member's response has grown. It may call `again` for the next request.
  using OnNews = std::function<void(Member&)>;

  Crowd(Target target, std::size_t size);
  ~Crowd();
  Crowd(const Crowd&) = delete;
  Crowd& operator=(const Crowd&) = delete;

  // Opens all connections and sends a request on each, so many at a time that no backlog overflows.
  void open(const OnNews& on_news);
  // Runs the event loop until `until`, or until `done` returns true.
  void run(Clock::time_point until, const OnNews& on_news, const std::function<bool()>& done);
  // Sends the next request of a member, on a new connection if its old one is gone.
  void again(Member& member);

  std::vector<Member>& members() { return members_; }
  std::size_t failures() const { return failures_; }
  // The text of the first failure.
  const std::string& why() const { return why_; }

 private:
  void connect(Member& member);
  void write(Member& member);
  void read(Member& member, const OnNews& on_news);
  void take(Member& member, std::string_view bytes, const OnNews& on_news);
  void watch(Member& member, int operation);
  void fail(Member& member, const std::string& why);
  std::string request();

  const Target target_;
  std::string head_;
  std::vector<Member> members_;
  int epoll_ = -1;
  std::size_t opening_ = 0, failures_ = 0;
  std::uint64_t next_id_ = 0;
  std::string id_begin_;
  std::string why_;
  std::vector<char> buffer_;
};

}  // namespace baton::bench

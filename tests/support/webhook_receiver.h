// WebhookReceiver: an HTTP server on loopback that records requests and sends prepared answers.
// Threads: any.
#pragma once

#include <httplib.h>

#include <chrono>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace baton::test {

class WebhookReceiver {
 public:
  struct Received {
    std::string path;
    std::string body;
    std::map<std::string, std::string> headers;  // names in lower case
  };
  struct Answer {
    int status = 200;
    std::map<std::string, std::string> headers;
  };

  WebhookReceiver();
  ~WebhookReceiver();
  WebhookReceiver(const WebhookReceiver&) = delete;
  WebhookReceiver& operator=(const WebhookReceiver&) = delete;

  std::string url(const std::string& path = "/hook") const;

  // The next requests get these answers, in order. All later ones get 200.
  void answer_with(std::vector<Answer> answers);
  // Holds back the answers of all requests until `release`.
  void hold();
  void release();

  // Waits until `count` requests have arrived; false on timeout.
  bool wait_for(std::size_t count);
  std::vector<Received> received() const;
  // The largest number of requests that waited for their answers at the same time.
  int held_max() const;

 private:
  void handle(const httplib::Request& request, httplib::Response& response);

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Received> received_;
  std::deque<Answer> answers_;
  bool holding_ = false;
  int held_ = 0;
  int held_max_ = 0;

  httplib::Server server_;
  int port_ = 0;
  std::thread thread_;
};

}  // namespace baton::test

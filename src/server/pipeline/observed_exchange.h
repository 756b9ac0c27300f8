// ObservedExchange: the Exchange that the pipeline passes on. It adds to each answer the headers that let a
// browser page of the request's origin read it, and counts and notes the answer.
//
// Threads: as http::Exchange.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/threads.h"
#include "http/http_server.h"
#include "server/shared/request_note.h"
#include "server/shared/services.h"

namespace baton::server {

class ObservedExchange final : public http::Exchange {
  using Headers = std::vector<std::pair<std::string, std::string>>;

 public:
  ObservedExchange(const Services& services, std::shared_ptr<http::Exchange> exchange);
  ~ObservedExchange() override;

  // Adds no headers for browser pages, because no page may read the answer, or it already has them. Call it
  // before the answer.
  void leave_headers() { adds_cors_ = false; }
  // The request has reached this agent, in this protocol.
  void reached(const agents::Agent& agent, Protocol protocol);
  // Null: requests are not recorded.
  const RequestNotePtr& note() const { return note_; }

  const http::Request& request() const override { return exchange_->request(); }
  std::string take_body() override { return exchange_->take_body(); }
  void keep_only(std::initializer_list<std::string_view> headers) override { exchange_->keep_only(headers); }
  void block(std::function<void()> work) override { exchange_->block(std::move(work)); }
  void on_loop(std::function<void()> work) override { exchange_->on_loop(std::move(work)); }
  void reply(http::Reply reply) override;
  void use_reserve() override { exchange_->use_reserve(); }
  void open_stream(Headers headers, http::StreamOpener opener) override;
  void reply_stream(Headers headers, std::string events, std::shared_ptr<const void> held) override;

 private:
  Headers with_cors(Headers headers) const;
  // `bytes`: the size of the body; 0 for a stream that is still open, or no answer.
  void count(int status, std::size_t bytes);

  const Services& services_;
  const std::shared_ptr<http::Exchange> exchange_;
  const base::SteadyTime::time_point begin_ = base::SteadyTime::now();
  RequestNotePtr note_;
  const agents::Agent* agent_ = nullptr;
  Protocol protocol_ = Protocol::other;
  bool adds_cors_ = true;
  std::atomic<bool> counted_{false};
};

}  // namespace baton::server

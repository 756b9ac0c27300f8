// RestExchange: a gRPC call as the routes see it.
//
// Threads: as http::Exchange.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "grpc/call.h"
#include "server/http/http_server.h"

namespace baton::grpc {

class RestExchange final : public server::http::Exchange {
 public:
  RestExchange(std::shared_ptr<Call> call, server::http::Request request)
      : call_(std::move(call)), request_(std::move(request)) {}
  ~RestExchange() override {
    if (!answered_) call_->fail({base::ErrorCode::internal, "the request was not answered", {}});
  }
  RestExchange(const RestExchange&) = delete;
  RestExchange& operator=(const RestExchange&) = delete;

  const server::http::Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void reply(server::http::Reply reply) override {
    if (!answered_.exchange(true)) call_->answer(reply);
  }
  void open_stream(Headers headers, server::http::StreamOpener opener) override {
    if (!answered_.exchange(true)) call_->open(headers, std::move(opener));
  }

 private:
  const std::shared_ptr<Call> call_;
  server::http::Request request_;
  std::atomic<bool> answered_{false};
};

}  // namespace baton::grpc

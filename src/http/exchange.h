// ConnectionExchange: the Exchange of one request on one connection.
//
// Answering claims the connection's output (output_owner.h), writes directly on the calling thread, and gives
// the output back. The loop is notified only if it has something left to do.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "http/server_core.h"

namespace baton::http {

class ConnectionExchange final : public Exchange, public std::enable_shared_from_this<ConnectionExchange> {
 public:
  ConnectionExchange(std::shared_ptr<ServerCore> core, std::shared_ptr<Connection> connection,
                     Request request);
  ~ConnectionExchange() override;

  // Calls the handler, on a worker or on the loop's thread. Every failure is answered.
  static void serve(const std::shared_ptr<ConnectionExchange>& exchange);
  // Calls `serve` on a worker.
  static void serve_later(const std::shared_ptr<ConnectionExchange>& exchange);
  // Answers with an error from the server itself.
  void refuse(int status, std::string_view reason);

  const Request& request() const override { return request_; }
  std::string take_body() override { return std::exchange(request_.body, {}); }
  void keep_only(std::initializer_list<std::string_view> headers) override;
  void block(std::function<void()> work) override;
  void on_loop(std::function<void()> work) override;
  void reply(Reply reply) override;
  void use_reserve() override { uses_reserve_ = true; }
  void open_stream(HeaderList headers, StreamOpener opener) override;
  void reply_stream(HeaderList headers, std::string events, std::shared_ptr<const void> held) override;

 private:
  // Calls `make_reply` only if the connection still waits for an answer.
  template <class MakeReply>
  void answer(MakeReply&& make_reply);
  void give_back();
  void refuse_waiting();
  // Runs `work`, and answers with an error if it throws. Does nothing once the server has stopped.
  template <class Work>
  void answering(const Work& work);

  const std::shared_ptr<ServerCore> core_;        // shared with the server and the other exchanges
  const std::shared_ptr<Connection> connection_;  // shared with the loop
  Request request_;
  bool uses_reserve_ = false;
  std::atomic<bool> answered_{false};
};

}  // namespace baton::http

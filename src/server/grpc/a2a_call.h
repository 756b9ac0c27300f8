// A2aCall: a gRPC call as the operations see it. Answers and the items of streams are written as messages.
//
// Threads: as server::a2a::Call.
#pragma once

#include <atomic>
#include <memory>
#include <string>

#include "server/a2a/call.h"
#include "server/grpc/call.h"

namespace baton::server::grpc {

class A2aCall final : public server::a2a::Call {
 public:
  A2aCall(std::shared_ptr<grpc::Call> way_back, server::Admitted by, http::Request head, const Shared& shared,
          const protocol::grpc::Method& method);
  ~A2aCall() override;

  // Reads the request from the message's bytes and calls the operation.
  static void serve(const std::shared_ptr<A2aCall>& call, const std::string& bytes);

  void answer(server::a2a::Answer answer, server::AnswerBudget::SharePtr share) override;
  void answer_stream(std::string frames) override;
  server::a2a::ItemWriterPtr items() const override;
  const http::Request& head() const override { return head_; }

 private:
  void do_refuse(const base::Error& error, const task::TaskId& named) override;
  void do_open(http::StreamOpener opener) override;
  base::Result<std::string> bytes_of_answer(const server::a2a::Answer& answer) const;
  bool files_may_be_base64() const;

  const std::shared_ptr<grpc::Call> way_back_;
  const http::Request head_;
  const Shared& shared_;
  const protocol::grpc::Method& method_;
  std::atomic<bool> answered_{false};
};

}  // namespace baton::server::grpc

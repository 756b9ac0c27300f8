#include <google/protobuf/any.pb.h>
#include <google/protobuf/duration.pb.h>
#include <spdlog/spdlog.h>
#include <atomic>
#include <memory>
#include <string>

#include "server/a2a/call.h"
#include "server/grpc/base64_files.h"
#include "server/grpc/call.h"
#include "server/grpc/call_status.h"
#include "server/grpc/read_requests.h"
#include "server/grpc/write_answers.h"

namespace baton::server::grpc {
namespace {

constexpr int kOk = 200, kInternal = 500;

using base::ErrorCode;
using server::a2a::Binding;
using task::ProtocolVersion;

const protocol::a2a::Rules& rules_of(const protocol::grpc::Method& method) {
  return method.version == ProtocolVersion::v1_0 ? protocol::a2a::v1_0() : protocol::a2a::v0_3_rest();
}

class MessageItems final : public server::a2a::ItemWriter {
 public:
  MessageItems(const Shared& shared, const protocol::grpc::Method& method, bool files_are_text)
      : shared_(shared), method_(method), files_are_text_(files_are_text) {}

  void task(std::string& out, const task::Task& task, bool) const override {
    const auto message = shared_.schema.make(method_.full(method_.response));
    write_item(method_.version, Writing(*message), task, files_are_text_);
    message->AppendToString(&out);
  }
  void message(std::string& out, const task::Task& task) const override { this->task(out, task, true); }
  bool event(std::string& out, const protocol::a2a::TaskNames& names, const task::Event& event,
             const protocol::a2a::InStream& place) const override {
    const auto message = shared_.schema.make(method_.full(method_.response));
    if (!write_event(method_.version, Writing(*message), names, event, place, files_are_text_)) return false;
    message->AppendToString(&out);
    return true;
  }
  void frame(std::string& out, std::int64_t, std::string& item) const override {
    append_frame(out, FrameKind::message, item);
  }
  void error_frame(std::string& out, const base::Error& error, const task::TaskId& named) const override {
    append_frame(out, FrameKind::failure, shared_.status_bytes(status_of(method_.version, error, named)));
  }

 private:
  const Shared& shared_;  // outlives every stream
  const protocol::grpc::Method& method_;
  const bool files_are_text_;
};

// A2aCall: a gRPC call as the operations see it. Answers and the items of streams are written as messages.
//
// Threads: as server::a2a::Call.
class A2aCall final : public server::a2a::Call {
 public:
  A2aCall(std::shared_ptr<grpc::GrpcCall> way_back, server::Admitted by, http::Request head,
          const Shared& shared, const protocol::grpc::Method& method)
      : server::a2a::Call(std::move(by), rules_of(method), Binding::grpc),
        way_back_(std::move(way_back)),
        head_(std::move(head)),
        shared_(shared),
        method_(method),
        files_are_text_(shared.grpc_limits.decodes_base64_files && method.version == ProtocolVersion::v0_3 &&
                        has_base64_text(head_.header("user-agent"))) {}

  ~A2aCall() override {
    if (!answered_) way_back_->fail({ErrorCode::internal, "the request was not answered", {}});
  }

  // Reads the request from the message's bytes and calls the operation.
  static void serve(const std::shared_ptr<A2aCall>& call, const std::string& bytes) {
    const protocol::grpc::Method& method = call->method_;
    const auto message = call->shared_.schema.parse(method.request_message(), bytes);
    if (!message) return call->refuse(message.error());
    const Reading reading(**message);
    if (const auto good = call->check_version(); !good) return call->refuse(good.error());
    if (const auto good = call->enter_tenant(tenant_in(method, reading)); !good) {
      return call->refuse(good.error());
    }
    call->extensions = server::a2a::extensions_of(call->head_, call->agent.card);
    call->streams = protocol::a2a::answers_with_stream(method.operation);
    auto request = read_request(method, reading, call->files_are_text_);
    if (!request) return call->refuse(request.error());
    call->shared_.run(call, method.operation, std::move(*request));
  }

  void answer(server::a2a::Answer answer) override {
    auto held = std::move(share);
    if (answered_.exchange(true)) return;
    note_task(answer);
    const auto bytes = bytes_of_answer(answer);
    count(bytes ? kOk : kInternal, bytes ? bytes->size() : 0);
    if (held && bytes) held->shrink(bytes->capacity());
    if (bytes) return way_back_->answer(extensions_header(), *bytes, std::move(held));
    spdlog::error("grpc: {} {}", bytes.error().for_caller, bytes.error().for_log);
    way_back_->fail(bytes.error());
  }

  void answer_stream(std::string frames) override {
    auto held = std::move(share);
    if (answered_.exchange(true)) return;
    count(kOk, frames.size());
    if (held) held->shrink(frames.capacity());
    way_back_->answer_frames(extensions_header(), frames, std::move(held));
  }

  server::a2a::ItemWriterPtr items() const override {
    return std::make_shared<const MessageItems>(shared_, method_, files_are_text_);
  }

  const http::Request& head() const override { return head_; }

 private:
  void do_refuse(const base::Error& error, const task::TaskId& named) override {
    if (answered_.exchange(true)) return;
    count(protocol::a2a::rest_status(error), 0);
    way_back_->fail(error, named);
  }

  void do_open(http::StreamOpener opener) override {
    if (answered_.exchange(true)) return;
    count(kOk, 0);
    way_back_->open(extensions_header(), server::noted(std::move(opener), note));
  }

  // The status is that of the same answer over REST.
  void count(int status, std::size_t bytes) const {
    if (note) note->answered(status, bytes);
    if (services.requests != nullptr) {
      services.requests->note(&agent, server::Protocol::grpc, status, base::SteadyTime::now() - begin_);
    }
  }

  base::Result<std::string> bytes_of_answer(const server::a2a::Answer& answer) const {
    const std::string name = method_.full(method_.response);
    if (const auto* card = std::get_if<server::a2a::CardAnswer>(&answer)) {
      return shared_.json.to_bytes(name, card->json);
    }
    const auto message = shared_.schema.make(name);
    write_answer(method_, Writing(*message), answer, files_are_text_);
    return message->SerializeAsString();
  }

  const std::shared_ptr<grpc::GrpcCall> way_back_;
  const http::Request head_;
  const Shared& shared_;
  const protocol::grpc::Method& method_;
  const bool files_are_text_;
  const base::SteadyTime::time_point begin_ = base::SteadyTime::now();
  std::atomic<bool> answered_{false};
};

}  // namespace

void serve(std::shared_ptr<GrpcCall> way_back, server::Admitted by, http::Request head, const Shared& shared,
           const protocol::grpc::Method& method, const std::string& bytes) {
  A2aCall::serve(
      std::make_shared<A2aCall>(std::move(way_back), std::move(by), std::move(head), shared, method), bytes);
}

}  // namespace baton::server::grpc

#include "client/grpc_channel.h"

#include <grpc/grpc_security.h>
#include <grpc/support/string_util.h>
#include <grpcpp/channel.h>
#include <grpcpp/client_context.h>
#include <grpcpp/completion_queue.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/tls_certificate_verifier.h>
#include <grpcpp/security/tls_credentials_options.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <mutex>

#include "base/text.h"
#include "client/grpc_call.h"
#include "json/document.h"
#include "json/writer.h"
#include "outbound/http_client.h"
#include "outbound/tls_context.h"
#include "outbound/wait_limits.h"
#include "protocol/grpc/bytes.h"
#include "protocol/grpc/schema.h"

namespace baton::client {
namespace {

using base::ErrorCode;
using ::grpc::ByteBuffer;
using outbound::AddressPolicy;

constexpr std::size_t kMessageMax = 256 << 20;
// Milliseconds. A connection that does not answer a ping within the timeout is dead.
constexpr int kKeepaliveInterval = 20'000, kKeepaliveTimeout = 20'000;
// How often a waiting call checks its stop descriptor.
constexpr std::chrono::milliseconds kLook{50};
// The beginning of the library's own error.
constexpr std::string_view kTooLarge = "Received message larger than max";
// The timeout of a connection attempt.
constexpr std::chrono::seconds kConnect{5};

struct StatusName {
  ::grpc::StatusCode code;
  std::string_view name;
  int http_status;
};
// The names of google.rpc.Code and their HTTP statuses.
constexpr std::array kStatuses{
    StatusName{::grpc::StatusCode::CANCELLED, "CANCELLED", 499},
    StatusName{::grpc::StatusCode::INVALID_ARGUMENT, "INVALID_ARGUMENT", 400},
    StatusName{::grpc::StatusCode::DEADLINE_EXCEEDED, "DEADLINE_EXCEEDED", 504},
    StatusName{::grpc::StatusCode::NOT_FOUND, "NOT_FOUND", 404},
    StatusName{::grpc::StatusCode::ALREADY_EXISTS, "ALREADY_EXISTS", 409},
    StatusName{::grpc::StatusCode::PERMISSION_DENIED, "PERMISSION_DENIED", 403},
    StatusName{::grpc::StatusCode::RESOURCE_EXHAUSTED, "RESOURCE_EXHAUSTED", 429},
    StatusName{::grpc::StatusCode::FAILED_PRECONDITION, "FAILED_PRECONDITION", 400},
    StatusName{::grpc::StatusCode::ABORTED, "ABORTED", 409},
    StatusName{::grpc::StatusCode::UNIMPLEMENTED, "UNIMPLEMENTED", 501},
    StatusName{::grpc::StatusCode::UNAUTHENTICATED, "UNAUTHENTICATED", 401},
};

bool is_readable(int fd) {
  pollfd one{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&one, 1, 0) > 0;
}

// Returns true for valid metadata. The library aborts the program on any other.
bool is_metadata(const std::pair<std::string, std::string>& entry) {
  const auto fits_name = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
  };
  return !entry.first.empty() && std::ranges::all_of(entry.first, fits_name) &&
         std::ranges::all_of(entry.second, [](char c) { return c >= 0x20 && c <= 0x7e; });
}

// Resolves a name to an allowed address. gRPC gets the address, because it would resolve the name again and
// could get a forbidden one.
base::Result<std::string> allowed_address(const std::string& target, const AddressPolicy& policy) {
  const auto url = outbound::parse_url("http://" + target);
  if (!url) return base::fail(url.error());
  outbound::WaitLimits limits;
  limits.deadline = std::chrono::steady_clock::now() + kConnect;
  const auto addresses = outbound::resolve_allowed(*url, policy, limits);
  if (!addresses) return base::fail(addresses.error());
  const std::string& address = addresses->front();
  const std::string port = ":" + std::to_string(url->port);
  return address.find(':') == std::string::npos ? "ipv4:" + address + port : "ipv6:[" + address + "]" + port;
}

// Makes gRPC trust the certificates that HTTP trusts. It has a variable of its own for them, which counts
// first, and asks for them once, before its first call over TLS.
void honour_certificate_variables() {
  static std::once_flag once;
  std::call_once(once, [] {
    grpc_set_ssl_roots_override_callback([](char** roots) {
      const auto named = outbound::named_certificates();
      if (!named) return GRPC_SSL_ROOTS_OVERRIDE_FAIL;
      *roots = gpr_strdup(named->c_str());
      return GRPC_SSL_ROOTS_OVERRIDE_OK;
    });
  });
}

std::shared_ptr<::grpc::ChannelCredentials> unverified_credentials() {
  ::grpc::experimental::TlsChannelCredentialsOptions options;
  options.set_verify_server_certs(false);
  options.set_check_call_host(false);
  options.set_certificate_verifier(std::make_shared<::grpc::experimental::NoOpCertificateVerifier>());
  return ::grpc::experimental::TlsCredentials(options);
}

base::Result<std::shared_ptr<::grpc::Channel>> open(const ChannelTarget& to) {
  const std::string& url = to.url;
  const AddressPolicy& policy = to.policy;
  const bool secure = base::begins_with(url, "https://");
  std::string target = url.substr(url.find("://") == std::string::npos ? 0 : url.find("://") + 3);
  target = target.substr(0, target.find('/'));
  ::grpc::ChannelArguments arguments;
  if (policy != AddressPolicy::any()) {
    auto address = allowed_address(target, policy);
    if (!address) return base::fail(address.error());
    const std::string host = target.substr(0, target.rfind(':'));
    arguments.SetString(GRPC_ARG_DEFAULT_AUTHORITY, target);
    if (secure) arguments.SetSslTargetNameOverride(host);
    target = std::move(*address);
  }
  arguments.SetMaxReceiveMessageSize(static_cast<int>(std::min(to.message_max, kMessageMax)));
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kKeepaliveInterval);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kKeepaliveTimeout);
  if (secure) honour_certificate_variables();
  const auto credentials = !secure       ? ::grpc::InsecureChannelCredentials()
                           : to.verifies ? ::grpc::SslCredentials({})
                                         : unverified_credentials();
  return ::grpc::CreateCustomChannel(target, credentials, arguments);
}

// One call. Its steps run one at a time, so one tag suffices.
class ChannelConversation {
 public:
  ChannelConversation(::grpc::GenericStub& stub, const std::string& method, const ChannelCall& call)
      : stop_fd_(call.stop_fd) {
    for (const auto& [name, value] : call.metadata) context_.AddMetadata(name, value);
    if (call.timeout.count() > 0) context_.set_deadline(std::chrono::system_clock::now() + call.timeout);
    stream_ = stub.PrepareCall(&context_, method, &queue_);
  }

  // Waits for the end of every step, as the library requires.
  ~ChannelConversation() {
    context_.TryCancel();
    if (started_ && !finished_) finish();
    queue_.Shutdown();
    void* tag = nullptr;
    bool good = false;
    while (queue_.Next(&tag, &good)) {
    }
  }
  ChannelConversation(const ChannelConversation&) = delete;
  ChannelConversation& operator=(const ChannelConversation&) = delete;

  bool send(const std::string& bytes) {
    started_ = true;
    stream_->StartCall(this);
    if (!step()) return false;
    const ::grpc::Slice slice(bytes);
    stream_->WriteLast(ByteBuffer(&slice, 1), {}, this);
    return step();
  }

  bool receive(std::string& bytes) {
    ByteBuffer buffer;
    stream_->Read(&buffer, this);
    if (!step()) return false;
    bytes = protocol::grpc::bytes_of(buffer);
    return true;
  }

  ::grpc::Status finish() {
    ::grpc::Status status;
    finished_ = true;
    stream_->Finish(&status, this);
    step();
    return status;
  }

  void cancel() { context_.TryCancel(); }
  bool stopped() const { return stopped_; }

 private:
  // Waits for the current step; returns whether it succeeded.
  bool step() {
    void* tag = nullptr;
    bool good = false;
    while (true) {
      if (!stopped_ && is_readable(stop_fd_)) {
        stopped_ = true;
        context_.TryCancel();
      }
      const auto until = std::chrono::system_clock::now() + kLook;
      if (queue_.AsyncNext(&tag, &good, until) != ::grpc::CompletionQueue::TIMEOUT) return good;
    }
  }

  const int stop_fd_;
  bool started_ = false;
  bool finished_ = false;
  bool stopped_ = false;
  ::grpc::ClientContext context_;
  ::grpc::CompletionQueue queue_;
  std::unique_ptr<::grpc::GenericClientAsyncReaderWriter> stream_;
};

}  // namespace

class GrpcChannel::Impl {
 public:
  explicit Impl(ChannelTarget target) : target_(std::move(target)), channel_(open(target_)) {
    if (channel_) stub_ = std::make_unique<::grpc::GenericStub>(*channel_);
  }

  base::Result<ChannelAnswer> run(const ChannelCall& call,
                                  const std::function<bool(std::string_view)>& on_message) const {
    if (!channel_) return base::fail(channel_.error());
    if (!std::ranges::all_of(call.metadata, is_metadata)) {
      return base::fail(ErrorCode::invalid_argument, "a header contains invalid characters");
    }
    const auto what = method_call(target_.version, call.request, target_.tenant);
    if (!what) return base::fail(what.error());
    const protocol::grpc::Method& method = *what->method;
    const bool texts = target_.files_are_text && target_.version == task::ProtocolVersion::v0_3;
    const auto json_sent = texts ? files_as_text(what->message) : base::Result<std::string>(what->message);
    if (!json_sent) return base::fail(json_sent.error());
    const auto bytes = messages_.to_bytes(method.request_message(), *json_sent);
    if (!bytes) return base::fail(bytes.error());
    if (!is_connected(call)) return base::fail(ErrorCode::unavailable, "cannot connect over gRPC");
    if (call.on_connected) call.on_connected();
    const std::string path = method.path_of_call();
    if (call.on_bytes) {
      const auto json = messages_.to_json(method.request_message(), *bytes);
      call.on_bytes({true, path, *bytes, json ? *json : what->message});
    }
    ChannelConversation talk(*stub_, path, call);
    bool going = talk.send(*bytes);
    bool enough = false;
    for (std::string message; going && talk.receive(message);) {
      // Only this message is in memory, because the next one is requested later. It is held twice, as bytes
      // and as JSON.
      if (call.intake != nullptr) {
        call.intake->keep(0);
        if (const auto room = take_room(call, 2 * message.size()); !room) return base::fail(room.error());
      }
      const auto json = messages_.to_json(method.full(method.response), message);
      if (!json) return base::fail(json.error());
      if (call.on_bytes) call.on_bytes({false, path, message, *json});
      const auto shown = texts ? files_of_text(*json) : json;
      if (!shown) return base::fail(shown.error());
      enough = !on_message(*shown);
      going = !enough;
    }
    if (enough) return ChannelAnswer{};
    const ::grpc::Status status = talk.finish();
    if (talk.stopped()) return base::fail(ErrorCode::unavailable, "the request was canceled");
    return answer_of(status);
  }

 private:
  bool is_connected(const ChannelCall& call) const {
    const auto latest = std::chrono::system_clock::now() + kConnect;
    while (!(*channel_)->WaitForConnected(std::chrono::system_clock::now() + kLook)) {
      const bool refused = (*channel_)->GetState(true) == GRPC_CHANNEL_TRANSIENT_FAILURE;
      if (refused || is_readable(call.stop_fd) || std::chrono::system_clock::now() > latest) return false;
    }
    return true;
  }

  static base::Result<void> take_room(const ChannelCall& call, std::size_t bytes) {
    outbound::WaitLimits limits;
    limits.stop_fd = call.stop_fd;
    if (call.timeout.count() > 0) limits.deadline = std::chrono::steady_clock::now() + call.timeout;
    return call.intake->acquire(bytes, limits);
  }

  base::Result<ChannelAnswer> answer_of(const ::grpc::Status& status) const {
    using Status = ::grpc::StatusCode;
    if (status.ok()) return ChannelAnswer{};
    // The other side's bytes, which need not be UTF-8.
    const std::string said = base::replaced_utf8(status.error_message());
    if (status.error_code() == Status::UNAVAILABLE)
      return base::fail(ErrorCode::unavailable, "cannot connect over gRPC: " + said);
    if (status.error_code() == Status::RESOURCE_EXHAUSTED && said.starts_with(kTooLarge))
      return base::fail(ErrorCode::too_large, "the answer is larger than allowed: " + said);
    if (status.error_code() == Status::DEADLINE_EXCEEDED)
      return base::fail(ErrorCode::deadline_exceeded, "the server did not answer in time");
    StatusName known{status.error_code(), "INTERNAL", 500};
    for (const StatusName& row : kStatuses) {
      if (row.code == status.error_code()) known = row;
    }
    ChannelAnswer answer{known.http_status, {}};
    const auto details = messages_.to_json("google.rpc.Status", status.error_details());
    const auto document = json::Document::view_of(details ? std::string_view(*details) : "");
    json::Writer out(answer.body);
    out.object([&] {
      out.key("error").object([&] {
        out.member("code", known.http_status).member("status", known.name);
        out.member("message", said);
        const json::Value list = document.root()["details"];
        if (list.is_array()) out.key("details").raw(list.raw());
      });
    });
    return answer;
  }

  const ChannelTarget target_;
  const protocol::grpc::MessageSchema schema_;
  const protocol::grpc::ProtoJson messages_{schema_};
  const base::Result<std::shared_ptr<::grpc::Channel>> channel_;
  std::unique_ptr<::grpc::GenericStub> stub_;  // null without a channel
};

GrpcChannel::GrpcChannel(ChannelTarget target) : impl_(std::make_unique<const Impl>(std::move(target))) {}
GrpcChannel::~GrpcChannel() = default;

bool GrpcChannel::available() {
  return true;
}

base::Result<ChannelAnswer> GrpcChannel::call(const ChannelCall& call) const {
  std::string body;
  auto answer = impl_->run(call, [&](std::string_view json) {
    body = json;
    return true;
  });
  if (answer && answer->http_status == 200) answer->body = std::move(body);
  return answer;
}

base::Result<ChannelAnswer> GrpcChannel::stream(
    const ChannelCall& call, const std::function<bool(std::string_view)>& on_message) const {
  return impl_->run(call, on_message);
}

}  // namespace baton::client

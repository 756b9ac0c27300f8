// gRPC calls for the console's playground, whose page gets the messages as server-sent events.
#include <sys/eventfd.h>

#include <algorithm>
#include <utility>

#include "base/guarded.h"
#include "base/unique_fd.h"
#include "json/writer.h"
#include "server/admission/page_tokens.h"
#include "server/admission/sessions.h"
#include "server/operate/handlers.h"

namespace baton::server::operate {
namespace {

using base::ErrorCode;
using base::fail;
using json::Writer;

// Limits of one message: the rest of its bytes is not shown, and larger JSON is left out.
constexpr std::size_t kHexBytesMax = 4 << 10, kJsonBytesMax = 256 << 10;
// The most bytes that may wait for a page that does not read; more end the call.
constexpr std::size_t kWaitingMax = 4 << 20;

std::string hex_of(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes.substr(0, kHexBytesMax)) {
    const auto value = static_cast<unsigned char>(byte);
    hex += kDigits[value >> 4];
    hex += kDigits[value & 15];
  }
  return hex;
}

// The messages on their way from the call to the page. Shared by the two, because either may end first.
class Relayed {
 public:
  Relayed() : stop_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  int stop_fd() const { return stop_.get(); }
  // Called when the page has gone.
  void stop() const { ::eventfd_write(stop_.get(), 1); }

  void set_waker(http::Waker waker) {
    state_.with([&](State& state) { state.waker = std::move(waker); });
  }

  // Returns whether there is room for more.
  bool put(std::string_view json, bool is_last) {
    http::Waker wake;
    const bool has_room = state_.with([&](State& state) {
      state.waiting.append("data: ").append(json).append("\n\n");
      state.is_over |= is_last;
      wake = state.waker;
      return state.waiting.size() < kWaitingMax;
    });
    if (wake) wake();
    return has_room;
  }

  http::StreamSource::Next take(std::string& out) {
    return state_.with([&](State& state) {
      out.append(std::exchange(state.waiting, {}));
      return state.is_over ? http::StreamSource::Next::end : http::StreamSource::Next::wait;
    });
  }

 private:
  struct State {
    std::string waiting;
    bool is_over = false;
    http::Waker waker;
  };
  const base::UniqueFd stop_;
  base::Guarded<State> state_;
};

// The page's end of the relay. Its destructor stops the call, even if the stream has never opened.
class RelayedSource final : public http::StreamSource {
 public:
  explicit RelayedSource(std::shared_ptr<Relayed> relayed) : relayed_(std::move(relayed)) {}
  ~RelayedSource() override { relayed_->stop(); }

  Next pull(std::string& out, std::size_t /*room*/) override { return relayed_->take(out); }
  void set_waker(http::Waker waker) { relayed_->set_waker(std::move(waker)); }

 private:
  const std::shared_ptr<Relayed> relayed_;  // shared with the call
};

std::string json_of(const GrpcMessage& message) {
  std::string text;
  Writer out(text);
  out.object([&] {
    out.member("way", message.is_sent ? "sent" : "received").member("method", message.method);
    out.member("bytes", std::ssize(message.bytes)).member("hex", hex_of(message.bytes));
    if (message.json.size() <= kJsonBytesMax) out.key("message").raw(message.json);
  });
  return text;
}

// The header of the call. Agents know no sessions, so a page of a person who has signed in gets a token for
// this call.
base::Result<std::string> authorization_of(const Call& call) {
  const ServerOptions& options = call.facts.services.options;
  const auto session = session_of(options, call.request());
  if (!session) return fail(session.error());
  if (!*session) {
    std::string given(call.request().header("Authorization"));
    if (given.empty() && !options.key_header.empty())
      given = "Bearer " + std::string(call.request().header(options.key_header));
    return given;
  }
  const auto source = page_source(options, call.request());
  if (!source) return fail(source.error());
  const auto grant = read_page_grant("{}", *source, base::SystemClock().now());
  if (!grant) return fail(grant.error());
  auto token = make_page_token(options, *grant, *source);
  if (!token) return fail(token.error());
  return "Bearer " + *token;
}

base::Result<GrpcCall> read_call(const Call& call) {
  const auto document = json::Document::parse(call.request().body);
  if (!document) return fail(document.error());
  const json::Value root = document->root();
  const json::Value message = root["message"], streams = root["stream"];
  if (!root.is_object() || !message.is_object() ||
      (!streams.absent() && streams.raw() != "true" && streams.raw() != "false"))
    return fail(ErrorCode::invalid_argument,
                "agent and message are required, and stream must be true or false");
  GrpcCall made;
  made.agent = {root["agent"].str()};
  const auto& agents = call.facts.services.catalogue.all();
  if (std::ranges::find(agents, made.agent, &agents::Agent::name) == agents.end())
    return fail(ErrorCode::not_found, "agent not found");
  made.streams = streams.absent() || streams.boolean();
  made.request = R"({"message":)" + std::string(message.raw()) + "}";
  auto authorization = authorization_of(call);
  if (!authorization) return fail(authorization.error());
  made.authorization = std::move(*authorization);
  return made;
}

}  // namespace

void relay_grpc(const CallPtr& call) {
  if (!call->facts.grpc)
    return answer(call, fail(ErrorCode::unsupported, "gRPC is not enabled on this server (grpc.port)"));
  auto made = read_call(*call);
  if (!made) return answer(call, fail(made.error()));
  const auto relayed = std::make_shared<Relayed>();
  made->stop_fd = relayed->stop_fd();
  const auto on_message = [relayed](const GrpcMessage& message) {
    return relayed->put(json_of(message), false);
  };
  const auto on_end = [relayed](std::string_view status) {
    relayed->put(R"({"way":"ended","status":)" + std::string(status) + "}", true);
  };
  if (!call->facts.grpc(std::move(*made), on_message, on_end))
    return answer(call, fail(ErrorCode::overloaded, "too many calls are running; try again later"));
  const auto source =
      std::make_shared<std::unique_ptr<RelayedSource>>(std::make_unique<RelayedSource>(relayed));
  call->exchange->open_stream({{"Cache-Control", "no-store"}},
                              [source](http::Waker waker) -> std::unique_ptr<http::StreamSource> {
                                (*source)->set_waker(std::move(waker));
                                return std::move(*source);
                              });
}

}  // namespace baton::server::operate

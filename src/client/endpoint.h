// RemoteEndpoint: a remote A2A agent, and a client's calls to it.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "base/secret_mask.h"
#include "base/span.h"
#include "client/grpc_channel.h"
#include "http/outbound/http_client.h"
#include "protocol/a2a/client/client_dialect.h"
#include "task/json.h"

namespace baton::client {

// A server without the agent that was asked for.
struct OtherAgents {
  std::string asked_for;            // empty: the default one
  std::vector<std::string> served;  // never empty
};

// Why a call has no result.
struct CallError {
  std::string text;           // may hold text from the server, which is not safe for a terminal
  std::int64_t rpc_code = 0;  // the protocol's error code; 0: none
  bool lost = false;          // no answer, or the server is busy: another try may succeed
  int status = 0;             // the HTTP status, if that is all there is
  bool unsent = false;        // lost before the server could act on the request, or refused as it is busy
  std::chrono::milliseconds retry_after{0};  // what the server asks for; 0: nothing
  bool held = false;                         // by the origin's breaker, for retry_after: nothing went out
  bool no_card = false;  // the agent has no card, and the Target does not say how to speak to it
  std::optional<OtherAgents> other_agents = {};
};

// Where tokens come from that expire. The functions may be called from any thread.
struct TokenSource {
  // One that is good now; may block. The arguments: see http::outbound::HttpRequest.
  std::function<tl::expected<std::string, CallError>(int stop_fd, bool despite_breaker)> find;
  // The server has refused this one: whether another may help.
  std::function<bool(const std::string& token)> renew;
  // What hides those that were sent in what the server answers; null: nothing does.
  std::function<std::shared_ptr<const base::SecretMask>()> mask = {};
};

// What goes along to a server, and which addresses may be reached.
struct Access {
  std::string token = {};       // empty: none
  std::string key_header = {};  // the header that holds the token; empty: Authorization, as a bearer token
  // Any: the user of the program names the server.
  http::outbound::AddressPolicy policy = http::outbound::AddressPolicy::any();
  std::size_t answer_max = std::size_t{256} << 20;  // bytes of an answer
  http::outbound::Breakers* breakers = nullptr;     // see HttpRequest
  bool despite_breaker = false;
  std::optional<TokenSource> tokens = {};  // in place of `token`, for each call
  std::string trace = {};                  // the header `traceparent`; empty: none
  base::SpanQueue* spans = nullptr;        // of the calls, below `trace`; outlives them. Null: none
  // Where the bytes of answers are counted; they stay held until the caller says what it keeps. Null:
  // nowhere.
  http::outbound::Intake* intake = nullptr;
};

// How to speak to an agent.
struct Remote {
  std::string url;  // of the interface
  protocol::a2a::ClientDialectPtr dialect;
  bool streams = true;
  bool repeats_safely = false;  // the card says that a message sent again is recognised
  bool has_extension = false;   // the card declares Baton's extension
  Access access = {};           // without a token if none goes there
  // The origin that only the card names, and that therefore does not get the token; empty: none.
  std::string untrusted_origin = {};
  std::optional<ChannelTarget> over_grpc = {};  // set: over gRPC, at `url`; unset: HTTP
  std::string agent = {};  // over gRPC, which has no paths: the one that is meant; empty: the default one
  std::shared_ptr<const GrpcChannel> channel = {};  // that is open already; null: each endpoint opens one
};

// One connection of a stream.
struct StreamRequest {
  protocol::a2a::ClientRequest request;
  std::optional<std::int64_t> after;  // Last-Event-ID
  // The longest silence, not over gRPC. By default four of the comments that keep a quiet stream awake.
  std::chrono::milliseconds idle{60'000};
};
struct StreamEnd {
  std::optional<CallError> error;  // absent: the server, or `on_event`, ended it
  std::int64_t last_number = 0;    // of its blocks, including those without an event
  bool opened = false;             // the server said something on it
};
// Gets an event's number (0: none) and the JSON of its result; returns whether to go on.
using OnStreamEvent = std::function<bool(std::int64_t number, std::string_view result)>;

class RemoteEndpoint {
 public:
  // `stop_fd`: see http::outbound::HttpRequest.
  explicit RemoteEndpoint(Remote remote, int stop_fd = -1);

  // Makes one request and returns its result.
  tl::expected<task::Json, CallError> call(const protocol::a2a::ClientRequest& request,
                                           std::chrono::milliseconds timeout) const;

  // Blocks until the stream ends.
  StreamEnd stream(const StreamRequest& request, const OnStreamEvent& on_event) const;

  const Remote& remote() const { return remote_; }
  const protocol::a2a::ClientDialect& dialect() const { return *remote_.dialect; }

 private:
  // What goes along with a call.
  struct Shown {
    const std::string& token;
    const std::string& trace;
  };
  tl::expected<task::Json, CallError> call(const protocol::a2a::ClientRequest& request,
                                           std::chrono::milliseconds timeout, const Shown& shown) const;
  StreamEnd stream(const StreamRequest& request, const OnStreamEvent& on_event, const Shown& shown) const;
  http::outbound::HttpRequest http(const protocol::a2a::ClientRequest& request, const Shown& shown) const;
  ChannelCall grpc_call(const protocol::a2a::ClientRequest& request, const Shown& shown) const;

  const Remote remote_;
  const std::shared_ptr<const GrpcChannel> channel_;  // shared by copies; null: HTTP
  const int stop_fd_;
};

// The channel of a remote over gRPC, for endpoints that come one after the other; null: HTTP.
std::shared_ptr<const GrpcChannel> open_channel(const Remote& remote);

// A document as it was had, and what its server says about having it again.
struct Fetched {
  std::string url;
  std::string text;
  std::string etag = {};                             // empty: none
  std::optional<std::chrono::seconds> max_age = {};  // Cache-Control; zero: no-cache or no-store
};

// GETs a document. `version` is sent as A2A-Version, unless it is empty. `known`: as it was had before; it is
// returned again, with a new max_age, if it has not changed since.
tl::expected<Fetched, CallError> http_get(const std::string& url, const Access& access,
                                          std::string_view version, int stop_fd = -1,
                                          const Fetched* known = nullptr);

// `url`, or the agent's URL below it if `agent` is given.
std::string endpoint_url(std::string url, std::string_view agent);

}  // namespace baton::client

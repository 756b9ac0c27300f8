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
#include "outbound/credentials.h"
#include "outbound/http_client.h"
#include "protocol/a2a/client/client_dialect.h"
#include "task/json.h"

namespace baton::client {

// The agents of a server that does not have the requested one.
struct OtherAgents {
  std::string asked_for;            // the requested agent; empty: the default one
  std::vector<std::string> served;  // never empty
};

// The error of a call.
struct CallError {
  std::string text;           // may hold text from the server, which is not safe for a terminal
  std::int64_t rpc_code = 0;  // the protocol's error code; 0: none
  bool lost = false;          // no answer, or the server is busy: another try may succeed
  int status = 0;             // the HTTP status of an error answer; 0: none
  bool unsent = false;  // lost before the server could act on the request, or refused because it is busy
  std::chrono::milliseconds retry_after{0};  // the pause that the server asks for; 0: none
  bool held = false;                         // not sent: the origin's breaker is open for `retry_after`
  bool no_card = false;       // the agent has no card, and the Target does not specify the interface
  bool refused_card = false;  // Target::accept_card has refused the agent's card
  std::optional<OtherAgents> other_agents = {};
  std::optional<outbound::CallerAsk> asks = {};  // it may succeed once the caller has done this
};

// Returns whether the answer to reading a task decides about it: there is no such task, or no access to it.
bool is_final(const CallError& error);

// Returns whether the server may be of another version: it does not know the method, the version, or the
// path, which differ from version to version. It has not acted on the request then.
bool may_be_of_other_version(const CallError& error);

// The credentials and limits for calls to a server, and the addresses that may be reached.
struct Access {
  std::string token = {};       // empty: none
  std::string key_header = {};  // the header that holds the token; empty: Authorization, as a bearer token
  // By default any address, because the user of the program names the server.
  outbound::AddressPolicy policy = outbound::AddressPolicy::any();
  std::size_t answer_max = std::size_t{256} << 20;  // bytes of an answer
  outbound::Breakers* breakers = nullptr;           // see HttpRequest
  outbound::CallCounts* counts = nullptr;           // see HttpRequest
  outbound::Proxy proxy = {};                       // see HttpRequest; gRPC goes through none
  bool despite_breaker = false;
  // Replace `token`, are queried for each call, and hide themselves in the server's answers. Null: none.
  std::shared_ptr<outbound::Credentials> credentials = {};  // shared with other calls
  std::string trace = {};                                   // the header `traceparent`; empty: none
  base::SpanQueue* spans = nullptr;  // for spans of the calls, below `trace`; outlives them. Null: none
  // Counts the bytes of answers. They stay reserved until the caller reports how many it keeps. Null: they
  // are not counted.
  outbound::Intake* intake = nullptr;
};

// An interface of an agent, with all that is needed to call it.
struct Remote {
  std::string url;  // of the interface
  protocol::a2a::ClientDialectPtr dialect;
  bool streams = true;
  bool repeats_safely = false;  // the card says that the server recognises a repeated message
  bool has_extension = false;   // the card declares Baton's extension
  Access access = {};           // without the token if the interface must not get it
  // The interface's origin, if only the card names it, so that it does not get the token; empty: it does.
  std::string untrusted_origin = {};
  std::optional<ChannelTarget> over_grpc = {};  // set: over gRPC, at `url`; unset: HTTP
  std::string agent = {};  // the agent's name over gRPC, which has no paths; empty: the default agent
  std::shared_ptr<const GrpcChannel> channel = {};  // an open channel to share; null: each endpoint opens one
};

// One connection of a stream.
struct StreamRequest {
  protocol::a2a::ClientRequest request;
  std::optional<std::int64_t> after;  // Last-Event-ID
  // The longest silence; not used over gRPC. By default the time of four keep-alive comments.
  std::chrono::milliseconds idle{60'000};
};
struct StreamEnd {
  std::optional<CallError> error;  // absent: the server or `on_event` ended the stream
  std::int64_t last_number = 0;    // the last number received, also of a block without an event
  bool opened = false;             // the server sent at least one byte
};
// Gets an event's number (0: none) and the JSON of its result. Returns false to end the stream.
using OnStreamEvent = std::function<bool(std::int64_t number, std::string_view result)>;

class RemoteEndpoint {
 public:
  // `stop_fd`: see outbound::HttpRequest.
  explicit RemoteEndpoint(Remote remote, int stop_fd = -1);

  // Makes one request and returns its result.
  tl::expected<task::Json, CallError> call(const protocol::a2a::ClientRequest& request,
                                           std::chrono::milliseconds timeout) const;

  // Blocks until the stream ends.
  StreamEnd stream(const StreamRequest& request, const OnStreamEvent& on_event) const;

  const Remote& remote() const { return remote_; }
  const protocol::a2a::ClientDialect& dialect() const { return *remote_.dialect; }

 private:
  // The token and trace of one call.
  struct Shown {
    const std::string& token;
    const std::string& trace;
  };
  tl::expected<task::Json, CallError> call(const protocol::a2a::ClientRequest& request,
                                           std::chrono::milliseconds timeout, const Shown& shown) const;
  StreamEnd stream(const StreamRequest& request, const OnStreamEvent& on_event, const Shown& shown) const;
  tl::expected<task::Json, CallError> decoded(outbound::HttpAnswer& answer) const;
  ChannelCall grpc_call(const protocol::a2a::ClientRequest& request, const Shown& shown) const;

  const Remote remote_;
  const std::shared_ptr<const GrpcChannel> channel_;  // shared by copies; null: HTTP
  const int stop_fd_;
};

// Opens the gRPC channel of a remote, to be shared by consecutive endpoints. Null if the remote uses HTTP.
std::shared_ptr<const GrpcChannel> open_channel(const Remote& remote);

// A fetched document, with the headers that control its caching, and its links.
struct Fetched {
  std::string url;
  std::string text;
  std::string etag = {};                             // empty: none
  std::optional<std::chrono::seconds> max_age = {};  // Cache-Control; zero: no-cache or no-store
  std::string links = {};                            // Link; joined by commas
  std::string accepted = {};  // of a card that find_remotes has accepted: the text to read it from
};

// GETs a document. `version` is sent as A2A-Version, unless it is empty. `known` is an earlier copy; it is
// returned again, with a new max_age, if the document has not changed.
tl::expected<Fetched, CallError> http_get(const std::string& url, const Access& access,
                                          std::string_view version, int stop_fd = -1,
                                          const Fetched* known = nullptr);

// Returns `url`, or the agent's URL below it if `agent` is not empty.
std::string endpoint_url(std::string url, std::string_view agent);

}  // namespace baton::client

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
  bool no_card = false;       // the agent has no card, and the Target does not say how to speak to it
  std::optional<OtherAgents> other_agents = {};
};

// How to speak to an agent.
struct Remote {
  std::string url;  // of the interface
  protocol::a2a::ClientDialectPtr dialect;
  bool streams = true;
  std::string token = {};  // sent there; empty: none
  // The origin that only the card names, and that therefore does not get the token; empty: none.
  std::string untrusted_origin = {};
  std::optional<ChannelTarget> over_grpc = {};  // set: over gRPC, at `url`; unset: HTTP
  std::string agent = {};  // over gRPC, which has no paths: the one that is meant; empty: the default one
};

// One connection of a stream.
struct StreamRequest {
  protocol::a2a::ClientRequest request;
  std::optional<std::int64_t> after;  // Last-Event-ID
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
  http::outbound::HttpRequest http(const protocol::a2a::ClientRequest& request) const;
  ChannelCall grpc_call(const protocol::a2a::ClientRequest& request) const;

  const Remote remote_;
  const std::shared_ptr<const GrpcChannel> channel_;  // shared by copies; null: HTTP
  const int stop_fd_;
};

// GETs a document. `version` is sent as A2A-Version, unless it is empty.
tl::expected<std::string, CallError> http_get(const std::string& url, const std::string& token,
                                              std::string_view version, int stop_fd = -1);

// `url`, or the agent's URL below it if `agent` is given.
std::string endpoint_url(std::string url, std::string_view agent);

}  // namespace baton::client

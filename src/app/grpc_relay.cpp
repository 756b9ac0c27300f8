#include "app/grpc_relay.h"

#include <utility>

#include "json/document.h"
#include "json/writer.h"

namespace baton::app {
namespace {

using namespace server::operate;

client::ChannelTarget own_address(const std::string& host, int port, bool is_secure) {
  const bool is_every = host.empty() || host == "0.0.0.0";
  const std::string name = is_every ? "127.0.0.1" : host == "::" ? "::1" : host;
  client::ChannelTarget target;
  target.url = is_secure ? "https://" : "";
  target.url += (name.find(':') == std::string::npos ? name : "[" + name + "]") + ":" + std::to_string(port);
  // The certificate is for the public name.
  target.verifies = false;
  return target;
}

std::string status_of(const base::Result<client::ChannelAnswer>& answer) {
  std::string text;
  json::Writer out(text);
  if (answer && answer->http_status != 200) {
    const auto document = json::Document::view_of(answer->body);
    if (document.root()["error"].is_object()) return std::string(document.root()["error"].raw());
  }
  out.object([&] {
    if (answer) {
      out.member("status", answer->http_status == 200 ? "OK" : "UNKNOWN");
    } else {
      out.member("status", "UNAVAILABLE").member("message", answer.error().for_caller);
    }
  });
  return text;
}

}  // namespace

GrpcRelay::GrpcRelay(const std::string& host, int port, bool is_secure)
    : channel_(own_address(host, port, is_secure)) {}

bool GrpcRelay::start(GrpcCall call, OnGrpcMessage on_message, OnGrpcEnd on_end) {
  return calls_.try_submit([this, call = std::move(call), on_message = std::move(on_message),
                            on_end = std::move(on_end)] { run(call, on_message, on_end); });
}

void GrpcRelay::run(const GrpcCall& call, const OnGrpcMessage& on_message, const OnGrpcEnd& on_end) const {
  client::ChannelCall made;
  made.request = {"POST", call.streams ? "/message:stream" : "/message:send", call.request};
  made.metadata = {{"baton-agent", call.agent.value}};
  if (!call.authorization.empty()) made.metadata.emplace_back("authorization", call.authorization);
  made.stop_fd = call.stop_fd;
  bool goes_on = true;
  made.on_bytes = [&](const client::ChannelBytes& bytes) {
    goes_on = goes_on && on_message({bytes.is_sent, bytes.method, bytes.bytes, bytes.json});
  };
  const auto answer = channel_.stream(made, [&](std::string_view) { return goes_on; });
  on_end(goes_on ? status_of(answer) : R"({"status":"CANCELLED","message":"the page does not read"})");
}

}  // namespace baton::app

#include "client/operator_api.h"

#include <utility>

#include "json/document.h"
#include "protocol/sse/sse_reader.h"

namespace baton::client {
namespace {

constexpr std::chrono::seconds kTimeout{60}, kSilence{60};

CallError lost(const base::Error& error) {
  CallError call;
  call.text = error.for_caller;
  call.lost = true;
  return call;
}

// Returns the error of a refusal in the API's form; if it has another form, only the status.
CallError refused(int status, std::string_view body) {
  CallError call;
  call.status = status;
  const json::Document document = json::Document::view_of(body);
  const json::Value error = document.root()["error"];
  call.text = error["message"].str();
  if (call.text.empty()) call.text = error.str();
  if (call.text.empty()) call.text = "HTTP " + std::to_string(status);
  if (const auto count = error["count"].integer()) {
    const std::string found = "the filter finds " + std::to_string(*count);
    if (!call.text.starts_with(found + " ")) call.text += " (" + found + ")";
  }
  return call;
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

}  // namespace

OperatorApi::OperatorApi(std::string url, Access access, int stop_fd)
    : base_(without_slash(std::move(url)) + "/operate/v1"), access_(std::move(access)), stop_fd_(stop_fd) {}

std::string OperatorApi::url_of(std::string_view path) const {
  return base_ + std::string(path);
}

outbound::HttpRequest OperatorApi::request(std::string_view method, std::string_view path) const {
  outbound::HttpRequest out;
  out.method = std::string(method);
  out.url = url_of(path);
  out.total_timeout = kTimeout;
  out.answer_max = access_.answer_max;
  out.policy = access_.policy;
  out.stop_fd = stop_fd_;
  if (!access_.token.empty()) out.headers.emplace_back("Authorization", "Bearer " + access_.token);
  return out;
}

OperatorApi::Answer OperatorApi::get(std::string_view path) const {
  auto answer = outbound::http_request(request("GET", path));
  if (!answer) return tl::unexpected(lost(answer.error()));
  if (answer->status != 200) return tl::unexpected(refused(answer->status, answer->body));
  return std::move(answer->body);
}

OperatorApi::Answer OperatorApi::post(std::string_view path, std::string body) const {
  return act("POST", path, std::move(body));
}

OperatorApi::Answer OperatorApi::remove(std::string_view path, std::string body) const {
  return act("DELETE", path, std::move(body));
}

OperatorApi::Answer OperatorApi::act(std::string_view method, std::string_view path, std::string body) const {
  outbound::HttpRequest out = request(method, path);
  out.body = std::move(body);
  out.content_type = "application/json";
  auto answer = outbound::http_request(out);
  if (!answer) return tl::unexpected(lost(answer.error()));
  if (answer->status / 100 != 2) return tl::unexpected(refused(answer->status, answer->body));
  return std::move(answer->body);
}

tl::expected<void, CallError> OperatorApi::follow(std::string_view path, const OnData& on_data) const {
  outbound::HttpRequest out = request("GET", path);
  out.headers.emplace_back("Accept", "text/event-stream");
  out.total_timeout = std::chrono::milliseconds(0);
  protocol::SseReader reader;
  const auto answer = outbound::http_stream(out, kSilence, [&](std::string_view piece) {
    return reader.feed(piece, [&](const protocol::SseEvent& event) { return on_data(event.data); })
        .value_or(false);
  });
  if (!answer) return tl::unexpected(lost(answer.error()));
  if (answer->status != 200) return tl::unexpected(refused(answer->status, answer->body));
  return {};
}

}  // namespace baton::client

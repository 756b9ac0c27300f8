#include "support/webhook_receiver.h"

#include <algorithm>

#include "support/patience.h"

namespace baton::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

}  // namespace

WebhookReceiver::WebhookReceiver() {
  const auto handler = [this](const httplib::Request& request, httplib::Response& response) {
    handle(request, response);
  };
  server_.Post(".*", handler);
  server_.Get(".*", handler);
  server_.set_keep_alive_max_count(1);  // else its end waits for connections that clients keep
  port_ = server_.bind_to_any_port("127.0.0.1");
  thread_ = std::thread([this] { server_.listen_after_bind(); });
  while (!server_.is_running()) std::this_thread::yield();
}

WebhookReceiver::~WebhookReceiver() {
  release();
  server_.stop();
  thread_.join();
}

std::string WebhookReceiver::url(const std::string& path) const {
  return "http://127.0.0.1:" + std::to_string(port_) + path;
}

void WebhookReceiver::answer_with(std::vector<Answer> answers) {
  std::lock_guard lock(mutex_);
  answers_.assign(answers.begin(), answers.end());
}

void WebhookReceiver::hold() {
  std::lock_guard lock(mutex_);
  holding_ = true;
}

void WebhookReceiver::release() {
  std::lock_guard lock(mutex_);
  holding_ = false;
  changed_.notify_all();
}

bool WebhookReceiver::wait_for(std::size_t count) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, patience(), [&] { return received_.size() >= count; });
}

std::vector<WebhookReceiver::Received> WebhookReceiver::received() const {
  std::lock_guard lock(mutex_);
  return received_;
}

int WebhookReceiver::held_max() const {
  std::lock_guard lock(mutex_);
  return held_max_;
}

void WebhookReceiver::handle(const httplib::Request& request, httplib::Response& response) {
  Received received{request.target, request.body, {}};
  for (const auto& [name, value] : request.headers) received.headers[lower(name)] = value;
  std::unique_lock lock(mutex_);
  received_.push_back(std::move(received));
  Answer answer;
  if (!answers_.empty()) {
    answer = answers_.front();
    answers_.pop_front();
  }
  held_max_ = std::max(held_max_, ++held_);
  changed_.notify_all();
  changed_.wait_for(lock, patience(), [&] { return !holding_; });
  --held_;
  response.status = answer.status;
  for (const auto& [name, value] : answer.headers) response.set_header(name, value);
  response.set_content("{}", "application/json");
}

}  // namespace baton::test

#include "http/server_core.h"

#include <algorithm>

#include "base/give_back.h"
#include "http/http_text.h"
#include "http/socket_io.h"

namespace baton::http {

Reply ServerCore::refusal(const Request& request, int status, std::string_view reason) {
  ++refused;
  Reply reply;
  try {
    if (error_body) reply = error_body(request, status, reason);
  } catch (...) {
    reply = Reply{};  // only the status
  }
  reply.status = status;
  const bool has_retry = std::any_of(reply.headers.begin(), reply.headers.end(), [](const auto& header) {
    return same_word(header.first, "Retry-After");
  });
  if (status == 503 && !has_retry) reply.headers.emplace_back("Retry-After", "1");
  return reply;
}

namespace {

// Bodies up to this size are copied after their head, so that both are sent together.
constexpr std::size_t kCopiedMax = 256 << 10;

// Returns false if the socket is full or broken.
bool send_bytes(Connection& connection) {
  const std::string& output = connection.output;
  while (connection.output_sent < output.size()) {
    const IoResult sent = send_some(connection.fd.get(), connection.tls.get(),
                                    std::string_view(output).substr(connection.output_sent));
    connection.full = sent.outcome == IoResult::Outcome::blocked;
    if (sent.outcome != IoResult::Outcome::moved) {
      connection.write_failed = sent.outcome == IoResult::Outcome::closed;
      return false;
    }
    connection.output_sent += sent.count;
    connection.since = std::chrono::steady_clock::now();
  }
  return true;
}

}  // namespace

void write_answer(Connection& connection, Reply reply) {
  connection.close_after = connection.close_after || !connection.shape.keep_alive;
  const bool alone = reply.body.size() > kCopiedMax && has_body(reply, connection.shape);
  connection.output = alone ? write_head(reply, connection.shape) : write_reply(reply, connection.shape);
  connection.output_sent = 0;
  connection.since = connection.answered = std::chrono::steady_clock::now();
  connection.held = std::move(reply.held);
  if (!alone) {
    send_output(connection);
    return;
  }
  const bool head_is_sent = send_bytes(connection);
  if (connection.write_failed) return;
  if (head_is_sent) {
    connection.output = std::move(reply.body);
    connection.output_sent = 0;
  } else {
    connection.output += reply.body;
    base::give_back(reply.body);
  }
  send_output(connection);
}

bool send_output(Connection& connection) {
  if (!send_bytes(connection)) return false;
  // An idle connection holds no buffer.
  base::give_back(connection.output);
  connection.output_sent = 0;
  connection.held.reset();
  return true;
}

}  // namespace baton::http

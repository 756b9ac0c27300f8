#include "server/http/library_request.h"

#include <httplib.h>

#include <algorithm>
#include <array>

#include "server/http/http_text.h"

namespace baton::server::http {
namespace {

// Dropped because the library would act on them, because they are about the connection and not the request,
// or (the last four) because the library puts its own values under these names.
constexpr std::array<std::string_view, 15> kDropped{"Accept-Encoding",
                                                    "Range",
                                                    "Connection",
                                                    "Keep-Alive",
                                                    "Proxy-Connection",
                                                    "Expect",
                                                    "TE",
                                                    "Trailer",
                                                    "Upgrade",
                                                    "Content-Length",
                                                    "Transfer-Encoding",
                                                    "REMOTE_ADDR",
                                                    "REMOTE_PORT",
                                                    "LOCAL_ADDR",
                                                    "LOCAL_PORT"};

bool is_dropped(std::string_view name) {
  return std::any_of(kDropped.begin(), kDropped.end(),
                     [name](std::string_view dropped) { return same_word(name, dropped); });
}

std::string_view next_line(std::string_view& text) {
  const auto end = text.find("\r\n");
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 2);
  return line;
}

// "http://host/path" is the same request as "/path" (RFC 9112, 3.2.2).
std::string_view without_authority(std::string_view target) {
  const auto scheme_end = target.find("://");
  if (target.starts_with('/') || scheme_end == std::string_view::npos) return target;
  const auto path = target.find_first_of("/?", scheme_end + 3);
  return path == std::string_view::npos ? "/" : target.substr(path);
}

void append_target(std::string_view target, std::string& out) {
  target = without_authority(target);
  if (target.starts_with('?')) out += '/';
  const auto query = target.find('?');
  out.append(target.substr(0, query));
  if (query == std::string_view::npos) return;
  out += '?';
  // The library refuses a second question mark, which RFC 3986 allows in a query.
  for (char c : target.substr(query + 1)) c == '?' ? out.append("%3F") : out.append(1, c);
}

void append_value(std::string_view value, std::string& out) {
  // The library percent-decodes header values, which would change tokens: so it gets them encoded once more.
  for (char c : value) c == '%' ? out.append("%25") : out.append(1, c);
}

// A request's head to read from, and a place where the library's own answer is lost.
class HeadStream final : public httplib::Stream {
 public:
  explicit HeadStream(std::string_view text) : left_(text) {}

  bool is_readable() const override { return !left_.empty(); }
  bool is_writable() const override { return true; }
  ssize_t read(char* out, size_t size) override {
    const std::size_t count = std::min(size, left_.size());
    std::copy_n(left_.data(), count, out);
    left_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  ssize_t write(const char*, size_t size) override { return static_cast<ssize_t>(size); }
  void get_remote_ip_and_port(std::string&, int&) const override {}
  void get_local_ip_and_port(std::string&, int&) const override {}
  // The library refuses numbers from FD_SETSIZE on.
  socket_t socket() const override { return 0; }

 private:
  std::string_view left_;
};

}  // namespace

std::string cleaned_head(std::string_view head) {
  std::string out;
  out.reserve(head.size() + 64);
  const std::string_view request_line = next_line(head);
  const auto first = request_line.find(' ');
  const auto last = request_line.rfind(' ');
  out.append(request_line.substr(0, first)).append(1, ' ');
  append_target(request_line.substr(first + 1, last - first - 1), out);
  out.append(request_line.substr(last)).append("\r\n");
  while (!head.empty()) {
    const std::string_view line = next_line(head);
    const auto colon = line.find(':');
    if (is_dropped(line.substr(0, colon))) continue;
    out.append(line.substr(0, colon + 1)).append(1, ' ');
    append_value(trimmed(line.substr(colon + 1)), out);
    out.append("\r\n");
  }
  out.append("\r\n");
  return out;
}

class LibraryRequest::Door final : public httplib::Server {
 public:
  Door() {
    // "Handled" keeps the library from routing and from reading a body.
    set_pre_routing_handler(
        [](const httplib::Request&, httplib::Response&) { return HandlerResponse::Handled; });
  }
  bool run(httplib::Stream& stream, const std::function<void(httplib::Request&)>& capture) {
    bool closed = false;
    return process_request(stream, true, closed, capture);
  }
};

LibraryRequest::LibraryRequest() : door_(std::make_unique<Door>()) {}
LibraryRequest::~LibraryRequest() = default;

std::optional<Request> LibraryRequest::decode(std::string_view head,
                                              const std::string& remote_address) const {
  std::string text = cleaned_head(head);
  std::optional<Request> decoded;
  if (const auto known = recent_.find(text)) {
    decoded = *known;
  } else {
    decoded = decode_anew(text);
    if (decoded) recent_.add(std::move(text), std::make_shared<const Request>(*decoded));
  }
  if (!decoded) return decoded;
  decoded->remote_address = remote_address;
  // Ranges are ours to answer, so they go past the library.
  for (next_line(head); !head.empty();) {
    const std::string_view line = next_line(head);
    const auto colon = line.find(':');
    if (colon == std::string_view::npos || !same_word(line.substr(0, colon), "Range")) continue;
    decoded->headers.emplace_back("Range", trimmed(line.substr(colon + 1)));
  }
  return decoded;
}

std::optional<Request> LibraryRequest::decode_anew(const std::string& head) const {
  HeadStream stream(head);
  std::optional<Request> decoded;
  // Called after the library has accepted the head and before it asks the handler above.
  door_->run(stream, [&](httplib::Request& parsed) {
    Request& request = decoded.emplace();
    request.method = std::move(parsed.method);
    request.path = std::move(parsed.path);
    request.raw_path = parsed.target.substr(0, parsed.target.find('?'));
    request.query.assign(parsed.params.begin(), parsed.params.end());
    request.headers.reserve(parsed.headers.size());
    for (auto& [name, value] : parsed.headers) {
      if (!is_dropped(name)) request.headers.emplace_back(name, std::move(value));
    }
  });
  if (decoded && !decoded->path.starts_with('/') && decoded->path != "*") decoded.reset();
  return decoded;
}

}  // namespace baton::server::http

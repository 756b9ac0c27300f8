// OperatorApi: a client of a Baton's operator API, /operate/v1.
//
// Threads: any; each call blocks until it is over.
#pragma once

#include <string>
#include <string_view>

#include "client/endpoint.h"

namespace baton::client {

class OperatorApi {
 public:
  // `url` is that of the server or of its operators' listener. `stop_fd`: see outbound::HttpRequest.
  OperatorApi(std::string url, Access access, int stop_fd = -1);

  // Each returns the text of the answer. An error has the server's text and the HTTP status.
  using Answer = tl::expected<std::string, CallError>;
  // `path` is relative to /operate/v1 and includes the query.
  Answer get(std::string_view path) const;
  Answer post(std::string_view path, std::string body) const;
  Answer remove(std::string_view path, std::string body) const;
  // `on_data` gets the data of each event, and returns false to stop. `follow` returns at the stream's end.
  using OnData = std::function<bool(std::string_view data)>;
  tl::expected<void, CallError> follow(std::string_view path, const OnData& on_data) const;

  std::string url_of(std::string_view path) const;

 private:
  outbound::HttpRequest request(std::string_view method, std::string_view path) const;
  Answer act(std::string_view method, std::string_view path, std::string body) const;

  const std::string base_;
  const Access access_;
  const int stop_fd_;
};

}  // namespace baton::client

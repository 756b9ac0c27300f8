// LibraryRequest: decodes a request's head (request line, path, query, headers) with cpp-httplib.
//
// The library gets only the head, from memory, without the headers that would make it act by itself
// (compression, ranges, reading bodies). It never sees a socket, and has no routes.
// Threads: `decode` from any thread, several at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/http/http_server.h"
#include "server/http/recent_heads.h"

namespace baton::server::http {

class LibraryRequest {
 public:
  LibraryRequest();
  ~LibraryRequest();

  // `head` is RequestHead::text. Empty if the library refuses it. The body is left empty.
  std::optional<Request> decode(std::string_view head, const std::string& remote_address) const;

 private:
  class Door;

  std::optional<Request> decode_anew(const std::string& head) const;

  std::unique_ptr<Door> door_;
  mutable RecentHeads recent_;
};

// The head as `decode` passes it to the library. For tests.
std::string cleaned_head(std::string_view head);

}  // namespace baton::server::http

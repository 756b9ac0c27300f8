// LibraryRequest: has cpp-httplib decode a request's head: request line, path, query and headers.
//
// The library gets the head alone, on a stream in memory, cleaned of everything that makes it act on its own
// (compression, ranges, reading bodies). It never sees a socket, and no route is ever registered with it.
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

  // `head` is RequestHead::text. Nothing when the library refuses it. The body is left empty.
  std::optional<Request> decode(std::string_view head, const std::string& remote_address) const;

 private:
  class Door;

  std::optional<Request> decode_anew(const std::string& head) const;

  std::unique_ptr<Door> door_;
  mutable RecentHeads recent_;
};

// What `decode` gives to the library: for tests.
std::string cleaned_head(std::string_view head);

}  // namespace baton::server::http

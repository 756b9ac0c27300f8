// Download: serves bytes from agents and callers so that no browser executes them.
//
// The bytes are untrusted: opening the URL must not run them in this server's origin. They are sent as an
// attachment, with a CSP sandbox, without MIME sniffing, and with a type from a short list of inert types;
// any other type becomes application/octet-stream.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "http/http_server.h"
#include "task/message.h"

namespace baton::server {

struct Download {
  std::string bytes;
  std::string media_type;
  std::string filename;  // empty: the client chooses one
};

// The concatenated content of these parts, with the type and name of the first. Fails with not_found if there
// are none or one is a link: links are never fetched.
base::Result<Download> download_of(const std::vector<task::Part>& parts);

// The whole download (200), the one requested range (206), or 416 for a range beyond the end (RFC 9110, 14).
// `version` must change with the bytes: it becomes the ETag, and If-Range is compared with it.
http::Reply download_reply(const http::Request& request, Download download, std::string_view version);

// The type if it is safe to send to a browser, else application/octet-stream.
std::string safe_media_type(std::string_view type);

}  // namespace baton::server

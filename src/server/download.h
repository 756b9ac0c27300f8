// Download: bytes that agents and callers made, as an answer that no browser runs.
//
// They are hostile: whoever opens the URL must not execute them in the origin of this server. They come as an
// attachment, in a sandbox without sources, without sniffing, and with a type from a short list of types that
// nothing is executed for; any other is application/octet-stream.
//
// Pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "server/http/http_server.h"
#include "task/message.h"

namespace baton::server {

struct Download {
  std::string bytes;
  std::string media_type;
  std::string filename;  // empty: the client chooses one
};

// The content of all these parts, one after the other; type and name are the first one's. Fails with
// not_found for none, and for a link: what it points at is never fetched.
base::Result<Download> download_of(const std::vector<task::Part>& parts);

// The whole (200), the one range that was asked for (206), or 416 for a range beyond the end (RFC 9110,
// section 14). `version` changes with the bytes: it becomes the ETag, and If-Range is compared with it.
http::Reply download_reply(const http::Request& request, Download download, std::string_view version);

// The type as it may be said to a browser.
std::string safe_media_type(std::string_view type);

}  // namespace baton::server

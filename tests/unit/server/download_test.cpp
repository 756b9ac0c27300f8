#include "server/show/download.h"

#include <doctest/doctest.h>

namespace download_test {

using namespace baton;

TEST_CASE("safe_media_type: types that a browser may execute become plain bytes") {
  for (const char* type : {"text/html", "TEXT/HTML; charset=utf-8", "image/svg+xml", "application/xhtml+xml",
                           "application/javascript", "text/xml", "", "no type", "text/plain\r\nX: 1"}) {
    CAPTURE(type);
    CHECK(server::safe_media_type(type) == "application/octet-stream");
  }
  CHECK(server::safe_media_type("Text/Plain; charset=latin1") == "text/plain; charset=utf-8");
  CHECK(server::safe_media_type("image/png") == "image/png");
}

TEST_CASE("download_of: a link is not followed, and a missing part is not found") {
  task::Part link;
  link.kind = task::Part::Kind::url;
  link.content = "http://127.0.0.1/";
  CHECK(server::download_of({link}).error().code == base::ErrorCode::not_found);
  CHECK(server::download_of({}).error().code == base::ErrorCode::not_found);
}

}  // namespace download_test

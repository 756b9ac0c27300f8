#include "server/http/library_request.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <optional>
#include <string>

namespace library_request_test {

using baton::server::http::cleaned_head;
using baton::server::http::LibraryRequest;
using baton::server::http::Request;

namespace {

std::optional<Request> decode(const std::string& head) {
  static const LibraryRequest library;
  return library.decode(head, "192.0.2.7");
}

std::string query_of(const Request& request, const std::string& name) {
  for (const auto& [key, value] : request.query) {
    if (key == name) return value;
  }
  return "(none)";
}

}  // namespace

TEST_CASE("LibraryRequest: method, path, query and headers are decoded") {
  const auto request =
      decode("POST /a%20b/%C3%A4?x=1%262&y=a+b&z HTTP/1.1\r\nHost: h\r\nX-One:  v w \r\nx-one: 2\r\n");
  REQUIRE(request);
  CHECK(request->method == "POST");
  CHECK(request->path == "/a b/\xc3\xa4");
  CHECK(query_of(*request, "x") == "1&2");
  CHECK(query_of(*request, "y") == "a b");
  CHECK(query_of(*request, "z") == "");
  CHECK(request->header("x-ONE") == "v w");
  CHECK(request->header("absent").empty());
  CHECK(request->remote_address == "192.0.2.7");
  CHECK(request->body.empty());
}

TEST_CASE("LibraryRequest: a head that comes again means what it did, and a new one something else") {
  const LibraryRequest library;
  const std::string same = "POST /a?b=c HTTP/1.1\r\nAuthorization: Bearer one\r\n";
  for (const char* address : {"192.0.2.1", "192.0.2.2"}) {
    const auto request = library.decode(same + "Content-Length: 7\r\n", address);
    REQUIRE(request);
    CHECK(request->method == "POST");
    CHECK(request->path == "/a");
    CHECK(query_of(*request, "b") == "c");
    CHECK(request->header("authorization") == "Bearer one");
    CHECK(request->remote_address == address);
  }
  for (int number = 0; number < 500; ++number) {
    const std::string token = "Bearer " + std::to_string(number);
    const auto request = library.decode("POST /a?b=c HTTP/1.1\r\nAuthorization: " + token + "\r\n", "");
    REQUIRE(request);
    CHECK(request->header("authorization") == token);
  }
  for (int i = 0; i < 2; ++i) CHECK_FALSE(library.decode("GET no-slash HTTP/1.1\r\n", ""));
}

TEST_CASE("LibraryRequest: header values are not percent-decoded") {
  const auto request = decode("GET / HTTP/1.1\r\nAuthorization: Bearer a%2Fb%0d%zz%\r\n");
  REQUIRE(request);
  CHECK(request->header("Authorization") == "Bearer a%2Fb%0d%zz%");
}

TEST_CASE("LibraryRequest: a query may hold question marks, a target may name a host") {
  auto request = decode("GET /p?a=b?c HTTP/1.1\r\n");
  REQUIRE(request);
  CHECK(query_of(*request, "a") == "b?c");
  request = decode("GET http://example.org:80/p?a=b HTTP/1.1\r\n");
  REQUIRE(request);
  CHECK(request->path == "/p");
  request = decode("GET http://example.org HTTP/1.1\r\n");
  REQUIRE(request);
  CHECK(request->path == "/");
  request = decode("GET http://example.org?u=http://x HTTP/1.1\r\n");
  REQUIRE(request);
  CHECK(request->path == "/");
  CHECK(query_of(*request, "u") == "http://x");
}

TEST_CASE(
    "LibraryRequest: what is about the connection, and names the library uses itself, do not come through") {
  const auto request = decode(
      "POST / HTTP/1.1\r\nHost: h\r\nAccept-Encoding: br\r\nrange: bytes=0-1\r\nConnection: close\r\n"
      "Expect: 100-continue\r\nContent-Length: 9\r\nREMOTE_ADDR: 10.0.0.1\r\nLOCAL_PORT: 1\r\n");
  REQUIRE(request);
  REQUIRE(request->headers.size() == 2);
  CHECK(request->headers[0].first == "Host");
  // The library would act on it; we answer ranges ourselves.
  CHECK(request->header("Range") == "bytes=0-1");
}

TEST_CASE("LibraryRequest: the head goes to the library without what it would act on") {
  CHECK(cleaned_head("PUT /x HTTP/1.0\r\nTransfer-Encoding: chunked\r\nA:b%\r\n") ==
        "PUT /x HTTP/1.0\r\nA: b%25\r\n\r\n");
}

TEST_CASE("LibraryRequest: methods and targets the library does not know are refused") {
  CHECK_FALSE(decode("BREW / HTTP/1.1\r\nHost: h\r\n"));
  CHECK_FALSE(decode("GET nowhere HTTP/1.1\r\nHost: h\r\n"));
  CHECK(decode("OPTIONS * HTTP/1.1\r\nHost: h\r\n"));
}

}  // namespace library_request_test

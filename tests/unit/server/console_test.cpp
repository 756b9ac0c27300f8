#include "server/console/console.h"

#include <doctest/doctest.h>

namespace console_test {

using namespace baton;
using server::console::reply_to;

namespace {

std::string header_of(const http::Reply& reply, std::string_view wanted) {
  for (const auto& [name, value] : reply.headers) {
    if (name == wanted) return value;
  }
  return {};
}

http::Request asking(std::string path, std::string method = "GET") {
  http::Request request;
  request.method = std::move(method);
  request.path = path;
  request.raw_path = std::move(path);
  return request;
}

bool serves(std::string_view path) {
  return server::find_path(server::paths_at(server::Place::operators), "GET", path)
      .is(server::Stage::console);
}

bool serves_chat(std::string_view path) {
  return server::find_path(server::paths_at(server::Place::root), "GET", path).is(server::Stage::chat_page);
}

}  // namespace

TEST_CASE("Console: the chat page is at /chat, and files are below it") {
  for (const char* path : {"/chat", "/chat/", "/chat/chat.js", "/chat/a/b.css", "/chat/none.svg"})
    CHECK(serves_chat(path));
  for (const char* path : {"/chats", "/chat.js", "/chat/tasks", "/chat/tasks/t", "/chat/message:send"})
    CHECK_FALSE(serves_chat(path));
}

TEST_CASE("Console: serves its own paths alone") {
  CHECK(serves("/console"));
  CHECK(serves("/console/tasks/12"));
  CHECK_FALSE(serves("/consoles"));
  CHECK_FALSE(serves("/agents/console"));
}

TEST_CASE("Console: every view's path serves the page") {
  const std::string page = reply_to(asking("/console")).body;
  CHECK(page.find("<!doctype html>") == 0);
  for (const char* path : {"/console/", "/console/tasks", "/console/tasks/12", "/console/agents/a.b"}) {
    CAPTURE(path);
    const http::Reply reply = reply_to(asking(path));
    CHECK(reply.status == 200);
    CHECK(reply.content_type == "text/html; charset=utf-8");
    CHECK(reply.body == page);
  }
}

TEST_CASE("Console: a file has its media type, and an unknown one is not found") {
  CHECK(reply_to(asking("/console/app.js")).content_type == "text/javascript; charset=utf-8");
  CHECK(reply_to(asking("/console/style.css")).content_type == "text/css; charset=utf-8");
  for (const char* path : {"/console/none.js", "/console/../sqlite/0001_initial.js", "/console/config.css"}) {
    CAPTURE(path);
    CHECK(reply_to(asking(path)).status == 404);
  }
}

TEST_CASE("Console: all replies forbid inline scripts, frames and other origins") {
  for (const char* path : {"/console", "/console/app.js", "/console/none.js"}) {
    CAPTURE(path);
    const http::Reply reply = reply_to(asking(path));
    const std::string policy = header_of(reply, "Content-Security-Policy");
    CHECK(policy.find("default-src 'none'; script-src 'self'; style-src 'self';") == 0);
    CHECK(policy.find("frame-ancestors 'none'") != std::string::npos);
    CHECK(policy.find("unsafe") == std::string::npos);
    CHECK(header_of(reply, "Referrer-Policy") == "no-referrer");
  }
}

TEST_CASE(
    "Console: the start page has the same policy, names no agent, and links only pages that are served") {
  http::Request request = asking("/");
  const auto reply_for = [&](bool chat, bool console) {
    return server::console::start_reply(request, {"http://h", chat, console});
  };
  const http::Reply links = reply_for(true, true);
  CHECK(links.body.find(R"("console":"http://h/console")") != std::string::npos);
  CHECK(reply_for(true, false).body.find("console") == std::string::npos);
  CHECK(header_of(links, "Link").find(R"(</health>; rel="status")") != std::string::npos);
  request.headers.emplace_back("Accept", "text/html");
  const http::Reply page = reply_for(true, true);
  CHECK(page.body.find("/chat/start.js") != std::string::npos);
  CHECK(header_of(page, "Vary") == "Accept");
  CHECK(header_of(page, "Content-Security-Policy") ==
        header_of(reply_to(asking("/chat")), "Content-Security-Policy"));
}

TEST_CASE("Console: a cached file is not sent again") {
  http::Request request = asking("/console/app.js");
  const http::Reply first = reply_to(request);
  CHECK(header_of(first, "Cache-Control") == "no-cache");
  request.headers.emplace_back("If-None-Match", header_of(first, "ETag"));
  const http::Reply second = reply_to(request);
  CHECK(second.status == 304);
  CHECK(second.body.empty());
}

TEST_CASE("Console: methods other than GET get 405") {
  const http::Reply reply = reply_to(asking("/console", "POST"));
  CHECK(reply.status == 405);
  CHECK(header_of(reply, "Allow") == "GET");
}

}  // namespace console_test

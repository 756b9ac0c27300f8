#include "server/console/console.h"

#include <algorithm>
#include <array>
#include <string>

#include "base/embedded.h"
#include "http/http_text.h"
#include "json/writer.h"
#include "server/shared/answers.h"
#include "server/show/conditional.h"

namespace baton::server::console {
namespace {

constexpr std::string_view kConsole = "/console", kChat = "/chat";
constexpr const char *kConsolePage = "console/index.html", *kChatPage = "console/chat.html",
                     *kStartPage = "console/start.html";

// Pictures of plans and of agents come with a token, so they are shown from blobs.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src "
    "'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; "
    "trusted-types 'none'";

constexpr std::array kConsolePaths{
    PathRow{Place::operators, "", "/console[/]", Stage::console},
    PathRow{Place::operators, "", "/console/{view...}", Stage::console},
    PathRow{Place::root, "", "/chat[/]", Stage::chat_page},
    // Other paths below /chat are a tenant's.
    PathRow{Place::root, "", "/chat/{file...}.html", Stage::chat_page},
    PathRow{Place::root, "", "/chat/{file...}.js", Stage::chat_page},
    PathRow{Place::root, "", "/chat/{file...}.css", Stage::chat_page},
    PathRow{Place::root, "", "/chat/{file...}.svg", Stage::chat_page},
};

struct FileType {
  std::string_view ending;
  const char* content_type;
};
constexpr std::array kTypes{
    FileType{".html", "text/html; charset=utf-8"},
    FileType{".js", "text/javascript; charset=utf-8"},
    FileType{".css", "text/css; charset=utf-8"},
    FileType{".svg", "image/svg+xml"},
};

// Null for a path that names no file.
const char* type_of(std::string_view name) {
  for (const FileType& type : kTypes) {
    if (name.ends_with(type.ending)) return type.content_type;
  }
  return nullptr;
}

bool is_at_or_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

// Names of agents in the paths of views have no dots that could look like these endings.
std::string file_of(std::string_view path) {
  const bool is_chat = is_at_or_below(path, kChat);
  const std::size_t root = (is_chat ? kChat : kConsole).size();
  const std::string_view name = path.substr(std::min(path.size(), root + 1));
  if (type_of(name) != nullptr) return "console/" + std::string(name);
  return is_chat ? kChatPage : kConsolePage;
}

http::Reply page_reply(const http::Request& request, const std::string& name) {
  const std::string_view text = base::embedded_file(name);
  if (text.empty()) return with_protection(plain_error(404, "file not found"));
  http::Reply reply = conditional_reply(request, std::string(text), {});
  if (reply.status == 200) reply.content_type = type_of(name);
  reply.headers.emplace_back("Cache-Control", "no-cache");
  return with_protection(std::move(reply));
}

// RFC 8631 has these relations.
constexpr const char* kStartLinks = R"(</agents>; rel="service-meta"; type="application/json", )"
                                    R"(</health>; rel="status"; type="application/json")";

http::Reply start_json(const Served& served) {
  http::Reply reply;
  json::Writer out(reply.body);
  out.object([&] {
    out.member("name", "Baton");
    out.member("description",
               "Serves agents over A2A and AG-UI, and stores every task before it answers. GET agents lists "
               "the agents that you may use; each has its own card and URL.");
    out.key("links").object([&] {
      out.member("agents", served.root + "/agents");
      if (served.chat) out.member("chat", served.root + std::string(kChat));
      if (served.console) out.member("console", served.root + std::string(kConsole));
      out.member("health", served.root + "/health");
      out.member("ready", served.root + "/readyz");
    });
  });
  reply.body += '\n';
  reply.headers.emplace_back("Cache-Control", "no-cache");
  return reply;
}

}  // namespace

http::Reply with_protection(http::Reply reply) {
  reply.headers.emplace_back("Content-Security-Policy", kPolicy);
  reply.headers.emplace_back("X-Frame-Options", "DENY");
  reply.headers.emplace_back("Referrer-Policy", "no-referrer");
  reply.headers.emplace_back("Cross-Origin-Opener-Policy", "same-origin");
  reply.headers.emplace_back("Cross-Origin-Resource-Policy", "same-origin");
  return reply;
}

std::span<const PathRow> paths() {
  return kConsolePaths;
}

http::Reply reply_to(const http::Request& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    http::Reply reply = plain_error(405, "this path only supports GET");
    reply.headers.emplace_back("Allow", "GET");
    return with_protection(std::move(reply));
  }
  return page_reply(request, file_of(request.path));
}

http::Reply start_reply(const http::Request& request, const Served& served) {
  const std::string_view accepts = request.header("Accept");
  const bool is_browser =
      http::list_has(accepts, "text/html") && !http::list_has(accepts, "application/json");
  // The page's files are the chat page's, so it is not served without that.
  http::Reply reply = is_browser && served.chat ? page_reply(request, kStartPage) : start_json(served);
  reply.headers.emplace_back("Vary", "Accept");
  reply.headers.emplace_back("Link", kStartLinks);
  return reply;
}

}  // namespace baton::server::console

#include "server/sign_in/pages.h"

#include <string>

#include "base/text.h"
#include "server/console/console.h"

namespace baton::server::sign_in {
namespace {

constexpr std::size_t kReasonMax = 400;

std::string escaped(std::string_view text) {
  std::string html;
  for (const char c : text) {
    switch (c) {
      case '&':
        html += "&amp;";
        break;
      case '<':
        html += "&lt;";
        break;
      case '>':
        html += "&gt;";
        break;
      case '"':
        html += "&quot;";
        break;
      case '\'':
        html += "&#39;";
        break;
      default:
        html += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
  }
  return html;
}

http::Reply page(int status, std::string_view place, std::string_view head, std::string_view body) {
  const std::string_view styles = place.starts_with("/console") ? "/console/style.css" : "/chat/style.css";
  http::Reply reply;
  reply.status = status;
  reply.content_type = "text/html; charset=utf-8";
  reply.headers.emplace_back("Cache-Control", "no-store");
  reply.body =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"color-scheme\" content=\"light dark\">\n<title>Sign in · Baton</title>\n";
  reply.body.append(head).append("<link rel=\"stylesheet\" href=\"").append(styles).append("\">\n");
  reply.body.append("</head>\n<body>\n<main>\n<h1>Baton</h1>\n")
      .append(body)
      .append("</main>\n</body>\n</html>\n");
  return console::with_protection(std::move(reply));
}

}  // namespace

http::Reply page_that_leads_to(std::string_view place) {
  const std::string at = escaped(place);
  return page(200, place, "<meta http-equiv=\"refresh\" content=\"0;url=" + at + "\">\n",
              "<p>You have signed in. <a href=\"" + at + "\">Go on</a></p>\n");
}

http::Reply page_of_failure(int status, std::string_view reason, std::string_view place) {
  const std::string shown = base::replaced_utf8(reason.substr(0, kReasonMax));
  return page(status, place, {},
              "<p role=\"alert\">" + escaped(shown) + "</p>\n<p><a href=\"" + escaped(place) +
                  "\">Go back</a></p>\n");
}

}  // namespace baton::server::sign_in

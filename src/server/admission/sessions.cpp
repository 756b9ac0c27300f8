#include "server/admission/sessions.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "http/http_text.h"
#include "json/document.h"
#include "json/writer.h"
#include "server/admission/access.h"
#include "server/admission/hosts.h"

namespace baton::server {
namespace {

constexpr std::string_view kSessionPurpose = "session";
constexpr std::size_t kSessionMax = 4'000;  // browsers keep 4,096 bytes with its name and attributes
constexpr std::size_t kRulesIdSize = 16;

std::vector<std::string> texts_in(json::Value list) {
  std::vector<std::string> texts;
  for (const json::Value each : list) texts.push_back(each.str());
  return texts;
}

bool changes_something(const http::Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

}  // namespace

void Sessions::set_rules(std::string rules) {
  std::string id = secret_->sign("rules", rules);
  id.erase(0, id.size() - kRulesIdSize);
  rules_id_.with([&](std::string& now) { now = std::move(id); });
}

std::string Sessions::rules_id() const {
  return rules_id_.with([](const std::string& now) { return now; });
}

std::string Sessions::cookie_of(const Session& session) const {
  std::string payload;
  json::Writer out(payload);
  out.object([&] {
    out.member("id", session.id).member("rules", session.rules);
    out.member("caller", session.token.caller.value).member("name", session.name);
    out.member("role", static_cast<int>(session.token.role));
    out.optional("agents", session.token.agents);
    out.key("scopes").strings(names_of(session.token.scopes));
    out.member("until", base::to_ms(session.until));
  });
  return secret_->sign(kSessionPurpose, payload);
}

std::optional<Session> Sessions::find(const ServerOptions& options, const http::Request& request) const {
  const std::string origin = own_origin(options, request);
  if (!is_safe_origin(origin)) return std::nullopt;
  const std::string_view cookie = cookie_in(request, cookie_name(origin, kSessionCookie));
  if (cookie.empty() || cookie.size() > kSessionMax) return std::nullopt;
  const auto payload = secret_->payload_of(kSessionPurpose, cookie);
  const auto document = payload ? json::Document::parse_view(*payload) : json::Document::parse_view("");
  if (!document) return std::nullopt;
  const json::Value said = document->root();
  Session session;
  session.id = said["id"].str();
  session.name = said["name"].str();
  session.rules = said["rules"].str();
  session.until = base::from_ms(said["until"].integer().value_or(0));
  session.token.caller = {said["caller"].str()};
  session.token.agents = texts_in(said["agents"]);
  session.token.scopes = Scopes();
  for (const json::Value scope : said["scopes"]) session.token.scopes.add(scope.string());
  const auto role = said["role"].integer().value_or(-1);
  if (role < 0 || role > static_cast<int>(Role::operates)) return std::nullopt;
  session.token.role = static_cast<Role>(role);
  if (session.until <= clock_.now() || has_ended(session.id, session.until, session.rules))
    return std::nullopt;
  return session;
}

void Sessions::end(const Session& session) {
  const base::Timestamp now = clock_.now();
  ended_.with([&](Ended& ended) {
    if (ended.has(session.id, session.until)) return;  // it takes no second place
    if (ended.until.size() >= kEndedMax)
      std::erase_if(ended.until, [&](const auto& each) { return each.second <= now; });
    if (ended.until.size() >= kEndedMax) {
      const auto next =
          std::ranges::min_element(ended.until, {}, [](const auto& each) { return each.second; });
      ended.all_until = std::max(ended.all_until, next->second);
      ended.until.erase(next);
    }
    ended.until.emplace(session.id, session.until);
  });
}

bool Sessions::has_ended(const std::string& id, base::Timestamp until, std::string_view rules) const {
  return rules != rules_id() || ended_.with([&](const Ended& ended) { return ended.has(id, until); });
}

std::string Sessions::csrf_of(const Session& session) const {
  const std::string text = secret_->sign("csrf", session.id);
  return text.substr(text.rfind('.') + 1);
}

base::Result<std::optional<Session>> session_of(const ServerOptions& options, const http::Request& request) {
  if (!options.sessions || brings_token(options, request) || !is_of_own_page(options, request))
    return std::optional<Session>();
  auto session = options.sessions->find(options, request);
  if (!session || !changes_something(request)) return session;
  // Browsers send the Origin with every such request. A client that leaves it out is no page of ours.
  const bool is_ours =
      !request.header("Origin").empty() &&
      equal_in_constant_time(request.header(kCsrfHeader), options.sessions->csrf_of(*session));
  if (!is_ours)
    return base::fail(base::ErrorCode::permission_denied,
                      "a signed-in page must name its origin and send its X-CSRF-Token");
  return session;
}

std::string cookie_name(std::string_view origin, std::string_view name) {
  return (origin.starts_with("https://") ? "__Host-" : "") + std::string(name);
}

std::string set_cookie(std::string_view origin, std::string_view name, std::string_view value,
                       std::string_view attributes) {
  std::string text = cookie_name(origin, name).append("=").append(value).append("; Path=/; HttpOnly; ");
  if (origin.starts_with("https://")) text += "Secure; ";
  return text.append(attributes);
}

std::string_view cookie_in(const http::Request& request, std::string_view name) {
  std::string_view found;
  int count = 0;
  for (const auto& [header, value] : request.headers) {
    if (!http::same_word(header, "Cookie")) continue;
    std::string_view rest = value;
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(';'), rest.size());
      const std::string_view pair = http::trimmed(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != name) continue;
      found = pair.substr(equals + 1);
      ++count;
    }
  }
  return count == 1 ? found : std::string_view();
}

}  // namespace baton::server

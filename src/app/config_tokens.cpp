#include "app/config_tokens.h"

#include <algorithm>
#include <array>
#include <optional>

#include "app/files.h"
#include "base/text.h"
#include "server/admission/page_tokens.h"

namespace baton::app {
namespace {

constexpr std::size_t kTokenFileMax = 64 << 10;
const std::array<std::string, 9> kMembers{"caller",   "token", "token_file", "token_env",  "agents",
                                          "children", "role",  "scopes",     "certificate"};

std::string trimmed(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
  return text;
}

// One entry of the list.
class Entry {
 public:
  Entry(json::Value object, const TokenSources& sources, std::string pointer, const ReportToken& report)
      : object_(object), sources_(sources), pointer_(std::move(pointer)), report_(report) {}

  ConfiguredToken read() {
    check_members();
    ConfiguredToken token;
    token.caller = caller();
    token.secret = secret();
    token.certificate = certificate();
    token.variable = object_["token_env"].str();
    token.file = file_;
    token.agents = agents();
    token.role = role();
    token.binds_children = binds_children(token);
    token.scopes = scopes();
    return token;
  }

 private:
  void wrong(std::string_view member, std::string_view what) {
    report_(pointer_ + std::string(member), what);
  }

  void check_members() {
    for (const json::Value member : object_) {
      const std::string name(member.key());
      if (object_.repeats(name)) wrong("/" + name, "is given more than once");
      if (std::ranges::find(kMembers, name) != kMembers.end()) continue;
      const std::string near = base::nearest_name(name, kMembers);
      wrong("/" + name, "is unknown" + (near.empty() ? "" : "; did you mean " + near + "?"));
    }
  }

  std::string caller() {
    const json::Value caller = object_["caller"];
    if (!caller.is_string() || caller.string().empty()) wrong("/caller", "must be the caller's name");
    const std::string_view name = caller.string();
    const bool readable =
        std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; });
    if (!readable) wrong("/caller", "must not contain control characters");
    return caller.str();
  }

  std::string secret() {
    int given = 0;
    for (const char* member : {"token", "token_file", "token_env", "certificate"})
      given += object_[member].missing() ? 0 : 1;
    if (given != 1) {
      wrong("", "must have exactly one of token, token_file, token_env and certificate");
      return {};
    }
    if (!object_["certificate"].missing()) return {};
    std::string_view member = "/token";
    std::optional<std::string> secret;
    if (!object_["token_file"].missing()) {
      member = "/token_file";
      secret = from_file(object_["token_file"]);
    } else if (!object_["token_env"].missing()) {
      member = "/token_env";
      secret = from_environment(object_["token_env"]);
    } else if (object_["token"].is_string()) {
      secret = object_["token"].str();
    } else {
      wrong(member, "must be a string");
    }
    if (!secret) return {};
    const bool sendable = std::ranges::all_of(*secret, [](char c) { return c > ' ' && c < 0x7f; });
    if (secret->empty() || !sendable)
      wrong(member, "must be printable ASCII without spaces, and not be empty");
    if (server::is_page_token(*secret))
      wrong(member, "must not begin with bp1. or bp2., which are reserved for page tokens");
    return *secret;
  }

  std::string certificate() {
    const json::Value name = object_["certificate"];
    if (name.missing()) return {};
    const std::string_view text = name.string();
    const bool is_name = std::ranges::any_of(
        std::array<std::string_view, 3>{"DNS:", "URI:", "email:"},
        [&](std::string_view kind) { return text.starts_with(kind) && text.size() > kind.size(); });
    if (!is_name)
      wrong("/certificate", "must be a name such as DNS:host, URI:spiffe://domain/path or email:address");
    return name.str();
  }

  std::optional<std::string> from_file(json::Value name) {
    if (!name.is_string()) {
      wrong("/token_file", "must be the name of a file");
      return std::nullopt;
    }
    const bool beside = !sources_.folder.empty() && !name.string().starts_with('/');
    file_ = beside ? sources_.folder + "/" + name.str() : name.str();
    auto text = read_text_file(file_, kTokenFileMax);
    if (!text) {
      wrong("/token_file", text.error().for_caller);
      return std::nullopt;
    }
    return trimmed(std::move(*text));
  }

  std::optional<std::string> from_environment(json::Value name) {
    const auto found = sources_.environment.find(name.str());
    if (found == sources_.environment.end()) {
      wrong("/token_env", "must be the name of an environment variable that is set");
      return std::nullopt;
    }
    return found->second;
  }

  std::vector<std::string> agents() {
    std::vector<std::string> names;
    const json::Value list = object_["agents"];
    if (list.missing()) return names;
    for (const json::Value name : list) {
      if (name.is_string() && !name.string().empty()) names.push_back(name.str());
    }
    // Rejects an empty list: it would mean "all", which its author surely did not want.
    if (!list.is_array() || names.empty() || names.size() != list.size()) {
      wrong("/agents", "must be a list with at least one agent name");
    }
    return names;
  }

  bool binds_children(const ConfiguredToken& token) {
    const json::Value children = object_["children"];
    if (children.missing() || children.str() == "any") return false;
    if (children.str() != "own") wrong("/children", "must be \"own\" or \"any\"");
    if (token.agents.empty()) wrong("/children", "\"own\" requires a list of agents in \"agents\"");
    return true;
  }

  server::Scopes scopes() {
    const json::Value list = object_["scopes"];
    if (list.missing()) return server::Scopes::all();
    server::Scopes scopes;
    bool is_good = list.is_array();
    for (const json::Value name : list) is_good = scopes.add(name.string()) && is_good;
    if (!is_good || scopes.empty())
      wrong("/scopes", "must be a list of at least one of send, read, cancel and operate");
    return scopes;
  }

  server::Role role() {
    const json::Value role = object_["role"];
    if (role.missing() || role.str() == "caller") return server::Role::calls;
    if (role.str() == "viewer") return server::Role::views;
    if (role.str() != "operator") wrong("/role", "must be \"caller\", \"viewer\" or \"operator\"");
    return server::Role::operates;
  }

  std::string file_;  // the file that the secret was read from
  const json::Value object_;
  const TokenSources& sources_;
  const std::string pointer_;
  const ReportToken& report_;
};

}  // namespace

std::vector<ConfiguredToken> read_tokens(json::Value list, const TokenSources& sources,
                                         const ReportToken& report) {
  std::vector<ConfiguredToken> tokens;
  if (!list.is_array()) {
    report("", "must be a list of objects");
    return tokens;
  }
  for (const json::Value item : list) {
    const std::string pointer = "/" + std::to_string(tokens.size());
    tokens.emplace_back();
    if (!item.is_object()) {
      report(pointer,
             "must be an object with caller and one of token, token_file, token_env and certificate");
      continue;
    }
    ConfiguredToken token = Entry(item, sources, pointer, report).read();
    const bool taken = !token.secret.empty() &&
                       std::ranges::find(tokens, token.secret, &ConfiguredToken::secret) != tokens.end();
    if (taken) report(pointer, "has the same token as an earlier entry");
    const bool is_named =
        !token.certificate.empty() &&
        std::ranges::find(tokens, token.certificate, &ConfiguredToken::certificate) != tokens.end();
    if (is_named) report(pointer, "has the same certificate as an earlier entry");
    tokens.back() = std::move(token);
  }
  return tokens;
}

}  // namespace baton::app

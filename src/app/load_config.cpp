#include "app/load_config.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "agents/delegate_urls.h"
#include "app/config_issuers.h"
#include "app/config_tokens.h"
#include "app/database_url.h"
#include "app/files.h"
#include "app/settings.h"
#include "base/text.h"
#include "json/document.h"
#include "outbound/http_client.h"
#include "outbound/proxy.h"
#include "server/admission/access.h"
#include "server/admission/hosts.h"
#include "server/admission/token_secret.h"
#include "task/ids.h"

namespace baton::app {
namespace {

bool is_private(json::Value jwk) {
  return !jwk["d"].absent();
}

// Whether a file of keys, PEM, a JWK or a set, has a private one. Reading the keys says what else is wrong.
bool holds_private_key(const std::string& file) {
  const auto text = read_text_file(file, std::size_t{256} << 10);
  if (!text) return false;
  if (text->find("PRIVATE KEY-----") != std::string::npos) return true;
  const auto document = json::Document::view_of(*text);
  if (is_private(document.root())) return true;
  for (const json::Value each : document.root()["keys"]) {
    if (is_private(each)) return true;
  }
  return false;
}

constexpr std::string_view kTokens = "tokens", kIssuers = "issuers";
// Environment variables of Baton that are not settings.
const std::vector<std::string> kOtherVariables{"BATON_CONFIG", "BATON_URL", "BATON_TOKEN", "BATON_AGENT",
                                               "BATON_PUSH_KEY"};

std::string last_name(std::string_view path) {
  return std::string(path.substr(path.rfind('.') + 1));
}

std::string pointer_of(std::string_view path) {
  std::string pointer = "/" + std::string(path);
  for (char& c : pointer) {
    if (c == '.') c = '/';
  }
  return pointer;
}

enum class Source { none, file, environment, flags };  // by increasing precedence

// Reads all sources once, in order of increasing precedence.
class Loader {
 public:
  explicit Loader(const Sources& sources) : sources_(sources) {}

  LoadedConfig load() {
    take_given(sources_.defaults, Source::none);
    if (!sources_.file_name.empty()) take_file();
    take_environment();
    take_given(sources_.flags, Source::flags);
    take_database_file();
    check_whole();
    return std::move(loaded_);
  }

 private:
  Config& config() { return loaded_.config; }

  void wrong(const std::string& where, std::string_view what) {
    loaded_.problems.push_back(where + ": " + std::string(what));
  }
  // Reports an error at a value's position, like a compiler: "baton.json:3:11: /port".
  void wrong_in_file(std::string_view pointer, std::string_view what) {
    const json::TextPlace place =
        json::place_at(sources_.file_text, json::nearest_value(file_, pointer).offset());
    wrong(sources_.file_name + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " +
              std::string(pointer),
          what);
  }

  void take_file() {
    const json::ParseOptions options{.depth_max = 20, .comments = true, .lines = true};
    const auto document = json::Document::parse_view(sources_.file_text, options);
    if (!document) {
      loaded_.problems.push_back(sources_.file_name + ":" + document.error().for_caller);
      return;
    }
    if (!document->root().is_object()) return wrong(sources_.file_name, "must be a JSON object");
    file_ = document->root();
    take_section(file_, "");
    find_named_files();
    file_ = {};
  }

  void note_given(const Setting& setting, Source source) {
    if (setting.path.starts_with("retention.")) config().engine.retention.is_set = true;
    if (setting.path == "db") database_from_ = source;
    if (setting.path == "db_file") database_file_from_ = source;
  }

  // Returns the folder for relative names of secret files in the configuration file; empty: the current
  // folder.
  std::string folder_of_file() const {
    const std::size_t slash = sources_.file_name.rfind('/');
    // The part of "/baton.json" before the slash is empty.
    if (slash == 0) return "/";
    return slash == std::string::npos ? "" : sources_.file_name.substr(0, slash);
  }

  // Makes the names of TLS files and of secrets in the configuration file relative to it.
  void find_named_files() {
    const std::string folder = folder_of_file();
    const auto resolve = [&](std::string& name) {
      if (!folder.empty() && !name.empty() && !name.starts_with('/')) name = folder + "/" + name;
    };
    TlsOptions& tls = config().tls;
    for (std::string& name : tls.certificates) resolve(name);
    for (std::string& name : tls.keys) resolve(name);
    resolve(tls.ticket_secret_file);
    resolve(tls.client_authorities_file);
    resolve(config().sign_in.client_secret_file);
    resolve(config().token_secret_file);
    for (std::string& name : config().webhook_keys) resolve(name);
    CardSecurity& cards = config().card_security;
    resolve(cards.signing_key);
    for (std::string& name : cards.published_keys) resolve(name);
    for (std::string& pair : cards.trusted_keys) {
      std::string name = pair.substr(std::min(pair.find('='), pair.size() - 1) + 1);
      if (name.empty()) continue;
      pair.resize(pair.size() - name.size());
      resolve(name);
      pair += name;
    }
  }

  // `prefix` is empty, or the section's name followed by a dot.
  void take_section(json::Value section, const std::string& prefix) {
    for (const json::Value member : section) {
      const std::string path = prefix + std::string(member.key());
      // "http.body_max" is the internal form, not a name in the file.
      const bool dotted = member.key().find('.') != std::string_view::npos;
      if (section.repeats(member.key())) wrong_in_file(pointer_of(path), "is given more than once");
      if (path == kTokens) {
        take_tokens(member, {sources_.environment, folder_of_file()},
                    [&](std::string_view pointer, std::string_view what) {
                      wrong_in_file("/tokens" + std::string(pointer), what);
                    });
        note_inline_secrets(member);
      } else if (path == kIssuers) {
        config().issuers =
            read_issuers(member, folder_of_file(), [&](std::string_view pointer, std::string_view what) {
              wrong_in_file("/issuers" + std::string(pointer), what);
            });
      } else if (const Setting* setting = dotted ? nullptr : find_setting(path)) {
        note_given(*setting, Source::file);
        if (const auto problem = set_from_json(config(), *setting, member))
          wrong_in_file(pointer_of(path), *problem);
      } else if (prefix.empty() && is_section(path)) {
        if (member.is_object()) {
          take_section(member, path + ".");
        } else {
          wrong_in_file(pointer_of(path), "must be an object");
        }
      } else if (path != "$schema") {
        wrong_in_file(pointer_of(prefix) + std::string(member.key()),
                      "is unknown" + suggestion(prefix, std::string(member.key())));
      }
    }
  }

  // A token in the configuration file makes that file secret.
  void note_inline_secrets(json::Value list) {
    auto token = config().tokens.begin();
    for (const json::Value item : list) {
      if (token == config().tokens.end()) return;
      if (!item["token"].missing()) token->file = sources_.file_name;
      ++token;
    }
  }

  static bool is_section(const std::string& name) {
    for (const Setting& setting : settings()) {
      if (setting.path.starts_with(name + ".")) return true;
    }
    return false;
  }

  static std::string suggestion(const std::string& prefix, const std::string& name) {
    std::vector<std::string> here;
    for (const Setting& setting : settings()) {
      if (!setting.path.starts_with(prefix)) continue;
      const std::string_view rest = setting.path.substr(prefix.size());
      here.emplace_back(rest.substr(0, rest.find('.')));
    }
    if (prefix.empty()) here.insert(here.end(), {std::string(kTokens), std::string(kIssuers)});
    // Prefers the same name in another section to a similar name in this one.
    for (const Setting& setting : settings()) {
      if (last_name(setting.path) == name || setting.path == name)
        return "; did you mean " + pointer_of(setting.path) + "?";
    }
    const std::string near = base::nearest_name(name, here);
    return near.empty() ? "" : "; did you mean " + near + "?";
  }

  void take_tokens(json::Value list, const TokenSources& sources, const ReportToken& report) {
    config().tokens = read_tokens(list, sources, report);
    for (const ConfiguredToken& token : config().tokens) {
      if (!token.variable.empty()) config().cards.secret_variables.push_back(token.variable);
    }
  }

  void take_environment() {
    std::vector<std::string> known = kOtherVariables;
    for (const Setting& setting : settings()) {
      known.push_back(variable_of(setting.path));
      const auto found = sources_.environment.find(known.back());
      if (found == sources_.environment.end()) continue;
      note_given(setting, Source::environment);
      if (const auto problem = set_from_text(config(), setting, found->second)) wrong(known.back(), *problem);
    }
    known.push_back(variable_of(kTokens));
    if (const auto found = sources_.environment.find(known.back()); found != sources_.environment.end()) {
      const auto document = json::Document::parse_view(found->second);
      // The parser's own error could quote part of a secret.
      if (!document)
        return wrong(known.back(), "must be a JSON list, like `tokens` in the configuration file");
      const std::string name = known.back();
      // Accepts the list itself, or an object that contains the list as in the file.
      const json::Value whole = document->root();
      take_tokens(whole.is_object() ? whole[kTokens] : whole, {sources_.environment, {}},
                  [&](std::string_view pointer, std::string_view what) {
                    wrong(name + " " + std::string(pointer), what);
                  });
    }
    known.push_back(variable_of(kIssuers));
    take_issuers(known.back());
    warn_of_misspelt(known);
  }

  void take_issuers(const std::string& variable) {
    const auto found = sources_.environment.find(variable);
    if (found == sources_.environment.end()) return;
    const auto document = json::Document::parse_view(found->second);
    if (!document) return wrong(variable, "must be a JSON list, like `issuers` in the configuration file");
    config().issuers =
        read_issuers(document->root(), {}, [&](std::string_view pointer, std::string_view what) {
          wrong(variable + " " + std::string(pointer), what);
        });
  }

  // Only warns, because other programs may set variables that begin with our name.
  void warn_of_misspelt(const std::vector<std::string>& known) {
    for (const auto& [name, value] : sources_.environment) {
      if (!name.starts_with("BATON_") || std::ranges::find(known, name) != known.end()) continue;
      const std::string near = base::nearest_name(name, known);
      if (near.empty() || base::edit_distance(name, near) > 2) continue;
      loaded_.warnings.push_back(name + " is not a setting; did you mean " + near + "?");
    }
  }

  void take_given(const std::vector<std::pair<std::string, std::string>>& given, Source source) {
    for (const auto& [path, text] : given) {
      const Setting* setting = find_setting(path);
      if (!setting) continue;
      note_given(*setting, source);
      if (const auto problem = set_from_text(config(), *setting, text)) wrong(flag_of(*setting), *problem);
    }
  }

  // `db_file` and `db` both name the database. The one from the source with higher precedence wins.
  void take_database_file() {
    StoreOptions& store = config().store;
    if (database_file_from_ < database_from_) store.database_file.clear();
    if (store.database_file.empty()) return;
    if (database_file_from_ == database_from_)
      return wrong("db_file", "is given together with db: remove one of them");
    if (database_file_from_ == Source::file && !store.database_file.starts_with('/')) {
      const std::string folder = folder_of_file();
      if (!folder.empty()) store.database_file = folder + "/" + store.database_file;
    }
    auto database = database_in_file(store.database_file);
    if (!database) return wrong("db_file", database.error().for_caller);
    store.database = std::move(*database);
  }

  void check_database() {
    const StoreOptions& store = config().store;
    const bool by_file = !store.database_file.empty();
    const std::string problem = database_problem(store.database);
    if (!problem.empty()) wrong(by_file ? "db_file" : "db", problem);
    if (!by_file && database_from_ == Source::flags && holds_password(store.database)) {
      wrong("--db",
            "contains a password, which every user of this machine can see in the process list. Put the URL "
            "into a file and name it with --db-file, or set BATON_DB, or put the password into the file that "
            "PGPASSFILE names");
    }
    // libpq reads PGPASSWORD; agents must not get it.
    if (is_postgres(store.database)) config().cards.secret_variables.emplace_back("PGPASSWORD");
  }

  // Checks that involve more than one setting.
  void check_whole() {
    const Config& c = config();
    const auto web = [](std::string_view url) { return base::web_scheme(url) != 0; };
    if (!c.server.public_url.empty() &&
        (!web(c.server.public_url) || c.server.public_url.find_first_of(" ?#\r\n") != std::string::npos)) {
      wrong("public_url", "must be an http or https URL without a query or fragment");
    }
    if (!c.server.key_header.empty() &&
        (!base::is_token(c.server.key_header) || !server::may_be_key_header(c.server.key_header)))
      wrong("key_header", "must be the name of a header of its own, such as X-API-Key");
    for (const std::string& origin : c.server.cors_origins) {
      const bool plain = origin.find('/', origin.find("//") + 2) == std::string::npos;
      if (origin != "*" && origin != "loopback" && (!web(origin) || !plain))
        wrong("cors.origins", "must be *, loopback or an origin such as https://host:port");
    }
    if (const std::string problem = outbound::proxy_problem(c.proxy.url);
        !c.proxy.url.empty() && !problem.empty())
      wrong("outbound.proxy", problem);
    // Agents must not get what the variable holds.
    if (!c.proxy.secret_env.empty()) config().cards.secret_variables.push_back(c.proxy.secret_env);
    for (const std::string& origin : c.outbound_origins) {
      if (!web(origin) || !outbound::parse_url(origin)) {
        wrong("outbound.origins", "must be an origin such as https://host:port");
      }
    }
    for (const std::string& url : c.cards.delegate_urls) {
      const std::string problem = agents::delegate_url_problem(url);
      if (!problem.empty()) wrong("outbound.delegate_urls", url + ": " + problem);
    }
    check_hosts();
    check_database();
    check_traces();
    check_tls();
    check_client_certificates();
    check_sign_in();
    check_card_security();
    check_secrets();
    for (const server::Issuer& issuer : c.issuers) {
      if (issuer.audiences.empty() && issuer.clients.empty() && c.server.public_url.empty())
        wrong("issuers", issuer.url + " needs an audience, as there is no public_url");
    }
    if (!c.anonymous_allowed() && c.tokens.empty() && c.issuers.empty() && !c.api_keys.value_or(false)) {
      wrong("allow_anonymous",
            "is false and no token is configured, so nobody could call the server. Configure a token or "
            "allow anonymous calls");
    }
    const bool names_them = std::ranges::any_of(
        c.tokens, [](const ConfiguredToken& token) { return token.caller == task::kAnonymous.value; });
    if (c.anonymous_allowed() && names_them) {
      wrong("allow_anonymous", "is true, and a token is configured for the caller " + task::kAnonymous.value +
                                   ": callers without a token have the same name and would share its tasks. "
                                   "Give the caller of the token another name");
    }
    if (c.engine.part_bytes_max > c.engine.artifact_bytes_max)
      wrong("limits.part_max", "must not be greater than limits.artifact_max");
    if (c.webhooks.retry.first > c.webhooks.retry.max) {
      wrong("webhooks.retry_first_s", "must not be greater than webhooks.retry_max_s");
    }
  }

  void check_secrets() {
    if (config().allow_readable_secrets) return;
    std::set<std::string> files;
    for (const ConfiguredToken& token : config().tokens) files.insert(token.file);
    files.insert(config().traces.headers_file);
    for (const http::tls::CertificateFiles& each : config().tls.files().certificates)
      files.insert(each.key.empty() ? each.chain : each.key);
    files.insert(config().tls.ticket_secret_file);
    files.insert(config().sign_in.client_secret_file);
    files.insert(config().token_secret_file);
    files.insert(config().webhook_keys.begin(), config().webhook_keys.end());
    files.insert(config().card_security.signing_key);
    for (const std::string& file : config().card_security.published_keys) {
      if (holds_private_key(file)) files.insert(file);
    }
    if (const StoreOptions& store = config().store; holds_password(store.database)) {
      files.insert(store.database_file);
      if (database_from_ == Source::file) files.insert(sources_.file_name);
    }
    for (const std::string& file : files) {
      if (!is_exposed(file)) continue;
      wrong(file,
            "contains a secret and can be read by every user of this machine. Make it private (chmod 600), "
            "or pass --allow-readable-secrets");
    }
  }

  void check_traces() {
    const TraceOptions& traces = config().traces;
    // The variable may hold a secret, which agents must not get.
    if (!traces.headers_env.empty()) config().cards.secret_variables.push_back(traces.headers_env);
    if (traces.endpoint.empty()) return;
    const auto url = outbound::parse_url(traces.endpoint);
    if (!url) wrong("traces.endpoint", url.error().for_caller);
  }

  void check_tls() {
    const TlsOptions& tls = config().tls;
    if (!tls.keys.empty() && tls.keys.size() != tls.certificates.size())
      wrong("tls.keys", "must name one file for each of tls.certificates, or none");
    if (!tls.ticket_secret_file.empty() && !tls.is_on())
      wrong("tls.ticket_secret_file", "has no use without tls.certificates");
  }

  void check_card_security() {
    const CardSecurity& cards = config().card_security;
    if (!cards.signing_key.empty() && config().server.public_url.empty())
      wrong("cards.signing_key", "requires public_url: a signed card has the same URLs for everybody");
    for (const std::string& pair : cards.trusted_keys) {
      const std::size_t equals = pair.find('=');
      const auto url = outbound::parse_url(std::string_view(pair).substr(0, equals));
      if (equals == std::string::npos || equals + 1 == pair.size() || !url || url->target != "/")
        wrong("cards.trusted_keys", "must be ORIGIN=FILE, such as https://host=keys.json");
    }
  }

  void check_client_certificates() {
    const TlsOptions& tls = config().tls;
    const bool asks = !tls.client_authorities_file.empty();
    if (asks && !tls.is_on()) wrong("tls.client_authorities_file", "has no use without tls.certificates");
    if (tls.client_certificate_required && !asks)
      wrong("tls.client_certificate_required", "requires tls.client_authorities_file");
    const bool names_some = std::ranges::any_of(
        config().tokens, [](const ConfiguredToken& token) { return !token.certificate.empty(); });
    if (names_some && !asks)
      wrong("tokens", "name a certificate, which requires tls.client_authorities_file");
  }

  // Reads the files, too.
  void check_sign_in() {
    constexpr std::size_t kFileMax = 64 << 10;
    SignInOptions& sign_in = config().sign_in;
    if (const std::string& file = config().token_secret_file; !file.empty()) {
      auto secret = read_file(file, kFileMax);
      if (!secret)
        wrong("token_secret_file", secret.error().for_caller);
      else if (secret->size() < server::TokenSecret::kSizeMin)
        wrong("token_secret_file", "must contain at least 32 bytes, such as those of openssl rand -hex 32");
      else
        config().token_secret = std::move(*secret);
    }
    if (!sign_in.is_on()) {
      if (!sign_in.client_id.empty()) wrong("sign_in.client_id", "has no use without sign_in.issuer");
      return;
    }
    if (std::ranges::find(config().issuers, sign_in.issuer, &server::Issuer::url) == config().issuers.end())
      wrong("sign_in.issuer", "must be one of issuers, which say what the claims of its people mean");
    if (sign_in.client_id.empty()) wrong("sign_in.client_id", "is required with sign_in.issuer");
    if (std::ranges::find(sign_in.scopes, "openid") == sign_in.scopes.end())
      wrong("sign_in.scopes", "must contain openid");
    if (sign_in.client_secret_file.empty()) return;
    auto secret = read_text_file(sign_in.client_secret_file, kFileMax);
    if (!secret) return wrong("sign_in.client_secret_file", secret.error().for_caller);
    while (secret->ends_with('\n') || secret->ends_with('\r')) secret->pop_back();
    if (secret->empty()) wrong("sign_in.client_secret_file", "is empty");
    sign_in.client_secret = std::move(*secret);
  }

  void check_hosts() {
    const Config& c = config();
    for (const std::string& host : c.server.hosts) {
      if (host != "*" && !server::is_host(host)) wrong("hosts", "must be *, a host, or host:port");
    }
    for (const std::string& proxy : c.server.proxies) {
      if (!server::is_network(proxy))
        wrong("proxies", "must be an address or network such as 10.0.0.7, 10.0.0.0/8 or 2001:db8::/32");
    }
    if (!c.on_loopback() && !c.has_callers() && !c.allow_anonymous) {
      wrong("host", c.host +
                        " can be reached from other machines, and no caller's token is configured, so anyone "
                        "who reaches it could use every agent. Configure tokens, or pass --allow-anonymous");
    }
  }

  const Sources& sources_;
  json::Value file_;  // valid only while the file is being read
  Source database_from_ = Source::none, database_file_from_ = Source::none;
  LoadedConfig loaded_;
};

}  // namespace

bool Config::has_callers() const {
  return !issuers.empty() || api_keys.value_or(false) ||
         std::ranges::any_of(tokens,
                             [](const ConfiguredToken& token) { return token.role == server::Role::calls; });
}

std::string StoreOptions::name_of_node() const {
  if (!node_name.empty()) return node_name;
  std::array<char, 256> machine{};
  ::gethostname(machine.data(), machine.size() - 1);
  return machine.data();
}

http::tls::IdentityFiles TlsOptions::files() const {
  http::tls::IdentityFiles files{
      {}, ticket_secret_file, client_authorities_file, client_certificate_required};
  for (std::size_t i = 0; i < certificates.size(); ++i)
    files.certificates.push_back({certificates[i], i < keys.size() ? keys[i] : std::string()});
  return files;
}

bool Config::on_loopback() const {
  return server::is_loopback_host(host);
}

LoadedConfig load_config(const Sources& sources) {
  return Loader(sources).load();
}

std::map<std::string, std::string> process_environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; entry && *entry; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

}  // namespace baton::app

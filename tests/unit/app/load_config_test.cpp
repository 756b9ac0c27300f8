#include "app/load_config.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>

#include "app/files.h"
#include "app/settings.h"
#include "app/version.h"
#include "json/document.h"
#include "support/source_folder.h"
#include "support/temp_folder.h"

namespace baton::app::load_config_test {
namespace {

using std::chrono::milliseconds;

LoadedConfig from_file(std::string text) {
  return load_config({"baton.json", std::move(text), {}, {}});
}

bool has_problem(const LoadedConfig& loaded, std::string_view text) {
  return std::ranges::any_of(
      loaded.problems, [&](const std::string& problem) { return problem.find(text) != std::string::npos; });
}

// A file that is removed at the end of the test.
struct TemporaryFile {
  explicit TemporaryFile(std::string_view text) {
    char pattern[] = "/tmp/baton-test-XXXXXX";
    const int fd = mkstemp(pattern);
    REQUIRE(fd >= 0);
    close(fd);
    name = pattern;
    std::ofstream(name) << text;
  }
  ~TemporaryFile() { unlink(name.c_str()); }
  std::string name;
};

TEST_CASE("Configuration: without sources the defaults apply and there are no problems") {
  const LoadedConfig loaded = load_config({});
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.host == "127.0.0.1");
  CHECK(loaded.config.port == 8080);
  CHECK(loaded.config.engine.part_bytes_max == 4u << 20);
  CHECK(loaded.config.engine.reply_wait == milliseconds(600'000));
  CHECK(loaded.config.anonymous_allowed());
}

TEST_CASE("Configuration: flags override the environment, which overrides the file and the defaults") {
  Sources sources{"baton.json",
                  R"({"port": 1, "db": "file.db", "agents": "from-file", "log": {"level": "warn"}})",
                  {{"BATON_PORT", "2"}, {"BATON_DB", "env.db"}},
                  {{"port", "3"}}};
  const LoadedConfig loaded = load_config(sources);
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.port == 3);
  CHECK(loaded.config.store.database == "env.db");
  CHECK(loaded.config.agents_folder == "from-file");
  CHECK(loaded.config.log.level == "warn");
  CHECK(loaded.config.log.format == "json");
}

TEST_CASE("Configuration: the file may have comments") {
  const LoadedConfig loaded = from_file("// who\n{\"port\": /* here */ 9000}\n");
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.port == 9000);
}

TEST_CASE("Configuration: sizes and seconds are read with every unit") {
  const LoadedConfig loaded = from_file(
      R"({"http": {"body_max": "16MiB", "idle_time_s": 0.25}, "limits": {"part_max": 2048},
          "cors": {"origins": ["https://a.example", "http://b.example:81"]}})");
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.http.body_max == 16u << 20);
  CHECK(loaded.config.http.idle_time == milliseconds(250));
  CHECK(loaded.config.engine.part_bytes_max == 2048);
  CHECK(loaded.config.server.cors_origins.size() == 2);

  const LoadedConfig text = load_config({"",
                                         "",
                                         {{"BATON_CORS_ORIGINS", "https://a.example, https://b.example"}},
                                         {{"http.body_max", "1.5MiB"}}});
  CHECK(text.problems.empty());
  CHECK(text.config.server.cors_origins ==
        std::vector<std::string>{"https://a.example", "https://b.example"});
  CHECK(text.config.http.body_max == 3u << 19);
}

TEST_CASE("Configuration: an unknown key is reported with its place and the nearest known name") {
  const LoadedConfig loaded = from_file(
      R"({"prot": 1, "http": {"body_mx": 5}, "reply_wait_s": 3, "http.body_max": 9, "zzzzzzzz": 1})");
  CHECK(loaded.problems.size() == 5);
  CHECK(has_problem(loaded, "/prot: is unknown; did you mean port?"));
  CHECK(has_problem(loaded, "/http/body_mx: is unknown; did you mean body_max?"));
  CHECK(has_problem(loaded, "/reply_wait_s: is unknown; did you mean /engine/reply_wait_s?"));
  CHECK(has_problem(loaded, "/http.body_max: is unknown; did you mean /http/body_max?"));
  CHECK(std::ranges::find(loaded.problems, "baton.json:1:88: /zzzzzzzz: is unknown") !=
        loaded.problems.end());
}

TEST_CASE("Configuration: problems of the file are reported with line and column") {
  CHECK(
      from_file("{\n  // a comment\n  \"port\": 8080,\n  \"http\": {\n    \"body_max\": \"x\"}}").problems ==
      std::vector<std::string>{"baton.json:5:17: /http/body_max: must be a size between 1KiB and 1GiB"});
  const LoadedConfig broken = from_file("{\n  \"port\": 8080\n  \"host\": \"x\"}");
  REQUIRE(broken.problems.size() == 1);
  CHECK(broken.problems[0].starts_with("baton.json:3:3: "));
  CHECK(has_problem(from_file("{\"tokens\": [\n {\"caller\": \"a\",\n \"tokn\": \"s\"}]}"),
                    "baton.json:3:10: /tokens/0/tokn: is unknown; did you mean token?"));
}

TEST_CASE("Configuration: all wrong types and ranges are reported, each with its place and what is allowed") {
  struct Wrong {
    std::string file;
    std::string problem;
  };
  const std::vector<Wrong> table{
      {R"({"port": 70000})", "/port: must be a whole number between 0 and 65535"},
      {R"({"port": "80"})", "/port: must be a whole number"},
      {R"({"port": 80.5})", "/port: must be a whole number"},
      {R"({"port": null})", "/port: must be a whole number"},
      {R"({"port": {}})", "/port: must be a whole number"},
      {R"({"host": 5})", "/host: must be a string"},
      {R"({"host": ""})", "/host: must be a string with a length between 1 and 255"},
      {R"({"http": {"body_max": "8 parsecs"}})", "/http/body_max: must be a size between 1KiB and 1GiB"},
      {R"({"http": {"body_max": 1}})", "/http/body_max: must be a size between 1KiB and 1GiB"},
      {R"({"http": {"header_time_s": "fast"}})",
       "/http/header_time_s: must be a number of seconds between 0.1 and"},
      {R"({"http": 5})", "/http: must be an object"},
      {R"({"cors": {"enabled": "maybe"}})", "/cors/enabled: must be true or false"},
      {R"({"cors": {"origins": "x"}})", "/cors/origins: must be a list of strings"},
      {R"({"cors": {"origins": [1]}})", "/cors/origins: must be a list of strings"},
      {R"({"cors": {"origins": ["https://a.example/path"]}})",
       "cors.origins: must be *, loopback or an origin such as https://host:port"},
      {R"({"outbound": {"proxy": "socks5://a.example"}})", "outbound.proxy: "},
      {R"({"outbound": {"delegate_urls": ["https://a.example"]}})",
       "outbound.delegate_urls: https://a.example: it has no path"},
      {R"({"log": {"level": "loud"}})", "/log/level: must be one of trace, debug, info"},
      {R"({"log": {"format": 3}})", "/log/format: must be one of json, text"},
      {R"({"port": 1, "port": 2})", "/port: is given more than once"},
      {R"({"public_url": "ftp://x"})", "public_url: must be an http or https URL"},
      {R"({"limits": {"artifact_max": 2048}})",
       "limits.part_max: must not be greater than limits.artifact_max"},
      {R"({"webhooks": {"retry_max_s": 0.5}})", "webhooks.retry_first_s: must not be greater than"},
      {R"({"allow_anonymous": false})", "nobody could call"},
      {R"([])", "baton.json: must be a JSON object"},
  };
  for (const Wrong& wrong : table) {
    CAPTURE(wrong.file);
    const LoadedConfig loaded = from_file(wrong.file);
    CHECK(has_problem(loaded, wrong.problem));
  }
  CHECK(from_file(R"({"port": -1, "host": 5, "log": {"level": 1}})").problems.size() == 3);
  CHECK(from_file("{").problems.size() == 1);
}

TEST_CASE("Configuration: a wrong variable or flag is reported by the name that was written") {
  const LoadedConfig loaded = load_config({"",
                                           "",
                                           {{"BATON_HTTP_BODY_MAX", "x"}, {"BATON_WEBHOOKS_ENABLED", "2"}},
                                           {{"webhooks.allow_private", "x"}, {"log.level", "loud"}}});
  CHECK(loaded.problems.size() == 4);
  CHECK(has_problem(loaded, "BATON_HTTP_BODY_MAX: must be a size"));
  CHECK(has_problem(loaded, "BATON_WEBHOOKS_ENABLED: must be true or false"));
  CHECK(has_problem(loaded, "--allow-private-webhooks: must be true or false"));
  CHECK(has_problem(loaded, "--log-level: must be one of"));
}

TEST_CASE("Configuration: a variable like a misspelt setting is a warning, and others are ignored") {
  const LoadedConfig loaded = load_config(
      {"", "", {{"BATON_PROT", "1"}, {"BATON_SOMETHING_ELSE", "1"}, {"BATON_URL", "x"}, {"PATH", "y"}}, {}});
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.warnings.size() == 1);
  CHECK(loaded.warnings[0] == "BATON_PROT is not a setting; did you mean BATON_PORT?");
}

TEST_CASE("Configuration: tokens come inline, from a file and from the environment") {
  const TemporaryFile file("from-the-file\n");
  Sources sources;
  sources.file_name = "baton.json";
  sources.file_text = R"({"tokens": [{"caller": "ann", "token": "inline"},
      {"caller": "bob", "token_file": ")" +
                      file.name + R"("},
      {"caller": "cid", "token_env": "CID_TOKEN", "agents": ["echo", "tools"], "children": "own"}]})";
  sources.environment["CID_TOKEN"] = "from-environment";
  const LoadedConfig loaded = load_config(sources);
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.config.tokens.size() == 3);
  CHECK(loaded.config.tokens[0].secret == "inline");
  CHECK(loaded.config.tokens[0].agents.empty());
  CHECK(loaded.config.tokens[1].secret == "from-the-file");
  CHECK(loaded.config.tokens[2].secret == "from-environment");
  CHECK(loaded.config.tokens[2].agents == std::vector<std::string>{"echo", "tools"});
  CHECK(loaded.config.tokens[2].binds_children);
  CHECK_FALSE(loaded.config.tokens[0].binds_children);
  CHECK_FALSE(loaded.config.anonymous_allowed());
}

TEST_CASE("Configuration: a token's file is beside the configuration file, unless its name is absolute") {
  const TemporaryFile file("from-the-file\n");
  const std::size_t slash = file.name.rfind('/');
  Sources sources;
  sources.file_name = file.name.substr(0, slash) + "/baton.json";
  sources.file_text =
      R"({"tokens": [{"caller": "bob", "token_file": ")" + file.name.substr(slash + 1) + R"("}]})";
  const LoadedConfig loaded = load_config(sources);
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.config.tokens.size() == 1);
  CHECK(loaded.config.tokens[0].secret == "from-the-file");
}

TEST_CASE("Configuration: BATON_TOKENS accepts the form that the help shows") {
  const LoadedConfig loaded =
      load_config({"", "", {{"BATON_TOKENS", R"({"tokens": [{"caller": "ann", "token": "t"}]})"}}, {}});
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.config.tokens.size() == 1);
  CHECK(loaded.config.tokens[0].caller == "ann");
}

TEST_CASE("Configuration: with tokens, anonymous calls need allow_anonymous") {
  const LoadedConfig loaded = load_config(
      {"", "", {{"BATON_TOKENS", R"([{"caller": "ann", "token": "t"}])"}}, {{"allow_anonymous", "true"}}});
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.tokens.size() == 1);
  CHECK(loaded.config.anonymous_allowed());
}

TEST_CASE("Configuration: a token for the caller anonymous conflicts with allow_anonymous") {
  const char* tokens = R"([{"caller": "anonymous", "token": "t"}])";
  const LoadedConfig closed = load_config({"", "", {{"BATON_TOKENS", tokens}}, {}});
  CHECK(closed.problems.empty());
  CHECK_FALSE(closed.config.anonymous_allowed());
  const LoadedConfig open = load_config({"", "", {{"BATON_TOKENS", tokens}}, {{"allow_anonymous", "true"}}});
  CHECK(has_problem(open, "allow_anonymous: is true, and a token is configured for the caller anonymous"));
}

TEST_CASE("Configuration: wrong tokens are reported without their secrets") {
  const std::string secret = "sEcReT";
  const std::vector<std::pair<std::string, std::string>> table{
      {R"({"caller": "ann", "token": "t", "children": "own"})",
       "/tokens/0/children: \"own\" requires a list of agents in \"agents\""},
      {R"({"caller": "ann", "token": "t", "children": 1})", "/tokens/0/children: must be \"own\" or \"any\""},
      {R"({"caller": "ann"})", "/tokens/0: must have exactly one of token, token_file, token_env and"},
      {R"({"caller": "ann", "token": "sEcReT", "token_env": "X"})", "/tokens/0: must have exactly one"},
      {R"({"token": "sEcReT"})", "/tokens/0/caller: must be the caller's name"},
      {R"({"caller": "ann", "token": "bp2.sEcReT"})", "/tokens/0/token: must not begin with bp1. or bp2."},
      {R"({"caller": "ann", "token": "sEcReT with space"})", "/tokens/0/token: must be printable ASCII"},
      {R"({"caller": "ann", "token": ["sEcReT"]})", "/tokens/0/token: must be a string"},
      {R"({"caller": "ann", "token_file": "/nowhere/at/all"})", "/tokens/0/token_file: cannot read the file"},
      {R"({"caller": "ann", "token_file": "/"})", "/tokens/0/token_file: cannot read the file"},
      {R"({"caller": "ann", "token_env": "NOT_SET"})",
       "/tokens/0/token_env: must be the name of an environment variable"},
      {R"({"caller": "ann", "token": "sEcReT", "agents": []})",
       "/tokens/0/agents: must be a list with at least one"},
      {R"({"caller": "ann", "tokn": "sEcReT"})", "/tokens/0/tokn: is unknown; did you mean token?"},
      {R"({"caller": "a", "token": "sEcReT"}, {"caller": "b", "token": "sEcReT"})",
       "/tokens/1: has the same token"},
      {R"("sEcReT")", "/tokens/0: must be an object"},
  };
  for (const auto& [entry, problem] : table) {
    CAPTURE(entry);
    const LoadedConfig loaded = from_file(R"({"tokens": [)" + entry + "]}");
    CHECK(has_problem(loaded, problem));
    CHECK_FALSE(has_problem(loaded, secret));
  }
  CHECK(has_problem(from_file(R"({"tokens": {}})"), "/tokens: must be a list of objects"));
  CHECK(has_problem(load_config({"", "", {{"BATON_TOKENS", "sEcReT"}}, {}}),
                    "BATON_TOKENS: must be a JSON list"));
}

TEST_CASE("Settings: every default is within its range, and names and members are unique") {
  std::vector<std::string> names;
  Config config;
  std::set<const void*> members;
  for (const Setting& setting : settings()) {
    CAPTURE(setting.path);
    CHECK_FALSE(setting.help.empty());
    const auto address_of = [&](auto target) -> const void* { return &target(config); };
    CHECK(members.insert(std::visit(address_of, setting.target)).second);
    const std::string text = default_text(setting);
    if (!text.empty()) CHECK_FALSE(set_from_text(config, setting, text).has_value());
    names.push_back(flag_of(setting));
    names.push_back(variable_of(setting.path));
  }
  std::ranges::sort(names);
  CHECK(std::ranges::adjacent_find(names) == names.end());
  CHECK(std::ranges::binary_search(names, std::string("--allow-private-webhooks")));
  CHECK(flag_of(std::string_view("webhooks.allow_private")) == "--webhooks-allow-private");
  CHECK(std::ranges::binary_search(names, std::string("BATON_HTTP_BODY_MAX")));
}

TEST_CASE("Settings: schema/config.schema.json is generated from the table") {
  const auto file = read_file(test::source_folder() / "schema/config.schema.json", 1 << 20);
  REQUIRE(file.has_value());
  // To regenerate it: baton serve --config-schema > schema/config.schema.json
  CHECK(*file == config_schema());
}

TEST_CASE("Settings: the choices of an enumeration are its values in order") {
  using SendMessage = server::ChatOptions::SendMessage;
  const std::vector<std::pair<std::string, SendMessage>> table{
      {"auto", SendMessage::as_body_says}, {"ag-ui", SendMessage::ag_ui}, {"ag-kit", SendMessage::ag_kit}};
  for (const auto& [text, value] : table) {
    CAPTURE(text);
    const LoadedConfig loaded = load_config({"", "", {}, {{"chat.send_message", text}}});
    CHECK(loaded.problems.empty());
    CHECK(loaded.config.server.chat.send_message == value);
  }
  CHECK(has_problem(from_file(R"({"chat": {"send_message": "ag"}})"),
                    "/chat/send_message: must be one of auto, ag-ui, ag-kit"));
  CHECK(
      has_problem(from_file(R"({"chat": {"send_message": 1}})"), "/chat/send_message: must be one of auto"));
}

TEST_CASE("Version: the program's version is that of CMakeLists.txt") {
  const auto build = read_file(test::source_folder() / "CMakeLists.txt", 1 << 20);
  REQUIRE(build.has_value());
  CHECK(build->find("project(baton VERSION " + std::string(kVersion) + " ") != std::string::npos);
}

}  // namespace

TEST_CASE("Configuration: an address that others can reach needs tokens or allow_anonymous") {
  for (const char* host : {"0.0.0.0", "::", "192.0.2.1", "127.0.0.1.example"}) {
    CAPTURE(host);
    CHECK(has_problem(load_config({"", "", {}, {{"host", host}}}), "--allow-anonymous"));
    CHECK(load_config({"", "", {}, {{"host", host}, {"allow_anonymous", "true"}}}).problems.empty());
    CHECK(load_config({"", "", {{"BATON_TOKENS", R"([{"caller": "ann", "token": "t"}])"}}, {{"host", host}}})
              .problems.empty());
  }
  for (const char* host : {"127.0.0.1", "localhost", "::1", "[::1]", "127.8.8.8"}) {
    CAPTURE(host);
    CHECK(load_config({"", "", {}, {{"host", host}}}).problems.empty());
  }
}

TEST_CASE("Configuration: hosts and proxies are checked") {
  CHECK(from_file(R"({"hosts": ["a.example", "b.example:81", "*"], "proxies": ["10.0.0.0/8", "::1"]})")
            .problems.empty());
  CHECK(has_problem(from_file(R"({"hosts": ["https://a.example"]})"), "hosts: must be"));
  for (const char* proxy : {"proxy.example", "10.0.0.0/33", "10.0.0.0/", "::/129", ""}) {
    CAPTURE(proxy);
    CHECK(has_problem(from_file(R"({"proxies": [")" + std::string(proxy) + R"("]})"), "proxies: must be"));
  }
}

TEST_CASE(
    "Configuration: files of TLS are beside the configuration file, and settings without a use are "
    "reported") {
  const std::string all =
      R"({"tls": {"certificates": ["a.pem", "/b.pem"], "keys": ["a.key", "b.key"], "ticket_secret_file": "t",
          "client_authorities_file": "ca.pem"},
          "tokens": [{"caller": "ann", "certificate": "URI:spiffe://test/ann"}]})";
  const LoadedConfig loaded = load_config({"conf/baton.json", all, {}, {}});
  CHECK(loaded.problems.empty());
  const http::tls::IdentityFiles files = loaded.config.tls.files();
  REQUIRE(files.certificates.size() == 2);
  CHECK(files.certificates[0].chain == "conf/a.pem");
  CHECK(files.certificates[0].key == "conf/a.key");
  CHECK(files.certificates[1].chain == "/b.pem");
  CHECK(files.ticket_secret == "conf/t");
  CHECK(files.client_authorities == "conf/ca.pem");
  CHECK(loaded.config.tokens.front().certificate == "URI:spiffe://test/ann");
  CHECK(load_config({"", "", {}, {{"tls.certificates", "a.pem"}}}).config.tls.files().certificates[0].chain ==
        "a.pem");
  CHECK(has_problem(from_file(R"({"tls": {"certificates": ["a", "b"], "keys": ["c"]}})"),
                    "tls.keys: must name one"));
  CHECK(has_problem(from_file(R"({"tls": {"ticket_secret_file": "t"}})"),
                    "tls.ticket_secret_file: has no use"));
  CHECK(has_problem(from_file(R"({"tls": {"client_authorities_file": "c"}})"),
                    "tls.client_authorities_file: has no use"));
  CHECK(has_problem(from_file(R"({"tls": {"client_certificate_required": true}})"),
                    "tls.client_certificate_required: requires"));
  const auto token = [](const std::string& members) {
    return from_file(R"({"tokens": [{"caller": "ann", )" + members + "}]}");
  };
  CHECK(has_problem(token(R"("certificate": "DNS:a")"), "tokens: name a certificate"));
  CHECK(has_problem(token(R"("certificate": "CN=ann")"), "must be a name such as DNS:host"));
  CHECK(has_problem(token(R"("certificate": "DNS:a", "token": "t")"), "must have exactly one of"));
}

TEST_CASE("Configuration: files of keys that sign are beside the configuration file, and must be private") {
  const test::TempFolder folder;
  const std::string config = folder.path() / "baton.json", key = folder.path() / "key";
  const std::string text = R"({"webhooks": {"signing_keys": ["key", "/other"]}})";
  const LoadedConfig loaded = load_config({config, text, {}, {}});
  CHECK(loaded.problems.empty());
  CHECK(loaded.config.webhook_keys == std::vector<std::string>{key, "/other"});
  CHECK(load_config({"", "", {}, {{"webhooks.signing_keys", "a,b"}}}).config.webhook_keys ==
        std::vector<std::string>{"a", "b"});
  const LoadedConfig cards = load_config({config,
                                          R"({"public_url": "https://a.example", "cards": {
      "signing_key": "one", "published_keys": ["two"], "trusted_keys": ["https://b.example=b.json", "http://c:1=/c"]}})",
                                          {},
                                          {}});
  CHECK(cards.problems.empty());
  CHECK(cards.config.card_security.signing_key == folder.path() / "one");
  CHECK(cards.config.card_security.published_keys == std::vector<std::string>{folder.path() / "two"});
  CHECK(cards.config.card_security.trusted_keys ==
        std::vector<std::string>{"https://b.example=" + std::string(folder.path() / "b.json"),
                                 "http://c:1=/c"});
  CHECK(has_problem(from_file(R"({"cards": {"signing_key": "one"}})"),
                    "cards.signing_key: requires public_url"));
  for (const std::string wrong : {"b.json", "https://b=", "=b", "https://b/path=b", "ftp://b=b"})
    CHECK_MESSAGE(has_problem(from_file(R"({"cards": {"trusted_keys": [")" + wrong + R"("]}})"),
                              "cards.trusted_keys: must be ORIGIN=FILE"),
                  wrong);
  CHECK(has_problem(from_file(R"({"cards": {"verify": "always"}})"), "/cards/verify"));
  std::ofstream(key) << "whsec_";
  std::filesystem::permissions(key, std::filesystem::perms(0644));
  CHECK(has_problem(load_config({config, text, {}, {}}), key + ": contains a secret"));
  // A key that is shown may be in a file with its private half.
  const std::string shows = R"({"cards": {"published_keys": ["key"]}})";
  for (const char* secret : {"-----BEGIN PRIVATE KEY-----", R"({"kty":"EC","d":"AA"})",
                             R"({"keys":[{"kty":"EC"},{"kty":"EC","d":"AA"}]})"}) {
    std::ofstream(key) << secret;
    CHECK_MESSAGE(has_problem(load_config({config, shows, {}, {}}), key + ": contains a secret"), secret);
  }
  std::ofstream(key) << R"({"keys":[{"kty":"EC"}]})";
  CHECK(load_config({config, shows, {}, {}}).problems.empty());
}

TEST_CASE("Configuration: a file with a token that every user can read is refused, unless that is wanted") {
  const test::TempFolder folder;
  const std::string token = folder.path() / "ann.token", config = folder.path() / "baton.json";
  std::ofstream(token) << "secret-of-ann\n";
  std::filesystem::permissions(token, std::filesystem::perms(0644));
  const std::string by_file = R"({"tokens": [{"caller": "ann", "token_file": ")" + token + R"("}]})";
  CHECK(has_problem(load_config({config, by_file, {}, {}}), token + ": contains a secret"));
  CHECK(load_config({config, by_file, {}, {{"allow_readable_secrets", "true"}}}).problems.empty());
  std::filesystem::permissions(token, std::filesystem::perms(0640));
  CHECK(load_config({config, by_file, {}, {}}).problems.empty());

  const std::string inside = R"({"tokens": [{"caller": "ann", "token": "secret-of-ann"}]})";
  std::ofstream(config) << inside;
  std::filesystem::permissions(config, std::filesystem::perms(0644));
  CHECK(has_problem(load_config({config, inside, {}, {}}), config + ": contains a secret"));
  std::filesystem::permissions(config, std::filesystem::perms(0600));
  CHECK(load_config({config, inside, {}, {}}).problems.empty());
}

TEST_CASE("Configuration: issuers are read with their defaults, and callers then need a token") {
  const LoadedConfig loaded = from_file(R"({
    "public_url": "https://baton.example",
    "issuers": [{"issuer": "https://id.example/realms/x"},
                {"issuer": "http://127.0.0.1:9/", "audience": "a", "keys": "keys.json", "typ": "any", "skew_s": 0,
                 "algorithms": ["ES384"], "scopes": ["send", "read"], "scope_prefix": "baton:", "agents": ["echo"],
                 "operator_roles": ["boss"], "subject_claim": "oid", "scope_claims": ["scp", "roles"]}]})");
  CHECK(loaded.problems.empty());
  REQUIRE(loaded.config.issuers.size() == 2);
  const server::Issuer& plain = loaded.config.issuers.front();
  CHECK(plain.algorithms.size() == 4);
  CHECK_FALSE(plain.any_typ);
  CHECK(plain.scopes.empty());
  CHECK(plain.scope_claims == std::vector<std::string>{"scope", "scp"});
  CHECK(plain.skew == std::chrono::seconds(60));
  const server::Issuer& full = loaded.config.issuers.back();
  CHECK(full.audiences == std::vector<std::string>{"a"});
  CHECK(full.keys_file == "keys.json");
  CHECK(full.scope_claims == std::vector<std::string>{"scp", "roles"});
  CHECK(full.any_typ);
  CHECK(full.algorithms == std::vector<jose::Algorithm>{jose::Algorithm::es384});
  CHECK(full.scopes.has(server::Scope::read));
  CHECK_FALSE(full.scopes.has(server::Scope::operate));
  CHECK_FALSE(loaded.config.anonymous_allowed());
  const LoadedConfig by_variable = load_config(
      {"", "", {{"BATON_ISSUERS", R"([{"issuer": "https://id.example", "audience": "a"}])"}}, {}});
  CHECK(by_variable.problems.empty());
  CHECK(by_variable.config.has_callers());
}

TEST_CASE("Configuration: an issuer with an error is reported at its place") {
  const auto problem_of = [](const std::string& members) {
    const LoadedConfig loaded = from_file(R"({"issuers": [{"issuer": "https://id.example", "audience": "a")" +
                                          (members.empty() ? "" : ", " + members) + "}]}");
    REQUIRE(loaded.problems.size() <= 1);
    return loaded.problems.empty() ? std::string() : loaded.problems.front();
  };
  CHECK(problem_of("").empty());
  const auto names = [&](const char* members, std::string_view place) {
    CHECK_MESSAGE(problem_of(members).find(place) != std::string::npos, members);
  };
  names(R"("audiences": "b")", "/issuers/0/audiences: is unknown; did you mean audience?");
  names(R"("algorithms": ["HS256"])", "/issuers/0/algorithms");
  names(R"("algorithms": ["none"])", "/issuers/0/algorithms");
  names(R"("typ": "JWT")", "/issuers/0/typ");
  names(R"("skew_s": 601)", "/issuers/0/skew_s");
  names(R"("scopes": ["admin"])", "/issuers/0/scopes");
  names(R"("agents": [])", "/issuers/0/agents");
  names(R"("clients": [])", "/issuers/0/clients");
  names(R"("scope_claims": [])", "/issuers/0/scope_claims");
  names(R"("operator_roles": [1])", "/issuers/0/operator_roles");
  names(R"("keys": "http://id.example/keys")", "/issuers/0/keys");
  names(R"("subject_claim": "")", "/issuers/0/subject_claim");
  for (const char* issuer :
       {"http://id.example", "id.example", "https://id.example?x", "https://id.example#x", ""}) {
    const LoadedConfig loaded =
        from_file(R"({"issuers": [{"issuer": ")" + std::string(issuer) + R"(", "audience": "a"}]})");
    CHECK_MESSAGE(has_problem(loaded, "/issuers/0/issuer: must be an https URL"), issuer);
  }
  // Tokens name the issuer of their tenant, so each of those must be listed.
  const auto with_issuer = [](const std::string& issuer) {
    return from_file(R"({"issuers": [{"issuer": ")" + issuer + R"(", "audience": "a"}]})");
  };
  for (const char* many :
       {"https://login.microsoftonline.com/common/v2.0",
        "https://login.microsoftonline.com/Organizations/v2.0",
        "https://login.microsoftonline.com/consumers/v2.0",
        "https://login.microsoftonline.com/{tenantid}/v2.0", "https://login.microsoftonline.us/organizations",
        "https://sts.windows.net/common/"})
    CHECK_MESSAGE(has_problem(with_issuer(many), "/issuers/0/issuer: stands for many tenants"), many);
  for (const char* one :
       {"https://login.microsoftonline.com/72f988bf-86f1-41af-91ab-2d7cd011db47/v2.0",
        "https://sts.windows.net/72f988bf-86f1-41af-91ab-2d7cd011db47/", "https://id.example/common"})
    CHECK_MESSAGE(with_issuer(one).problems.empty(), one);
  CHECK(has_problem(from_file(R"({"issuers": [{"issuer": "https://id.example"}]})"), "needs an audience"));
  const LoadedConfig by_client =
      from_file(R"({"issuers": [{"issuer": "https://id.example", "clients": ["a", "b"]}]})");
  CHECK(by_client.problems.empty());
  CHECK(by_client.config.issuers.front().clients == std::vector<std::string>{"a", "b"});
  CHECK(has_problem(from_file(R"({"issuers": [{"issuer": "https://a.example", "audience": "a"},
                                              {"issuer": "https://a.example", "audience": "b"}]})"),
                    "/issuers/1: has the same issuer"));
  CHECK(has_problem(from_file(R"({"issuers": {}})"), "/issuers: must be a list"));
}

TEST_CASE("Configuration: API keys are on where callers need a token, and api_keys makes callers need one") {
  CHECK_FALSE(from_file("{}").config.accepts_api_keys());
  const std::string tokens = R"("tokens": [{"caller": "a", "token": "t"}], "allow_readable_secrets": true)";
  CHECK(from_file("{" + tokens + "}").config.accepts_api_keys());
  CHECK_FALSE(from_file(R"({"api_keys": false, )" + tokens + "}").config.accepts_api_keys());
  const LoadedConfig only = from_file(R"({"api_keys": true, "host": "0.0.0.0"})");
  CHECK(only.problems.empty());
  CHECK(only.config.has_callers());
  CHECK_FALSE(only.config.anonymous_allowed());
}

TEST_CASE("Configuration: the header for keys must be a header that means nothing else") {
  CHECK(from_file(R"({"key_header": "X-API-Key"})").config.server.key_header == "X-API-Key");
  for (const char* name : {"Authorization", "x api key", "Host"})
    CHECK_MESSAGE(
        has_problem(from_file(R"({"key_header": ")" + std::string(name) + R"("})"), "key_header: must be"),
        name);
}

TEST_CASE("Configuration: a token's scopes are some of the four, and all by default") {
  const auto tokens = [](const std::string& scopes) {
    return from_file(R"({"tokens": [{"caller": "a", "token": "t")" + scopes +
                     R"(}], "allow_readable_secrets": true})");
  };
  CHECK(tokens("").config.tokens.front().scopes == server::Scopes::all());
  const auto some = tokens(R"(, "scopes": ["read", "cancel"])").config.tokens.front().scopes;
  CHECK(some.has(server::Scope::cancel));
  CHECK_FALSE(some.has(server::Scope::send));
  for (const char* wrong : {"[]", R"(["write"])", R"("send")", "[1]", R"(["send", ""])"})
    CHECK_MESSAGE(has_problem(tokens(R"(, "scopes": )" + std::string(wrong)), "/tokens/0/scopes"), wrong);
}

TEST_CASE("Configuration: sign-in names one of the issuers, its client and the files of its secrets") {
  const test::TempFolder folder;
  const auto problem_of = [&](const std::string& members) {
    const LoadedConfig loaded = from_file(
        R"({"allow_readable_secrets": true, "issuers": [{"issuer": "https://id.example", "audience": "a"}], )" +
        members + "}");
    return loaded.problems.empty() ? std::string() : loaded.problems.front();
  };
  const std::string client = R"("issuer": "https://id.example", "client_id": "c")";
  CHECK(problem_of(R"("sign_in": {)" + client + "}").empty());
  CHECK(problem_of(R"("sign_in": {"issuer": "https://other.example", "client_id": "c"})")
            .starts_with("sign_in.issuer"));
  CHECK(problem_of(R"("sign_in": {"issuer": "https://id.example"})").starts_with("sign_in.client_id"));
  CHECK(problem_of(R"("sign_in": {"client_id": "c"})").starts_with("sign_in.client_id"));
  CHECK(problem_of(R"("sign_in": {"scopes": ["email"], )" + client + "}").starts_with("sign_in.scopes"));
  CHECK(problem_of(R"("sign_in": {"client_secret_file": "/none", )" + client + "}")
            .starts_with("sign_in.client_secret_file"));
  folder.write("brief", std::string(31, 'x'));
  folder.write("long", std::string(32, 'x'));
  const auto file = [&](const char* name) {
    return R"("token_secret_file": ")" + (folder.path() / name).string() + "\"";
  };
  CHECK(problem_of(file("brief")).starts_with("token_secret_file"));
  CHECK(problem_of(file("long")).empty());
}

}  // namespace baton::app::load_config_test

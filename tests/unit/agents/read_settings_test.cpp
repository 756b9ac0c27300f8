#include "agents/cards/read_settings.h"

#include <doctest/doctest.h>
#include <stdlib.h>

#include <string>
#include <string_view>
#include <vector>

#include "json/document.h"
#include "support/temp_folder.h"

namespace baton::agents::read_settings_test {
namespace {

// The problems found in the object "baton", one per line.
std::string problems_of(const std::string& baton, const std::filesystem::path& folder = ".") {
  const auto document = json::Document::parse_view(baton);
  REQUIRE(document.has_value());
  std::vector<json::SchemaProblem> problems;
  read_settings(document->root(), folder, problems);
  std::string lines;
  for (const json::SchemaProblem& one : problems) lines += one.pointer + ": " + one.reason + "\n";
  return lines;
}

std::string model_card(const std::string& model) {
  return R"({"executor":"openai","url":"https://host/v1","model":{"name":"m")" + model + "}}";
}

}  // namespace

TEST_CASE(
    "read_settings: credentials of type oauth need a token URL and a client id, other types refuse them") {
  const auto card = [](const std::string& auth) {
    return R"({"executor":"a2a","url":"https://host/","auth":{"secret_env":"KEY",)" + auth + "}}";
  };
  const auto document = json::Document::parse(card(
      R"("type":"oauth","token_url":"https://id/token","client_id":"me","scope":"a b","client_auth":"post")"));
  std::vector<json::SchemaProblem> problems;
  const Endpoint endpoint = read_settings(document->root(), ".", problems).endpoint;
  CHECK(problems.empty());
  CHECK(endpoint.auth == Endpoint::Auth::oauth);
  CHECK(endpoint.token_url == "https://id/token");
  CHECK(endpoint.client_id == "me");
  CHECK(endpoint.scope == "a b");
  CHECK(endpoint.secret_in_body);
  CHECK(problems_of(card(R"("type":"oauth","client_id":"me")")).find("requires \"token_url\"") !=
        std::string::npos);
  CHECK(problems_of(card(R"("type":"oauth","token_url":"https://id/")")).find("\"client_id\"") !=
        std::string::npos);
  CHECK(problems_of(card(R"("type":"oauth","token_url":"ftp://id/","client_id":"me")"))
            .starts_with("/baton/auth/token_url: "));
  CHECK(problems_of(card(R"("type":"bearer","scope":"a")")) ==
        "/baton/auth/scope: is only allowed with type \"oauth\"\n");
}

TEST_CASE("read_settings: a private key takes the place of a secret, and an exchange is asked for") {
  const auto card = [](const std::string& auth) {
    return R"({"executor":"a2a","url":"https://host/","auth":{"type":"oauth","token_url":"https://id/",)"
           R"("client_id":"me",)" +
           auth + "}}";
  };
  const auto document = json::Document::parse(
      card(R"("private_key_file":"k.pem","key_id":"k1","resource":"https://host/","exchange":"token",)"
           R"("actor":true,"authorize_url":"https://id/consent")"));
  std::vector<json::SchemaProblem> problems;
  const AgentSettings settings = read_settings(document->root(), "folder", problems);
  CHECK(problems.empty());
  CHECK(settings.endpoint.private_key_file == "folder/k.pem");
  CHECK(settings.endpoint.key_id == "k1");
  CHECK(settings.endpoint.resource == "https://host/");
  CHECK(settings.endpoint.exchange == Endpoint::Exchange::token_exchange);
  CHECK(settings.endpoint.names_actor);
  CHECK(settings.endpoint.authorize_url == "https://id/consent");
  CHECK(settings.acts_for_callers());
  CHECK(problems_of(card(R"("private_key_file":"k","secret_env":"KEY")")) ==
        "/baton/auth: must not have a secret beside \"private_key_file\"\n");
  CHECK(problems_of(card(R"("private_key_file":"k","client_auth":"post")")) ==
        "/baton/auth/client_auth: is not allowed with \"private_key_file\"\n");
  CHECK(problems_of(card(R"("secret_env":"KEY","key_id":"k","authorize_url":"https://id/")")) ==
        "/baton/auth/key_id: needs \"private_key_file\"\n/baton/auth/authorize_url: needs \"exchange\"\n");
  CHECK(problems_of(card(R"("private_key_file":"k","exchange":"on_behalf_of","actor":true)")) ==
        "/baton/auth/actor: needs \"exchange\": \"token\" and \"private_key_file\"\n");
  CHECK(problems_of(card(R"("secret_env":"KEY","exchange":"token","authorize_url":"ftp://id/")"))
            .starts_with("/baton/auth/authorize_url: "));
}

TEST_CASE("read_settings: a card may name its own proxy, or none") {
  const auto card = [](const std::string& proxy) {
    return R"({"executor":"ag-ui","url":"https://host/")" + proxy + "}";
  };
  const auto proxy_in = [&](const std::string& proxy) {
    const auto document = json::Document::parse(card(proxy));
    std::vector<json::SchemaProblem> problems;
    const Endpoint endpoint = read_settings(document->root(), ".", problems).endpoint;
    CHECK(problems.empty());
    return endpoint.proxy;
  };
  CHECK_FALSE(proxy_in("").has_value());
  CHECK(proxy_in(R"(,"proxy":"none")")->url.empty());
  const auto own = proxy_in(R"(,"proxy":"http://p:3128","proxy_secret_env":"LOGIN")");
  CHECK(own->url == "http://p:3128");
  CHECK(own->secret_env == "LOGIN");
  CHECK(problems_of(card(R"(,"proxy":"https://p:1")")) == "/baton/proxy: must be like http://host:port\n");
  CHECK(problems_of(card(R"(,"proxy_secret_env":"LOGIN")")) ==
        "/baton/proxy_secret_env: needs \"proxy\": \"http://host:port\"\n");
  CHECK(problems_of(R"({"command":["x"],"proxy":"none"})") ==
        "/baton/proxy: is only allowed with executors \"a2a\", \"ag-ui\" and \"openai\"\n");
}

TEST_CASE("read_settings: a model's card has the model's name, its prompt and its tools") {
  test::TempFolder folder;
  folder.write("prompt.txt", "be kind");
  const std::string card = model_card(
      R"(,"system_file":"prompt.txt","parameters":{"seed":1},"history":{"messages":4,"tokens":100},
          "tool_rounds":3,"tools":["echo","table-report"],"provider":"p")");
  const auto document = json::Document::parse_view(card);
  REQUIRE(document.has_value());
  std::vector<json::SchemaProblem> problems;
  const AgentSettings settings = read_settings(document->root(), folder.path(), problems);
  CHECK(problems.empty());
  CHECK(settings.executor == AgentSettings::Kind::openai);
  CHECK(settings.endpoint.url == "https://host/v1");
  CHECK(settings.model.name == "m");
  CHECK(settings.model.provider == "p");
  CHECK(settings.model.system_file == folder.path() / "prompt.txt");
  CHECK(settings.model.parameters.text == R"({"seed":1})");
  CHECK(settings.model.history_messages == 4);
  CHECK(settings.model.history_tokens == 100);
  CHECK(settings.model.tool_rounds == 3);
  CHECK(settings.model.tools == std::vector<std::string>{"echo", "table-report"});
}

TEST_CASE("read_settings: a model's URL and name come from a variable if it is set, else from the card") {
  const std::string card =
      R"({"executor":"openai","url":"https://own/v1","url_env":"LOOK_URL","model":{"name":"m","name_env":"LOOK_NAME"}})";
  const auto read = [&] {
    const auto document = json::Document::parse(card);
    std::vector<json::SchemaProblem> problems;
    AgentSettings settings = read_settings(document->root(), ".", problems);
    CHECK(problems.empty());
    return settings;
  };
  ::unsetenv("LOOK_URL");
  ::setenv("LOOK_NAME", "", 1);
  CHECK(read().endpoint.url == "https://own/v1");
  CHECK_FALSE(read().endpoint.is_from_env);
  CHECK(read().model.name == "m");
  ::setenv("LOOK_URL", "http://127.0.0.1:1/v1", 1);
  ::setenv("LOOK_NAME", "n", 1);
  CHECK(read().endpoint.url == "http://127.0.0.1:1/v1");
  CHECK(read().endpoint.is_from_env);
  CHECK(read().model.name == "n");
  ::setenv("LOOK_URL", "127.0.0.1:1", 1);
  CHECK(problems_of(card) ==
        "/baton/url_env: LOOK_URL: invalid URL: it must begin with http:// or https://\n");
  ::unsetenv("LOOK_URL");
  ::unsetenv("LOOK_NAME");
  CHECK(problems_of(R"({"executor":"a2a","url":"https://host/","url_env":"LOOK_URL"})") ==
        "/baton/url_env: is only allowed with executor \"openai\"\n");
  CHECK(problems_of(model_card(R"(,"name_env":"BATON_DB")")) ==
        "/baton/model/name_env: \"BATON_DB\" is reserved for Baton, so agents do not get it: use a name "
        "without BATON_\n");
  CHECK(problems_of(R"({"executor":"a2a","url":"https://host/","auth":{"type":"oauth","optional":true,
                        "token_url":"https://id/","client_id":"me","secret_env":"KEY"}})") ==
        "/baton/auth/optional: is not allowed with type \"oauth\"\n");
}

TEST_CASE("read_settings: problems of a model's card are reported with place and reason") {
  CHECK(problems_of(R"({"executor":"openai"})") ==
        "/baton: this executor requires \"url\": \"https://...\"\n/baton: executor \"openai\" requires "
        "\"model\": {\"name\": \"...\"}\n");
  CHECK(problems_of(model_card(R"(,"parameters":{"temperature":0,"stream":false,"messages":[]})")) ==
        "/baton/model/parameters/stream: is set by Baton: remove it here\n/baton/model/parameters/messages: "
        "is set by Baton: remove it here\n");
  CHECK(problems_of(model_card(R"(,"system":"a","system_file":"nowhere.txt")")) ==
        "/baton/model/system_file: is not a file in the card's folder\n/baton/model/system_file: cannot be "
        "combined with \"system\": remove one of them\n");
  CHECK(problems_of(model_card(R"(,"tools":["echo","echo","No Name"])")) ==
        "/baton/model/tools/1: is given twice: remove one of the two\n/baton/model/tools/2: is not a valid "
        "agent name\n");
  CHECK(problems_of(R"({"executor":"openai","url":"ftp://h","on_unknown":"ask","model":{"name":"m"}})")
            .starts_with("/baton/on_unknown: is only allowed for remote agents (executors \"a2a\" and "
                         "\"ag-ui\")\n/baton/url: "));
}

TEST_CASE("read_settings: members of a model's card are refused in other cards") {
  CHECK(problems_of(R"({"executor":"command","command":["x"],"url":"https://h","model":{"name":"m"}})") ==
        "/baton/url: is only allowed with executors \"a2a\", \"ag-ui\" and \"openai\"\n/baton/model: is only "
        "allowed with executor \"openai\"\n");
}

TEST_CASE("read_settings: a model's card may name the API, further headers and tags of thoughts") {
  const std::string card = model_card(R"(,"api":"anthropic","headers":{"anthropic-beta":"b"})");
  const auto document = json::Document::parse_view(card);
  std::vector<json::SchemaProblem> problems;
  const ModelSettings model = read_settings(document->root(), ".", problems).model;
  CHECK(problems.empty());
  CHECK(model.api == protocol::models::Api::anthropic);
  CHECK(model.provider == "anthropic");
  CHECK(model.headers.front() == std::pair<std::string, std::string>("anthropic-beta", "b"));
  CHECK(problems_of(model_card(R"(,"think_tags":"reasoning")")).empty());
  CHECK(problems_of(model_card(R"(,"api":"responses","think_tags":"begun")")) ==
        "/baton/model/think_tags: is only for api \"chat\"\n");
  CHECK(problems_of(
            model_card(R"(,"headers":{"Host":"x","Proxy-Authorization":"x","a b":"x","X":"a\r\nb"})")) ==
        "/baton/model/headers/Host: is set by Baton: remove it here\n"
        "/baton/model/headers/Proxy-Authorization: is set by Baton: remove it here\n"
        "/baton/model/headers/a b: is not a valid header name\n"
        "/baton/model/headers/X: must not contain control characters\n");
  CHECK(
      problems_of(
          R"({"executor":"openai","url":"https://h/v1","auth":{"type":"api_key","header":"x-api-key","secret_env":"K"},
                "model":{"name":"m","headers":{"X-API-Key":"k"}}})") ==
      "/baton/model/headers/X-API-Key: is set by Baton: remove it here\n");
}

TEST_CASE("read_settings: the members of a request that are Baton's own depend on the API") {
  const std::string parameters = R"(,"parameters":{"system":"x","input":[],"store":true})";
  CHECK(problems_of(model_card(parameters)).empty());
  CHECK(problems_of(model_card(R"(,"api":"responses")" + parameters)) ==
        "/baton/model/parameters/input: is set by Baton: remove it here\n");
  CHECK(problems_of(model_card(R"(,"api":"anthropic")" + parameters)) ==
        "/baton/model/parameters/system: is set by Baton: remove it here\n");
}

TEST_CASE("read_settings: servers of MCP tools have a URL of their own, and credentials like any other") {
  const auto with = [](const std::string& servers) { return model_card(R"(,"mcp":[)" + servers + "]"); };
  const std::string card = with(R"({"url":"https://a/mcp","name":"a","tools":["x"],"auth":{"type":"api_key",)"
                                R"("header":"X-Key","secret_env":"KEY"}},{"url":"https://b/mcp"})");
  const auto document = json::Document::parse(card);
  std::vector<json::SchemaProblem> problems;
  const AgentSettings settings = read_settings(document->root(), ".", problems);
  CHECK(problems.empty());
  REQUIRE(settings.model.mcp.size() == 2);
  CHECK(settings.model.mcp[0].name == "a");
  CHECK(settings.model.mcp[0].server.auth_header == "X-Key");
  CHECK(settings.model.mcp[0].tools == std::vector<std::string>{"x"});
  CHECK(settings.model.mcp[1].server.auth == outbound::Server::Auth::none);
  CHECK(problems_of(with(R"({"url":"ftp://a"})")).starts_with("/baton/model/mcp/0/url: "));
  CHECK(problems_of(with(R"({"url":"https://a/"},{"url":"https://a/"})")) ==
        "/baton/model/mcp/1/url: is given twice: remove one of the two\n");
  CHECK(problems_of(with(R"({"url":"https://a/","auth":{"type":"bearer"}})"))
            .starts_with("/baton/model/mcp/0/auth: must have either"));
}

}  // namespace baton::agents::read_settings_test

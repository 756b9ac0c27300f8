#include "agents/cards/read_settings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <system_error>

#include "agents/cards/catalogue.h"
#include "agents/plan/plan.h"
#include "base/text.h"
#include "outbound/http_client.h"
#include "protocol/models/dialects.h"

namespace baton::agents {
namespace {

using json::SchemaProblem;
using json::Value;

std::chrono::milliseconds seconds_or(Value value, std::chrono::milliseconds otherwise) {
  const auto seconds = value.real();
  if (!seconds) return otherwise;
  return std::chrono::milliseconds(std::llround(std::ceil(*seconds * 1000)));
}

template <class T>
T integer_or(Value value, T otherwise) {
  const auto number = value.integer();
  return number ? static_cast<T>(*number) : otherwise;
}

AgentSettings::Kind read_kind(std::string_view name) {
  using Work = AgentSettings::Kind;
  if (name == "builtin") return Work::builtin;
  if (name == "a2a") return Work::a2a;
  if (name == "workflow") return Work::workflow;
  if (name == "ag-ui") return Work::ag_ui;
  return name == "openai" ? Work::openai : Work::command;
}

using Exchange = outbound::Server::Exchange;

Exchange read_exchange(std::string_view name) {
  if (name == "token") return Exchange::token_exchange;
  return name == "on_behalf_of" ? Exchange::on_behalf_of : Exchange::none;
}

void read_exchange(Value auth, const std::string& place, outbound::Server& endpoint,
                   std::vector<SchemaProblem>& problems) {
  endpoint.exchange = read_exchange(auth["exchange"].string());
  endpoint.names_actor = auth["actor"].boolean();
  endpoint.authorize_url = auth["authorize_url"].str();
  const bool may_sign = endpoint.exchange == Exchange::token_exchange && !endpoint.private_key_file.empty();
  if (endpoint.names_actor && !may_sign)
    problems.push_back({place + "/actor", "needs \"exchange\": \"token\" and \"private_key_file\""});
  if (!endpoint.authorize_url.empty() && endpoint.exchange == Exchange::none)
    problems.push_back({place + "/authorize_url", "needs \"exchange\""});
  if (const auto url = outbound::parse_url(endpoint.authorize_url); !endpoint.authorize_url.empty() && !url)
    problems.push_back({place + "/authorize_url", url.error().for_caller});
}

void read_oauth(Value auth, const std::string& place, const std::filesystem::path& folder,
                outbound::Server& endpoint, std::vector<SchemaProblem>& problems) {
  const bool is_oauth = endpoint.auth == outbound::Server::Auth::oauth;
  for (const char* member : {"token_url", "client_id", "scope", "audience", "resource", "client_auth",
                             "private_key_file", "key_id", "exchange", "actor", "authorize_url"}) {
    if (is_oauth || auth[member].absent()) continue;
    problems.push_back({place + "/" + member, "is only allowed with type \"oauth\""});
  }
  if (!is_oauth) return;
  endpoint.token_url = auth["token_url"].str();
  endpoint.client_id = auth["client_id"].str();
  endpoint.scope = auth["scope"].str();
  endpoint.audience = auth["audience"].str();
  endpoint.resource = auth["resource"].str();
  endpoint.secret_in_body = auth["client_auth"].string() == "post";
  if (!auth["private_key_file"].absent()) endpoint.private_key_file = folder / auth["private_key_file"].str();
  endpoint.key_id = auth["key_id"].str();
  const bool has_key = !endpoint.private_key_file.empty();
  if (has_key && !auth["client_auth"].absent())
    problems.push_back({place + "/client_auth", "is not allowed with \"private_key_file\""});
  if (!has_key && !endpoint.key_id.empty())
    problems.push_back({place + "/key_id", "needs \"private_key_file\""});
  read_exchange(auth, place, endpoint, problems);
  const auto url = outbound::parse_url(endpoint.token_url);
  if (endpoint.token_url.empty() || endpoint.client_id.empty()) {
    problems.push_back({place, "type \"oauth\" requires \"token_url\" and \"client_id\""});
  } else if (!url) {
    problems.push_back({place + "/token_url", url.error().for_caller});
  }
}

// `place`: of `auth` in the card.
void read_auth(Value auth, const std::string& place, const std::filesystem::path& folder,
               outbound::Server& endpoint, std::vector<SchemaProblem>& problems) {
  if (auth.absent()) return;
  const bool is_key = auth["type"].string() == "api_key";
  const bool is_oauth = auth["type"].string() == "oauth";
  endpoint.auth = is_key     ? outbound::Server::Auth::api_key
                  : is_oauth ? outbound::Server::Auth::oauth
                             : outbound::Server::Auth::bearer;
  read_oauth(auth, place, folder, endpoint, problems);
  if (is_key) endpoint.auth_header = auth["header"].absent() ? "X-API-Key" : auth["header"].str();
  if (!is_key && !auth["header"].absent()) {
    problems.push_back({place + "/header", "is only allowed with type \"api_key\""});
  }
  if (is_key && !base::is_token(endpoint.auth_header)) {
    problems.push_back({place + "/header", "is not a valid header name"});
  }
  endpoint.secret_optional = auth["optional"].boolean();
  if (is_oauth && endpoint.secret_optional)
    problems.push_back({place + "/optional", "is not allowed with type \"oauth\""});
  endpoint.secret_env = auth["secret_env"].str();
  if (!auth["secret_file"].absent()) endpoint.secret_file = folder / auth["secret_file"].str();
  const int secrets = !endpoint.secret_env.empty() + !endpoint.secret_file.empty();
  if (!endpoint.private_key_file.empty() && secrets > 0) {
    problems.push_back({place, "must not have a secret beside \"private_key_file\""});
  } else if (endpoint.private_key_file.empty() && secrets != 1) {
    problems.push_back({place, "must have either \"secret_env\" or \"secret_file\""});
  }
  if (endpoint.secret_env.starts_with("BATON_")) {
    problems.push_back({place + "/secret_env",
                        "\"" + endpoint.secret_env +
                            "\" is reserved for Baton, so agents do not get it: use a name without BATON_"});
  }
}

Endpoint::OnUnknown read_on_unknown(std::string_view name) {
  if (name == "resend") return Endpoint::OnUnknown::resend;
  if (name == "fail") return Endpoint::OnUnknown::fail;
  return name == "ask" ? Endpoint::OnUnknown::ask : Endpoint::OnUnknown::unset;
}

// Returns a variable of Baton's environment, for a value that the card leaves open; empty if no variable
// is named or it is not set.
std::string value_from(Value variable, const std::string& place, std::vector<SchemaProblem>& problems) {
  const std::string name = variable.str();
  if (name.starts_with("BATON_"))
    problems.push_back(
        {place,
         "\"" + name + "\" is reserved for Baton, so agents do not get it: use a name without BATON_"});
  const char* value = name.empty() ? nullptr : std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

void read_url(Value baton, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  Endpoint& endpoint = settings.endpoint;
  if (settings.executor != AgentSettings::Kind::openai && !baton["url_env"].absent())
    problems.push_back({"/baton/url_env", "is only allowed with executor \"openai\""});
  endpoint.url_env = baton["url_env"].str();
  endpoint.url = value_from(baton["url_env"], "/baton/url_env", problems);
  endpoint.is_from_env = !endpoint.url.empty();
  if (!endpoint.is_from_env) endpoint.url = baton["url"].str();
  if (endpoint.url.empty() && endpoint.url_env.empty())
    problems.push_back({"/baton", "this executor requires \"url\": \"https://...\""});
  if (const auto url = outbound::parse_url(endpoint.url); !endpoint.url.empty() && !url) {
    const bool is_env = endpoint.is_from_env;
    problems.push_back({is_env ? "/baton/url_env" : "/baton/url",
                        (is_env ? endpoint.url_env + ": " : "") + url.error().for_caller});
  }
}

// A card that names a proxy is for one server, so it has no exceptions.
void read_proxy(Value baton, Endpoint& endpoint, std::vector<SchemaProblem>& problems) {
  const std::string url = baton["proxy"].str();
  const std::string variable = baton["proxy_secret_env"].str();
  if ((url.empty() || url == "none") && !variable.empty())
    problems.push_back({"/baton/proxy_secret_env", "needs \"proxy\": \"http://host:port\""});
  if (variable.starts_with("BATON_"))
    problems.push_back(
        {"/baton/proxy_secret_env",
         "\"" + variable + "\" is reserved for Baton, so agents do not get it: use a name without BATON_"});
  if (url.empty()) return;
  endpoint.proxy.emplace();
  if (url == "none") return;
  endpoint.proxy->url = url;
  endpoint.proxy->secret_env = variable;
  if (const std::string problem = outbound::proxy_problem(url); !problem.empty())
    problems.push_back({"/baton/proxy", problem});
}

void read_endpoint(Value baton, const std::filesystem::path& folder, AgentSettings& settings,
                   std::vector<SchemaProblem>& problems) {
  Endpoint& endpoint = settings.endpoint;
  const bool is_a2a = settings.executor == AgentSettings::Kind::a2a;
  if (!is_a2a && !baton["a2a"].absent())
    problems.push_back({"/baton/a2a", "is only allowed for remote agents (executor \"a2a\")"});
  const bool is_remote_agent = is_a2a || settings.executor == AgentSettings::Kind::ag_ui;
  if (!is_remote_agent && !baton["on_unknown"].absent()) {
    problems.push_back(
        {"/baton/on_unknown", "is only allowed for remote agents (executors \"a2a\" and \"ag-ui\")"});
  }
  if (!settings.acts_outside()) {
    for (const char* member : {"url", "url_env", "auth", "proxy", "proxy_secret_env"}) {
      if (baton[member].absent()) continue;
      problems.push_back({std::string("/baton/") + member,
                          "is only allowed with executors \"a2a\", \"ag-ui\" and \"openai\""});
    }
    return;
  }
  read_url(baton, settings, problems);
  read_auth(baton["auth"], "/baton/auth", folder, endpoint, problems);
  read_proxy(baton, endpoint, problems);
  const bool is_agui = settings.executor == AgentSettings::Kind::ag_ui;
  if (!is_agui && !baton["ag_ui"].absent())
    problems.push_back({"/baton/ag_ui", "is only allowed with executor \"ag-ui\""});
  endpoint.older_agui = baton["ag_ui"]["version"].string() == "0.0";
  endpoint.version = baton["a2a"]["version"].str();
  endpoint.transport = baton["a2a"]["transport"].str();
  endpoint.agent = baton["a2a"]["agent"].str();
  endpoint.address = baton["a2a"]["endpoint"].str();
  endpoint.grpc_text_files = baton["a2a"]["grpc_files"].string() == "base64";
  endpoint.on_unknown = read_on_unknown(baton["on_unknown"].string());
}

protocol::models::Api read_api(std::string_view name) {
  using protocol::models::Api;
  if (name == "responses") return Api::responses;
  return name == "anthropic" ? Api::anthropic : Api::chat;
}

protocol::models::ThinkTags read_think_tags(std::string_view name) {
  using protocol::models::ThinkTags;
  if (name == "reasoning") return ThinkTags::reasoning;
  return name == "begun" ? ThinkTags::begun : ThinkTags::text;
}

// Headers that the request has already, or that would change how its bytes are read.
bool is_own_header(std::string_view name) {
  constexpr std::array<std::string_view, 11> kOwn{
      "accept", "authorization",       "connection", "content-length", "content-type",
      "host",   "proxy-authorization", "te",         "traceparent",    "transfer-encoding",
      "upgrade"};
  return std::ranges::any_of(kOwn, [&](std::string_view own) { return base::same_word(own, name); });
}

void read_headers(Value headers, const Endpoint& endpoint, ModelSettings& model,
                  std::vector<SchemaProblem>& problems) {
  for (const Value header : headers) {
    const std::string name(header.key());
    const std::string place = "/baton/model/headers/" + name;
    const bool is_key =
        endpoint.auth == Endpoint::Auth::api_key && base::same_word(name, endpoint.auth_header);
    const auto is_control = [](unsigned char c) { return c < 0x20 || c == 0x7f; };
    if (!base::is_token(name)) problems.push_back({place, "is not a valid header name"});
    if (is_own_header(name) || is_key) problems.push_back({place, "is set by Baton: remove it here"});
    if (std::ranges::any_of(header.string(), is_control))
      problems.push_back({place, "must not contain control characters"});
    model.headers.emplace_back(name, header.str());
  }
}

void read_parameters(Value parameters, ModelSettings& model, std::vector<SchemaProblem>& problems) {
  if (!parameters.absent()) model.parameters = parameters.json();
  const protocol::models::Dialect& dialect = protocol::models::dialect_of(model.api);
  for (const Value parameter : parameters) {
    if (!dialect.is_own_member(parameter.key())) continue;
    problems.push_back(
        {"/baton/model/parameters/" + std::string(parameter.key()), "is set by Baton: remove it here"});
  }
}

void read_tools(Value tools, ModelSettings& model, std::vector<SchemaProblem>& problems) {
  for (const Value tool : tools) {
    const bool is_known = std::ranges::count(model.tools, tool.string()) > 0;
    const std::string place = "/baton/model/tools/" + std::to_string(model.tools.size());
    if (is_known) problems.push_back({place, "is given twice: remove one of the two"});
    if (!is_agent_name(tool.string())) problems.push_back({place, "is not a valid agent name"});
    model.tools.push_back(tool.str());
  }
}

void read_mcp(Value servers, const std::filesystem::path& folder, ModelSettings& model,
              std::vector<SchemaProblem>& problems) {
  for (const Value from : servers) {
    const std::string place = "/baton/model/mcp/" + std::to_string(model.mcp.size());
    ToolServer tools;
    tools.name = from["name"].str();
    tools.server.url = from["url"].str();
    const auto url = outbound::parse_url(tools.server.url);
    if (!url) problems.push_back({place + "/url", url.error().for_caller});
    const bool is_known = std::ranges::any_of(
        model.mcp, [&](const ToolServer& other) { return other.server.url == tools.server.url; });
    if (is_known) problems.push_back({place + "/url", "is given twice: remove one of the two"});
    read_auth(from["auth"], place + "/auth", folder, tools.server, problems);
    for (const Value tool : from["tools"]) tools.tools.push_back(tool.str());
    model.mcp.push_back(std::move(tools));
  }
}

void read_model(Value baton, const std::filesystem::path& folder, AgentSettings& settings,
                std::vector<SchemaProblem>& problems) {
  const Value from = baton["model"];
  if (settings.executor != AgentSettings::Kind::openai) {
    if (!from.absent()) problems.push_back({"/baton/model", "is only allowed with executor \"openai\""});
    return;
  }
  if (from.absent())
    problems.push_back({"/baton", "executor \"openai\" requires \"model\": {\"name\": \"...\"}"});
  ModelSettings& model = settings.model;
  model.name = value_from(from["name_env"], "/baton/model/name_env", problems);
  if (model.name.empty()) model.name = from["name"].str();
  model.api = read_api(from["api"].string());
  model.provider = from["provider"].absent() ? std::string(protocol::models::dialect_of(model.api).provider)
                                             : from["provider"].str();
  model.think_tags = read_think_tags(from["think_tags"].string());
  if (!from["think_tags"].absent() && model.api != protocol::models::Api::chat)
    problems.push_back({"/baton/model/think_tags", "is only for api \"chat\""});
  read_headers(from["headers"], settings.endpoint, model, problems);
  model.system = from["system"].str();
  if (!from["system_file"].absent()) {
    model.system_file = folder / from["system_file"].str();
    std::error_code error;
    if (!std::filesystem::is_regular_file(model.system_file, error))
      problems.push_back({"/baton/model/system_file", "is not a file in the card's folder"});
    if (!from["system"].absent())
      problems.push_back(
          {"/baton/model/system_file", "cannot be combined with \"system\": remove one of them"});
  }
  read_parameters(from["parameters"], model, problems);
  model.history_messages = integer_or(from["history"]["messages"], model.history_messages);
  model.history_tokens = integer_or(from["history"]["tokens"], model.history_tokens);
  model.takes_system_messages = from["system_messages"].string() == "system";
  if (!from["page"].absent()) model.tells_page = from["page"].boolean();
  model.tool_rounds = integer_or(from["tool_rounds"], model.tool_rounds);
  read_tools(from["tools"], model, problems);
  read_mcp(from["mcp"], folder, model, problems);
}

void read_workflow(Value baton, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  const bool is_workflow = settings.executor == AgentSettings::Kind::workflow;
  const Value plan = baton["plan"];
  if (is_workflow == !plan.absent()) {
    if (!is_workflow) return;
    settings.plan = read_plan(plan.raw(), "/baton/plan", problems);
    settings.children_max = 1'000;
    settings.resumes_beside_children = true;
    settings.concurrency = 256;  // the turns are short
    return;
  }
  if (is_workflow) problems.push_back({"/baton", "executor \"workflow\" requires \"plan\": {...}"});
  if (!is_workflow) problems.push_back({"/baton/plan", "is only allowed with executor \"workflow\""});
}

void read_command(Value baton, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  for (const Value word : baton["command"]) settings.command.push_back(word.str());
  const bool is_command = settings.executor == AgentSettings::Kind::command;
  if (is_command && settings.command.empty()) {
    problems.push_back(
        {"/baton", "executor \"command\" requires \"command\": [\"program\", \"argument\", ...]"});
  }
  if (!is_command && !settings.command.empty()) {
    problems.push_back({"/baton/command", "is only allowed with executor \"command\""});
  }
  if (!settings.command.empty() && settings.command.front().empty()) {
    problems.push_back({"/baton/command/0", "must not be empty"});
  }
  std::size_t index = 0;
  for (const std::string& word : settings.command) {
    if (word.find('\0') != std::string::npos) {
      problems.push_back({"/baton/command/" + std::to_string(index), "must not contain a NUL byte"});
    }
    ++index;
  }
}

AgentSettings::ReplyAs read_reply_as(std::string_view name) {
  using ReplyAs = AgentSettings::ReplyAs;
  if (name == "status") return ReplyAs::status;
  if (name == "both") return ReplyAs::both;
  return name == "message" ? ReplyAs::message : ReplyAs::artifact;
}

void read_env(Value env, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  for (const Value value : env) {
    const std::string name(value.key());
    if (name.empty() || name.find_first_of(std::string_view("=\0", 2)) != std::string::npos ||
        value.string().find('\0') != std::string_view::npos) {
      problems.push_back({"/baton/env", "\"" + name + "\" is not a valid environment variable"});
    }
    settings.env[name] = value.str();
  }
}

// The catalogue checks which of them hold secrets, because only the configuration knows that.
void read_env_from(Value names, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  for (const Value name : names) {
    const std::string place = "/baton/env_from/" + std::to_string(settings.env_from.size());
    settings.env_from.push_back(name.str());
    if (name.string().starts_with("BATON_")) {
      problems.push_back(
          {place, "\"" + name.str() +
                      "\" is reserved for Baton, so agents do not get it: use a name without BATON_"});
    }
  }
}

void read_limits(Value limits, AgentSettings& settings) {
  settings.limits.memory = integer_or(limits["memory_bytes"], settings.limits.memory);
  settings.limits.cpu_s = integer_or(limits["cpu_s"], settings.limits.cpu_s);
  settings.limits.processes = integer_or(limits["processes"], settings.limits.processes);
  settings.limits.open_files = integer_or(limits["open_files"], settings.limits.open_files);
}

void read_retention(Value retention, AgentSettings& settings) {
  const auto take = [&](const char* name, task::State state) {
    if (!retention[name].absent()) settings.retention[state] = seconds_or(retention[name], {});
  };
  take("completed_s", task::State::completed);
  take("canceled_s", task::State::canceled);
  take("failed_s", task::State::failed);
  take("rejected_s", task::State::rejected);
  take("waiting_s", task::State::input_required);
}

void read_input(Value schema, const std::string& place, ToolInput& into,
                std::vector<SchemaProblem>& problems) {
  if (schema.missing()) return;
  auto read = json::BoundedSchema::parse(schema.raw());
  if (!read) {
    problems.push_back({place + read.error().pointer, read.error().reason});
    return;
  }
  into.schema = std::make_shared<const json::BoundedSchema>(std::move(*read));
  into.text = schema.json();
}

void read_tool(Value tool, ToolSettings& into, std::vector<SchemaProblem>& problems) {
  into.is_offered = !tool.is_bool() || tool.boolean();
  read_input(tool["input_schema"], "/baton/tool/input_schema", into.input, problems);
}

}  // namespace

void read_skill_inputs(Value skills, ToolSettings& into, std::vector<SchemaProblem>& problems) {
  std::size_t number = 0;
  for (const Value skill : skills) {
    ToolInput input;
    read_input(skill["inputSchema"], "/skills/" + std::to_string(number++) + "/inputSchema", input, problems);
    if (input.schema) into.skills.insert_or_assign(skill["id"].str(), std::move(input));
  }
  if (number == 1 && !into.skills.empty() && !into.input.schema) into.input = into.skills.begin()->second;
}

AgentSettings read_settings(Value baton, const std::filesystem::path& folder,
                            std::vector<SchemaProblem>& problems) {
  AgentSettings settings;
  settings.executor = read_kind(baton["executor"].string());
  read_command(baton, settings, problems);
  read_endpoint(baton, folder, settings, problems);
  read_model(baton, folder, settings, problems);
  read_workflow(baton, settings, problems);
  read_tool(baton["tool"], settings.tool, problems);
  settings.budget = read_budget(baton["budget"]);
  if (settings.plan) settings.budget = task::smaller(settings.budget, settings.plan->budget);
  settings.schedules = read_schedules(baton["schedule"], problems, settings.warnings);
  settings.builtin = baton["builtin"].str();
  if (!settings.builtin.empty() && settings.executor != AgentSettings::Kind::builtin) {
    problems.push_back({"/baton/builtin", "is only allowed with executor \"builtin\""});
  }
  if (baton["mode"].string() == "worker") settings.mode = AgentSettings::Mode::worker;
  if (baton["io"].string() == "text") settings.io = AgentSettings::Io::text;
  if (baton["io"].string() == "guess") settings.io = AgentSettings::Io::guess;
  if (settings.io != AgentSettings::Io::lines && settings.mode == AgentSettings::Mode::worker) {
    problems.push_back(
        {"/baton/io", "\"" + baton["io"].str() +
                          "\" requires \"mode\": \"turn\", because a worker uses the line protocol"});
  }
  settings.workers = integer_or(baton["workers"], settings.workers);
  settings.concurrency = integer_or(baton["concurrency"], settings.concurrency);
  settings.turn_timeout = seconds_or(baton["turn_timeout_s"], settings.turn_timeout);
  if (baton["recovery"].string() == "fail") settings.recovery = AgentSettings::Recovery::fail;
  settings.is_default = baton["default"].boolean();
  if (!baton["listed"].absent()) settings.is_listed = baton["listed"].boolean();
  if (baton["reply"].string() == "at_once") settings.reply = AgentSettings::Reply::at_once;
  settings.reply_as = read_reply_as(baton["reply_as"].string());
  settings.plain_answers = baton["plain_answers"].boolean();
  settings.confirm_tool = baton["confirm_tool"].str();
  settings.answers_need_data = baton["answers"].string() == "data";
  if (!baton["hang_up_grace_s"].absent()) settings.hang_up_grace = seconds_or(baton["hang_up_grace_s"], {});
  read_env(baton["env"], settings, problems);
  read_env_from(baton["env_from"], settings, problems);
  read_limits(baton["limits"], settings);
  read_retention(baton["retention"], settings);
  settings.verbose_errors = baton["errors"].string() == "verbose";
  settings.cancel_grace = seconds_or(baton["cancel_grace_s"], settings.cancel_grace);
  settings.exit_grace = seconds_or(baton["exit_grace_s"], settings.exit_grace);
  settings.worker_drain = seconds_or(baton["worker_drain_s"], settings.worker_drain);
  settings.wait_keep = seconds_or(baton["wait_keep_s"], settings.wait_keep);
  settings.first_output = seconds_or(baton["first_output_s"], settings.first_output);
  settings.line_max = integer_or(baton["line_max_bytes"], settings.line_max);
  settings.output_max = integer_or(baton["output_max_bytes"], settings.output_max);
  return settings;
}

}  // namespace baton::agents

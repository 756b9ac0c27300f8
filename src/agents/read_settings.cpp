#include "agents/read_settings.h"

#include <cmath>

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

void read_command(Value baton, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  for (const Value word : baton["command"]) settings.command.push_back(word.str());
  const bool is_command = settings.executor == AgentSettings::Kind::command;
  if (is_command && settings.command.empty()) {
    problems.push_back(
        {"/baton", "executor \"command\" needs \"command\": [\"program\", \"argument\", ...]"});
  }
  if (!is_command && !settings.command.empty()) {
    problems.push_back({"/baton/command", "is only for executor \"command\""});
  }
  if (!settings.command.empty() && settings.command.front().empty()) {
    problems.push_back({"/baton/command/0", "must not be empty"});
  }
  std::size_t index = 0;
  for (const std::string& word : settings.command) {
    if (word.find('\0') != std::string::npos) {
      problems.push_back({"/baton/command/" + std::to_string(index), "must not contain a zero byte"});
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
      problems.push_back({"/baton/env", "\"" + name + "\" cannot be an environment variable"});
    }
    settings.env[name] = value.str();
  }
}

// The catalogue checks which of them hold secrets: only the configuration tells.
void read_env_from(Value names, AgentSettings& settings, std::vector<SchemaProblem>& problems) {
  for (const Value name : names) {
    const std::string place = "/baton/env_from/" + std::to_string(settings.env_from.size());
    settings.env_from.push_back(name.str());
    if (name.string().starts_with("BATON_")) {
      problems.push_back({place, "\"" + name.str() + "\" is Baton's own and is not passed on"});
    }
  }
}

void read_limits(Value limits, AgentSettings& settings) {
  settings.limits.memory = integer_or(limits["memory_bytes"], settings.limits.memory);
  settings.limits.cpu_s = integer_or(limits["cpu_s"], settings.limits.cpu_s);
  settings.limits.processes = integer_or(limits["processes"], settings.limits.processes);
  settings.limits.open_files = integer_or(limits["open_files"], settings.limits.open_files);
}

}  // namespace

AgentSettings read_settings(Value baton, std::vector<SchemaProblem>& problems) {
  AgentSettings settings;
  if (baton["executor"].string() == "builtin") settings.executor = AgentSettings::Kind::builtin;
  read_command(baton, settings, problems);
  settings.builtin = baton["builtin"].str();
  if (!settings.builtin.empty() && settings.executor != AgentSettings::Kind::builtin) {
    problems.push_back({"/baton/builtin", "is only for executor \"builtin\""});
  }
  if (baton["mode"].string() == "worker") settings.mode = AgentSettings::Mode::worker;
  if (baton["io"].string() == "text") settings.io = AgentSettings::Io::text;
  if (settings.io == AgentSettings::Io::text && settings.mode == AgentSettings::Mode::worker) {
    problems.push_back({"/baton/io", "\"text\" needs mode \"turn\": its input ends with the turn"});
  }
  settings.workers = integer_or(baton["workers"], settings.workers);
  settings.concurrency = integer_or(baton["concurrency"], settings.concurrency);
  settings.turn_timeout = seconds_or(baton["turn_timeout_s"], settings.turn_timeout);
  if (baton["recovery"].string() == "fail") settings.recovery = AgentSettings::Recovery::fail;
  settings.is_default = baton["default"].boolean();
  if (baton["reply"].string() == "at_once") settings.reply = AgentSettings::Reply::at_once;
  settings.reply_as = read_reply_as(baton["reply_as"].string());
  settings.plain_answers = baton["plain_answers"].boolean();
  settings.confirm_tool = baton["confirm_tool"].str();
  if (!baton["hang_up_grace_s"].absent()) settings.hang_up_grace = seconds_or(baton["hang_up_grace_s"], {});
  read_env(baton["env"], settings, problems);
  read_env_from(baton["env_from"], settings, problems);
  read_limits(baton["limits"], settings);
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

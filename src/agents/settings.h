// AgentSettings: the object "baton" of a card.json, with the settings of how an agent runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/schedule.h"
#include "json/bounded_schema.h"
#include "outbound/server.h"
#include "protocol/models/shared/api.h"
#include "task/budget.h"
#include "task/json.h"

namespace baton::agents {

struct Plan;

// Limits of an agent's process; 0: the same as Baton's own. In a control group (Cgroups), `memory` limits the
// memory in use, and `memory` and `processes` cover the process together with all it starts.
struct ProcessLimits {
  std::uint64_t memory = 0;      // bytes of address space of each process
  std::uint64_t cpu_s = 0;       // seconds of processor time of each process
  std::uint64_t processes = 0;   // of Baton's user at the same time; no limit for root
  std::uint64_t open_files = 0;  // of each process; 0: kOpenFiles, which a program may raise
  static constexpr std::uint64_t kOpenFiles = 1024;
};

// The server elsewhere that does an executor's work.
struct Endpoint : outbound::Server {
  // How to handle a request that may have arrived but was not answered, if the other side would not
  // recognise a repetition. unset: fail if `recovery` is fail, else resend.
  enum class OnUnknown { unset, resend, fail, ask };

  std::string url_env;  // the variable that may hold it; empty: none
  // The URL comes from that variable. The operator has chosen it, so it may be at any address.
  bool is_from_env = false;
  std::string version, transport, agent,
      address;  // of A2A: see client::Target, where `address` is `endpoint`
  bool grpc_text_files = false;
  OnUnknown on_unknown = OnUnknown::unset;
  bool older_agui = false;  // of AG-UI: it speaks 0.0.x, so it gets no input of 1.0
};

// A server of MCP tools that a model may call.
struct ToolServer {
  std::string name;  // begins the names of its functions; empty: they have the tools' own
  outbound::Server server;
  std::vector<std::string> tools;  // those that are offered; empty: all
};

// The model that answers, and its instructions.
struct ModelSettings {
  std::string name;
  protocol::models::Api api = protocol::models::Api::chat;
  std::vector<std::pair<std::string, std::string>> headers;                    // further ones of each request
  protocol::models::ThinkTags think_tags = protocol::models::ThinkTags::text;  // only for Api::chat
  std::string provider = "openai";                                             // as usage names it
  std::string system;                                                          // the system prompt
  std::filesystem::path system_file;  // a file with the system prompt instead; empty: none
  task::Json parameters;              // members of each request ("temperature"); absent: none
  // Limits of the history that is sent, in messages and in tokens; a token is assumed to be four bytes.
  std::size_t history_messages = std::numeric_limits<std::size_t>::max();
  std::size_t history_tokens = std::numeric_limits<std::size_t>::max();
  bool takes_system_messages =
      false;               // a page's system messages join the system prompt; else they are the caller's
  bool tells_page = true;  // the model gets AG-UI's context and state, as the caller's data
  int tool_rounds = 20;    // answers with tool calls in a turn; one more fails the turn
  std::vector<std::string> tools;  // agents that the model may call
  std::vector<ToolServer> mcp;     // servers whose tools it may call
};

// The arguments of a tool: a message with data and files, or data that fits a schema, which the agent gets
// whole.
struct ToolInput {
  std::shared_ptr<const json::BoundedSchema> schema;  // null: a message
  task::Json text;                                    // of the schema
};

// How the agent is offered as a tool, to hosts of MCP.
struct ToolSettings {
  bool is_offered = true;
  ToolInput input;
  std::map<std::string, ToolInput> skills = {};  // of the skills that name a schema, by their ids
};

// Limits of the files that a turn of a program with "io": "text" gets beside the text.
struct PartFileLimits {
  int files_max = 1'000;
  std::size_t arguments_max = 128 << 10;  // bytes of the files' paths
};

struct AgentSettings {
  enum class Kind { command, builtin, a2a, openai, ag_ui, workflow };
  enum class Mode { turn, worker };      // a process for each turn, or long-lived ones that take many
  enum class Io { lines, text, guess };  // the line protocol, plain text in and out, or as it turns out
  enum class Recovery { resume, fail };  // what happens to a turn that a crash broke off
  enum class Reply { blocking, at_once };
  // Where A2A clients find the agent's streamed text: in an artifact, in the message of the status that ends
  // the turn, in both, or in a message that is the whole answer.
  enum class ReplyAs { artifact, status, both, message };

  Kind executor = Kind::command;
  // Whether a server elsewhere does the work.
  bool acts_outside() const {
    return executor == Kind::a2a || executor == Kind::openai || executor == Kind::ag_ui;
  }
  // Whether the agent exchanges its callers' access tokens for tokens of its own
  // (outbound::Server::Exchange).
  bool acts_for_callers() const {
    constexpr auto kNone = outbound::Server::Exchange::none;
    return endpoint.exchange != kNone || std::ranges::any_of(model.mcp, [](const ToolServer& tools) {
             return tools.server.exchange != kNone;
           });
  }
  bool keeps_workers() const { return executor == Kind::command && mode == Mode::worker; }
  // The card's `on_unknown`, or else the default that `recovery` implies; never unset.
  Endpoint::OnUnknown on_unknown() const {
    if (endpoint.on_unknown != Endpoint::OnUnknown::unset) return endpoint.on_unknown;
    return recovery == Recovery::fail ? Endpoint::OnUnknown::fail : Endpoint::OnUnknown::resend;
  }

  Endpoint endpoint;    // of executors that act outside
  ModelSettings model;  // of executor openai
  ToolSettings tool;
  std::shared_ptr<const Plan> plan;  // of executor workflow
  std::vector<std::string> command;  // program and arguments; run in the card's folder
  std::string builtin;               // name of a built-in executor; by default the agent's own
  Mode mode = Mode::turn;
  Io io = Io::lines;
  int workers = 1;      // processes, in worker mode
  int concurrency = 8;  // turns of this agent at once
  std::chrono::milliseconds turn_timeout{600'000};
  Recovery recovery = Recovery::resume;
  bool is_default = false;  // also served at the root URLs
  // Whether the server's catalog names the agent; unset: if callers need no token.
  std::optional<bool> is_listed;
  Reply reply = Reply::blocking;
  ReplyAs reply_as = ReplyAs::artifact;
  // plain_answers: in every protocol, a plain message answers the question that its conversation waits
  // with. confirm_tool: in chat protocols, the client's tool that asks that question, if the client offers
  // it; empty: none.
  bool plain_answers = false;
  std::string confirm_tool;
  // A question with a schema needs data as its answer, unless the schema gives texts exactly one meaning.
  bool answers_need_data = false;
  // A canceled task that waits has one more turn (Turn::canceled), which ends its work on another server.
  bool ends_work_elsewhere = false;
  // How long a run continues after its chat client has hung up; 0: to its end; unset: the server's
  // setting.
  std::optional<std::chrono::milliseconds> hang_up_grace;
  std::map<std::string, std::string> env;  // added to the few variables that all agents get
  std::vector<std::string> env_from;       // names of variables passed on from Baton's environment
  ProcessLimits limits;
  bool verbose_errors = false;                    // callers see what the agent writes to standard error
  std::chrono::milliseconds cancel_grace{5'000};  // time to stop after a cancel, before it is forced
  std::chrono::milliseconds exit_grace{2'000};    // time for a process to exit after the end of its turn
  // Time for the other turns of a worker to finish, once one of its turns did not stop.
  std::chrono::milliseconds worker_drain{60'000};
  std::vector<Schedule> schedules;
  // How long tasks are kept after they end in this state; for input_required, how long they wait for
  // people. 0: for ever; no entry: the server's setting.
  std::map<task::State, std::chrono::milliseconds> retention;
  task::Budget budget;    // of each task, a plan's own included
  int children_max = 32;  // open children of a task at once
  // After a crash, a turn runs again at once while its children continue; otherwise it waits for them
  // first.
  bool resumes_beside_children = false;
  // How long a turn that waits for its children may keep its place in a worker when another turn needs it.
  std::chrono::milliseconds wait_keep{10'000};
  // A turn fails if the agent has sent no output for it within this time; 0: no limit.
  std::chrono::milliseconds first_output{0};
  std::size_t line_max = (8u << 20) + (256u << 10);  // bytes of one line from the agent
  std::uint64_t output_max = 256u << 20;             // bytes of all lines of one turn
  PartFileLimits part_files;                         // the server's
  std::vector<json::SchemaProblem> warnings;         // about members of the card that are left out here
};

}  // namespace baton::agents

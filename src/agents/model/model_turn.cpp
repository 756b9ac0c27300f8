#include "agents/model/model_turn.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "agents/client_call.h"
#include "agents/function_executor.h"
#include "agents/model/conversation.h"
#include "agents/model/kept_rounds.h"
#include "agents/model/model_call.h"
#include "agents/model/tools.h"
#include "agents/tool_spans.h"
#include "agents/usage.h"
#include "base/id.h"
#include "base/log.h"
#include "base/text.h"
#include "outbound/backoff.h"
#include "outbound/credentials.h"
#include "protocol/models/dialects.h"

namespace baton::agents {
namespace {

using protocol::models::AnswerPiece;
using protocol::models::AnswerReader;
using protocol::models::CalledTool;
using protocol::models::ChatMessage;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;
using CallKind = ModelCallEnd::Kind;
using ToolKind = ModelToolUse::Kind;

constexpr int kBreaksMax = 3;  // answers of a turn that may break off
constexpr milliseconds kRetryFirst{500}, kRetryMax{30'000};
// How long an unreachable server is retried. It is most likely absent; one that restarts comes back
// sooner.
constexpr std::chrono::seconds kReachMax{30};
constexpr std::size_t kCallIdMax = 256;  // bytes of an id that clients can be given

class ModelTurn {
 public:
  ModelTurn(const AgentSettings& settings, const outbound::Rules& rules, outbound::Credentials& credentials,
            FunctionTurn& turn)
      : settings_(settings),
        rules_(rules),
        credentials_(credentials),
        turn_(turn),
        input_(turn.input()),
        dialect_(protocol::models::dialect_of(settings.model.api)),
        deadline_(Clock::now() + settings.turn_timeout),
        rounds_max_(std::min<std::int64_t>(settings.model.tool_rounds,
                                           input_.budget.rounds.value_or(task::kBudgetMax))),
        taken_(input_.taken),
        tools_(settings.model, input_.tools),
        intake_(rules.budget, input_.account, turn.stop_fd()),
        kept_(read_kept_rounds(input_.kept)) {}

  void run() {
    const Endpoint& endpoint = settings_.endpoint;
    if (endpoint.url.empty()) {
      return fail("set " + endpoint.url_env +
                  " to the base URL of its API, such as https://host/v1, and restart Baton");
    }
    const auto system = system_of(settings_.model);
    if (!system) return fail("cannot read its system prompt (system_file)");
    request_.model = settings_.model.name;
    request_.parameters = settings_.model.parameters;
    request_.messages = conversation_of(input_, settings_.model, *system);
    tools_.rename(request_.messages);
    request_.tools = tools_.functions();
    for (const ModelRound& earlier : kept_.rounds) {
      ++round_;
      if (!earlier.text.empty()) turn_.text(earlier.text);
      if (!carry_out(earlier)) return;
    }
    go_on();
  }

 private:
  void go_on() {
    while (true) {
      if (const std::string used_up = task::refusal_of_tokens(input_.budget, taken_); !used_up.empty())
        return fail(used_up);
      const auto answer = ask();
      if (!answer) return;
      ModelRound round{answer->text(), answer->calls(), answer->others()};
      const bool is_paused = answer->end() == AnswerReader::End::paused;
      const bool says_nothing =
          round.calls.empty() && round.text.empty() && !answer->has_ended_early() && !is_paused;
      if (says_nothing && !std::exchange(has_been_silent_, true)) {
        base::log_warn(log_members(), "the model returned an empty answer; asking once more");
        continue;
      }
      if (says_nothing) return fail("it returned an empty answer twice");
      if (round.calls.empty() && !is_paused) return conclude(*answer);
      if (++round_ > rounds_max_) {
        return fail("it called tools more than " + base::counted(rounds_max_, "time") + " (max_rounds)");
      }
      if (calls_client(round)) return;
      give_ids(round.calls);
      kept_.rounds.push_back(round);
      turn_.emit(state_of(kept_));
      if (!carry_out(round)) return;
    }
  }

  // Returns a whole answer; null if the turn is over.
  std::unique_ptr<AnswerReader> ask() {
    ModelCall call;
    call.body = dialect_.write_request(request_);
    call.stop_fd = turn_.stop_fd();
    call.trace = turn_.input().trace;
    call.intake = &intake_;
    unreachable_since_.reset();
    has_told_ = false;
    outbound::Backoff backoff(kRetryFirst, kRetryMax);
    while (true) {
      auto answer = dialect_.reader({rules_.limits.arguments_max, settings_.model.think_tags, rounds_bytes_});
      bool shown = false;
      call.time_max = left();
      const ModelCallEnd end = call_model(settings_, rules_, credentials_, call, *answer,
                                          [&](AnswerPiece piece) { return show(std::move(piece), shown); });
      if (turn_.cancelled()) return nullptr;
      if (end.kind == CallKind::complete) {
        log_usage(*answer);
        return answer;
      }
      if (end.kind == CallKind::refused && !request_.without_extras && dialect_.is_about_extras(end.text)) {
        base::log_warn(log_members(), "the model at {} is asked again without an option that it refuses: {}",
                       url(), end.text);
        request_.without_extras = true;
        call.body = dialect_.write_request(request_);
        continue;
      }
      const milliseconds time = time_for(end);
      const auto pause = may_pass(end) ? backoff.after({end.retry_after, end.held}, time) : std::nullopt;
      if (!pause) {
        fail(settings_.verbose_errors ? url() + ": " + end.text : end.text);
        return nullptr;
      }
      call.despite_breaker = pause->despite_breaker;
      tell_of(end, shown);
      if (turn_.wait_cancelled(pause->time)) return nullptr;
      if (!shown) continue;
      // BrokenOff withdraws the output that the caller has seen, and the turn runs again.
      turn_.emit(state_of(kept_));
      turn_.finish(BrokenOff{});
      return nullptr;
    }
  }

  // Says once for each request that the model's server is in trouble and that it is asked again. `shown`: the
  // answer had begun, and the caller sees that it begins again.
  void tell_of(const ModelCallEnd& end, bool shown) {
    if (std::exchange(has_told_, true)) return;
    base::log_warn(log_members(), "retrying the model at {}: {}", url(), end.text);
    if (shown) return;
    task::StatusChanged changed;
    changed.status.state = task::State::working;
    changed.status.message.emplace();
    changed.status.message->role = task::Role::agent;
    changed.status.message->parts.push_back(task::Part::of_text(
        settings_.verbose_errors ? "The model at " + url() + " is unavailable: " + end.text + ". Retrying."
                                 : "The model is unavailable. Retrying."));
    turn_.emit(std::move(changed));
  }

  // Without the query, which may have a key.
  std::string url() const {
    const std::string url = protocol::models::url_of(dialect_, settings_.endpoint.url);
    return url.substr(0, url.find('?'));
  }

  bool show(AnswerPiece piece, bool& shown) {
    shown = shown || !piece.text.empty() || !piece.reasoning.empty();
    if (!piece.reasoning.empty()) turn_.reasoning(std::move(piece.reasoning));
    if (!piece.text.empty()) turn_.text(std::move(piece.text));
    return !turn_.cancelled();
  }

  // Whether another request may succeed.
  bool may_pass(const ModelCallEnd& end) {
    if (end.kind != CallKind::broken_off) return end.kind != CallKind::refused;
    return settings_.recovery == AgentSettings::Recovery::resume && ++kept_.breaks <= kBreaksMax;
  }

  // How long the server may still be asked after a request that ended so.
  milliseconds time_for(const ModelCallEnd& end) {
    if (end.kind != CallKind::unreachable) unreachable_since_.reset();
    if (end.kind != CallKind::unreachable) return left();
    if (!unreachable_since_) unreachable_since_ = Clock::now();
    return std::min(left(),
                    std::chrono::duration_cast<milliseconds>(*unreachable_since_ + kReachMax - Clock::now()));
  }

  void conclude(const AnswerReader& answer) {
    const bool is_cut = answer.end() == AnswerReader::End::cut;
    if (answer.text().empty() && answer.has_ended_early()) {
      return fail(is_cut ? "it reached its length limit before it answered; raise max_tokens in the card or "
                           "shorten the message"
                         : "its server's content filter blocked the answer");
    }
    if (!answer.has_ended_early()) return turn_.finish(Done{});
    const std::string note =
        is_cut
            ? "The answer is incomplete: the model reached its length limit (" + answer.finish_reason() + ")."
            : "The answer is incomplete: the content filter of the model's server stopped it (" +
                  answer.finish_reason() + ").";
    // Elsewhere than in an artifact, the status's message is the reply.
    if (settings_.reply_as != AgentSettings::ReplyAs::artifact) {
      turn_.text("\n\n[" + note + "]");
      return turn_.finish(Done{});
    }
    task::Message said;
    said.role = task::Role::agent;
    said.parts.push_back(task::Part::of_text(note));
    turn_.finish(Done{std::move(said)});
  }

  // A call of a client tool ends the turn, and the next turn begins with its result alone. The other calls
  // of the answer are dropped; the model makes them again if it still wants them.
  bool calls_client(const ModelRound& round) {
    for (const CalledTool& call : round.calls) {
      ModelToolUse use = tools_.use_of(call);
      if (use.kind != ToolKind::client) continue;
      call_client(round, call, std::move(use));
      return true;
    }
    return false;
  }

  // Returns whether the model is to be asked again with the results.
  bool carry_out(const ModelRound& round) {
    ChatMessage said = ChatMessage::of_text(ChatMessage::Role::assistant, round.text);
    if (round.text.empty()) said.parts.clear();
    said.calls = round.calls;
    said.others = round.others;
    std::vector<ModelToolUse> uses;
    for (CalledTool& call : said.calls) {
      uses.push_back(tools_.use_of(call));
      // A server may parse the arguments when they are sent back to it.
      if (uses.back().kind == ToolKind::wrong) call.arguments = "{}";
    }
    request_.messages.push_back(std::move(said));
    rounds_bytes_ += bytes_beside_text(round);
    return add_results(round, uses);
  }

  // Replaces ids that the server has left out or used twice: Mistral's models take nine letters and digits.
  void give_ids(std::vector<CalledTool>& calls) const {
    for (auto call = calls.begin(); call != calls.end(); ++call) {
      const bool is_taken = std::find_if(calls.begin(), call, [&](const CalledTool& other) {
                              return other.id == call->id;
                            }) != call;
      if (!call->id.empty() && !is_taken) continue;
      call->id = "c" + std::to_string(10'000'000 + round_ * 1'000 + (call - calls.begin()));
    }
  }

  bool add_results(const ModelRound& round, const std::vector<ModelToolUse>& uses) {
    std::vector<base::SpanTimer> timers;
    for (std::size_t at = 0; at < uses.size(); ++at) {
      timers.emplace_back(rules_.spans, input_.trace);
      if (uses[at].kind == ToolKind::agent) begin_child(uses[at], child_id(at));
    }
    for (std::size_t at = 0; at < uses.size(); ++at) {
      std::string text = uses[at].text;
      if (uses[at].kind == ToolKind::agent) {
        const Clock::time_point begun = Clock::now();
        const DelegateResult result = turn_.result_of(child_id(at));
        if (turn_.cancelled()) {
          for (; at < uses.size(); ++at) {
            if (uses[at].kind == ToolKind::agent)
              end_tool_span(timers[at], round.calls[at].name, round.calls[at].id, kUnfinished);
          }
          return false;
        }
        // The child may have waited for the caller's answer; the engine's clock stops during that time,
        // too.
        deadline_ += Clock::now() - begun;
        taken_.tokens += result.tokens;
        text = words_of(result);
        end_tool_span(timers[at], round.calls[at].name, round.calls[at].id,
                      result.error.empty() ? "" : "failed");
      }
      request_.messages.push_back(ChatMessage::of_text(ChatMessage::Role::tool, std::move(text)));
      request_.messages.back().call_id = round.calls[at].id;
    }
    return true;
  }

  // The id is the same in every attempt at the turn, so that a repeated call gets the same child.
  std::string child_id(std::size_t at) const {
    return "call-" + std::to_string(round_) + "-" + std::to_string(at);
  }

  void begin_child(const ModelToolUse& use, std::string id) {
    DelegateRequest request;
    request.id = std::move(id);
    request.agent = use.agent;
    request.message.parts.push_back(task::Part::of_text(use.text));
    turn_.begin_delegate(std::move(request));
  }

  void call_client(const ModelRound& round, const CalledTool& called, ModelToolUse use) {
    task::ToolCall call{free_id(called.id), std::move(use.tool), std::move(use.arguments), true};
    task::Message message = message_of(call);
    keep_with_call(message, called, round.others);
    std::string id = call.id;
    turn_.emit(std::move(call));
    turn_.finish(Asked{std::move(id), false, std::move(message)});
  }

  // Returns the server's own id if it is valid and no other call of the conversation has it, else a new
  // one.
  std::string free_id(const std::string& id) const {
    const bool is_good = !id.empty() && id.size() <= kCallIdMax && base::is_token(id);
    if (is_good && (!input_.used_ids || input_.used_ids->take(id))) return id;
    return "call-" + base::random_hex(12);
  }

  void log_usage(const AnswerReader& answer) {
    task::Json used = answer.usage(settings_.model.provider, settings_.model.name);
    if (used.empty() && input_.budget.tokens && !std::exchange(has_warned_, true))
      base::log_warn(log_members(),
                     "the model's server reports no token usage, so the token budget cannot be enforced");
    if (used.empty()) return;
    task::Usage usage = usage_of(std::move(used));
    taken_.tokens += usage.tokens;
    turn_.emit(std::move(usage));
  }

  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  void fail(const std::string& reason) { turn_.finish(Failed{"the model cannot answer: " + reason}); }

  base::LogMembers log_members() const {
    return {{"agent", input_.agent.value}, {"task", input_.task.value}};
  }

  const AgentSettings& settings_;
  const outbound::Rules& rules_;
  outbound::Credentials& credentials_;
  FunctionTurn& turn_;
  const Turn& input_;
  const protocol::models::Dialect& dialect_;
  Clock::time_point deadline_;
  const std::int64_t rounds_max_;
  task::Taken taken_;  // by the task, as known to this turn
  const ModelTools tools_;
  outbound::Intake intake_;
  protocol::models::ModelRequest request_;
  int round_ = 0;                 // answers with calls so far
  std::size_t rounds_bytes_ = 0;  // of these, beside their texts
  bool has_been_silent_ = false;  // an answer had neither text nor calls
  bool has_warned_ = false;       // about usage that is not reported
  KeptRounds kept_;
  std::optional<Clock::time_point> unreachable_since_;
  bool has_told_ = false;  // of trouble with the request that is being made
};

// A URL from the environment is the operator's word, as outbound.origins are.
outbound::Rules rules_for(const Endpoint& endpoint, outbound::Rules rules) {
  if (endpoint.is_from_env) rules.origins.push_back(endpoint.url);
  return rules.of(endpoint);
}

class ModelExecutor final : public Executor {
 public:
  ModelExecutor(base::WorkerPool& pool, const AgentSettings& settings, const outbound::Rules& rules)
      : refusal_(rules.refusal_of(settings.endpoint.url)),
        credentials_(std::make_shared<outbound::Credentials>(settings.endpoint, rules)),
        runs_(pool, [settings, rules, credentials = credentials_](FunctionTurn& turn) {
          turn.hide([credentials] { return credentials->mask(); });
          ModelTurn(settings, rules, *credentials, turn).run();
        }) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    return runs_.start(std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    return outbound::missing_outside(!credentials_->missing(), "the key for the model's server", refusal_);
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<outbound::Credentials> credentials_;  // shared with running turns
  FunctionExecutor runs_;
};

}  // namespace

std::unique_ptr<Executor> model_executor(base::WorkerPool& pool, const AgentSettings& settings,
                                         const outbound::Rules& rules) {
  return std::make_unique<ModelExecutor>(pool, settings, rules_for(settings.endpoint, rules));
}

}  // namespace baton::agents

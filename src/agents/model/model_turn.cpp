#include "agents/model/model_turn.h"

#include <algorithm>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "agents/caller_ask.h"
#include "agents/client_call.h"
#include "agents/loop_turn.h"
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

using protocol::models::AboutImages;
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
// How long a model is known to take no images. Its server may get another model.
constexpr std::chrono::hours kNoImagesFor{1};
constexpr std::size_t kCallIdMax = 256;  // bytes of an id that clients can be given
// Bytes of base64 of the images of all results together, and bytes of their texts. These are more tokens than
// models take.
constexpr std::size_t kTurnImageBytesMax = std::size_t{8} << 20;
constexpr std::size_t kTurnWordsMax = std::size_t{8} << 20;

// A turn as an object: it asks, pauses, carries out tools and waits for children without a thread. All of it
// happens on the loop's thread, but for what `elsewhere` runs.
class ModelTurn : public LoopTurn<ModelTurn> {
 public:
  ModelTurn(std::shared_ptr<const Model> model, Turn turn, std::shared_ptr<TurnSink> sink)
      : LoopTurn(model->services.loop, std::move(turn), std::move(sink)),
        model_(std::move(model)),
        settings_(model_->settings),
        rules_(model_->rules),
        dialect_(protocol::models::dialect_of(settings_.model.api)),
        deadline_(Clock::now() + settings_.turn_timeout),
        rounds_max_(std::min<std::int64_t>(settings_.model.tool_rounds,
                                           input_.budget.rounds.value_or(task::kBudgetMax))),
        taken_(input_.taken),
        intake_(std::make_shared<outbound::Intake>(rules_.budget, input_.account)) {
    turn_.hide([credentials = model_->credentials] { return credentials->mask(); });
  }

  // These may be called from any thread.
  void begin() {
    post([](ModelTurn& turn) { turn.prepare(); });
  }
  void cancel() {
    post([](ModelTurn& turn) { turn.end_canceled(); });
  }
  void deliver(DelegateResult result) {
    post([result = std::move(result)](ModelTurn& turn) { turn.take(result); });
  }

 private:
  friend LoopTurn<ModelTurn>;

  void break_down(const std::string& why) {
    base::log_error(log_members(), "the turn of a model failed: {}", why);
    finish(Failed{"the agent failed"});
  }

  void prepare() {
    const Endpoint& endpoint = settings_.endpoint;
    if (endpoint.url.empty()) {
      return fail("set " + endpoint.url_env +
                  " to the base URL of its API, such as https://host/v1, and restart Baton");
    }
    if (!model_->tools || model_->tools->all.empty()) return begin_conversation({});
    listing_.emplace(model_->tools->of(model_->tools, input_.subject),
                     McpListing::About{left(), input_.trace, input_.account},
                     [this](const std::string& error, std::vector<OfferedTool> tools) {
                       run([&](ModelTurn& turn) {
                         const auto asks = turn.listing_->asks();
                         if (asks && read_kept_rounds(turn.input_.kept).rounds.empty())
                           return turn.finish(ask_caller(turn.input_, *asks));
                         if (!error.empty()) return turn.fail(error);
                         turn.begin_conversation(std::move(tools));
                       });
                     });
    listing_->start();
  }

  void begin_conversation(std::vector<OfferedTool> tools) {
    offered_ = std::move(tools);
    elsewhere(
        model_->services.blocking, [](ModelTurn& turn) { turn.read_conversation(); },
        [](ModelTurn& turn) {
          if (!turn.has_conversation_) return turn.fail("cannot read its system prompt (system_file)");
          turn.go_on();
        });
  }

  void read_conversation() {
    const auto system = system_of(settings_.model);
    if (!system) return;
    request_.model = settings_.model.name;
    request_.parameters = settings_.model.parameters;
    request_.messages = conversation_of(input_, settings_.model, *system);
    tools_.emplace(settings_.model, input_.tools, input_.agent.value, std::move(offered_));
    tools_->rename(request_.messages);
    request_.tools = tools_->functions();
    kept_ = read_kept_rounds(input_.kept);
    if (kept_.rounds.empty()) body_ = dialect_.write_request(request_);
    has_conversation_ = true;
  }

  // Repeats the rounds of an earlier attempt; then asks the model.
  void go_on() {
    if (repeated_ < kept_.rounds.size()) {
      const ModelRound earlier = kept_.rounds[repeated_++];
      ++round_;
      if (!earlier.text.empty()) turn_.text(earlier.text);
      return carry_out(earlier);
    }
    if (const std::string used_up = task::refusal_of_tokens(input_.budget, taken_); !used_up.empty())
      return fail(used_up);
    unreachable_since_.reset();
    has_told_ = false;
    despite_breaker_ = false;
    backoff_.emplace(kRetryFirst, kRetryMax);
    return body_.empty() ? write_request() : ask();
  }

  // A conversation with files takes a while to write, and memory: it is written anew for each try.
  void write_request() {
    elsewhere(
        model_->services.blocking,
        [](ModelTurn& turn) { turn.body_ = turn.dialect_.write_request(turn.request_); },
        [](ModelTurn& turn) { turn.ask(); });
  }

  void ask() {
    is_shown_ = false;
    ModelRequestText request{std::exchange(body_, {}), left(), despite_breaker_, input_.trace, intake_};
    call_.emplace(
        model_, std::move(request),
        dialect_.reader({rules_.limits.arguments_max, settings_.model.think_tags, rounds_bytes_}),
        [this](AnswerPiece piece) { return show(std::move(piece)); },
        [this](const ModelCallEnd& end, std::unique_ptr<AnswerReader> answer) {
          run([&](ModelTurn& turn) { turn.take(end, *answer); });
        });
    call_->start();
  }

  // Returns whether to read on.
  bool show(AnswerPiece piece) {
    is_shown_ = is_shown_ || !piece.text.empty() || !piece.reasoning.empty();
    if (!piece.reasoning.empty()) turn_.reasoning(std::move(piece.reasoning));
    if (!piece.text.empty()) turn_.text(std::move(piece.text));
    if (is_over_) return false;
    if (!has_room(&ModelTurn::resume)) call_->pause();
    return true;
  }

  static void resume(ModelTurn& turn) {
    if (turn.call_ && turn.has_room(&ModelTurn::resume)) turn.call_->resume();
  }

  // The request is over.
  void take(const ModelCallEnd& end, const AnswerReader& answer) {
    call_.reset();
    if (end.kind == CallKind::complete) {
      if (std::exchange(is_imageless_, false)) *model_->no_images_until = Clock::now() + kNoImagesFor;
      return take(answer);
    }
    // The tokens of an answer that broke off count, too.
    if (answer.has_usage()) log_usage(answer);
    // Relays may answer 500 to what the server behind them refuses.
    const bool is_refused = end.kind == CallKind::refused || end.status == 500;
    if (is_refused && !request_.without_extras && dialect_.is_about_extras(end.text)) {
      base::log_warn(log_members(), "the model at {} is asked again without an option that it refuses: {}",
                     url(), end.text);
      request_.without_extras = true;
      return write_request();
    }
    if (const AboutImages images = about_images(end);
        images != AboutImages::no && drop_old_images(request_.messages, 0)) {
      base::log_warn(log_members(), "the model at {} is asked again without the images of results: {}", url(),
                     end.text);
      takes_images_ = false;
      is_imageless_ = images == AboutImages::takes_none;
      return write_request();
    }
    // A turn that has called tools cannot be begun again.
    if (end.asks && kept_.rounds.empty()) return finish(ask_caller(input_, *end.asks));
    const milliseconds time = time_for(end);
    const auto pause = may_pass(end) ? backoff_->after({end.retry_after, end.held}, time) : std::nullopt;
    if (!pause) return fail(settings_.verbose_errors ? url() + ": " + end.text : end.text);
    despite_breaker_ = pause->despite_breaker;
    tell_of(end, is_shown_);
    timer_ = loop().after(pause->time, [weak = weak_from_this()] {
      if (const auto self = weak.lock()) self->run([](ModelTurn& turn) { turn.ask_again(); });
    });
  }

  void ask_again() {
    timer_ = 0;
    const std::string used_up = task::refusal_of_tokens(input_.budget, taken_);
    if (!is_shown_) return used_up.empty() ? write_request() : fail(used_up);
    // BrokenOff withdraws the output that the caller has seen, and the turn runs again.
    turn_.emit(state_of(kept_));
    finish(BrokenOff{});
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

  // Whether the images of results may be the reason of this failure. A server whose model takes no images, or
  // that cannot read one of them, refuses the request.
  AboutImages about_images(const ModelCallEnd& end) const {
    const bool is_answered = end.kind == CallKind::refused || end.status != 0;
    if (is_shown_ || end.asks || !is_answered) return AboutImages::no;
    return protocol::models::about_images(end.status, end.text);
  }

  bool takes_images() const { return takes_images_ && Clock::now() >= *model_->no_images_until; }

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

  // The model has answered.
  void take(const AnswerReader& answer) {
    log_usage(answer);
    ModelRound round{answer.text(), answer.calls(), answer.others()};
    const bool is_paused = answer.end() == AnswerReader::End::paused;
    const bool says_nothing =
        round.calls.empty() && round.text.empty() && !answer.has_ended_early() && !is_paused;
    if (says_nothing && !std::exchange(has_been_silent_, true)) {
      base::log_warn(log_members(), "the model returned an empty answer; asking once more");
      return go_on();
    }
    if (says_nothing) return fail("it returned an empty answer twice");
    has_been_silent_ = false;
    // The last call of an answer that ended early may lack a part of its arguments, and still be JSON.
    if (answer.has_ended_early() || (round.calls.empty() && !is_paused)) return conclude(answer);
    if (++round_ > rounds_max_) {
      const std::string limit = rounds_max_ < settings_.model.tool_rounds ? "max_rounds" : "tool_rounds";
      return fail("it called tools more than " + base::counted(rounds_max_, "time") + " (" + limit + ")");
    }
    if (calls_client(round)) return;
    give_ids(round.calls);
    kept_.rounds.push_back(round);
    repeated_ = kept_.rounds.size();
    turn_.emit(state_of(kept_));
    carry_out(round);
  }

  void conclude(const AnswerReader& answer) {
    const bool is_cut = answer.end() == AnswerReader::End::cut;
    if (answer.text().empty() && answer.has_ended_early()) {
      return fail(is_cut ? "it reached its length limit before it answered; raise max_tokens in the card or "
                           "shorten the message"
                         : "its server's content filter blocked the answer");
    }
    if (!answer.has_ended_early()) return finish(Done{});
    const std::string note =
        is_cut
            ? "The answer is incomplete: the model reached its length limit (" + answer.finish_reason() + ")."
            : "The answer is incomplete: the content filter of the model's server stopped it (" +
                  answer.finish_reason() + ").";
    // Elsewhere than in an artifact, the status's message is the reply.
    if (settings_.reply_as != AgentSettings::ReplyAs::artifact) {
      turn_.text("\n\n[" + note + "]");
      return finish(Done{});
    }
    task::Message said;
    said.role = task::Role::agent;
    said.parts.push_back(task::Part::of_text(note));
    finish(Done{std::move(said)});
  }

  // A call of a client tool ends the turn, and the next turn begins with its result alone. The other calls
  // of the answer are dropped; the model makes them again if it still wants them.
  bool calls_client(const ModelRound& round) {
    for (const CalledTool& call : round.calls) {
      ModelToolUse use = tools_->use_of(call);
      if (use.kind != ToolKind::client) continue;
      call_client(round, call, std::move(use));
      return true;
    }
    return false;
  }

  // Begins what the model wants done.
  void carry_out(const ModelRound& round) {
    ChatMessage said = ChatMessage::of_text(ChatMessage::Role::assistant, round.text);
    if (round.text.empty()) said.parts.clear();
    said.calls = round.calls;
    said.others = round.others;
    std::vector<ModelToolUse> uses;
    for (CalledTool& call : said.calls) {
      uses.push_back(tools_->use_of(call));
      // A server may parse the arguments when they are sent back to it.
      if (uses.back().kind == ToolKind::wrong) call.arguments = "{}";
    }
    request_.messages.push_back(std::move(said));
    rounds_bytes_ += bytes_beside_text(round);
    work_ = Work{round.calls, std::move(uses), {}, {}, request_.messages.size(), Clock::now()};
    for (std::size_t at = 0; at < work_->uses.size(); ++at) {
      const ModelToolUse& use = work_->uses[at];
      request_.messages.push_back(ChatMessage::of_text(ChatMessage::Role::tool, use.text));
      request_.messages.back().call_id = work_->calls[at].id;
      work_->timers.emplace_back(rules_.spans, input_.trace);
      work_->awaited.push_back(use.is_child());
      if (use.is_child()) begin_child(use, work_->calls[at].name, child_id(at));
    }
    end_work();
  }

  // A child has stopped. Other children may take long, so nothing is kept of its task but what the model
  // gets, and the images of all results are bounded from now on. They cannot count for the budget of answers:
  // this turn would hold bytes while it waits for children that need some.
  void take(const DelegateResult& result) {
    const std::optional<std::size_t> at = awaited(result.id);
    if (!at) return;
    taken_.tokens += result.tokens;
    ChatMessage& told = request_.messages[work_->results_at + *at];
    told.parts.front().content = words_of(result, work_->uses[*at].kind == ToolKind::mcp, words_left_);
    words_left_ -= std::min(words_left_, told.parts.front().content.size());
    for (task::Part& image : images_of(result)) told.parts.push_back(std::move(image));
    if (told.parts.size() > 1) drop_old_images(request_.messages, takes_images() ? kTurnImageBytesMax : 0);
    end_tool_span(work_->timers[*at], work_->calls[*at].name, work_->calls[*at].id,
                  result.error.empty() ? "" : "failed");
    work_->awaited[*at] = false;
    end_work();
  }

  // The place of the call whose result of this id is missing.
  std::optional<std::size_t> awaited(const std::string& id) const {
    for (std::size_t at = 0; work_ && at < work_->awaited.size(); ++at) {
      if (work_->awaited[at] && child_id(at) == id) return at;
    }
    return std::nullopt;
  }

  // Asks the model again, unless results are missing.
  void end_work() {
    if (std::ranges::count(work_->awaited, true) > 0) return;
    // A child may have waited for the caller's answer; the engine's clock stops during that time, too.
    deadline_ += Clock::now() - work_->begun;
    work_.reset();
    go_on();
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

  // The id is the same in every attempt at the turn, so that a repeated call gets the same child.
  std::string child_id(std::size_t at) const {
    return "call-" + std::to_string(round_) + "-" + std::to_string(at);
  }

  void begin_child(const ModelToolUse& use, const std::string& function, std::string id) {
    DelegateRequest request;
    request.id = std::move(id);
    request.agent = use.agent;
    request.message = use.message;
    if (use.kind == ToolKind::mcp) request.label = function;
    turn_.delegate(std::move(request));
  }

  void call_client(const ModelRound& round, const CalledTool& called, ModelToolUse use) {
    task::ToolCall call{free_id(called.id), std::move(use.tool), std::move(use.arguments), true};
    task::Message message = message_of(call);
    keep_with_call(message, called, round.others);
    std::string id = call.id;
    turn_.emit(std::move(call));
    finish(Asked{std::move(id), false, std::move(message)});
  }

  // Returns the server's own id if it is valid and no other call of the conversation has it, else a new
  // one.
  std::string free_id(const std::string& id) const {
    // Ids that begin with ~ are Baton's own.
    const bool is_good = !id.empty() && id.front() != '~' && id.size() <= kCallIdMax && base::is_token(id);
    if (is_good && (!input_.used_ids || input_.used_ids->try_add(id))) return id;
    return "call-" + base::random_hex(12);
  }

  void log_usage(const AnswerReader& answer) {
    task::Usage usage = usage_of(answer.usage(settings_.model.provider, settings_.model.name));
    // Some servers report zeros.
    if (usage.tokens == 0 && input_.budget.tokens && !std::exchange(has_warned_, true))
      base::log_warn(log_members(),
                     "the model's server reports no token usage, so the token budget cannot be enforced");
    if (!answer.has_usage()) return;
    taken_.tokens += usage.tokens;
    turn_.emit(std::move(usage));
  }

  milliseconds left() const {
    return std::max(milliseconds(0), std::chrono::duration_cast<milliseconds>(deadline_ - Clock::now()));
  }

  void fail(const std::string& reason) { finish(Failed{"the model cannot answer: " + reason}); }

  void end_canceled() {
    for (std::size_t at = 0; work_ && at < work_->awaited.size(); ++at) {
      if (work_->awaited[at])
        end_tool_span(work_->timers[at], work_->calls[at].name, work_->calls[at].id, kUnfinished);
    }
    finish(Canceled{});
  }

  // The engine may destroy the execution before this returns.
  void finish(Outcome outcome) {
    release();
    turn_.finish(std::move(outcome));
  }

  void release() {
    is_over_ = true;
    call_.reset();
    listing_.reset();
    loop().cancel(std::exchange(timer_, 0));
  }

  const std::shared_ptr<const Model> model_;  // shared with the executor and its other turns
  const AgentSettings& settings_;
  const outbound::Rules& rules_;
  const protocol::models::Dialect& dialect_;
  Clock::time_point deadline_;
  const std::int64_t rounds_max_;
  task::Taken taken_;                               // by the task, as known to this turn
  const std::shared_ptr<outbound::Intake> intake_;  // shared with the call
  std::optional<McpListing> listing_;
  std::vector<OfferedTool> offered_;  // for tools_
  std::optional<ModelTools> tools_;
  protocol::models::ModelRequest request_;
  KeptRounds kept_;
  bool has_conversation_ = false;  // these are complete
  std::size_t repeated_ = 0;       // of the kept rounds
  int round_ = 0;                  // answers with calls so far
  std::size_t rounds_bytes_ = 0;   // of these, beside their texts
  std::size_t words_left_ = kTurnWordsMax;
  bool has_been_silent_ = false;  // the last answer had neither text nor calls
  bool has_warned_ = false;       // about usage that is not reported
  bool takes_images_ = true;      // no request has failed because of the images of results
  bool is_imageless_ = false;     // the server has said that its model takes none, and is asked without them

  // The request that is being made.
  std::string body_;  // empty: it must be written
  std::optional<ModelCall> call_;
  bool is_shown_ = false;  // the caller has seen a part of the answer
  std::optional<Clock::time_point> unreachable_since_;
  bool has_told_ = false;  // of trouble with the request
  bool despite_breaker_ = false;
  std::optional<outbound::Backoff> backoff_;
  base::EventLoop::TimerId timer_ = 0;  // of the pause before the next try

  // The calls of the answer that are being carried out.
  struct Work {
    std::vector<CalledTool> calls;
    std::vector<ModelToolUse> uses;
    std::vector<base::SpanTimer> timers;
    std::vector<bool> awaited;   // whether the child's result is missing
    std::size_t results_at = 0;  // where their results are among the messages of the request
    Clock::time_point begun;
  };
  std::optional<Work> work_;
};

// A URL from the environment is the operator's word, as outbound.origins are.
outbound::Rules rules_for(const Endpoint& endpoint, outbound::Rules rules) {
  if (endpoint.is_from_env) rules.origins.push_back(endpoint.url);
  return rules.of(endpoint);
}

class ModelExecutor final : public Executor {
 public:
  ModelExecutor(const LoopServices& services, const AgentSettings& settings, const outbound::Rules& rules,
                std::shared_ptr<const McpServers> tools)
      : refusal_(rules.refusal_of(settings.endpoint.url)),
        model_(std::make_shared<const Model>(
            Model{settings, rules, std::make_shared<outbound::Credentials>(settings.endpoint, rules),
                  services, std::move(tools)})) {}

  std::unique_ptr<Execution> start(Turn turn, std::shared_ptr<TurnSink> sink) override {
    auto model = model_;
    if (const auto own = model->credentials->of(turn.subject); own != model->credentials) {
      auto for_caller = std::make_shared<Model>(*model);
      for_caller->credentials = own;
      model = std::move(for_caller);
    }
    return begin_loop_turn<ModelTurn>(std::move(model), std::move(turn), std::move(sink));
  }

  std::vector<std::string> missing() const override {
    auto all = outbound::missing_outside(!model_->credentials->missing(), "the key for the model's server",
                                         refusal_);
    if (!model_->tools) return all;
    const auto of_tools = model_->tools->missing();
    all.insert(all.end(), of_tools.begin(), of_tools.end());
    return all;
  }

 private:
  const std::string refusal_;
  const std::shared_ptr<const Model> model_;  // shared with running turns
};

}  // namespace

std::unique_ptr<Executor> model_executor(const LoopServices& services, const AgentSettings& settings,
                                         const outbound::Rules& rules,
                                         std::shared_ptr<const McpServers> tools) {
  return std::make_unique<ModelExecutor>(services, settings, rules_for(settings.endpoint, rules),
                                         std::move(tools));
}

}  // namespace baton::agents

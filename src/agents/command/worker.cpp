#include "agents/command/worker.h"

#include <spdlog/spdlog.h>

#include <algorithm>

#include "agents/command/to_agent.h"
#include "agents/command/worker_group.h"

namespace baton::agents {

namespace {

constexpr std::size_t kEndedKept = 1024;
constexpr const char* kNotStopped = "its worker process was stopped because another turn did not stop";

}  // namespace

WorkerTurn::WorkerTurn(const std::shared_ptr<WorkerGroup>& group, const Turn& turn,
                       std::shared_ptr<SinkGate> gate)
    : CommandTurn(std::move(gate)),
      group_(group),
      task_(turn.task),
      id_(turn.id),
      log_members_(log_members(turn)),
      lines_(turn_lines(turn)),
      output_(turn, group->facts()->settings, this->gate()),
      begins_again_(turn.again) {
  output_.set_errors([this] {
    const auto worker = worker_.lock();
    return worker != nullptr ? worker->errors_of(*this) : errors_;
  });
}

void WorkerTurn::begin() {
  const auto group = group_.lock();
  if (group == nullptr) return output_.fail("the agent is being shut down");
  if (!abandoned_) group->add(shared_from_this());
}

void WorkerTurn::cancel() {
  if (output_.ended()) return;
  output_.canceling();
  if (const auto worker = worker_.lock()) return worker->cancel(*this);
  if (const auto group = group_.lock()) group->remove(*this);
  output_.finish(Canceled{});
}

void WorkerTurn::deliver(const DelegateResult& result) {
  const auto worker = worker_.lock();
  --children_;
  if (worker != nullptr && !output_.ended()) worker->deliver(*this, result);
}

void WorkerTurn::abandon() {
  abandoned_ = true;
  if (const auto worker = worker_.lock()) return worker->let_go(shared_from_this());
  if (const auto group = group_.lock()) group->remove(*this);
}

Worker::Worker(const std::shared_ptr<WorkerGroup>& group, std::size_t slot)
    : group_(group), facts_(group->facts()), slot_(slot), lines_(facts_->settings.line_max) {}

base::Result<void> Worker::launch() {
  auto launched = facts_->host.launch(facts_->command, members(), shared_from_this());
  if (!launched) return base::fail(std::move(launched.error()));
  process_ = std::move(*launched);
  return {};
}

void Worker::give(std::shared_ptr<WorkerTurn> turn) {
  turn->worker_ = weak_from_this();
  turns_[turn->id_] = turn;
  attribute_errors(*turn);
  write(*turn, turn->lines_);
  turn->taken_at_ = process_ != nullptr ? process_->bytes_queued() : 0;
  if (facts_->settings.first_output.count() > 0) expect_output(turn);
}

// With several turns, nobody can tell which one a line on standard error belongs to.
void Worker::attribute_errors(const WorkerTurn& turn) {
  const bool is_alone = turns_.size() == 1;
  alone_ = is_alone ? &turn : nullptr;
  if (process_ == nullptr) return;
  process_->set_turn(is_alone ? turn.log_members_ : base::LogMembers());
  process_->errors();  // an earlier turn's
  process_->forget_errors(is_alone);
}

std::string Worker::errors_of(const WorkerTurn& turn) {
  if (alone_ != &turn || process_ == nullptr) return {};
  return masked_errors(facts_->settings, process_->errors());
}

// Fails the turn if the agent has sent no output for it within `first_output`.
void Worker::expect_output(const std::shared_ptr<WorkerTurn>& turn) {
  facts_->host.after(facts_->settings.first_output, [self = weak_from_this(), given = std::weak_ptr(turn)] {
    const auto worker = self.lock();
    const auto late = given.lock();
    if (worker == nullptr || late == nullptr || late->worker_.lock() != worker) return;
    if (late->output_.spoke() || late->output_.ended()) return;
    late->output_.fail(said_nothing(worker->facts_->settings));
    worker->let_go(late);
  });
}

void Worker::write(WorkerTurn& turn, std::string text) {
  if (!usable() || process_->write(std::move(text))) return;
  turn.output_.fail("the agent stopped reading its input");
  kill_for_one("the worker stopped reading its input");
}

void Worker::cancel(WorkerTurn& turn) {
  if (turn.cancelled_at_ == std::chrono::steady_clock::time_point{}) ++canceling_;
  turn.cancelled_at_ = std::chrono::steady_clock::now();
  write(turn, line::encode_cancel(turn.id_));
}

void Worker::deliver(WorkerTurn& turn, const DelegateResult& result) {
  write(turn, line::encode_delegate_result(turn.id_, result));
}

void Worker::let_go(const std::shared_ptr<WorkerTurn>& turn) {
  if (!usable() || !turns_.contains(turn->id_)) return;
  leaving_.insert(turn->id_);
  if (turn->cancelled_at_ == std::chrono::steady_clock::time_point{}) cancel(*turn);
  // Counted from the cancel line: the engine may have waited this long already.
  const auto& settings = facts_->settings;
  const auto left = turn->cancelled_at_ + settings.cancel_grace - std::chrono::steady_clock::now();
  const auto delay =
      std::max(std::chrono::ceil<std::chrono::milliseconds>(left), std::chrono::milliseconds(0));
  not_ready_.erase(turn);
  if (not_ready_.empty() && process_ != nullptr) process_->resume_output();
  facts_->host.after(delay, [self = weak_from_this(), gone = std::weak_ptr(turn)] {
    const auto worker = self.lock();
    const auto late = gone.lock();
    if (worker != nullptr && late != nullptr && worker->has(late->id_)) worker->retire();
  });
}

std::optional<std::chrono::steady_clock::time_point> Worker::make_room() {
  if (!accepting()) return std::nullopt;
  std::shared_ptr<WorkerTurn> first;
  for (const auto& [id, turn] : turns_) {
    const bool may_leave = turn->children_ > 0 && !turn->begins_again_ && !turn->output_.ended();
    if (may_leave && (first == nullptr || turn->waits_since_ < first->waits_since_)) first = turn;
  }
  if (first == nullptr) return std::nullopt;
  const auto leaves_at = first->waits_since_ + facts_->settings.wait_keep;
  if (leaves_at > std::chrono::steady_clock::now()) return leaves_at;
  base::log_info(members(), "task={} frees its place while its child tasks run", first->task_.value);
  first->output_.finish(BrokenOff{});
  let_go(first);
  return std::nullopt;
}

// Called when one of its turns did not stop.
void Worker::retire() {
  if (!usable() || retired_) return end_if_drained();
  retired_ = true;
  const std::size_t others = turns_.size() - leaving_.size();
  base::log_warn(members(),
                 "worker is replaced because one of its turns did not stop; its other turns={} may finish",
                 others);
  facts_->host.after(facts_->settings.worker_drain, [self = weak_from_this()] {
    if (const auto worker = self.lock()) worker->kill_for_one(kNotStopped);
  });
  const auto self = shared_from_this();
  end_if_drained();
  if (const auto group = group_.lock()) group->on_retired(self);
}

void Worker::end_if_drained() {
  if (retired_ && turns_.size() == leaving_.size()) kill_for_one(kNotStopped);
}

void Worker::kill(std::string why) {
  if (!usable()) return;
  dying_ = true;
  why_ = std::move(why);
  const auto level = turns_.empty() ? spdlog::level::info : spdlog::level::warn;
  base::log(level, members(), "killed: {}", why_);
  process_->kill();
}

void Worker::kill_for_one(std::string why) {
  for_one_ = for_one_ || usable();
  kill(std::move(why));
}

void Worker::on_output(std::string_view bytes) {
  const AgentSettings& settings = facts_->settings;
  unclaimed_ += bytes.size();
  if (!lines_.feed(bytes, [this](std::string_view one) { return take_line(one); })) {
    kill(line_too_long(settings));
  } else if (unclaimed_ > settings.output_max + settings.line_max) {
    kill("the agent printed too much that belongs to none of its turns");
  }
  after_output();
}

void Worker::after_output() {
  release_touched();
  if (!not_ready_.empty()) process_->pause_output();
}

void Worker::release_touched() {
  const auto touched = std::exchange(touched_, {});
  for (const auto& turn : touched) {
    if (!turn->output_.ended()) ask_ready(turn);
  }
}

void Worker::ask_ready(const std::shared_ptr<WorkerTurn>& turn) {
  bool is_ready = true;
  turn->gate().use([&](TurnSink& sink) {
    sink.release();
    ProcessHost* const host = &facts_->host;
    is_ready = sink.ready([host, self = weak_from_this(), waiting = std::weak_ptr(turn)] {
      const auto worker = self.lock();
      const auto ready = waiting.lock();
      if (worker == nullptr || ready == nullptr) return;
      host->post([worker, ready] {
        worker->not_ready_.erase(ready);
        if (worker->not_ready_.empty() && worker->process_ != nullptr) worker->process_->resume_output();
      });
    });
  });
  if (!is_ready) not_ready_.insert(turn);
}

// Returns whether to take the next line now.
bool Worker::take_line(std::string_view text) {
  if (text.size() <= kDecodedHere) return take(text, line::decode_any(text));
  decode_apart(facts_->host, process_, std::string(text),
               [weak = weak_from_this()](std::string_view long_one, line::Decoded decoded) {
                 const auto worker = weak.lock();
                 if (worker == nullptr || !worker->why_.empty()) return;  // it was killed meanwhile
                 if (worker->take(long_one, std::move(decoded))) return worker->on_output({});
                 worker->after_output();
               });
  return false;
}

// Returns whether to take the next line.
bool Worker::take(std::string_view text, line::Decoded any) {
  if (!any.line) return refuse_line(text, any);
  line::AgentLine* const decoded = &*any.line;
  const auto found = turns_.find(decoded->turn);
  if (found == turns_.end()) return stray_line(decoded->turn);
  const std::shared_ptr<WorkerTurn> turn = found->second;
  if (!count(*turn, text)) return false;
  const bool ends = std::holds_alternative<line::Finish>(decoded->message) ||
                    std::holds_alternative<line::Fail>(decoded->message) ||
                    std::holds_alternative<line::Reject>(decoded->message) ||
                    std::holds_alternative<line::Wait>(decoded->message) ||
                    std::holds_alternative<line::Ask>(decoded->message) ||
                    std::holds_alternative<line::Auth>(decoded->message);
  turn->lines_ = {};
  const bool was_over = turn->output_.ended();
  if (std::holds_alternative<line::Delegate>(decoded->message) && ++turn->children_ == 1) {
    turn->waits_since_ = std::chrono::steady_clock::now();
    pump_soon();
  }
  if (touched_.insert(turn).second) turn->gate().use([](TurnSink& sink) { sink.hold(); });
  const bool in_order = was_over || turn->output_.forward(std::move(decoded->message));
  // A call of a client's tool ends the turn for both sides, too. After a line out of order Baton has failed
  // the turn, but the worker still has to end it.
  if (!in_order) {
    let_go(turn);
  } else if (ends || (!was_over && turn->output_.ended())) {
    end_turn(turn->id_);
  }
  return usable();
}

// Counts a line against the limit of its turn. If it exceeds that, ends the worker and returns false.
bool Worker::count(WorkerTurn& turn, std::string_view text) {
  unclaimed_ = 0;
  if (turn.output_.count(text.size())) return true;
  kill_for_one("its worker process was stopped because another turn printed too much");
  return false;
}

bool Worker::refuse_line(std::string_view text, const line::Decoded& decoded) {
  const std::string& id = decoded.refused_turn;
  const base::Error& error = decoded.line.error();
  const auto found = turns_.find(id);
  if (found == turns_.end() && find_ended(id) != nullptr) return stray_line(id);
  if (found == turns_.end()) {
    kill(refusal(facts_->settings, members(), error, text));
    return false;
  }
  const std::shared_ptr<WorkerTurn> turn = found->second;
  if (!count(*turn, text)) return false;
  if (turn->output_.ended()) return usable();  // it was let go already
  base::LogMembers about = members();
  about.emplace_back("task", turn->task_.value);
  turn->output_.fail(refusal(facts_->settings, about, error, text));
  let_go(turn);
  return usable();
}

// Handles a line for a turn that this worker does not have.
bool Worker::stray_line(const std::string& turn) {
  if (EndedTurn* const ended = find_ended(turn)) {
    if (!std::exchange(ended->was_late, true))
      base::log_info(members(), "turn={} printed a line after its end", turn);
    return true;
  }
  kill(turn.empty() ? "the agent printed a line without \"turn\""
                    : "the agent named a turn that it was not given");
  return false;
}

// Null if it is not among the last that ended here.
Worker::EndedTurn* Worker::find_ended(const std::string& turn) {
  const auto found = std::ranges::find(ended_, turn, &EndedTurn::id);
  return found == ended_.end() ? nullptr : &*found;
}

void Worker::end_turn(const std::string& id) {
  const auto found = turns_.find(id);
  if (found == turns_.end()) return;
  const std::shared_ptr<WorkerTurn> turn = found->second;
  turns_.erase(found);
  leaving_.erase(id);
  if (turn->cancelled_at_ != std::chrono::steady_clock::time_point{}) --canceling_;
  touched_.erase(turn);
  not_ready_.erase(turn);
  turn->worker_.reset();
  if (alone_ == turn.get()) alone_ = nullptr;
  turn->lines_.clear();
  ended_.push_back({id});
  if (ended_.size() > kEndedKept) ended_.pop_front();
  proved_ = true;
  end_if_drained();
  pump_soon();
}

void Worker::pump_soon() {
  facts_->host.post([self = group_] {
    if (const auto group = self.lock()) group->pump();
  });
}

void Worker::on_output_end() {
  if (usable()) lines_.finish([this](std::string_view one) { return take_line(one); });
  release_touched();
  dying_ = true;
  // The process is probably ending. Its exit will show why.
  facts_->host.after(facts_->settings.exit_grace, [self = weak_from_this()] {
    const auto worker = self.lock();
    if (worker != nullptr && worker->process_ != nullptr) worker->process_->kill();
  });
}

void Worker::on_exit(const ProcessExit& exit) {
  const std::uint64_t taken = process_->bytes_taken();
  process_ = nullptr;
  const bool killed = !why_.empty() && exit.signal != 0;
  const auto why = [&](const WorkerTurn& turn) {
    return killed ? why_ : failure(*facts_, "the agent's worker process exited", exit, turn.task_);
  };
  const auto turns = std::exchange(turns_, {});
  touched_.clear();
  not_ready_.clear();
  // With verbose errors, each turn's end says so.
  if (!turns.empty())
    base::log(facts_->settings.verbose_errors ? spdlog::level::debug : spdlog::level::warn, members(),
              "lost turns={}: {}", turns.size(), killed ? why_ : exit.text());
  std::vector<std::shared_ptr<WorkerTurn>> not_taken;
  for (const auto& [id, turn] : turns) {
    turn->worker_.reset();
    if (alone_ == turn.get()) turn->errors_ = masked_errors(facts_->settings, exit.errors);
    if (turn->output_.ended() || turn->abandoned_) continue;
    const bool canceled = turn->cancelled_at_ != std::chrono::steady_clock::time_point{};
    if (!turn->lines_.empty() && taken < turn->taken_at_ && !canceled) {
      if (!blameless()) ++turn->lost_;
      not_taken.push_back(turn);
    } else {
      lose(*turn, why(*turn));
    }
  }
  const auto group = group_.lock();
  if (group == nullptr) return;
  group->on_worker_gone(*this);
  for (const auto& turn : not_taken) {
    if (!group->add_again(turn)) turn->output_.fail(why(*turn));
  }
  group->pump();
}

// Ends a turn that the process had when it ended. If the agent's work must not be done twice, the turn
// fails even if it is not to blame.
void Worker::lose(WorkerTurn& turn, std::string why) {
  if (blameless() && facts_->settings.recovery == AgentSettings::Recovery::resume) {
    turn.output_.finish(BrokenOff{});
  } else {
    turn.output_.fail(std::move(why));
  }
}

base::LogMembers Worker::members() const {
  return {{"agent", facts_->agent.value}, {"worker", slot_}};
}

}  // namespace baton::agents

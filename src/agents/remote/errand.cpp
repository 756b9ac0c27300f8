#include "agents/remote/errand.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "base/sha256.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/baton_extension.h"

namespace baton::agents {

Kept read_kept(const task::Json& state) {
  const auto document = json::Document::view_of(state.text);
  const json::Value root = document.root();
  return {{root["task"].str()},
          root["url"].str(),
          root["version"].str(),
          static_cast<int>(root["forgotten"].integer().value_or(0)),
          {root["tokens"].integer().value_or(0), root["children"].integer().value_or(0)}};
}

task::TaskId task_in(const protocol::a2a::Update& update) {
  if (const auto* task = std::get_if<task::Task>(&update)) return task->id;
  if (const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&update)) return status->task;
  if (const auto* artifact = std::get_if<protocol::a2a::ArtifactUpdate>(&update)) return artifact->task;
  return {};
}

task::ExecutorState state_of(const Kept& kept) {
  task::ExecutorState state;
  json::Writer out(state.state.text);
  out.object([&] {
    out.optional("task", kept.task.value).member("url", kept.url).member("version", kept.version);
    if (kept.times_forgotten > 0) out.member("forgotten", kept.times_forgotten);
    if (kept.counted.tokens > 0) out.member("tokens", kept.counted.tokens);
    if (kept.counted.children > 0) out.member("children", kept.counted.children);
  });
  return state;
}

std::optional<task::ExecutorState> count_usage(Kept& kept, const protocol::a2a::Update& last) {
  const auto* task = std::get_if<task::Task>(&last);
  const auto* status = std::get_if<protocol::a2a::StatusUpdate>(&last);
  if (task == nullptr && status == nullptr) return std::nullopt;
  const task::Taken said = protocol::read_usage(task != nullptr ? task->metadata : status->metadata);
  const task::Taken more{std::max<std::int64_t>(said.tokens - kept.counted.tokens, 0),
                         std::max<std::int64_t>(said.children - kept.counted.children, 0)};
  if (more.tokens == 0 && more.children == 0) return std::nullopt;
  kept.counted.tokens += more.tokens;
  kept.counted.children += more.children;
  task::ExecutorState state = state_of(kept);
  state.used = more;
  return state;
}

// A question's id is "<turn>/<task there>", or, for ours, "<turn>/<task there>?<message>". The task is
// percent-encoded; earlier versions wrote it as it is.
task::TaskId task_of_question(const std::string& ask) {
  const std::size_t slash = ask.find('/');
  if (slash == std::string::npos) return {};
  const std::size_t mark = ask.find('?', slash);
  std::string task = ask.substr(slash + 1, mark == std::string::npos ? mark : mark - slash - 1);
  auto decoded = base::percent_decoded(task);
  const bool is_encoded = decoded && base::percent_encoded(*decoded) == task;
  return {is_encoded ? std::move(*decoded) : std::move(task)};
}

Errand::Errand(const Turn& turn)
    : turn_(turn), origin_(turn.id), answers_(task_of_question(turn.resume_ask)) {
  const std::string& ask = turn.resume_ask;
  const std::size_t slash = ask.find('/');
  const std::size_t mark = slash == std::string::npos ? slash : ask.find('?', slash);
  if (mark == std::string::npos) return;
  origin_ = ask.substr(0, slash);
  resends_ = ask.substr(mark + 1);
}

bool Errand::says_resend() const {
  std::string text = task::text_of(turn_.message);
  std::erase_if(text, [](unsigned char c) { return std::isspace(c) || std::ispunct(c); });
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text == "resend" || text == "yes";
}

task::TaskId Errand::named_task() const {
  return {base::uuid_of({turn_.conversation, origin_, "task"})};
}

std::optional<protocol::a2a::SendRequest> Errand::request(const client::Remote& remote) const {
  const task::Message* said = &turn_.message;
  if (is_about_resending()) {
    const auto earlier = std::ranges::find_if(turn_.history, [&](const task::Message& message) {
      return message.role == task::Role::user && message.id.value == resends_;
    });
    if (earlier == turn_.history.end()) return std::nullopt;
    said = &*earlier;
  }
  protocol::a2a::SendRequest send;
  task::Submission& submission = send.submission;
  submission.message.id.value = base::uuid_of({turn_.conversation, origin_});
  submission.message.role = task::Role::user;
  submission.message.parts = said->parts;
  submission.message.metadata = said->metadata;
  // A task that exists there has its budget already.
  const bool tells_budget = remote.has_extension && answers_.empty();
  task::Budget left = tells_budget ? task::left_of(turn_.budget, turn_.taken) : task::Budget();
  left.agents.reset();  // these name agents of this server
  submission.metadata = protocol::with_hops(turn_.metadata, turn_.hops, left);
  submission.task = answers_;
  const bool names_tasks = remote.dialect->names_tasks();
  if (names_tasks && answers_.empty()) submission.task = named_task();
  // A task has its context already; a request that names another one would be refused.
  if (names_tasks || answers_.empty()) submission.context.value = turn_.conversation;
  return send;
}

std::string Errand::id_of_question(const task::TaskId& there) const {
  return turn_.id + "/" + base::percent_encoded(there.value);
}

std::string Errand::id_of_resending() const {
  return origin_ + "/" + base::percent_encoded(answers_.value) + "?" +
         (is_about_resending() ? resends_ : turn_.message.id.value);
}

}  // namespace baton::agents

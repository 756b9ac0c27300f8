#include "server/chat/conversation.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <unordered_map>
#include <utility>
#include <variant>

#include "protocol/chat/tools.h"

namespace baton::server::chat {
namespace {

using Waiting = std::vector<WaitingTask>;
using base::ErrorCode;
using base::fail;
using protocol::chat::Answer;
using protocol::chat::ClientResult;
using protocol::chat::Question;
using protocol::chat::RunRequest;
using protocol::chat::Transcript;
using task::Part;

constexpr int kTasksMax = 50;  // of one conversation that run or wait

base::Result<std::vector<task::TaskHead>> heads_in(const ChatCall& call, const task::ContextId& context,
                                                   std::array<task::State, 2> states) {
  std::vector<task::TaskHead> heads;
  for (const task::State state : states) {
    task::ListFilter filter;
    filter.caller = call.caller;
    filter.agent = call.agent.name;
    filter.context = context;
    filter.state = state;
    filter.limit = kTasksMax;
    auto page = call.reader().list(filter);
    if (!page) return fail(page.error());
    for (task::TaskHead& head : page->heads) heads.push_back(std::move(head));
  }
  std::ranges::stable_sort(heads, std::ranges::greater(), &task::TaskHead::status_at);
  return heads;
}

// A JSON string becomes text.
Part part_of(const task::Json& content) {
  const auto document = json::Document::view_of(content.text);
  if (document.root().is_string()) return Part::of_text(document.root().str());
  return Part::of_data(content);
}

// Says that a question gets no answer.
Part no_answer() {
  return Part::of_data({R"({"cancelled":true})"});
}

// A payload for a question with a schema is data, whatever it is.
Part part_of(const Answer& answer, const protocol::chat::Question& question) {
  if (answer.cancelled) return no_answer();
  if (!question.schema.empty())
    return Part::of_data(answer.payload.empty() ? task::Json{"null"} : answer.payload);
  return part_of(answer.payload.empty() ? task::Json{"{}"} : answer.payload);
}

// Takes the question's words off the agent's newest line, where that has no id to know the client's copy by.
void remove_words(const Question& question, std::vector<task::Message>& history) {
  const auto newest = std::find_if(history.rbegin(), history.rend(), [](const task::Message& message) {
    return message.role == task::Role::agent;
  });
  if (newest == history.rend() || !newest->id.empty() || newest->parts.empty()) return;
  const std::string prompt = protocol::chat::prompt_of(question);
  Part& last = newest->parts.back();
  if (last.kind != Part::Kind::text || !last.content.ends_with(prompt)) return;
  last.content.resize(last.content.size() - prompt.size());
  while (last.content.ends_with('\n')) last.content.pop_back();
  if (last.content.empty()) newest->parts.pop_back();
  if (newest->parts.empty()) history.erase(std::prev(newest.base()));
}

// Puts the question in the client's history: in place of the client's copy, or last.
void put_question(const WaitingTask& waiting, RunRequest& request) {
  if (!request.history || waiting.question.for_tool || waiting.message.parts.empty()) return;
  const auto copy = std::ranges::find(*request.history, waiting.message.id, &task::Message::id);
  if (copy == request.history->end()) {
    remove_words(waiting.question, *request.history);
    request.history->push_back(waiting.message);
  } else {
    *copy = waiting.message;
  }
}

task::Submission to(const WaitingTask& waiting, std::vector<Part> parts, RunRequest& request) {
  put_question(waiting, request);
  task::Submission submission;
  submission.task = waiting.head.id;
  submission.ask = waiting.head.ask;
  submission.message.parts = std::move(parts);
  return submission;
}

const WaitingTask* waiting_for(const Waiting& waiting, const std::string& id) {
  const auto found = std::ranges::find_if(
      waiting, [&](const WaitingTask& one) { return !id.empty() && one.head.ask == id; });
  return found == waiting.end() ? nullptr : &*found;
}

// Submissions for answers. A task takes one: a caller could send any number, and each would be checked
// against the question's schema.
base::Result<std::vector<task::Submission>> answers_to(const Waiting& waiting, RunRequest& request) {
  const std::vector<Answer>& answers = request.answers;
  std::vector<task::Submission> all;
  std::unordered_set<const WaitingTask*> tasks;
  if (request.history && !request.message.parts.empty()) {
    request.history->push_back(std::move(request.message));
  }
  for (const Answer& answer : answers) {
    const WaitingTask* asked = waiting_for(waiting, answer.ask);
    if (asked == nullptr || asked->question.for_tool) {
      return fail(ErrorCode::conflict, "no open interrupt has id " + answer.ask);
    }
    if (!tasks.insert(asked).second)
      return fail(ErrorCode::conflict, "the interrupt " + answer.ask + " has more than one answer");
    all.push_back(to(*asked, {part_of(answer, asked->question)}, request));
  }
  for (const WaitingTask& one : waiting) {
    const bool answered = std::ranges::find(answers, one.head.ask, &Answer::ask) != answers.end();
    if (!answered && !one.question.for_tool) {
      return fail(ErrorCode::conflict, "the interrupt " + one.head.ask + " is also open and needs an answer");
    }
  }
  return all;
}

// A failed call that presented a question leaves the question without an answer.
Part part_of(const ClientResult& result, const Question& question) {
  if (question.for_tool) return part_of(result);
  return result.error.empty() ? part_of(result.content) : no_answer();
}

// Submissions for tool results; the result of a tool call that presented a question answers that question. A
// task takes one, as above.
base::Result<std::vector<task::Submission>> results_for(const Waiting& waiting, RunRequest& request) {
  std::vector<task::Submission> all;
  std::unordered_set<const WaitingTask*> answered;
  for (const ClientResult& result : request.results) {
    const WaitingTask* one = waiting_for(waiting, result.call);
    if (one == nullptr) continue;
    if (!answered.insert(one).second)
      return fail(ErrorCode::conflict, "the tool call " + result.call + " has more than one result");
    all.push_back(to(*one, {part_of(result, one->question)}, request));
  }
  if (all.empty() && request.message.parts.empty()) {
    return fail(ErrorCode::conflict, "no open tool call has id " + request.results.front().call);
  }
  if (!all.empty()) {
    auto& parts = all.back().message.parts;
    std::ranges::move(request.message.parts, std::back_inserter(parts));
  }
  return all;
}

constexpr int kReplayedTasksMax = 50;
constexpr std::int64_t kEventsMax = 20'000;  // of a task, the newest
constexpr std::size_t kBytesMax = 4 << 20;
constexpr int kReplayPage = 128;

// Calls `look` with the newest events of a task, up to kEventsMax.
template <class F>
base::Result<void> each_event(const engine::TaskReader& reader, const task::TaskHead& head, F&& look) {
  task::EventNumber position{std::max<std::int64_t>(head.last_event.value - kEventsMax, 0)};
  while (position < head.last_event) {
    const auto events = reader.events(head.key, position, kReplayPage);
    if (!events) return fail(events.error());
    if (events->empty()) break;
    for (const task::Event& event : *events) look(event);
    position = events->back().number;
  }
  return {};
}

base::Result<std::vector<Transcript::Entry>> read_task(const engine::TaskReader& reader,
                                                       const task::TaskHead& head, Transcript::Tools tools) {
  Transcript transcript(head.id, tools);
  const auto read = each_event(reader, head, [&](const task::Event& event) { transcript.add(event); });
  if (!read) return fail(read.error());
  return transcript.take();
}

// Drops the lines from the earlier copy of a repeated message of the caller. A place counts only while
// that message is still at it in `lines`.
void keep_newest_branch(std::vector<SaidPage::Line>& lines) {
  std::unordered_map<std::string, std::size_t> places;  // of the caller's messages
  std::size_t kept = 0;
  for (SaidPage::Line& line : lines) {
    if (const std::string& id = line.message.id.value; line.message.role == task::Role::user) {
      const auto [place, is_first] = places.try_emplace(id, kept);
      const std::size_t before = place->second;
      if (!is_first && before < kept && lines[before].message.id.value == id) kept = before;
      place->second = kept;
    }
    if (&lines[kept] != &line) lines[kept] = std::move(line);
    ++kept;
  }
  lines.resize(kept);
}

// The newest messages within kBytesMax, at least one.
std::vector<task::Message> newest_of(std::vector<SaidPage::Line> lines) {
  std::size_t weight = 0;
  auto first = lines.end();
  while (first != lines.begin()) {
    weight += task::weight_of(std::prev(first)->message);
    if (weight > kBytesMax && first != lines.end()) break;
    --first;
  }
  std::vector<task::Message> messages;
  for (auto line = first; line != lines.end(); ++line) messages.push_back(std::move(line->message));
  return messages;
}

}  // namespace

base::Result<Waiting> waiting_tasks(const ChatCall& call, const task::ContextId& context) {
  const auto heads = heads_in(call, context, {task::State::input_required, task::State::auth_required});
  if (!heads) return fail(heads.error());
  Waiting waiting;
  for (const task::TaskHead& head : *heads) {
    auto task = call.reader().read(head.key, {0, false});
    if (!task) return fail(task.error());
    task::StatusChanged status{std::move(task->status), {}, head.ask};
    protocol::chat::Question question = protocol::chat::question_in(status);
    waiting.push_back(
        {head, std::move(question), task::own_message(status.status).value_or(task::Message{})});
  }
  return waiting;
}

bool answers_what_is_open(const RunRequest& request, const Waiting& waiting) {
  return std::ranges::any_of(request.answers, [&](const Answer& answer) {
    const WaitingTask* one = waiting_for(waiting, answer.ask);
    return one != nullptr && !one->question.for_tool;
  });
}

base::Result<std::vector<task::TaskHead>> running_tasks(const ChatCall& call,
                                                        const task::ContextId& context) {
  return heads_in(call, context, {task::State::submitted, task::State::working});
}

base::Result<std::vector<task::Submission>> submissions_for(RunRequest& request, const Waiting& waiting,
                                                            bool answers_in_words) {
  if (!request.answers.empty()) return answers_to(waiting, request);
  if (!request.results.empty()) {
    auto results = results_for(waiting, request);
    if (!results || !results->empty()) return results;
  }
  if (request.message.parts.empty()) return std::vector<task::Submission>{};
  const auto asked =
      std::ranges::find_if(waiting, [](const WaitingTask& one) { return !one.question.for_tool; });
  if (asked == waiting.end()) {
    task::Submission fresh;
    fresh.message = std::move(request.message);
    return std::vector{std::move(fresh)};
  }
  if (!answers_in_words) {
    return fail(ErrorCode::conflict,
                "the interrupt " + asked->head.ask + " is open: answer it with `resume` in the next run");
  }
  task::Submission answer = to(*asked, {}, request);
  answer.message = std::move(request.message);
  return std::vector{std::move(answer)};
}

base::Result<KnownIds> ids_in(const engine::TaskReader& reader, const task::ContextRef& context) {
  const auto said = said_in(reader, context);
  if (!said) return fail(said.error());
  KnownIds known;
  std::size_t bytes = 0;
  for (const task::TaskHead& head : said->tasks) {
    if (bytes > kBytesMax) break;
    bytes += head.bytes;
    const auto read = each_event(reader, head, [&](const task::Event& event) {
      if (const auto* added = std::get_if<task::MessageAdded>(&event.body))
        known.messages.insert(added->message.id.value);
      const task::StatusChanged* status = task::status_in(event);
      if (status != nullptr && !status->ask.empty() && !protocol::chat::question_in(*status).for_tool)
        known.asks.emplace(status->ask, head.key);
    });
    if (!read) return fail(read.error());
  }
  return known;
}

base::Result<Said> said_in(const engine::TaskReader& reader, const task::ContextRef& context,
                           std::optional<task::ListPosition> after) {
  task::ListFilter newest;
  newest.caller = context.caller;
  newest.agent = context.agent;
  newest.context = context.id;
  newest.after = std::move(after);
  newest.limit = kReplayedTasksMax;
  auto page = reader.list(newest);
  if (!page) return fail(page.error());
  Said said;
  if (std::ssize(page->heads) == newest.limit)
    said.next = task::ListPosition{page->heads.back().status_at, page->heads.back().id};
  std::size_t all = 0, largest = 0;
  for (task::TaskHead& head : page->heads) {
    if (head.parent) continue;  // not in the conversation: the agent delegated it to itself
    all += head.bytes;
    largest = std::max(largest, head.bytes);
    said.tasks.push_back(std::move(head));
  }
  said.bytes = std::min(all, kBytesMax + largest);
  return said;
}

base::Result<SaidPage> page_of(const engine::TaskReader& reader, const Said& read_from, std::size_t wanted,
                               Transcript::Tools tools) {
  SaidPage page;
  page.next = read_from.next;
  std::size_t weight = 0;
  const task::TaskHead* last = nullptr;
  for (const task::TaskHead& head : read_from.tasks) {
    if (weight > kBytesMax || page.lines.size() >= wanted) {
      page.next = task::ListPosition{last->status_at, last->id};
      break;
    }
    auto read = read_task(reader, head, tools);
    if (!read) return fail(read.error());
    for (Transcript::Entry& entry : *read) {
      weight += task::weight_of(entry.message);
      page.lines.push_back({entry.at, head.key, head.id, std::move(entry.message)});
    }
    last = &head;
  }
  // Runs of several tasks may overlap, and a task may continue long after it began.
  std::ranges::stable_sort(page.lines, {},
                           [](const SaidPage::Line& line) { return std::pair(line.at, line.key); });
  keep_newest_branch(page.lines);
  return page;
}

base::Result<std::vector<task::Message>> messages_of(const engine::TaskReader& reader,
                                                     const Said& read_from) {
  auto page = page_of(reader, read_from, std::numeric_limits<std::size_t>::max(), Transcript::Tools::shown);
  if (!page) return fail(std::move(page.error()));
  return newest_of(std::move(page->lines));
}

base::Result<std::vector<task::Message>> messages_in(const engine::TaskReader& reader,
                                                     const task::ContextRef& context) {
  const auto said = said_in(reader, context);
  if (!said) return fail(said.error());
  return messages_of(reader, *said);
}

}  // namespace baton::server::chat

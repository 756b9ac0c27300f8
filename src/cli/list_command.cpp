// `list`: the caller's tasks, of all agents or of one, page by page.
#include <algorithm>
#include <array>
#include <chrono>
#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "cli/commands.h"
#include "cli/console.h"
#include "cli/exit_code.h"
#include "cli/printable.h"
#include "client/remote.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"
#include "task/short_id.h"

namespace baton::cli {
namespace {

using client::AgentRemote;
using protocol::a2a::ListQuery;

constexpr std::chrono::seconds kPageTimeout{30};
constexpr int kPageMax = 100;
// Rows of a table that share their column widths.
constexpr std::size_t kRowsMax = 100;
// At most so many pages are searched for a short id.
constexpr int kSearchedMax = 10;

base::Result<ListQuery> query_of(const ListOptions& options) {
  using base::ErrorCode;
  ListQuery query;
  query.context.value = options.context;
  query.history_length = options.history.value_or(0);
  if (!options.state.empty()) {
    query.state = task::state_named(options.state);
    if (!query.state) query.state = protocol::v1::state_named(options.state);
    if (!query.state)
      return base::fail(ErrorCode::invalid_argument, "--state: unknown state " + options.state);
  }
  if (!options.since.empty()) {
    query.status_since = base::parse_rfc3339(options.since);
    if (!query.status_since) {
      return base::fail(ErrorCode::invalid_argument, "--since: must be a time such as 2026-01-31T10:00:00Z");
    }
  }
  return query;
}

// The length of a UUID; shorter ids may be only the beginning of one.
constexpr std::size_t kUuidLength = 36;

std::string age_of(base::Timestamp at) {
  using namespace std::chrono;
  const auto age = std::max(duration_cast<seconds>(system_clock::now() - at), seconds(0));
  if (age < minutes(1)) return std::to_string(age.count()) + "s";
  if (age < hours(1)) return std::to_string(duration_cast<minutes>(age).count()) + "m";
  if (age < days(1)) return std::to_string(duration_cast<hours>(age).count()) + "h";
  return std::to_string(duration_cast<days>(age).count()) + "d";
}

// Describes a task by its list entry: the message of its status, or else the last message of its history.
std::string words_of(const task::Task& task) {
  std::string said = task.status.message ? task::text_of(*task.status.message) : std::string();
  if (said.empty() && !task.history.empty()) said = task::text_of(task.history.back());
  std::string line;
  for (const char c : printable_line(said)) {
    const bool space = c == ' ' || c == '\t';
    if (!space || (!line.empty() && line.back() != ' ')) line += space ? ' ' : c;
  }
  return line;
}

// The tasks of one agent, the latest first.
class AgentTasks {
 public:
  struct Entry {
    task::Task task;
    std::string raw;  // its JSON
  };

  AgentTasks(AgentRemote from, ListQuery query)
      : agent_(std::move(from.agent)), endpoint_(std::move(from.remote)), query_(std::move(query)) {}

  const std::string& agent() const { return agent_; }
  int total() const { return total_; }
  bool has_more() const { return !entries_.empty() || more_; }
  // Returns null if no task of the page is left.
  const Entry* peek() const { return entries_.empty() ? nullptr : &entries_.front(); }
  void pop() { entries_.pop_front(); }

  // Reads the next page if no task of the last one is left. Returns the error; empty if there is none.
  std::string fill(int page_size) {
    while (entries_.empty() && more_) {
      query_.page_size = page_size;
      const auto request = endpoint_.dialect().write_list(query_);
      if (!request) return request.error().for_caller;
      const auto result = endpoint_.call(*request, kPageTimeout);
      if (!result) return describe(result.error(), endpoint_.remote().url);
      const auto document = json::Document::parse_view(result->text);
      auto page = document ? endpoint_.dialect().read_list(document->root()) : base::fail(document.error());
      if (!page) return "the server's answer is invalid: " + page.error().for_caller;
      auto raw = document->root()["tasks"].begin();
      for (task::Task& task : page->tasks) {
        entries_.push_back({std::move(task), std::string((*raw).raw())});
        ++raw;
      }
      total_ = std::max(total_, static_cast<int>(page->total));
      more_ = !page->next_page_token.empty();
      // A token that does not change, or an empty page with a next one, could loop forever.
      if (more_ && (page->next_page_token == query_.page_token || entries_.empty()))
        return "the server's list does not end";
      query_.page_token = page->next_page_token;
    }
    return {};
  }

 private:
  const std::string agent_;
  const client::RemoteEndpoint endpoint_;
  ListQuery query_;
  std::deque<Entry> entries_;
  bool more_ = true;
  int total_ = 0;
};

// A table whose columns are as wide as their content. The last column gets the rest of the terminal's line.
class Table {
 public:
  Table(Console& console, bool agents) : console_(console), agents_(agents) {}

  void add(const std::string& agent, const task::Task& task) {
    rows_.push_back({printable_line(task::short_id(task.id.value)), printable_line(agent),
                     std::string(task::name_of(task.status.state)), age_of(task.status.at), words_of(task)});
    if (rows_.size() == kRowsMax) flush();
  }

  void flush() {
    if (rows_.empty()) return;
    if (!std::exchange(has_head_, true))
      rows_.insert(rows_.begin(), {"TASK", "AGENT", "STATE", "AGE", "WORDS"});
    std::array<std::size_t, kColumns> widths{};
    for (const Row& row : rows_) {
      for (std::size_t i = 0; i < kColumns; ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    }
    std::string text;
    for (const Row& row : rows_) text += line_of(row, widths);
    console_.text(text);
    rows_.clear();
  }

 private:
  static constexpr std::size_t kColumns = 5, kAgent = 1, kWords = 4, kGap = 2, kIdMax = 36;
  using Row = std::array<std::string, kColumns>;

  std::string line_of(const Row& row, const std::array<std::size_t, kColumns>& widths) const {
    std::string line;
    std::size_t width = 0;
    for (std::size_t i = 0; i < kWords; ++i) {
      if (i == kAgent && !agents_) continue;
      // Ids are never cut, because a cut id could not be used. A very long one makes its line longer.
      const std::size_t column = std::min(widths[i], i == 0 ? kIdMax : widths[i]);
      const std::size_t taken = width_of(row[i]);
      line += row[i] + std::string(column - std::min(column, taken) + kGap, ' ');
      width += std::max(column, taken) + kGap;
    }
    const std::size_t room = console_.columns() - std::min(console_.columns(), width);
    line += shortened(row[kWords], room);
    while (line.ends_with(' ')) line.pop_back();
    return line + "\n";
  }

  Console& console_;
  const bool agents_;
  bool has_head_ = false;
  std::vector<Row> rows_;
};

class Listing {
 public:
  Listing(const ListOptions& options, std::vector<AgentRemote> agents, const ListQuery& query,
          Console& console)
      : options_(options),
        several_(agents.size() > 1),
        console_(console),
        table_(console, several_ || options.client.agent.empty()) {
    for (AgentRemote& agent : agents) sources_.emplace_back(std::move(agent), query);
  }

  int run() {
    while (options_.all || shown_ < options_.limit) {
      AgentTasks* latest = nullptr;
      for (AgentTasks& source : sources_) {
        const int wanted = options_.all ? kPageMax : std::min(options_.limit - shown_, kPageMax);
        const std::string trouble = source.fill(wanted);
        if (!trouble.empty()) return failed(trouble);
        if (source.peek() && (!latest || source.peek()->task.status.at > latest->peek()->task.status.at))
          latest = &source;
      }
      if (!latest) break;
      show(*latest);
      latest->pop();
    }
    table_.flush();
    if (console_.for_people() && shown_ == 0) console_.print_note("no tasks");
    const bool more = std::ranges::any_of(sources_, &AgentTasks::has_more);
    if (more) say_more();
    return kExitDone;
  }

 private:
  void show(const AgentTasks& source) {
    ++shown_;
    const AgentTasks::Entry& entry = *source.peek();
    if (console_.for_people()) return table_.add(source.agent(), entry.task);
    if (!several_) return console_.json(entry.raw);
    // Adds the name of the task's agent, which the task's own JSON does not have.
    std::string text;
    json::Writer out(text);
    out.object([&] {
      out.member("agent", source.agent());
      const auto document = json::Document::view_of(entry.raw);
      for (const json::Value member : document.root()) out.key(member.key()).raw(member.raw());
    });
    console_.json(text);
  }

  void say_more() {
    int total = 0;
    for (const AgentTasks& source : sources_) total += source.total();
    const std::string of = total > shown_ ? " of " + std::to_string(total) : std::string();
    console_.print_note(std::to_string(shown_) + of + " tasks; --all shows all of them");
  }

  int failed(const std::string& text) {
    table_.flush();
    console_.error(text);
    return kExitNoAnswer;
  }

  const ListOptions& options_;
  const bool several_;
  Console& console_;
  Table table_;
  std::deque<AgentTasks> sources_;
  int shown_ = 0;
};

// Searches the task lists, for servers without a lookup of ids, such as an older Baton.
std::vector<client::NamedTask> find_by_short_form(const ClientOptions& client, const std::string& task) {
  std::vector<client::NamedTask> meant;
  if (!task::is_short_id(task)) return meant;
  auto agents = client::find_lists(client);
  if (!agents) return meant;
  for (AgentRemote& agent : *agents) {
    AgentTasks tasks(std::move(agent), {});
    for (int looked_at = 0; looked_at < kSearchedMax * kPageMax && tasks.fill(kPageMax).empty();
         ++looked_at) {
      const AgentTasks::Entry* entry = tasks.peek();
      if (!entry) break;
      if (task::is_named_by(entry->task.id.value, task))
        meant.push_back({tasks.agent(), entry->task.id.value});
      tasks.pop();
    }
  }
  return meant;
}

}  // namespace

int list_command(const ListOptions& options) {
  Console console(options.client.json);
  auto query = query_of(options);
  if (!query) {
    console.error(query.error().for_caller);
    return kExitUsage;
  }
  // The table shows a few words of each task, which may come from its last message.
  if (console.for_people() && !options.history) query->history_length = 1;
  const std::string url = client::endpoint_url(options.client.card_url(), options.client.agent);
  std::optional<SlowNotice> notice("waiting for " + url);
  auto agents = client::find_lists(options.client);
  notice.reset();
  if (!agents) {
    console.error(describe(agents.error(), url));
    return kExitNoAnswer;
  }
  for (const AgentRemote& agent : *agents) {
    const std::string note = token_note(agent.remote);
    if (!note.empty()) console.error(note);
  }
  return Listing(options, std::move(*agents), *query, console).run();
}

bool complete_task_id(ClientOptions& client, std::string& task) {
  const bool is_complete = !client.agent.empty() && task.size() >= kUuidLength;
  if (task.empty() || is_complete || !client.endpoint.empty()) return true;
  std::optional<SlowNotice> notice("waiting for " + client.url);
  auto found = client::find_tasks(client, task);
  notice.reset();
  auto meant = found ? std::move(*found) : find_by_short_form(client, task);
  if (!client.agent.empty()) std::erase_if(meant, [&](const auto& one) { return one.agent != client.agent; });
  // The id is complete, and the default agent has a task with it.
  const bool is_at_default =
      std::ranges::any_of(meant, [&](const auto& one) { return one.id == task && one.at_default; });
  if (meant.empty() || is_at_default) return true;
  if (meant.size() > 1) {
    std::vector<std::string> all;
    for (const client::NamedTask& one : meant) all.push_back(one.id + " of " + one.agent);
    Console(client.json)
        .error(printable_line(task + " matches several of your tasks: " + base::comma_separated(all) +
                              "; give more of the id, or --agent"));
    return false;
  }
  task = meant.front().id;
  if (client.agent.empty() && !meant.front().at_default) client.agent = meant.front().agent;
  return true;
}

}  // namespace baton::cli

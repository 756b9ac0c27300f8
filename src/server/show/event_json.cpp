#include "server/show/event_json.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/text.h"
#include "json/writer.h"
#include "protocol/a2a/v1_objects.h"

namespace baton::server {
namespace {

using json::Writer;

// Writes the members of one event, with as much of its content as there is room for.
class EventWriter {
 public:
  EventWriter(Writer& out, LogReaders readers) : out_(out), readers_(readers) {}

  std::size_t cut() const { return cut_; }

  void operator()(const task::StatusChanged& event) {
    const task::Status& status = event.status;
    out_.member("type", "status").member("state", task::name_of(status.state));
    if (status.message) message("message", *status.message);
    json("metadata", event.metadata);
    out_.optional("ask", event.ask);
    if (!status.asked_by.empty()) {
      out_.key("askedBy").each(status.asked_by, [&](const task::Asker& asker) {
        out_.object([&] {
          out_.member("agent", asker.agent.value).member("task", asker.task.value).member("ask", asker.ask);
        });
      });
    }
    counted("tokens", status.taken.tokens);
    counted("children", status.taken.children);
  }
  void operator()(const task::MessageAdded& event) {
    out_.member("type", "message");
    message("message", event.message);
    flag("forChild", event.for_child);
  }
  void operator()(const task::TextDelta& event) {
    out_.member("type", "text").member("reply", event.reply.value).member("text", shown(event.text));
    flag("first", event.first);
    flag("last", event.last);
  }
  void operator()(const task::ReasoningDelta& event) {
    out_.member("type", "reasoning").member("span", event.span.value).member("text", shown(event.text));
    flag("first", event.first);
    flag("last", event.last);
  }
  void operator()(const task::ArtifactChunk& event) {
    task::Artifact artifact = event.artifact;
    cut_parts(artifact.parts);
    artifact.metadata = fitting(std::move(artifact.metadata));
    out_.member("type", "artifact").key("artifact");
    protocol::v1::write_artifact(out_, artifact);
    flag("append", event.append);
    flag("lastChunk", event.last_chunk);
  }
  void operator()(const task::ToolCall& event) {
    out_.member("type", "tool-call").member("id", event.id).member("name", event.name);
    json("arguments", event.arguments);
    flag("byClient", event.by_client);
  }
  void operator()(const task::ToolResult& event) {
    out_.member("type", "tool-result").member("id", event.id);
    json("content", event.content);
    out_.optional("error", shown(event.error));
  }
  void operator()(const task::StateSnapshot& event) {
    out_.member("type", "state");
    json("snapshot", event.snapshot);
  }
  void operator()(const task::StateDelta& event) {
    out_.member("type", "state-delta");
    json("patch", event.patch);
  }
  void operator()(const task::Step& event) {
    out_.member("type", "step").member("name", event.name);
    out_.member("phase", event.phase == task::Step::Phase::start ? "start" : "finish");
  }
  void operator()(const task::Withdrawn& event) {
    out_.member("type", "withdrawn").key("artifacts").each(event.artifacts, [&](const task::ArtifactId& id) {
      out_.string(id.value);
    });
  }
  void operator()(const task::Custom& event) {
    out_.member("type", "custom").member("name", event.name);
    json("value", event.value);
  }
  void operator()(const task::Activity& event) {
    out_.member("type", "activity").member("id", event.id).member("activityType", event.type);
    json("content", event.content);
    json("patch", event.patch);
  }
  void operator()(const task::Subagent& event) {
    constexpr const char* kPhases[] = {"started", "finished", "failed", "asks", "answered", "passed"};
    out_.member("type", "child").member("id", event.id).member("name", event.name);
    out_.member("phase", kPhases[static_cast<std::size_t>(event.phase)]);
    out_.optional("error", shown(event.error));
    if (event.task && readers_ == LogReaders::operators)
      out_.member("task", std::to_string(event.task.value));
    flag("detached", event.is_detached);
    counted("tokens", event.tokens);
    counted("children", event.children);
  }
  void operator()(const task::Usage& event) {
    out_.member("type", "usage");
    json("used", event.used);
  }
  // The text of standard error is not shown here: only operators may read it, and viewers read the log, too.
  void operator()(const task::ExecutorState& event) {
    if (!event.errors.empty()) {
      out_.member("type", "stderr").member("bytes", static_cast<std::int64_t>(event.errors.size()));
      return;
    }
    out_.member("type", "executor-state");
    json("state", event.state);
    out_.optional("taken", event.taken);
  }
  void operator()(const task::Intervention& event) {
    out_.member("type", "intervention").member("actor", event.actor).member("action", event.action);
    out_.member("reason", event.reason).optional("detail", event.detail);
  }

 private:
  // Returns as much of the text as there is room for, and counts the rest as cut.
  std::string_view shown(std::string_view text) {
    const std::string_view fits = base::beginning_of(text, room_);
    room_ -= fits.size();
    cut_ += text.size() - fits.size();
    return fits;
  }
  // Returns the value, or a JSON string with its beginning if there is no room for all of it.
  task::Json fitting(task::Json json) {
    if (json.text.size() <= room_) {
      room_ -= json.text.size();
      return json;
    }
    std::string text;
    Writer(text).string(shown(json.text));
    return {std::move(text)};
  }
  void json(std::string_view name, const task::Json& value) {
    if (!value.empty()) out_.member(name, fitting(value));
  }
  void cut_parts(std::vector<task::Part>& parts) {
    using Kind = task::Part::Kind;
    for (task::Part& part : parts) {
      part.metadata = part.metadata.empty() ? part.metadata : fitting(std::move(part.metadata));
      if (part.content.size() <= room_) {
        room_ -= part.content.size();
      } else if (part.kind == Kind::text || part.kind == Kind::url) {
        part.content = std::string(shown(part.content));
      } else if (part.kind == Kind::data) {
        part.content = fitting({std::move(part.content)}).text;
      } else {  // a part of a file's base64 would be a broken file
        cut_ += std::exchange(part.content, {}).size();
      }
    }
  }
  void message(std::string_view name, task::Message message) {
    cut_parts(message.parts);
    if (!message.metadata.empty()) message.metadata = fitting(std::move(message.metadata));
    out_.key(name);
    protocol::v1::write_message(out_, message);
  }
  void flag(std::string_view name, bool truth) {
    if (truth) out_.member(name, true);
  }
  void counted(std::string_view name, std::int64_t number) {
    if (number > 0) out_.member(name, number);
  }

  Writer& out_;
  const LogReaders readers_;
  std::size_t room_ = kEventContentMax;
  std::size_t cut_ = 0;
};

bool is_for(LogReaders readers, const task::EventBody& body) {
  if (readers == LogReaders::operators) return true;
  return !std::holds_alternative<task::Intervention>(body) &&
         !std::holds_alternative<task::ExecutorState>(body);
}

}  // namespace

bool append_event(std::string& out, const task::Event& event, LogReaders readers) {
  if (!is_for(readers, event.body)) return false;
  Writer writer(out);
  writer.object([&] {
    writer.member("number", event.number.value).member("at", base::to_rfc3339(event.at));
    EventWriter members(writer, readers);
    std::visit(members, event.body);
    if (members.cut() > 0) writer.member("cutBytes", static_cast<std::int64_t>(members.cut()));
  });
  return true;
}

// Reads page by page, because the store's pages may be shorter than requested.
base::Result<LogPiece> read_log(const Services& services, task::TaskKey task, const LogWindow& window,
                                LogReaders readers) {
  LogPiece piece{"[", {}, window.after};
  for (int left = window.limit; left > 0 && piece.events.size() < window.bytes_max;) {
    const auto page = services.engine.reader().events(task, piece.through, left);
    if (!page) return base::fail(page.error());
    if (page->empty()) break;
    if (piece.first.value == 0) piece.first = page->front().number;
    for (const task::Event& event : *page) {
      const std::size_t before = piece.events.size();
      if (before > 1) piece.events += ',';
      if (!append_event(piece.events, event, readers)) piece.events.resize(before);
    }
    piece.through = page->back().number;
    left -= static_cast<int>(page->size());
  }
  piece.events += ']';
  return piece;
}

}  // namespace baton::server

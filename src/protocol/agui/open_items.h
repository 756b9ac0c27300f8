// The items of a run that clients have seen begin but not end: texts, reasoning, steps, subagents.
//
// Threads: one at a time.
#pragma once

#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "protocol/agui/out.h"
#include "protocol/chat/source_list.h"
#include "task/event.h"

namespace baton::protocol::agui {

// OpenTexts: a run's text messages. Several may be open at once.
class OpenTexts {
 public:
  explicit OpenTexts(Names& names) : names_(names) {}

  // A piece of the text that the log knows as `key`, shown under the id `wanted` or a variant of it. `first`:
  // the piece begins a new message and closes an open one with this key. `last`: the message is complete.
  struct Piece {
    std::string key, wanted, text;
    bool first = false, last = false;
  };

  void show(const Piece& piece, Out& out) {
    if (piece.first) close(piece.key, out);
    const std::string* id = open_.find(piece.key);
    if (id == nullptr) {
      // The end of a closed message, or of one that is withdrawn. A message begins with its first words:
      // snapshots have no empty ones.
      if (piece.text.empty()) return;
      id = &open_.add(piece.key, start(piece.wanted, out));
      shown_.insert(piece.key);
    }
    content(*id, piece.text, out);
    if (piece.last) close(piece.key, out);
  }

  // Whether clients have a text with this key.
  bool has_shown(const std::string& key) const { return shown_.contains(key); }
  // Ends the text with this key, which is to be taken back.
  void take_back(const std::string& key, Out& out) {
    close(key, out);
    shown_.erase(key);
  }

  // Shows a complete message.
  void show_whole(const std::string& wanted, const std::string& text, Out& out,
                  std::string_view role = "assistant") {
    const std::string id = start(wanted, out, role);
    content(id, text, out);
    end(id, out);
  }

  void close_all(Out& out) {
    for (const auto& open : open_) end(open.value, out);
    open_.clear();
  }

  // The id of the conversation's last message as clients see it, or empty. Only that message may be the
  // parent of a tool call: for any other parent, clients of 0.0.42 create a second message with the same id.
  const std::string& last_message() const { return last_message_; }
  // Records that another item became the conversation's last message.
  void another_followed() { last_message_.clear(); }

 private:
  static void end(const std::string& id, Out& out) { out.event("TEXT_MESSAGE_END", "messageId", id); }

  // Never writes an empty delta: 0.0.42 fails the run for one.
  static void content(const std::string& id, const std::string& text, Out& out) {
    if (text.empty()) return;
    out.event("TEXT_MESSAGE_CONTENT",
              [&](json::Writer& w) { w.member("messageId", id).member("delta", text); });
  }

  std::string start(const std::string& wanted, Out& out, std::string_view role = "assistant") {
    std::string id = names_.fresh(wanted);
    out.event("TEXT_MESSAGE_START", [&](json::Writer& w) { w.member("messageId", id).member("role", role); });
    last_message_ = id;
    return id;
  }

  void close(const std::string& key, Out& out) {
    const std::string* id = open_.find(key);
    if (id == nullptr) return;
    end(*id, out);
    open_.remove(key);
  }

  Names& names_;
  chat::SourceList<std::string> open_;     // ids, by the keys
  std::unordered_set<std::string> shown_;  // the keys
  std::string last_message_;
};

inline constexpr auto kNothing = [](json::Writer&) {};

// OpenReasoning: shows an agent's reasoning, one span with one message at a time.
//
// Most clients in use show REASONING_* and ignore the older THINKING_* (the survey is in
// src/decisions/0034-chat-streams.md). THINKING_* have no ids and so cannot overlap.
class OpenReasoning {
 public:
  OpenReasoning(Names& names, bool has_ids) : names_(names), has_ids_(has_ids) {}

  void show(const task::ReasoningDelta& piece, Out& out) {
    const bool goes_on = !piece.first && span_ == piece.span.value;
    if (!goes_on) {
      if (!piece.first && piece.text.empty()) return;  // the end of a closed span
      close(out);
      start(piece.span.value, out);
    }
    content(piece.text, out);
    if (piece.last) close(out);
  }

  void close(Out& out) {
    if (span_.empty()) return;
    span_.clear();
    if (has_ids_) {
      out.event("REASONING_MESSAGE_END", "messageId", id_);
      out.event("REASONING_END", "messageId", id_);
    } else {
      out.event("THINKING_TEXT_MESSAGE_END", kNothing);
      out.event("THINKING_END", kNothing);
    }
  }

 private:
  void start(const std::string& span, Out& out) {
    span_ = span;
    if (!has_ids_) {
      out.event("THINKING_START", kNothing);
      out.event("THINKING_TEXT_MESSAGE_START", kNothing);
      return;
    }
    id_ = names_.fresh(span);
    out.event("REASONING_START", "messageId", id_);
    out.event("REASONING_MESSAGE_START",
              [&](json::Writer& w) { w.member("messageId", id_).member("role", "reasoning"); });
  }

  void content(const std::string& text, Out& out) {
    if (text.empty()) return;
    if (has_ids_) {
      out.event("REASONING_MESSAGE_CONTENT",
                [&](json::Writer& w) { w.member("messageId", id_).member("delta", text); });
    } else {
      out.event("THINKING_TEXT_MESSAGE_CONTENT", "delta", text);
    }
  }

  Names& names_;
  const bool has_ids_;  // REASONING_*, else THINKING_*
  std::string span_;    // the open span's id in the log; empty: none
  std::string id_;      // the span's id for clients
};

// Steps that have begun. A name can be open only once: a step that begins again inside itself is shown as
// one.
class OpenSteps {
 public:
  void show(const task::Step& step, Out& out) {
    int* const depth = open_.find(step.name);
    if (step.phase == task::Step::Phase::start) {
      if (depth != nullptr) {
        ++*depth;
        return;
      }
      open_.add(step.name, 1);
      out.event("STEP_STARTED", "stepName", step.name);
      return;
    }
    // A step that began in an earlier run was closed with that run.
    if (depth == nullptr || --*depth > 0) return;
    open_.remove(step.name);
    finish_step(step.name, out);
  }

  void close_all(Out& out) {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) finish_step(open->source, out);
    open_.clear();
  }

 private:
  static void finish_step(const std::string& name, Out& out) { out.event("STEP_FINISHED", "stepName", name); }

  chat::SourceList<int> open_;  // depths, by the names
};

// OpenSubagents: for clients of 1.0 only. An id stands for one invocation: a subagent that works again gets a
// new id.
class OpenSubagents {
 public:
  explicit OpenSubagents(bool newer) : newer_(newer) {}

  void show(const task::Subagent& subagent, Out& out) {
    using Phase = task::Subagent::Phase;
    const bool is_shown = subagent.phase == Phase::started || subagent.phase == Phase::finished ||
                          subagent.phase == Phase::failed;
    if (!newer_ || !is_shown) return;
    const std::string* const open = open_.find(subagent.id);
    if (subagent.phase == Phase::started) {
      if (open == nullptr) open_.add(subagent.id, start(subagent, out));
      return;
    }
    // A subagent that began in an earlier run is started again in this one, so that its end can be shown.
    const std::string id = open == nullptr ? start(subagent, out) : *open;
    open_.remove(subagent.id);
    if (subagent.phase == Phase::finished) return finish_subagent(id, false, out);
    fail_subagent(id, subagent.error.empty() ? "it failed" : subagent.error, out);
  }

  // How subagents that are still open end when the run, or an attempt of it, ends.
  enum class Ending { finished, suspended, broken_off };

  void close_all(Ending ending, Out& out) {
    for (auto open = open_.rbegin(); open != open_.rend(); ++open) {
      if (ending == Ending::broken_off) {
        fail_subagent(open->value, "it was interrupted", out);
      } else {
        finish_subagent(open->value, ending == Ending::suspended, out);
      }
    }
    open_.clear();
  }

 private:
  static void fail_subagent(const std::string& id, const std::string& why, Out& out) {
    out.event("SUBAGENT_ERROR",
              [&](json::Writer& w) { w.member("subagentRunId", id).member("message", why); });
  }

  static void finish_subagent(const std::string& id, bool suspended, Out& out) {
    out.event("SUBAGENT_FINISHED", [&](json::Writer& w) {
      w.member("subagentRunId", id);
      if (suspended) w.key("outcome").object([&] { w.member("type", "suspended"); });
    });
  }

  std::string start(const task::Subagent& subagent, Out& out) {
    std::string id = names_.fresh(subagent.id);
    out.event("SUBAGENT_STARTED",
              [&](json::Writer& w) { w.member("subagentRunId", id).member("name", subagent.name); });
    return id;
  }

  const bool newer_;
  Names names_;
  chat::SourceList<std::string> open_;  // ids, by the subagents'
};

}  // namespace baton::protocol::agui

#include <array>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/one_line.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/chat/source_list.h"
#include "protocol/chat/tools.h"
#include "protocol/openai/names.h"
#include "protocol/openai/protocols.h"
#include "protocol/openai/requests.h"
#include "protocol/openai/shown.h"

namespace baton::protocol::openai {
namespace {

using json::Writer;

// The members of a response that repeat the request's, and what each is if the request has none.
constexpr std::array<std::pair<std::string_view, std::string_view>, 22> kRepeated{{
    {"background", "false"},
    {"frequency_penalty", "0"},
    {"instructions", "null"},
    {"max_output_tokens", "null"},
    {"max_tool_calls", "null"},
    {"metadata", "{}"},
    {"parallel_tool_calls", "true"},
    {"presence_penalty", "0"},
    {"previous_response_id", "null"},
    {"prompt_cache_key", "null"},
    {"reasoning", R"({"effort":null,"summary":null})"},
    {"safety_identifier", "null"},
    {"service_tier", R"("default")"},
    {"store", "true"},
    {"temperature", "1"},
    {"text", R"({"format":{"type":"text"}})"},
    {"tool_choice", R"("auto")"},
    {"tools", "[]"},
    {"top_logprobs", "0"},
    {"top_p", "1"},
    {"truncation", R"("disabled")"},
    {"user", "null"},
}};

// The value as JSON. An object gets the members of `otherwise` that it lacks: clients send "text":{}, but a
// response must have the object whole.
std::string whole_of(json::Value value, std::string_view otherwise) {
  const auto document = json::Document::view_of(otherwise);
  const json::Value all = document.root();
  bool is_whole = true;
  for (const json::Value member : all) is_whole = is_whole && !value[member.key()].absent();
  if (is_whole || !value.is_object()) return std::string(value.raw());
  std::string text;
  Writer out(text);
  out.object([&] {
    for (const json::Value member : value) {
      if (!member.is_null() || all[member.key()].missing()) out.key(member.key()).raw(member.raw());
    }
    for (const json::Value member : all) {
      if (value[member.key()].absent()) out.key(member.key()).raw(member.raw());
    }
  });
  return text;
}

enum class Kind { message, reasoning };

// View: a run as the events of a response.
//
// Each output of the agent is an item: a reply or an artifact a message, a span of reasoning or a line of its
// progress an item of reasoning, a call of the client's tool a call of a function. Items that are withdrawn
// are left out of the finished response. The first event comes with the message that begins the run, which
// has the request's members. Threads: one at a time.
class ResponseView final : public chat::RunView {
 public:
  explicit ResponseView(chat::RunFacts facts) : facts_(without_request(std::move(facts))) {}

  void show(const task::Event& event, chat::Frames& out) override {
    if (is_over_) return;
    now_ = event.number;
    at_ = base::to_ms(event.at) / 1000;
    if (created_at_ == 0) created_at_ = at_;
    std::visit([&](const auto& body) { show_one(body, out); }, event.body);
  }

  bool keeps_output() const override { return true; }

  void show_now(std::string& out) const override {
    Writer w(out);
    write(w, is_working_ ? "in_progress" : "queued");
  }

 private:
  struct Item {
    Kind kind = Kind::message;
    std::string id;
    std::int64_t place = 0;  // output_index
    // The item as it will be if it is completed, so far. It is written as its text comes: at the end of a
    // large one there is little left to do.
    std::string json;
    std::size_t head_size = 0;    // of `json` before the first part
    std::int64_t part_count = 0;  // that are complete
    bool is_part_open = false;    // the next three are of the open part
    std::size_t part_at = 0;      // in `json`
    std::size_t text_at = 0;      // in `json`, with its quote
    std::size_t length = 0;       // of the text, in characters
    std::string links;            // of the open part: a list's values, as JSON
    int link_count = 0;
  };

  void show_one(const task::MessageAdded& added, chat::Frames& out) {
    if (added.message.role == task::Role::agent) return say(added.message, out);
    if (has_begun_) return;
    keep_given(added.message.metadata);
    begin(out);
  }

  void show_one(const task::StatusChanged& changed, chat::Frames& out) {
    const task::State state = changed.status.state;
    if (state == task::State::working) {
      if (!std::exchange(is_working_, true) && has_begun_)
        respond("response.in_progress", "in_progress", out);
      if (has_begun_ && changed.status.message) think(task::text_of(*changed.status.message), out);
    }
    if (!task::is_stopped(state)) return;
    begin(out);
    end_all("incomplete", out, task::is_waiting(state) || state == task::State::completed);
    if (task::is_waiting(state)) {
      ask(chat::question_in(changed), out);
    } else if (state == task::State::completed && changed.status.message) {
      say(*changed.status.message, out);
    }
    is_over_ = true;
    if (task::is_waiting(state) || state == task::State::completed)
      return respond("response.completed", "completed", out);
    // There is no event for it.
    if (state == task::State::canceled) return respond("response.incomplete", "cancelled", out);
    error_ = chat::reason_of(changed);
    respond("response.failed", "failed", out);
  }

  void show_one(const task::TextDelta& delta, chat::Frames& out) {
    const std::string source = "r" + delta.reply.value;
    if (task::is_withdrawal(delta)) return give_up(source, out);
    Item& item = item_for(source, delta.first, Kind::message, out);
    add_text(item, delta.text, out);
    if (delta.last) end(source, "completed", out);
  }

  void show_one(const task::ReasoningDelta& delta, chat::Frames& out) {
    const std::string source = "s" + delta.span.value;
    add_text(item_for(source, delta.first, Kind::reasoning, out), delta.text, out);
    if (delta.last) end(source, "completed", out);
  }

  void show_one(const task::ArtifactChunk& chunk, chat::Frames& out) {
    const std::string& id = chunk.artifact.id.value;
    const std::string source = "a" + id;
    Growing& growing = artifacts_[id];
    if (!chunk.append) growing = {};
    Item& item = item_for(source, !chunk.append, Kind::message, out);
    for (const task::Part& part : chunk.artifact.parts) {
      const bool goes_on = growing.takes(part, chunk);
      const mcp::ResourceName name{facts_.task, mcp::ResourceName::Kind::artifact, id, growing.parts++};
      if (!goes_on) end_part(item, out);
      add_part(item, shown_part(part, facts_.files_url, name), out);
    }
    if (chunk.last_chunk) end(source, "completed", out);
  }

  void show_one(const task::ToolCall& call, chat::Frames& out) {
    if (call.by_client)
      add_call(call.id, call.name, call.arguments.empty() ? "{}" : call.arguments.text, out);
  }

  void show_one(const task::Usage& usage, chat::Frames&) { tokens_.add(usage.used); }

  void show_one(const task::Withdrawn& withdrawn, chat::Frames& out) {
    end_all("incomplete", out, false);
    for (const task::ArtifactId& id : withdrawn.artifacts) {
      forget("a" + id.value);
      forget("r" + id.value);
    }
  }

  template <class Other>
  void show_one(const Other&, chat::Frames&) {}

  void ask(const chat::Question& question, chat::Frames& out) {
    if (question.for_tool) return;
    if (!question.for_auth && can_be_asked_)
      return add_call(question.id, std::string(kAskTool), chat::arguments_of(question), out);
    Item& item = begin_item({}, Kind::message, out);
    add_text(item, chat::prompt_of(question) + (question.url.empty() ? "" : "\n" + question.url), out);
    const auto details = json::Document::view_of(question.details.text);
    for (const json::Value detail : details.root()) {
      end_part(item, out);
      add_text(item, detail.raw(), out);
    }
    end({}, "completed", out);
  }

  void say(const task::Message& message, chat::Frames& out) {
    if (message.parts.empty()) return;
    Item& item = begin_item({}, Kind::message, out);
    std::size_t number = 0;
    for (const task::Part& part : message.parts) {
      const mcp::ResourceName name{facts_.task, mcp::ResourceName::Kind::message, message.id.value, number++};
      end_part(item, out);
      add_part(item, shown_part(part, facts_.files_url, name), out);
    }
    end({}, "completed", out);
  }

  void think(const std::string& text, chat::Frames& out) {
    if (text.empty()) return;
    add_text(begin_item({}, Kind::reasoning, out), text, out);
    end({}, "completed", out);
  }

  // ---- Items.

  // The open item of the source; begins one if there is none, or if `anew`.
  Item& item_for(const std::string& source, bool anew, Kind kind, chat::Frames& out) {
    if (anew) give_up(source, out);
    if (Item* item = open_.find(source)) return *item;
    return begin_item(source, kind, out);
  }

  Item& begin_item(const std::string& source, Kind kind, chat::Frames& out) {
    begin(out);
    Item& item = open_.add(source, {});
    item.kind = kind;
    item.id = name_of(kind == Kind::message ? kMessage : kReasoning, facts_.task, std::to_string(now_.value));
    item.place = places_++;
    item.json = head_of(item, "completed");
    item.head_size = item.json.size();
    tell("response.output_item.added", out, [&](Writer& w) {
      w.member("output_index", item.place).key("item").raw(head_of(item, "in_progress") + "]}");
    });
    return item;
  }

  void add_text(Item& item, std::string_view text, chat::Frames& out) {
    const bool is_message = item.kind == Kind::message;
    if (!item.is_part_open) begin_part(item, out);
    if (text.empty()) return;
    const std::string quoted = json::string_of(text);
    item.json.append(quoted, 1, quoted.size() - 2);
    item.length += base::length_of(text);
    tell(is_message ? "response.output_text.delta" : "response.reasoning_summary_text.delta", out,
         [&](Writer& w) {
           place(w, item).key("delta").raw(quoted);
           if (is_message) w.key("logprobs").array([] {});
         });
  }

  void begin_part(Item& item, chat::Frames& out) {
    const bool is_message = item.kind == Kind::message;
    const std::string_view head =
        is_message ? R"({"type":"output_text","text":")" : R"({"type":"summary_text","text":")";
    item.is_part_open = true;
    if (item.part_count > 0) item.json += ',';
    item.part_at = item.json.size();
    item.json += head;
    item.text_at = item.json.size() - 1;
    item.length = 0;
    tell(is_message ? "response.content_part.added" : "response.reasoning_summary_part.added", out,
         [&](Writer& w) { place(w, item).key("part").raw(std::string(head) + tail_of(item)); });
  }

  void add_part(Item& item, const ShownPart& part, chat::Frames& out) {
    const std::size_t begins = item.is_part_open ? item.length : 0;
    add_text(item, part.text, out);
    if (part.url.empty()) return;
    std::string link;
    Writer w(link);
    w.object([&] {
      w.member("type", "url_citation").member("url", part.url).member("title", part.title);
      w.member("start_index", static_cast<std::int64_t>(begins));
      w.member("end_index", static_cast<std::int64_t>(item.length));
    });
    tell("response.output_text.annotation.added", out, [&](Writer& frame) {
      place(frame, item).member("annotation_index", item.link_count).key("annotation").raw(link);
    });
    item.links += (item.link_count++ == 0 ? "" : ",") + link;
  }

  void end_part(Item& item, chat::Frames& out) {
    if (!std::exchange(item.is_part_open, false)) return;
    const bool is_message = item.kind == Kind::message;
    const std::size_t text_ends = item.json.size() + 1;  // with its quote
    item.json += tail_of(item);
    const std::string_view written = item.json;
    tell(is_message ? "response.output_text.done" : "response.reasoning_summary_text.done", out,
         [&](Writer& w) {
           place(w, item).key("text").raw(written.substr(item.text_at, text_ends - item.text_at));
           if (is_message) w.key("logprobs").array([] {});
         });
    tell(is_message ? "response.content_part.done" : "response.reasoning_summary_part.done", out,
         [&](Writer& w) { place(w, item).key("part").raw(written.substr(item.part_at)); });
    ++item.part_count;
    item.links.clear();
    item.link_count = 0;
  }

  // Ends the open item of the source as completed or incomplete.
  void end(const std::string& source, std::string_view status, chat::Frames& out) {
    Item* const item = open_.find(source);
    if (item == nullptr) return;
    end_part(*item, out);
    item->json += "]}";
    const bool is_whole = status == "completed";
    tell("response.output_item.done", out, [&](Writer& w) {
      w.member("output_index", item->place).key("item");
      if (is_whole) return w.raw(item->json);
      return w.raw(head_of(*item, status) + item->json.substr(item->head_size));
    });
    if (is_whole) {
      sources_.emplace(source, item->place);
      output_.emplace(item->place, std::move(item->json));
    }
    open_.remove(source);
  }

  void end_all(std::string_view otherwise, chat::Frames& out, bool is_well) {
    while (!open_.empty()) end(std::string(open_.front().source), is_well ? "completed" : otherwise, out);
  }

  // Ends what is shown of `source`, which is replaced or withdrawn.
  void give_up(const std::string& source, chat::Frames& out) {
    end(source, "incomplete", out);
    forget(source);
  }

  void forget(const std::string& source) {
    const auto [first, last] = sources_.equal_range(source);
    for (auto one = first; one != last; ++one) output_.erase(one->second);
    sources_.erase(first, last);
  }

  void add_call(const std::string& ask, const std::string& name, const std::string& arguments,
                chat::Frames& out) {
    begin(out);
    const std::string id = name_of(kFunction, facts_.task, std::to_string(now_.value));
    const std::int64_t index = places_++;
    const auto item = [&](std::string_view given, std::string_view status) {
      std::string json;
      Writer w(json);
      w.object([&] {
        w.member("id", id).member("type", "function_call").member("status", status);
        w.member("call_id", name_of(kCall, facts_.task, ask)).member("name", name).member("arguments", given);
      });
      return json;
    };
    const auto about = [&](Writer& w) -> Writer& {
      return w.member("item_id", id).member("output_index", index);
    };
    const std::string done = item(arguments, "completed");
    tell("response.output_item.added", out,
         [&](Writer& w) { w.member("output_index", index).key("item").raw(item("", "in_progress")); });
    tell("response.function_call_arguments.delta", out,
         [&](Writer& w) { about(w).member("delta", arguments); });
    tell("response.function_call_arguments.done", out,
         [&](Writer& w) { about(w).member("name", name).member("arguments", arguments); });
    tell("response.output_item.done", out,
         [&](Writer& w) { w.member("output_index", index).key("item").raw(done); });
    output_.emplace(index, done);
  }

  static Writer& place(Writer& w, const Item& item) {
    w.member("item_id", item.id).member("output_index", item.place);
    return w.member(item.kind == Kind::message ? "content_index" : "summary_index", item.part_count);
  }

  // The item up to its first part.
  static std::string head_of(const Item& item, std::string_view status) {
    const bool is_message = item.kind == Kind::message;
    std::string head;
    Writer w(head);
    w.object([&] {
      w.member("id", item.id).member("type", is_message ? "message" : "reasoning").member("status", status);
      if (is_message) w.member("role", "assistant");
      w.key(is_message ? "content" : "summary").array([] {});
    });
    head.resize(head.size() - std::string_view("]}").size());
    return head;
  }

  // The open part after its text.
  static std::string tail_of(const Item& item) {
    return item.kind == Kind::message ? R"(","annotations":[)" + item.links + R"(],"logprobs":[]})" : R"("})";
  }

  // ---- The response.

  // Keeps the members that the response repeats.
  void keep_given(const task::Json& metadata) {
    const auto document = json::Document::view_of(metadata.text);
    const json::Value given = given_in(document);
    for (std::size_t i = 0; i < kRepeated.size(); ++i) {
      const auto& [name, otherwise] = kRepeated[i];
      if (!given[name].absent()) given_[i] = whole_of(given[name], otherwise);
    }
    can_be_asked_ = declares_ask(tools_in(given));
  }

  void begin(chat::Frames& out) {
    if (std::exchange(has_begun_, true)) return;
    respond("response.created", is_working_ ? "in_progress" : "queued", out);
    if (is_working_) respond("response.in_progress", "in_progress", out);
  }

  void respond(std::string_view type, std::string_view status, chat::Frames& out) {
    if (!facts_.streams && is_over_) {
      Writer w(out.add());
      return write(w, status);
    }
    tell(type, out, [&](Writer& w) {
      w.key("response");
      write(w, status);
    });
  }

  void write(Writer& w, std::string_view status) const {
    w.object([&] {
      w.member("id", response_id(facts_.task, facts_.before)).member("object", "response");
      w.member("created_at", created_at_).member("status", status).key("completed_at");
      is_over_&& status == "completed" ? w.integer(at_) : w.null();
      w.key("error");
      error_.empty() ? static_cast<void>(w.null()) : write_error(w);
      w.key("incomplete_details").null().member("model", facts_.model);
      w.key("output").array([&] {
        if (!is_over_) return;
        for (const auto& [index, item] : output_) w.raw(item);
      });
      w.key("usage");
      is_over_ ? tokens_.write(w) : static_cast<void>(w.null());
      w.key("conversation").object([&] { w.member("id", facts_.conversation.value); });
      for (std::size_t i = 0; i < kRepeated.size(); ++i) {
        const auto& [name, otherwise] = kRepeated[i];
        w.key(name).raw(given_[i].empty() ? otherwise : std::string_view(given_[i]));
      }
    });
  }

  // This is the only code of the API that tells clients that the same request would fail again.
  // After any other some send it again, and each time the agent would do its work once more.
  void write_error(Writer& w) const {
    w.object([&] {
      w.member("code", "invalid_prompt").member("message", error_);
      w.member("type", "model_error").key("param").null();
    });
  }

  template <class F>
  void tell(std::string_view type, chat::Frames& out, F&& members) {
    const std::int64_t number = sequence_++;
    if (!facts_.streams || out.skips_next()) return;
    Writer w(out.add(type));
    w.object([&] {
      w.member("type", type).member("sequence_number", number);
      members(w);
    });
  }

  const chat::RunFacts facts_;
  // The request's members that are repeated, as JSON; empty: the request has none.
  std::array<std::string, kRepeated.size()> given_;
  bool can_be_asked_ = false;
  task::EventNumber now_;                 // the event being shown
  std::int64_t created_at_ = 0, at_ = 0;  // seconds; of the first event and of this one
  std::int64_t sequence_ = 0, places_ = 0;
  bool has_begun_ = false, is_working_ = false, is_over_ = false;
  std::string error_;
  chat::SourceList<Item> open_;
  std::map<std::int64_t, std::string> output_;                  // complete items as JSON, by place
  std::unordered_multimap<std::string, std::int64_t> sources_;  // the places of a source's items
  std::unordered_map<std::string, Growing> artifacts_;
  Tokens tokens_;
};

class Responses final : public chat::Protocol {
 public:
  base::Result<chat::RunRequest> read(json::Value body) const override {
    auto asked = read_response(body);
    if (!asked) return base::fail(std::move(asked.error()));
    return std::move(asked->run);
  }
  std::unique_ptr<chat::RunView> view(const chat::RunFacts& facts) const override {
    return std::make_unique<ResponseView>(facts);
  }
  bool misfit_is_conflict() const override { return false; }  // clients repeat a request after 409
  bool has_frame_ids() const override { return false; }
  std::string_view last_words() const override { return "[DONE]"; }
};

}  // namespace

const chat::Protocol& responses() {
  static const Responses protocol;
  return protocol;
}

}  // namespace baton::protocol::openai

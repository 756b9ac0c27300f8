#include "server/chat/conversation_paths.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/text.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/v1_list.h"
#include "protocol/a2a/v1_objects.h"
#include "protocol/agui/run_frames.h"
#include "server/chat/call.h"
#include "server/chat/conversation.h"
#include "server/shared/answers.h"

namespace baton::server::chat {
namespace {

using base::ErrorCode;
using base::fail;
using engine::Conversation;
using protocol::chat::Transcript;

constexpr std::array kConversationPaths{
    PathRow{Place::agent_ids, "GET", "/conversations[/]", Stage::conversations},
    PathRow{Place::agent_ids, "GET, PATCH, DELETE", "/conversations/{id}", Stage::conversations},
    PathRow{Place::agent_ids, "GET", "/conversations/{id}/events", Stage::conversation_events, Head::refused},
};
constexpr int kPageUsual = 50, kPageMax = 100;
constexpr std::chrono::seconds kEndWait{10};  // for running tasks of a deleted conversation
// Answers from less than this do not count in the budget of large answers.
constexpr std::size_t kSmallAnswer = 1 << 20;

// One request.
struct Asked : PlainCall {
  Asked(std::shared_ptr<http::Exchange> way_back, const Admitted& by, task::ContextId id)
      : PlainCall(std::move(way_back), by), context{caller, agent.name, std::move(id)} {}

  const task::ContextRef context;

  engine::Conversations& conversations() const { return services.engine.conversations(); }
};
using AskedPtr = std::shared_ptr<Asked>;  // held by pending callbacks

// The parameters of a page.
struct Wanted {
  int size = kPageUsual;
  std::optional<task::ListPosition> after;
  bool is_ag_ui = false;  // the shape of messages
};

base::Result<Wanted> read_wanted(const http::Request& request) {
  Wanted wanted;
  for (const auto& [name, value] : request.query) {
    if (name == "pageSize") {
      const auto size = base::number_in<int>(value);
      if (!size || *size < 1 || *size > kPageMax)
        return fail(ErrorCode::invalid_argument,
                    "pageSize: must be a whole number from 1 to " + std::to_string(kPageMax));
      wanted.size = *size;
    } else if (name == "pageToken") {
      auto after = protocol::a2a::read_page_token(value);
      if (!after) return fail(std::move(after.error()));
      wanted.after = std::move(*after);
    } else if (name == "shape") {
      wanted.is_ag_ui = value == "ag-ui";
      if (!wanted.is_ag_ui && value != "a2a")
        return fail(ErrorCode::invalid_argument, "shape: must be a2a or ag-ui");
    }
  }
  return wanted;
}

// {"title": "..."} or {"title": null}.
base::Result<std::optional<std::string>> read_title(std::string_view body) {
  const auto document = json::Document::parse_view(body);
  if (!document) return fail(document.error());
  const json::Value root = document->root(), title = root["title"];
  if (!root.is_object()) return fail(ErrorCode::invalid_argument, "the body must be an object");
  for (const json::Value member : root) {
    if (member.key() != "title")
      return fail(ErrorCode::invalid_argument, std::string(member.key()) + ": is unknown");
  }
  if (title.is_null()) return std::optional<std::string>();
  if (!title.is_string()) return fail(ErrorCode::invalid_argument, "title: must be a string or null");
  return std::optional(title.str());
}

void write_members(json::Writer& out, const Conversation& shown) {
  out.member("id", shown.id.value).member("title", shown.title);
  if (shown.created != base::Timestamp()) out.member("createdAt", base::to_rfc3339(shown.created));
  out.member("updatedAt", base::to_rfc3339(shown.updated)).member("state", task::name_of(shown.state));
}

void write_next(json::Writer& out, const std::optional<task::ListPosition>& next) {
  if (next) out.member("nextPageToken", protocol::a2a::page_token(*next));
}

void list(const AskedPtr& asked) {
  const auto wanted = read_wanted(asked->exchange->request());
  if (!wanted) return asked->refuse(wanted.error());
  const auto page =
      asked->conversations().list(asked->context.caller, asked->context.agent, wanted->after, wanted->size);
  if (!page) return asked->refuse(page.error());
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.key("conversations").each(page->conversations, [&](const Conversation& shown) {
      out.object([&] { write_members(out, shown); });
    });
    write_next(out, page->next);
  });
  asked->reply(200, std::move(body));
}

void write_messages(json::Writer& out, const AskedPtr& asked, SaidPage& page, bool is_ag_ui) {
  if (!is_ag_ui) {
    out.each(page.lines, [&](const SaidPage::Line& line) {
      protocol::v1::write_message(out, line.message, line.task, asked->context.id);
    });
    return;
  }
  std::vector<task::Message> messages;
  for (SaidPage::Line& line : page.lines) messages.push_back(std::move(line.message));
  protocol::agui::write_messages(out, messages, true);
}

void show(const AskedPtr& asked, const Conversation& shown, const Said& said, const Wanted& wanted) {
  // A2A has no words for what an agent does with its tools.
  const auto tools = wanted.is_ag_ui ? Transcript::Tools::shown : Transcript::Tools::left_out;
  auto page = page_of(asked->services.engine.reader(), said, static_cast<std::size_t>(wanted.size), tools);
  if (!page) return asked->refuse(page.error());
  std::string body;
  json::Writer out(body);
  out.object([&] {
    write_members(out, shown);
    write_messages(out.key("messages"), asked, *page, wanted.is_ag_ui);
    write_next(out, page->next);
  });
  asked->reply(200, std::move(body));
}

void get(const AskedPtr& asked) {
  const auto wanted = read_wanted(asked->exchange->request());
  if (!wanted) return asked->refuse(wanted.error());
  auto shown = asked->conversations().find(asked->context);
  if (!shown) return asked->refuse(shown.error());
  auto said = said_in(asked->services.engine.reader(), asked->context, wanted->after);
  if (!said) return asked->refuse(said.error());
  if (said->bytes <= kSmallAnswer) return show(asked, *shown, *said, *wanted);
  const std::size_t bytes = 2 * said->bytes;
  take_share(asked, std::string(task::account_of(asked->caller)), bytes,
             [asked, shown = std::move(*shown), said = std::move(*said), wanted = *wanted](bool has_room) {
               if (has_room) return show(asked, shown, said, wanted);
               asked->refuse(too_many_large_answers());
             });
}

void rename(const AskedPtr& asked) {
  const auto title = read_title(asked->exchange->request().body);
  if (!title) return asked->refuse(title.error());
  asked->conversations().rename(asked->context, *title, [asked](const base::Result<Conversation>& renamed) {
    if (!renamed) return asked->refuse(renamed.error());
    std::string body;
    json::Writer out(body);
    out.object([&] { write_members(out, *renamed); });
    asked->reply(200, std::move(body));
  });
}

void erase(const AskedPtr& asked) {
  engine::Erasure* const erasure = asked->services.engine.erasure();
  if (erasure == nullptr)
    return asked->refuse({ErrorCode::unsupported, "this store cannot delete conversations", {}});
  asked->conversations().erase(asked->context, *erasure, kEndWait, [asked](const base::Result<void>& gone) {
    if (!gone) return asked->refuse(gone.error());
    http::Reply reply;
    reply.status = 204;
    reply.content_type.clear();
    asked->exchange->reply(std::move(reply));
  });
}

}  // namespace

std::span<const PathRow> conversation_paths() {
  return kConversationPaths;
}

void handle_conversations(std::shared_ptr<http::Exchange> exchange, const Admitted& by, task::ContextId id) {
  const auto asked = std::make_shared<Asked>(std::move(exchange), by, std::move(id));
  const std::string& method = asked->exchange->request().method;
  if (method == "PATCH") return rename(asked);
  if (method == "DELETE") return erase(asked);
  asked->context.id.empty() ? list(asked) : get(asked);
}

}  // namespace baton::server::chat

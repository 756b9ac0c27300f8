// A2A of every version: requests as the server reads them, answers as the client reads them, and cards.
//
// Readers and writers of a version must agree: what was written of a value that was read is read as the same
// value. The text of the second writing shows that.
#include <memory>

#include "fuzz/sound.h"
#include "fuzz/target.h"
#include "jose/signing_key.h"
#include "json/document.h"
#include "json/writer.h"
#include "protocol/a2a/client/client_dialect.h"
#include "protocol/a2a/client/read_errors.h"
#include "protocol/a2a/dialect.h"
#include "protocol/card/card.h"
#include "protocol/card/remote_card.h"
#include "protocol/card/remote_check.h"
#include "protocol/card/security.h"
#include "protocol/card/signatures.h"
#include "protocol/card/signed_forms.h"
#include "protocol/card/views.h"
#include "protocol/discovery/catalog.h"
#include "protocol/discovery/server_card.h"
#include "protocol/rpc/json_rpc.h"

namespace baton::fuzz {
namespace {

using json::Document;
using json::Value;
using protocol::Binding;
using protocol::a2a::ClientDialect;
using protocol::a2a::ClientDialectPtr;
using protocol::a2a::Dialect;
using task::ProtocolVersion;

ClientDialectPtr client(ProtocolVersion version, Binding binding = Binding::json_rpc) {
  return protocol::a2a::client_dialect(version, binding);
}

void check_send(const protocol::a2a::SendRequest& send) {
  check_message(send.submission.message);
  check_object(send.submission.metadata, "the metadata of a request is no object");
}

// The params of a request that the client wrote: of JSON-RPC, or the whole body of REST.
Value params_of(const Document& body, Binding binding) {
  return binding == Binding::json_rpc ? body.root()["params"] : body.root();
}

// Reads the params with every reader of the dialect. `speaks`: the client of the same form; null: none.
void read_all(const Dialect& dialect, const protocol::a2a::Params& params, const ClientDialect* speaks,
              Binding binding) {
  if (const auto send = dialect.read_send(params.json())) {
    check_send(*send);
    if (speaks) {
      const std::string once = speaks->write_send(*send, false).body;
      const auto body = Document::parse_view(once, {.depth_max = 200});
      require(body.has_value(), "a request that was written is not JSON");
      const auto again = dialect.read_send(params_of(*body, binding));
      require(again.has_value(), "a request that was written is refused");
      require_same(speaks->write_send(*again, false).body, once, "a request changes on its way");
    }
  }
  if (const auto request = dialect.read_task_request(params)) {
    if (speaks) static_cast<void>(speaks->write_get(*request));
  }
  if (const auto list = dialect.read_list(params)) {
    require(list->filter.limit > 0 && list->filter.limit <= 100, "a page is too large");
  }
  if (const auto push = dialect.read_push(params.json())) {
    std::string written;
    json::Writer out(written);
    dialect.write_push(out, push->task, push->config);
    check_json({written}, "a webhook's config that was written is not JSON");
  }
  static_cast<void>(dialect.read_push_ref(params.json()).has_value());
}

void rpc(std::string_view input, const Dialect& dialect, const ClientDialectPtr& speaks) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  const auto request = protocol::read_rpc_request(document->root());
  if (!request) {
    std::string refused;
    protocol::write_rpc_error(refused, request.error().id, request.error().error);
    check_json({refused}, "a refusal is not JSON");
    return;
  }
  std::string answer;
  protocol::write_rpc_result(answer, request->id, [](json::Writer& out) { out.null(); });
  check_json({answer}, "an answer is not JSON");
  read_all(dialect, request->params, speaks.get(), Binding::json_rpc);
}

void rpc_0_1(std::string_view input) {
  rpc(input, protocol::a2a::v0_1(), client(ProtocolVersion::v0_1));
}
void rpc_0_3(std::string_view input) {
  rpc(input, protocol::a2a::v0_3(), client(ProtocolVersion::v0_3));
}
void rpc_1_0(std::string_view input) {
  rpc(input, protocol::a2a::v1_0(), client(ProtocolVersion::v1_0));
}
void rpc_dual(std::string_view input) {
  rpc(input, protocol::a2a::dual(), nullptr);
}

// Lines "name=value" of the path and the query, a blank line, the body.
void rest(std::string_view input, const Dialect& dialect, const ClientDialectPtr& speaks) {
  protocol::a2a::Params::Texts texts;
  while (true) {
    const std::size_t end = std::min(input.find('\n'), input.size());
    const std::string_view line = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
    const std::size_t sign = line.find('=');
    if (sign == std::string_view::npos) break;
    texts.emplace_back(line.substr(0, sign), line.substr(sign + 1));
  }
  const Document body = Document::view_of(input);
  const bool has_texts = !texts.empty();
  read_all(dialect, protocol::a2a::Params(body.root(), std::move(texts)), has_texts ? nullptr : speaks.get(),
           Binding::rest);
}
void rest_0_3(std::string_view input) {
  rest(input, protocol::a2a::v0_3_rest(), client(ProtocolVersion::v0_3, Binding::rest));
}
void rest_1_0(std::string_view input) {
  rest(input, protocol::a2a::v1_0(), client(ProtocolVersion::v1_0, Binding::rest));
}

std::string written_task(const Dialect& dialect, const task::Task& task) {
  std::string text;
  json::Writer out(text);
  dialect.write_task(out, task);
  return text;
}

// Answers of a remote agent, and items of its streams.
void answer(std::string_view input, const Dialect& writes, const ClientDialectPtr& reads) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  for (const bool good : {true, false}) {
    const auto read = reads->read_answer(document->root(), good);
    if (read && read->error) check_text(read->error->message, "an error is not UTF-8");
    if (!read || read->error) continue;
    static_cast<void>(reads->read_update(read->result).has_value());
    static_cast<void>(reads->read_list(read->result).has_value());
    static_cast<void>(reads->read_push(read->result).has_value());
    static_cast<void>(reads->read_pushes(read->result).has_value());
  }
  if (const auto update = reads->read_update(document->root())) {
    if (const auto* reply = std::get_if<protocol::a2a::MessageReply>(&*update)) check_message(reply->message);
    if (const auto* task = std::get_if<task::Task>(&*update)) check_task(*task);
  }
  const auto task = reads->read_task(document->root());
  if (!task) return;
  check_task(*task);
  const std::string once = written_task(writes, *task);
  const auto shown = Document::parse_view(once, {.depth_max = 200});
  require(shown.has_value(), "a task that was written is not JSON");
  const auto again = reads->read_task(shown->root());
  require(again.has_value(), "a task that was written is refused");
  require_same(written_task(writes, *again), once, "a task changes on its way");
}
void answer_0_1(std::string_view input) {
  answer(input, protocol::a2a::v0_1(), client(ProtocolVersion::v0_1));
}
void answer_0_3(std::string_view input) {
  answer(input, protocol::a2a::v0_3(), client(ProtocolVersion::v0_3));
}
void answer_1_0(std::string_view input) {
  answer(input, protocol::a2a::v1_0(), client(ProtocolVersion::v1_0));
}
void answer_rest(std::string_view input) {
  answer(input, protocol::a2a::v0_3_rest(), client(ProtocolVersion::v0_3, Binding::rest));
}

// The card of an agent elsewhere, or of one here.
void card(std::string_view input) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  const Value root = document->root();
  const auto remote = protocol::read_remote_card(input);
  if (remote) {
    require(remote->interfaces.size() <= 200, "a card has too many interfaces");
    static_cast<void>(protocol::pick(*remote));
  }
  static_cast<void>(protocol::check_remote_card(root));
  static_cast<void>(protocol::unknown_members(root));
  static_cast<void>(protocol::check_security(root));
  const task::AgentCard read = protocol::read_card(root);
  const protocol::ServedCard served{.card = read,
                                    .json_rpc_url = "http://127.0.0.1/agents/a/",
                                    .rest_url = "http://127.0.0.1/agents/a",
                                    .grpc_url = {}};
  for (const auto view :
       {protocol::CardView::superset, protocol::CardView::v0_3_rest, protocol::CardView::v1_0}) {
    const std::string text = protocol::write_card(served, view);
    check_json({text}, "a card that was written is not JSON");
    const auto again = protocol::read_card(Document::view_of(text).root());
    const protocol::ServedCard once_more{
        .card = again, .json_rpc_url = served.json_rpc_url, .rest_url = served.rest_url, .grpc_url = {}};
    const std::string second = protocol::write_card(once_more, view);
    const auto third = protocol::read_card(Document::view_of(second).root());
    const protocol::ServedCard last{
        .card = third, .json_rpc_url = served.json_rpc_url, .rest_url = served.rest_url, .grpc_url = {}};
    require_same(protocol::write_card(last, view), second, "a card changes on its way");
  }
}

// The signatures of a card: each of its texts is its own canonical text, no signature in the input is of our
// key, and one that we make is good.
void card_signature(std::string_view input) {
  const auto document = Document::parse_view(input);
  if (!document) return;
  // RFC 8037, A.1.
  static const jose::Key key =
      jose::read_signing_key(
          R"({"kty":"OKP","crv":"Ed25519","d":"nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A",)"
          R"("x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"})")
          ->key;
  static const jose::JwkSet known{{{key, key.thumbprint(), {}}}};
  using Outcome = protocol::CardCheck::Outcome;
  require(protocol::check_signatures(document->root(), known).outcome != Outcome::good,
          "a signature was forged");
  for (const auto form : protocol::kCardForms) {
    const auto text = protocol::canonical_card(document->root(), form);
    if (!text) continue;
    const auto again = Document::parse_view(*text);
    require(again.has_value(), "a canonical text is not JSON");
    require_same(protocol::canonical_card(again->root(), form).value_or("(refused)"), *text,
                 "a canonical text has another one");
  }
  const auto ours = protocol::sign_card(std::string(input), {key, "https://host/keys"});
  if (!ours) return;
  const auto signed_card = Document::parse_view(*ours);
  require(signed_card && protocol::check_signatures(signed_card->root(), known).outcome == Outcome::good,
          "our own signature is not good");
}

// The catalog of another server, and the card of an MCP server.
void catalog(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const std::string publisher = protocol::discovery::publisher_of(input.substr(0, line));
  const auto document = Document::parse_view(input.substr(std::min(line + 1, input.size())));
  if (!document) return;
  static_cast<void>(protocol::discovery::check_catalog(document->root(), publisher));
  static_cast<void>(protocol::discovery::check_server_card(document->root()));
}

const Targets kTargets{{"a2a-rpc-0.1", rpc_0_1},
                       {"a2a-rpc-0.3", rpc_0_3},
                       {"a2a-rpc-1.0", rpc_1_0},
                       {"a2a-rpc-dual", rpc_dual},
                       {"a2a-rest-0.3", rest_0_3},
                       {"a2a-rest-1.0", rest_1_0},
                       {"a2a-answer-0.1", answer_0_1},
                       {"a2a-answer-0.3", answer_0_3},
                       {"a2a-answer-1.0", answer_1_0},
                       {"a2a-answer-rest-0.3", answer_rest},
                       {"card", card},
                       {"card-signature", card_signature},
                       {"catalog", catalog}};

}  // namespace
}  // namespace baton::fuzz

#include "protocol/mcp/elicitation.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "task/state.h"

namespace baton::protocol::mcp {
namespace {

using base::ErrorCode;
using base::Result;
using json::Value;
using json::Writer;
using task::Message;
using task::Part;

constexpr std::size_t kSchemaShownMax = 4000;

bool are_texts(Value list) {
  if (!list.is_array() || list.size() == 0) return false;
  for (const Value one : list) {
    if (!one.is_string()) return false;
  }
  return true;
}

bool is_primitive(Value schema) {
  const std::string_view type = schema["type"].string();
  if (type == "string" || type == "number" || type == "integer" || type == "boolean") return true;
  return type.empty() && are_texts(schema["enum"]);
}

bool have_titles(Value choices) {
  if (!choices.is_array() || choices.size() == 0) return false;
  for (const Value one : choices) {
    if (!one["const"].is_string() || !one["title"].is_string()) return false;
  }
  return true;
}

// A choice of several texts, which is the one list that a form may have.
bool is_choice_of_several(Value schema) {
  return schema["type"].string() == "array" &&
         (are_texts(schema["items"]["enum"]) || have_titles(schema["items"]["anyOf"]));
}

bool is_form(Value schema) {
  const Value properties = schema["properties"];
  if (schema["type"].string() != "object" || !properties.is_object() || properties.size() == 0) return false;
  for (const Value one : properties) {
    if (!is_primitive(one) && !is_choice_of_several(one)) return false;
  }
  return true;
}

// Writes a field of a form, with a type and without a format that MCP does not know. Otherwise clients on the
// SDKs for TypeScript and C# refuse the whole question. The answer is still checked against the question's
// own schema.
void write_field(Writer& out, Value field) {
  constexpr std::array<std::string_view, 4> kFormats{"email", "uri", "date", "date-time"};
  const bool lacks_type = field["type"].string().empty() && field["enum"].is_array();
  const bool has_format = std::ranges::count(kFormats, field["format"].string()) > 0;
  out.object([&] {
    if (lacks_type) out.member("type", "string");
    for (const Value member : field) {
      const bool is_left_out =
          (lacks_type && member.key() == "type") || (!has_format && member.key() == "format");
      if (is_left_out) continue;
      out.key(member.key());
      member.key() == "items" && member.is_object() ? write_field(out, member)
                                                    : static_cast<void>(out.raw(member.raw()));
    }
  });
}

void write_one_field(Writer& out, std::string_view field) {
  out.object([&] {
    out.member("type", "object");
    out.key("properties").object([&] { out.key("answer").raw(field); });
    out.key("required").array([&] { out.string("answer"); });
  });
}

void write_form(Writer& out, const Message& question) {
  const std::string text = question_schema(question);
  const auto document = json::Document::view_of(text);
  const Value schema = document.root();
  if (is_form(schema)) {
    out.object([&] {
      out.member("type", "object").key("properties").object([&] {
        for (const Value field : schema["properties"]) {
          out.key(field.key());
          write_field(out, field);
        }
      });
      if (schema["required"].is_array()) out.key("required").raw(schema["required"].raw());
    });
    return;
  }
  std::string field;
  Writer one(field);
  if (is_primitive(schema)) {
    write_field(one, schema);
    return write_one_field(out, field);
  }
  one.object([&] {
    one.member("type", "string").member("title", "Answer");
    if (!schema.missing()) {
      one.member("description",
                 "JSON that fits the schema " + std::string(base::beginning_of(text, kSchemaShownMax)));
    }
  });
  write_one_field(out, field);
}

// The URL that a question sends the user to; empty: none.
std::string url_in(const task::Status& status) {
  if (status.state != task::State::auth_required || !status.message) return {};
  std::string url;
  for (const Part& part : status.message->parts) {
    if (part.kind == Part::Kind::url) url = part.content;
    if (part.kind == Part::Kind::data) {
      const auto data = json::Document::view_of(part.content);
      if (data.root()["url"].is_string()) url = data.root()["url"].str();
    }
    if (base::web_scheme(url) != 0) return url;
  }
  return {};
}

std::string words_of(const task::Status& status) {
  std::string words = status.message ? task::text_of(*status.message) : std::string();
  return words.empty() ? std::string("The agent needs an answer.") : words;
}

}  // namespace

std::string question_schema(const Message& question) {
  for (auto part = question.parts.rbegin(); part != question.parts.rend(); ++part) {
    if (part->kind != Part::Kind::data) continue;
    const auto data = json::Document::view_of(part->content);
    const Value schema = data.root()["schema"];
    return schema.is_object() ? std::string(schema.raw()) : std::string();
  }
  return {};
}

bool can_ask(const Question& question, const Abilities& client) {
  const task::Status& status = question.status;
  if (!task::is_waiting(status.state) || !status.message || question.ask.empty()) return false;
  if (status.state == task::State::auth_required) return client.urls && !url_in(status).empty();
  return client.forms;
}

void write_elicitation(Writer& out, const Question& question) {
  const std::string url = url_in(question.status);
  out.member("method", "elicitation/create");
  out.key("params").object([&] {
    out.member("mode", url.empty() ? "form" : "url").member("message", words_of(question.status));
    if (!url.empty()) {
      out.member("url", url).member("elicitationId", question.ask);
    } else {
      out.key("requestedSchema");
      write_form(out, *question.status.message);
    }
  });
}

void write_input_requests(Writer& out, const Question& question) {
  out.key("inputRequests").object([&] {
    out.key(question.ask).object([&] { write_elicitation(out, question); });
  });
}

Result<Message> read_elicitation_result(Value result, const Question& question) {
  const std::string_view action = result["action"].string();
  Message answer;
  if (action == "decline" || action == "cancel") {
    answer.parts.push_back(Part::of_data({R"({"cancelled":true})"}));
    return answer;
  }
  if (action != "accept")
    return base::fail(ErrorCode::invalid_argument, "action: must be accept, decline or cancel");
  if (!url_in(question.status).empty()) {
    answer.parts.push_back(Part::of_text("done"));
    return answer;
  }
  const std::string text =
      question.status.message ? question_schema(*question.status.message) : std::string();
  const auto document = json::Document::view_of(text);
  const Value schema = document.root(), content = result["content"];
  const Value given = is_form(schema) ? content : content["answer"];
  if (given.missing())
    return base::fail(ErrorCode::invalid_argument, "content: an accepted form must have its content");
  if (!schema.missing() && !is_form(schema) && !is_primitive(schema) && given.is_string()) {
    const auto inner = json::Document::parse_view(given.string(), json::kInString);
    answer.parts.push_back(inner ? Part::of_data({given.str()}) : Part::of_text(given.str()));
  } else if (schema.missing() && given.is_string()) {
    answer.parts.push_back(Part::of_text(given.str()));
  } else {
    answer.parts.push_back(Part::of_data(given.json()));
  }
  return answer;
}

Result<std::optional<Message>> read_input_response(Value responses, const Question& question) {
  const Value response = responses[question.ask];
  if (response.absent()) return std::nullopt;
  auto answer = read_elicitation_result(response, question);
  if (answer) return std::optional(std::move(*answer));
  return base::fail(answer.error().code, "inputResponses: " + answer.error().for_caller);
}

}  // namespace baton::protocol::mcp

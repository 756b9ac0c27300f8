// JSON texts and schemas, patterns and formats.
#include <cmath>

#include "base/base64.h"
#include "base/cron.h"
#include "base/text.h"
#include "fuzz/target.h"
#include "json/bounded_schema.h"
#include "json/canonical.h"
#include "json/decimal.h"
#include "json/document.h"
#include "json/formats.h"
#include "json/json_patch.h"
#include "json/pattern.h"
#include "json/pretty_json.h"
#include "json/value_count.h"
#include "json/writer.h"

namespace baton::fuzz {
namespace {

using json::Document;
using json::Value;

void write(json::Writer& out, Value value) {
  switch (value.type()) {
    case Value::Type::object:
      out.object([&] {
        for (const Value member : value) write(out.key(member.key()), member);
      });
      return;
    case Value::Type::array:
      out.array([&] {
        for (const Value item : value) write(out, item);
      });
      return;
    case Value::Type::string:
      out.string(value.string());
      return;
    default:
      out.raw(value.raw());
      return;
  }
}

// How many values and names there are.
std::size_t nodes_of(Value value) {
  std::size_t nodes = 1;
  if (!value.is_object() && !value.is_array()) return nodes;
  for (const Value child : value) nodes += nodes_of(child) + (value.is_object() ? 1 : 0);
  return nodes;
}

void document(std::string_view input) {
  const auto read = Document::parse_view(input);
  if (!read) return;
  require(base::is_utf8(input), "JSON that is not UTF-8 was read");
  // A short text has room to grow.
  require(read->memory() <= 16 * input.size() + 512, "a document takes many times its text");
  require(json::value_count(input) >= nodes_of(read->root()), "there are more values than value_count says");
  std::string written;
  json::Writer out(written);
  write(out, read->root());
  require(base::is_utf8(written), "a text that was read is not UTF-8");
  const auto again = Document::parse_view(written);
  require(again.has_value(), "JSON that was written cannot be read");
  require(json::same_value(read->root(), again->root()), "JSON that was written has another value");
  const std::string pretty = json::pretty_json(read->root());
  const auto shown = Document::parse_view(pretty);
  require(shown && json::same_value(read->root(), shown->root()), "pretty JSON has another value");
  for (const auto form : {json::Canonical::jcs, json::Canonical::python}) {
    const auto canonical = json::canonical_json(read->root(), form);
    if (!canonical) continue;
    const auto same = Document::parse_view(*canonical);
    require(same.has_value(), "canonical JSON cannot be read");
    require_same(json::canonical_json(same->root(), form).value_or("(refused)"), *canonical,
                 "canonical JSON is not canonical");
  }
  static_cast<void>(
      Document::parse_view(input, {.depth_max = 100, .comments = true, .lines = true}).has_value());
}

// The first line is the schema, the rest is the value.
void schema(std::string_view input) {
  const std::size_t line = input.find('\n');
  const auto schema = json::BoundedSchema::parse(input.substr(0, line));
  if (!schema) return;
  if (const std::string example = schema->example(); !example.empty()) {
    require(!schema->check_text(example), "the example does not fit the schema");
  }
  const std::string_view rest = line == std::string_view::npos ? "" : input.substr(line + 1);
  static_cast<void>(schema->check_text(rest).has_value());
  if (const auto reading = schema->reading(); reading && base::is_utf8(rest)) {
    const auto value = reading->value(rest);
    require(!value || Document::parse_view(*value).has_value(),
            "a text was read as something that is not JSON");
    require(!reading->expected().empty(), "nothing says what is expected");
  }
}

// The first line is the pattern, the rest is the text.
void pattern(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const auto pattern = json::Pattern::compile(input.substr(0, line));
  if (pattern) static_cast<void>(pattern->matches(input.substr(std::min(line + 1, input.size()))));
}

void formats(std::string_view input) {
  using json::Format;
  for (const auto format : {Format::date, Format::time, Format::date_time, Format::duration, Format::email,
                            Format::uri, Format::uuid, Format::hostname, Format::ipv4, Format::ipv6}) {
    static_cast<void>(json::has_format(format, input));
    require(json::has_format(format, json::example_of(format)), "an example does not have its format");
  }
}

// Two numbers, one a line.
void decimal(std::string_view input) {
  const std::size_t line = std::min(input.find('\n'), input.size());
  const auto one = Document::parse_view(input.substr(0, line));
  const auto other = Document::parse_view(input.substr(std::min(line + 1, input.size())));
  if (!one || !one->root().is_number()) return;
  const auto first = json::Decimal::of(one->root().raw());
  require(json::compare(first, first) == 0, "a number differs from itself");
  // A number with a fraction may be whole only as the nearest double.
  if (const auto whole = one->root().integer(); whole && first.exact && first.is_whole()) {
    require(json::compare(first, json::Decimal::of(std::to_string(*whole))) == 0,
            "a number differs from its integer");
  }
  if (!other || !other->root().is_number()) return;
  const auto second = json::Decimal::of(other->root().raw());
  const int order = json::compare(first, second);
  const int back = json::compare(second, first);
  require((order < 0) == (back > 0) && (order == 0) == (back == 0), "the order depends on the side");
  if (first.exact && second.exact && second.digits != 0) static_cast<void>(json::is_multiple(first, second));
}

void patch(std::string_view input) {
  const auto read = Document::parse_view(input);
  if (read) {
    require(json::patch_problem(read->root()).empty() == json::is_patch({std::string(input)}),
            "two checks of a patch differ");
  }
}

void base64(std::string_view input) {
  const auto bytes = base::decode_base64(input);
  const auto normal = base::normalize_base64(input);
  require(bytes.has_value() == normal.has_value(),
          "base64 that is normalized cannot be decoded, or the reverse");
  if (bytes) require_same(base::encode_base64(*bytes), *normal, "normal base64 is another text");
  require(base::decode_base64(base::encode_base64(input)) == std::string(input), "base64 has lost bytes");
}

void text(std::string_view input) {
  const std::string replaced = base::replaced_utf8(input);
  require(base::is_utf8(replaced), "replaced UTF-8 is not UTF-8");
  if (base::is_utf8(input)) require_same(replaced, input, "good UTF-8 was replaced");
  if (base::is_utf8(input)) {
    const std::string json = json::string_of(input);
    const auto read = Document::parse_view(json);
    require(read && read->root().string() == input, "a JSON string has another text");
  }
}

void cron(std::string_view input) {
  static_cast<void>(base::Cron::parse(input).has_value());
}

const Targets kTargets{{"json", document},
                       {"json-schema", schema},
                       {"json-pattern", pattern},
                       {"json-formats", formats},
                       {"json-decimal", decimal},
                       {"json-patch", patch},
                       {"base64", base64},
                       {"utf8", text},
                       {"cron", cron}};

}  // namespace
}  // namespace baton::fuzz

#include "server/grpc/struct_json.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>

#include "json/document.h"

namespace baton::server::grpc {
namespace {

namespace pb = google::protobuf;
using json::Value;
using json::Writer;

// Clients' parsers stop at 100 nested messages. An object in a value takes three of them, a list two.
constexpr int kNestedMax = 96, kObject = 3, kList = 2;

void write_number(Writer& out, double number) {
  if (std::isnan(number)) return static_cast<void>(out.string("NaN"));
  if (std::isinf(number)) return static_cast<void>(out.string(number > 0 ? "Infinity" : "-Infinity"));
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.15g", number);
  if (std::strtod(digits.data(), nullptr) != number) {
    std::snprintf(digits.data(), digits.size(), "%.17g", number);
  }
  out.raw(digits.data());
}

void read_json(const Value& json, pb::Value& value, int room);

void read_members(const Value& json, pb::Struct& object, int room) {
  auto& fields = *object.mutable_fields();
  for (const Value member : json) read_json(member, fields[std::string(member.key())], room);
}

void read_json(const Value& json, pb::Value& value, int room) {
  switch (json.type()) {
    case Value::Type::string:
      return value.set_string_value(json.str());
    case Value::Type::boolean:
      return value.set_bool_value(json.boolean());
    case Value::Type::number: {
      const double number = std::strtod(std::string(json.raw()).c_str(), nullptr);
      if (std::isfinite(number)) return value.set_number_value(number);
      return value.set_string_value(std::string(json.raw()));
    }
    case Value::Type::object:
      if (room < kObject) return value.set_string_value(std::string(json.raw()));
      value.mutable_struct_value()->clear_fields();
      return read_members(json, *value.mutable_struct_value(), room - kObject);
    case Value::Type::array:
      if (room < kList) return value.set_string_value(std::string(json.raw()));
      value.mutable_list_value()->clear_values();
      for (const Value item : json) read_json(item, *value.mutable_list_value()->add_values(), room - kList);
      return;
    case Value::Type::missing:
    case Value::Type::null:
      break;
  }
  value.set_null_value(pb::NULL_VALUE);
}

}  // namespace

void write_struct(Writer& out, const pb::Struct& object, std::string_view without) {
  std::map<std::string_view, const pb::Value*> members;
  for (const auto& [name, value] : object.fields()) {
    if (without.empty() || name != without) members.emplace(name, &value);
  }
  out.object([&] {
    for (const auto& [name, value] : members) write_value(out.key(name), *value);
  });
}

void write_value(Writer& out, const pb::Value& value) {
  switch (value.kind_case()) {
    case pb::Value::kNumberValue:
      return write_number(out, value.number_value());
    case pb::Value::kStringValue:
      return static_cast<void>(out.string(value.string_value()));
    case pb::Value::kBoolValue:
      return static_cast<void>(out.boolean(value.bool_value()));
    case pb::Value::kStructValue:
      return write_struct(out, value.struct_value());
    case pb::Value::kListValue:
      return static_cast<void>(
          out.each(value.list_value().values(), [&](const pb::Value& item) { write_value(out, item); }));
    case pb::Value::kNullValue:
    case pb::Value::KIND_NOT_SET:
      break;
  }
  out.null();
}

task::Json json_of(const pb::Struct& object, std::string_view without) {
  task::Json json;
  if (!without.empty() && object.fields_size() == 1 && object.fields().contains(std::string(without))) {
    return json;
  }
  Writer out(json.text);
  write_struct(out, object, without);
  return json;
}

void read_value(std::string_view json, pb::Value& value) {
  read_json(json::Document::view_of(json, {.depth_max = 1000}).root(), value, kNestedMax);
}

void read_struct(std::string_view json, pb::Struct& object) {
  const auto document = json::Document::view_of(json, {.depth_max = 1000});
  if (document.root().is_object()) read_members(document.root(), object, kNestedMax - kObject);
}

}  // namespace baton::server::grpc

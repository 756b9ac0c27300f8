#include "json/pretty_json.h"

#include "json/writer.h"

namespace baton::json {
namespace {

constexpr std::size_t kLineMax = 90;

void write_key(std::string& out, Value member) {
  Writer(out).string(member.key());
  out += ": ";
}

// Writes on one line, with spaces after commas and colons.
void write_flat(std::string& out, Value value) {
  const bool object = value.is_object();
  if (!object && !value.is_array()) {
    out += value.raw();
    return;
  }
  out += object ? '{' : '[';
  bool first = true;
  for (const Value child : value) {
    if (!first) out += ", ";
    first = false;
    if (object) write_key(out, child);
    write_flat(out, child);
  }
  out += object ? '}' : ']';
}

// Recursion is bounded by the depth of the Document.
void write_value(std::string& out, Value value, std::size_t indent) {
  const bool object = value.is_object();
  const bool short_enough = value.raw().size() + indent <= kLineMax;
  if ((!object && !value.is_array()) || value.size() == 0 || short_enough) return write_flat(out, value);
  out += object ? '{' : '[';
  bool first = true;
  for (const Value child : value) {
    if (!first) out += ',';
    first = false;
    out.append(1, '\n').append(indent + 2, ' ');
    if (object) write_key(out, child);
    write_value(out, child, indent + 2);
  }
  out.append(1, '\n').append(indent, ' ');
  out += object ? '}' : ']';
}

}  // namespace

std::string pretty_json(Value value) {
  std::string out;
  write_value(out, value, 0);
  return out;
}

}  // namespace baton::json

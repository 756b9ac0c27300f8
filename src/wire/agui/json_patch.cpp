#include "wire/agui/json_patch.h"

#include <string_view>

#include "wire/json/document.h"

namespace baton::wire::agui {
namespace {

// Empty, or tokens each after a slash, in which a tilde is followed by 0 or 1 (RFC 6901).
bool is_pointer(Value value) {
  if (!value.is_string()) return false;
  const std::string_view text = value.string();
  if (text.empty()) return true;
  if (text.front() != '/') return false;
  for (auto tilde = text.find('~'); tilde != text.npos; tilde = text.find('~', tilde + 1)) {
    if (tilde + 1 == text.size() || (text[tilde + 1] != '0' && text[tilde + 1] != '1')) return false;
  }
  return true;
}

bool is_operation(Value operation) {
  if (!is_pointer(operation["path"])) return false;
  const std::string_view op = operation["op"].string();
  if (op == "remove") return true;
  if (op == "move" || op == "copy") return is_pointer(operation["from"]);
  return (op == "add" || op == "replace" || op == "test") && !operation["value"].missing();
}

}  // namespace

bool is_patch(const task::Json& json) {
  const auto document = Document::parse_view(json.text);
  if (!document || !document->root().is_array()) return false;
  for (const Value operation : document->root()) {
    if (!is_operation(operation)) return false;
  }
  return true;
}

}  // namespace baton::wire::agui

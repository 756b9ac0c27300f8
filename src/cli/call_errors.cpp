#include "cli/call_errors.h"

#include "cli/printable.h"

namespace baton::cli {

std::string describe(const CallError& error, const std::string& url) {
  std::string text = printable_line(error.text);
  if (error.rpc_code != 0) return text + " (error " + std::to_string(error.rpc_code) + ")";
  return printable_line(url) + ": " + text;
}

}  // namespace baton::cli

#include "task/message.h"

namespace baton::task {

std::string text_of(const Message& message) {
  std::string text;
  for (const Part& part : message.parts) {
    if (part.kind != Part::Kind::text) continue;
    if (!text.empty()) text += '\n';
    text += part.content;
  }
  return text;
}

}  // namespace baton::task

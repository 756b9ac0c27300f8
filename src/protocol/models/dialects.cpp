#include "protocol/models/dialects.h"

#include <algorithm>

#include "protocol/models/anthropic/answer.h"
#include "protocol/models/anthropic/request.h"
#include "protocol/models/chat_completions/answer.h"
#include "protocol/models/chat_completions/request.h"
#include "protocol/models/responses/answer.h"
#include "protocol/models/responses/request.h"

namespace baton::protocol::models {
namespace {

template <class Reader>
std::unique_ptr<AnswerReader> reader_of(const AnswerRules& rules) {
  return std::make_unique<Reader>(rules);
}

constexpr Dialect kChat{"/chat/completions",
                        "",
                        "",
                        "openai",
                        chat_completions::write_request,
                        reader_of<chat_completions::Reader>,
                        chat_completions::is_own_member,
                        chat_completions::is_about_extras};
constexpr Dialect kResponses{"/responses",
                             "",
                             "",
                             "openai",
                             responses::write_request,
                             reader_of<responses::Reader>,
                             responses::is_own_member,
                             responses::is_about_extras};
constexpr Dialect kAnthropic{"/messages",
                             "anthropic-version",
                             "2023-06-01",
                             "anthropic",
                             anthropic::write_request,
                             reader_of<anthropic::Reader>,
                             anthropic::is_own_member,
                             [](std::string_view) { return false; }};

}  // namespace

const Dialect& dialect_of(Api api) {
  switch (api) {
    case Api::responses:
      return kResponses;
    case Api::anthropic:
      return kAnthropic;
    case Api::chat:
      break;
  }
  return kChat;
}

std::string url_of(const Dialect& dialect, std::string_view base) {
  const std::size_t query = std::min(base.find('?'), base.size());
  std::string url(base.substr(0, query));
  while (url.ends_with('/')) url.pop_back();
  return url.append(dialect.path).append(base.substr(query));
}

}  // namespace baton::protocol::models

// ListTasks, which only A2A 1.0 has (README.md, 6).
#pragma once

#include "protocol/a2a/dialect.h"

namespace baton::protocol::a2a {

inline constexpr std::int64_t kPageMax = 100;
// Opaque to clients.
std::string page_token(const task::ListPosition& position);
base::Result<std::optional<task::ListPosition>> read_page_token(std::string_view token);

base::Result<ListRequest> read_list_request(const Params& params);
void write_list_answer(json::Writer& out, const ListRequest& list, const std::vector<task::Task>& tasks,
                       const std::optional<task::ListPosition>& next, std::int64_t total);

}  // namespace baton::protocol::a2a

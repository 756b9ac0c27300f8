#include "engine/read/task_list.h"

#include <algorithm>

namespace baton::engine {
namespace {

constexpr std::size_t kPageBytesMax = 16 << 20;

}  // namespace

base::Result<TaskList> list_tasks(const TaskReader& reader, const task::ListFilter& filter,
                                  const task::Depth& depth) {
  const auto limit = static_cast<std::size_t>(std::max(filter.limit, 1));
  // One more than is shown tells whether there is another page.
  task::ListFilter asked = filter;
  asked.limit = static_cast<int>(limit) + 1;
  const auto page = reader.list(asked);
  if (!page) return base::fail(page.error());
  TaskList list;
  list.total = page->total;
  std::size_t bytes = 0;
  for (const task::TaskHead& head : page->heads) {
    if (list.tasks.size() == limit || bytes >= kPageBytesMax) return list;
    auto task = reader.read(head.key, depth);
    if (!task) return base::fail(std::move(task.error()));
    bytes += task::weight_of(*task);
    if (bytes > depth.bytes_max) return base::fail(base::ErrorCode::too_large, "the page is too large");
    list.tasks.push_back(std::move(*task));
    list.next = task::ListPosition{head.status_at, head.id};
  }
  list.next.reset();
  return list;
}

}  // namespace baton::engine

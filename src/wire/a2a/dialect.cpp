#include "wire/a2a/dialect.h"

namespace baton::wire::a2a {

base::Result<ListRequest> Dialect::read_list(Value) const {
  return base::fail(base::ErrorCode::unsupported, "this version of A2A has no list of tasks");
}

void Dialect::write_list(Writer&, const ListRequest&, const std::vector<task::Task>&,
                         const std::optional<task::ListPosition>&, std::int64_t) const {}

}  // namespace baton::wire::a2a

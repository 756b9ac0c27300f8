#include "protocol/a2a/dialect.h"

namespace baton::protocol::a2a {

base::Result<ListRequest> Dialect::read_list(const Params&) const {
  return base::fail(base::ErrorCode::unsupported, "this version of A2A cannot list tasks; use 1.0");
}

void Dialect::write_list(json::Writer&, const ListRequest&, const std::vector<task::Task>&,
                         const std::optional<task::ListPosition>&, std::int64_t) const {}

const Dialect& dialect_of(task::ProtocolVersion version) {
  switch (version) {
    case task::ProtocolVersion::v0_1:
      return v0_1();
    case task::ProtocolVersion::v0_2:
    case task::ProtocolVersion::v0_3:
      return v0_3();
    case task::ProtocolVersion::v1_0:
    case task::ProtocolVersion::none:
      break;
  }
  return v1_0();
}

}  // namespace baton::protocol::a2a

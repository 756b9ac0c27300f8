#include "protocol/a2a/client/client_dialect.h"

#include "protocol/a2a/client/implementations.h"

namespace baton::protocol::a2a {

base::Result<ClientRequest> ClientDialect::write_list(const ListQuery&) const {
  return base::fail(base::ErrorCode::unsupported,
                    "A2A " + std::string(name_of(version())) + " cannot list tasks; 1.0 can");
}

ClientDialectPtr client_dialect(task::ProtocolVersion version, Binding binding, std::string tenant) {
  using task::ProtocolVersion;
  if (binding == Binding::json_rpc) {
    if (version == ProtocolVersion::v0_1) return make_v0_1_client();
    if (version == ProtocolVersion::v1_0) return make_v1_0_client(std::move(tenant));
    return make_v0_3_client(version);
  }
  if (binding != Binding::rest || version == ProtocolVersion::v0_1) return nullptr;
  // 0.2.6 has the REST of 0.3.
  if (version != ProtocolVersion::v1_0) return make_v0_3_rest_client();
  return make_v1_0_rest_client(std::move(tenant));
}

}  // namespace baton::protocol::a2a

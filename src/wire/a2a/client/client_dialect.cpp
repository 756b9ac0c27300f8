#include "wire/a2a/client/client_dialect.h"

#include "wire/a2a/client/implementations.h"

namespace baton::wire::a2a {

base::Result<ClientRequest> ClientDialect::write_list(const ListQuery&) const {
  return base::fail(base::ErrorCode::unsupported,
                    "A2A " + std::string(name_of(generation())) + " cannot list tasks; 1.0 can");
}

ClientDialectPtr client_dialect(task::ProtocolVersion generation, Binding binding, std::string tenant) {
  using task::ProtocolVersion;
  if (binding == Binding::json_rpc) {
    if (generation == ProtocolVersion::v0_1) return make_v0_1_client();
    if (generation == ProtocolVersion::v1_0) return make_v1_0_client(std::move(tenant));
    return make_v0_3_client(generation);
  }
  if (binding != Binding::rest || generation == ProtocolVersion::v0_1) return nullptr;
  // 0.2.6 has the REST of 0.3.
  if (generation != ProtocolVersion::v1_0) return make_v0_3_rest_client();
  return make_v1_0_rest_client(std::move(tenant));
}

}  // namespace baton::wire::a2a

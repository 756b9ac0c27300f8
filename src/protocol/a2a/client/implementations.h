// What the client dialects share, and their factories: for client_dialect.cpp.
#pragma once

#include <string>

#include "protocol/a2a/client/client_dialect.h"
#include "protocol/a2a/client/read_objects.h"

namespace baton::protocol::a2a {

// Reads results. Each dialect adds its requests and what surrounds a result.
class ReadingClient : public ClientDialect {
 public:
  task::ProtocolVersion version() const final { return version_; }

  base::Result<Update> read_update(json::Value result) const final { return reader_.read_update(result); }
  base::Result<task::Task> read_task(json::Value result) const final { return reader_.read_task(result); }
  base::Result<ListPage> read_list(json::Value result) const final { return reader_.read_list(result); }
  base::Result<PushRequest> read_push(json::Value result) const final { return reader_.read_push(result); }
  base::Result<std::vector<PushRequest>> read_pushes(json::Value result) const final {
    return reader_.read_pushes(result);
  }

 protected:
  ReadingClient(PartShape shape, task::ProtocolVersion version)
      : version_(version), reader_(shape, version) {}

 private:
  const task::ProtocolVersion version_;
  const ObjectReader reader_;
};

ClientDialectPtr make_v0_1_client();
ClientDialectPtr make_v0_3_client(task::ProtocolVersion version);  // 0.2 or 0.3
ClientDialectPtr make_v0_3_rest_client();
ClientDialectPtr make_v1_0_client(std::string tenant);
ClientDialectPtr make_v1_0_rest_client(std::string tenant);

}  // namespace baton::protocol::a2a

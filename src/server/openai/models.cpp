#include "server/openai/models.h"

#include "base/clock.h"
#include "base/text.h"
#include "json/writer.h"
#include "server/admission/access.h"

namespace baton::server::openai {
namespace {

void write_model(json::Writer& out, const agents::Agent& agent) {
  out.object([&] {
    out.member("id", agent.name.value).member("object", "model");
    out.member("created", static_cast<std::int64_t>(base::to_ms(agent.changed) / 1000));
    out.member("owned_by", "baton");
  });
}

}  // namespace

void list_models(const RequestPtr& request) {
  std::string body;
  json::Writer out(body);
  out.object([&] {
    out.member("object", "list").key("data").array([&] {
      for (const agents::Agent* agent : request->services().catalogue.all()) {
        if (authenticate(request->services().options, request->head(), agent->name)) write_model(out, *agent);
      }
    });
  });
  request->reply(std::move(body));
}

void get_model(const RequestPtr& request) {
  const auto by = admitted_for_model(*request, request->id);
  if (!by) return request->refuse(by.error());
  std::string body;
  json::Writer out(body);
  write_model(out, *by->endpoint.agent);
  request->reply(std::move(body));
}

void refuse_model(const RequestPtr& request) {
  constexpr std::string_view kModels = "/v1/models/";
  const std::string name = base::replaced_utf8(request->head().path.substr(kModels.size()));
  request->refuse(protocol::openai::no_such_model(name));
}

}  // namespace baton::server::openai

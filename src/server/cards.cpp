#include "server/cards.h"

#include "server/a2a/negotiation.h"
#include "server/conditional.h"

namespace baton::server {
namespace {

using base::ErrorCode;
using wire::CardView;
using wire::ServedCard;

ServedCard served_card(const Services& services, const agents::Agent& agent, const CardUrls& urls) {
  ServedCard served{agent.card, urls.json_rpc, urls.rest, urls.grpc};
  served.push = services.engine.options().push_enabled;
  const ServerOptions& options = services.options;
  served.has_callers = !options.tokens.empty();
  if (!options.anonymous) {
    served.bearer = ServedCard::Bearer::required;
  } else if (!options.tokens.empty()) {
    served.bearer = ServedCard::Bearer::possible;
  }
  return served;
}

// 1.0 clients say so in a header, and may in the query (traps 18 and 22). Whatever else is said, also a
// version that does not exist, gets the card that all can read.
CardView view_for(const http::Request& request) {
  const auto version = a2a::version_of(request);
  const bool is_v1 = version && *version == task::Generation::v1_0;
  return is_v1 ? CardView::v1_0 : CardView::superset;
}

}  // namespace

http::Reply card_reply(const Services& services, const http::Request& request, const agents::Agent& agent,
                       const CardUrls& urls) {
  std::string card = wire::write_card(served_card(services, agent, urls), view_for(request));
  http::Reply reply = conditional_reply(request, std::move(card), agent.read_at);
  reply.headers.emplace_back("Cache-Control", "max-age=60");
  reply.headers.emplace_back("Vary", services.options.cors ? "A2A-Version, Origin" : "A2A-Version");
  return reply;
}

base::Result<std::string> extended_card(const Services& services, const agents::Agent& agent,
                                        const task::Caller& caller, const CardUrls& urls, CardView view) {
  const bool anonymous = caller == task::kAnonymous;
  ServedCard served = served_card(services, agent, urls);
  if (view == CardView::v0_3_rest) {
    served.extended = !anonymous;
    return wire::write_card(served, view);
  }
  if (!agent.card.extended || !served.has_callers) {
    const ErrorCode code =
        view == CardView::v1_0 ? ErrorCode::unsupported : ErrorCode::extended_card_not_configured;
    return base::fail(code, "this agent has no extended card");
  }
  if (anonymous)
    return base::fail(ErrorCode::unauthenticated, "the extended card is for callers with a token");
  served.extended = true;
  return wire::write_card(served, view);
}

}  // namespace baton::server

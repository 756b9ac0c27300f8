#include "server/pipeline/observed_exchange.h"

#include "server/admission/access.h"
#include "server/admission/resource_metadata.h"

namespace baton::server {
ObservedExchange::ObservedExchange(const Services& services, std::shared_ptr<http::Exchange> exchange)
    : services_(services), exchange_(std::move(exchange)) {
  if (services.watch) note_ = std::make_shared<RequestNote>(services.watch, exchange_->request());
}

// Counts a request that was not answered here: the connection layer answered it, or the client had left.
ObservedExchange::~ObservedExchange() {
  count(0, 0);
}

void ObservedExchange::reached(const agents::Agent& agent, Protocol protocol) {
  agent_ = &agent;
  protocol_ = protocol;
  if (note_) note_->reached(agent.name.value, protocol);
}

void ObservedExchange::reply(http::Reply reply) {
  count(reply.status, reply.body.size());
  complete_challenge(services_.options, request(), reply);
  reply.headers = with_cors(std::move(reply.headers));
  exchange_->reply(std::move(reply));
}

void ObservedExchange::open_stream(Headers headers, http::StreamOpener opener) {
  constexpr int kOk = 200;
  count(kOk, 0);
  if (note_) opener = noted(std::move(opener), note_);
  exchange_->open_stream(with_cors(std::move(headers)), std::move(opener));
}

void ObservedExchange::reply_stream(Headers headers, std::string events, std::shared_ptr<const void> held) {
  constexpr int kOk = 200;
  count(kOk, events.size());
  exchange_->reply_stream(with_cors(std::move(headers)), std::move(events), std::move(held));
}

ObservedExchange::Headers ObservedExchange::with_cors(Headers headers) const {
  if (!adds_cors_) return headers;
  for (auto& header : cors_headers(services_.options, request())) headers.push_back(std::move(header));
  return headers;
}

void ObservedExchange::count(int status, std::size_t bytes) {
  if (counted_.exchange(true)) return;
  if (note_) note_->answered(status, bytes);
  if (services_.requests != nullptr) {
    services_.requests->note(agent_, protocol_, status, base::SteadyTime::now() - begin_);
  }
}

}  // namespace baton::server

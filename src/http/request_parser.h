// RequestParser: parses whole requests, one after another, from a connection's bytes, under limits.
//
// Pure: uses neither sockets nor clocks. After a refusal the end of the request is unknown, so the connection
// must be answered and closed. It holds no memory between requests.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "http/chunked_body.h"
#include "http/http_server.h"
#include "http/request_head.h"

namespace baton::http {

class RequestParser {
 public:
  enum class State {
    idle,      // no byte of a request received
    head,      // within the head
    asking,    // the head is complete, and a large body may follow: call `decide`
    body,      // the head is complete, the body is not
    complete,  // call `take`
    refused,   // see `refusal`; final
  };

  // The limits must outlive the parser. `asks`: it enters the state `asking` before a body that may be larger
  // than Limits::stranger_body_max. Otherwise any sender may send one.
  explicit RequestParser(const Limits& limits, bool asks = false) : limits_(&limits), asks_(asks) {}

  // Sets what every request says about its sender. Call before the first byte; the address must outlive the
  // parser.
  void set_sender(std::string_view address, std::shared_ptr<const tls::Peer> certificate) {
    address_ = address;
    certificate_ = std::move(certificate);
  }

  // Consumes bytes up to the end of one request and returns how many. Consumes none while asking, and once
  // complete or refused.
  std::size_t feed(std::string_view bytes);
  // Ends the state `asking`.
  void decide(LargeBody large_body);
  State state() const { return state_; }
  const Refusal& refusal() const { return refusal_; }
  // The part of the request parsed up to now, which determines the form of a refusal. Null before the request
  // line is complete.
  const ParsedRequest* parsed() const { return parsed_.get(); }
  std::size_t body_bytes() const { return parsed_ ? parsed_->request.body.size() : 0; }
  // True once for each request whose sender waits for "100 Continue" and has not sent any of the body.
  bool take_continue();
  // Returns the complete request and starts the next one.
  ParsedRequest take();

 private:
  std::size_t feed_head(std::string_view bytes);
  void end_line(std::string_view line);
  void refuse_long_line(bool is_head_full);
  void end_head();
  void begin_body();
  std::size_t feed_body(std::string_view bytes);
  std::size_t body_max() const;
  void refuse_too_large();
  void refuse(Refusal refusal);

  const Limits* limits_;
  bool asks_;
  State state_ = State::idle;
  bool owes_continue_ = false;
  LargeBody large_body_ = LargeBody::allowed;
  int blank_lines_ = 0;  // before the request line
  std::size_t head_bytes_ = 0;
  std::string line_;  // the beginning of an incomplete line
  HeadParser head_;
  ChunkedBody chunks_;
  Refusal refusal_{0, {}};
  std::string_view address_;
  std::shared_ptr<const tls::Peer> certificate_;
  std::unique_ptr<ParsedRequest> parsed_;  // null before the request line is complete
};

}  // namespace baton::http

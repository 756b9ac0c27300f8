// Bytes of connections: requests, answers, streams of events, lines of agents, addresses.
#include <optional>

#include "agents/command/line_splitter.h"
#include "base/text.h"
#include "base/trace_context.h"
#include "fuzz/target.h"
#include "http/chunked_body.h"
#include "http/request_parser.h"
#include "outbound/address.h"
#include "outbound/answer_parser.h"
#include "outbound/http_client.h"
#include "outbound/proxy.h"
#include "protocol/sse/sse_reader.h"
#include "protocol/sse/sse_writer.h"

namespace baton::fuzz {
namespace {

// Small enough for inputs of a few KiB to reach them.
http::Limits limits() {
  http::Limits small;
  small.body_max = 2'048;
  small.header_bytes_max = 1'024;
  small.header_lines_max = 20;
  return small;
}

std::string shown(const http::ParsedRequest& parsed) {
  const http::Request& request = parsed.request;
  std::string text = request.method + " " + request.raw_path + " " + request.path + "\n";
  for (const auto& [name, value] : request.query) text += name + "=" + value + "\n";
  for (const auto& [name, value] : request.headers) text += name + ": " + value + "\n";
  return text + std::to_string(parsed.keep_alive) + std::to_string(parsed.http_1_0) + "\n" + request.body;
}

// Reads requests until the input ends or one is refused.
class Requests {
 public:
  bool feed(std::string_view bytes) {
    while (!bytes.empty()) {
      const std::size_t used = parser_.feed(bytes);
      require(used <= bytes.size(), "the parser used more bytes than there are");
      bytes.remove_prefix(used);
      if (parser_.state() == http::RequestParser::State::complete) {
        log += shown(parser_.take()) + "\n\n";
      } else if (parser_.state() == http::RequestParser::State::refused) {
        log += "refused " + std::to_string(parser_.refusal().status) + std::string(parser_.refusal().reason);
        require(parser_.refusal().status >= 400 && parser_.refusal().status < 600, "a refusal is an error");
        return false;
      } else {
        require(bytes.empty(), "the parser left bytes of an unfinished request");
      }
    }
    return true;
  }
  std::string log;

 private:
  const http::Limits limits_ = limits();
  http::RequestParser parser_{limits_};
};

void request(std::string_view input) {
  Requests whole, pieces;
  whole.feed(input);
  in_pieces(input, [&](std::string_view piece) { return pieces.feed(piece); });
  require_same(whole.log, pieces.log, "a request depends on how its bytes arrive");
}

void chunks(std::string_view input) {
  constexpr std::size_t kMax = 1'024;
  http::ChunkedBody whole, cut;
  std::string body, other;
  const std::size_t used = whole.feed(input, body, kMax);
  std::size_t used_cut = 0;
  in_pieces(input, [&](std::string_view piece) {
    used_cut += cut.feed(piece, other, kMax);
    return cut.state() == http::ChunkedBody::State::reading;
  });
  require(used == used_cut && whole.state() == cut.state(), "chunks end elsewhere if they come in pieces");
  require_same(body, other, "a chunked body depends on how its bytes arrive");
  require(body.size() <= kMax, "a chunked body is over its bound");
}

struct Answer {
  outbound::AnswerParser parser;
  std::string body, buffer;

  bool feed(std::string_view bytes) {
    using State = outbound::AnswerParser::State;
    while (true) {
      std::string_view piece;
      const std::size_t used = parser.feed(bytes, buffer, piece);
      require(used <= bytes.size(), "the parser used more bytes than there are");
      body += piece;
      bytes.remove_prefix(used);
      const State state = parser.state();
      if (state == State::begun) {
        parser.begin_body();
      } else if (state == State::done || state == State::malformed) {
        return false;
      } else if (bytes.empty()) {
        return true;
      }
    }
  }
  std::string log() const {
    std::string text =
        std::to_string(parser.head().status) + std::to_string(static_cast<int>(parser.state()));
    if (parser.state() == outbound::AnswerParser::State::malformed) return text;
    for (const auto& [name, value] : parser.head().headers) text += "\n" + name + ": " + value;
    return text + "\n" + std::to_string(parser.stays_open()) + "\n" + body;
  }
};

void answer(std::string_view input) {
  Answer whole, pieces;
  whole.feed(input);
  in_pieces(input, [&](std::string_view piece) { return pieces.feed(piece); });
  whole.parser.end();
  pieces.parser.end();
  require_same(whole.log(), pieces.log(), "an answer depends on how its bytes arrive");
}

struct Events {
  protocol::SseReader reader{512};
  std::vector<protocol::SseEvent> events;
  std::string log;

  bool feed(std::string_view piece) {
    const auto more = reader.feed(piece, [&](const protocol::SseEvent& event) {
      require(base::is_utf8(event.data), "the data of an event is not UTF-8");
      log += event.type + "|" + event.data + "|" + std::to_string(event.numbered) + reader.last_id() + "\n";
      events.push_back(event);
      return event.type != "stop";
    });
    if (!more) log += more.error().for_caller;
    return more.value_or(false);
  }
};

void sse(std::string_view input) {
  Events whole, pieces, again;
  whole.feed(input);
  in_pieces(input, [&](std::string_view piece) { return pieces.feed(piece); });
  require_same(whole.log, pieces.log, "events depend on how their bytes arrive");
  require(whole.reader.retry() == pieces.reader.retry() || !whole.log.empty(), "retry differs");
  // What this program writes is what it reads.
  std::string written;
  std::vector<std::string> data;
  for (const protocol::SseEvent& event : whole.events) {
    if (event.data.find('\n') != std::string::npos) continue;
    protocol::append_sse(written, 1 + static_cast<std::int64_t>(data.size()), event.data);
    data.push_back(event.data);
  }
  again.feed(written);
  require(again.events.size() == data.size(), "a written event is not read");
  for (std::size_t i = 0; i < data.size(); ++i) {
    require_same(again.events[i].data, data[i], "a written event is read as another one");
  }
}

void lines(std::string_view input) {
  constexpr std::size_t kMax = 200;
  const auto read = [&](agents::LineSplitter& splitter, std::string_view piece, std::string& log) {
    return splitter.feed(piece, [&](std::string_view line) {
      require(line.size() <= kMax && line.find('\n') == std::string_view::npos, "a line is no line");
      log.append(line) += '\n';
      return true;
    });
  };
  agents::LineSplitter whole(kMax), cut(kMax);
  std::string log, other;
  const bool good = read(whole, input, log);
  bool good_cut = true;
  in_pieces(input, [&](std::string_view piece) { return good_cut = read(cut, piece, other); });
  require(good == good_cut, "a line is too long only if it comes at once, or in pieces");
  if (good) {
    whole.finish([&](std::string_view line) { return !log.append(line).empty(); });
    cut.finish([&](std::string_view line) { return !other.append(line).empty(); });
  }
  require_same(log, other, "lines depend on how their bytes arrive");
}

void url(std::string_view input) {
  const std::size_t line = input.find('\n');
  const auto read = outbound::parse_url(input.substr(0, line));
  if (!read) return;
  require(read->port > 0 && read->port < 65'536 && read->target.starts_with('/'), "a URL is incomplete");
  const std::string text = outbound::origin_of(*read) + read->target;
  const auto again = outbound::parse_url(text);
  require(again.has_value(), "a URL that was read cannot be read again");
  require_same(outbound::origin_of(*again) + again->target, text, "a URL changes if it is read again");
  for (const outbound::AddressPolicy policy : {outbound::AddressPolicy(), outbound::AddressPolicy::any()}) {
    static_cast<void>(outbound::check_target(*read, policy).has_value());
  }
  outbound::Proxy proxy;
  proxy.url = "http://proxy.example.org:3128";
  static_cast<void>(outbound::check_target(*read, outbound::AddressPolicy(), proxy).has_value());
  if (line == std::string_view::npos) return;
  // A reference of the same origin stays there: redirects are followed only then.
  const auto moved = outbound::resolved(*read, input.substr(line + 1));
  if (moved)
    require(outbound::parse_url(outbound::origin_of(*moved) + moved->target).has_value(), "it is no URL");
}

void address(std::string_view input) {
  // The name of an interface, and what C's functions do not see.
  if (input.find_first_of(std::string_view("%\0", 2)) != std::string_view::npos) return;
  const std::string text(input);
  if (outbound::is_public_address(text)) {
    require(outbound::is_allowed_address(text, {}), "a public address is not allowed");
  }
  if (outbound::is_allowed_address(text, {})) {
    require(outbound::is_public_address(text), "an address is allowed that is not public");
    require(outbound::is_allowed_address(text, outbound::AddressPolicy::any()),
            "a policy that allows all refuses");
    require(!outbound::is_this_machine(text), "an address of this machine is public");
  }
}

void tunnel(std::string_view input) {
  std::string got;
  bool is_open = false;
  in_pieces(input, [&](std::string_view piece) {
    got += piece;
    const auto opens = outbound::opens_tunnel(got);
    is_open = opens.value_or(false);
    return opens.has_value() && !*opens;
  });
  static_cast<void>(is_open);
}

void traceparent(std::string_view input) {
  const std::string read = base::read_traceparent(input);
  if (read.empty()) return;
  require_same(base::read_traceparent(read), read, "a traceparent changes if it is read again");
  require(base::trace_id_of(read).size() == 32 && base::span_id_of(read).size() == 16, "an id is too short");
}

const Targets kTargets{{"http-request", request},
                       {"http-chunks", chunks},
                       {"http-answer", answer},
                       {"sse", sse},
                       {"lines", lines},
                       {"url", url},
                       {"address", address},
                       {"proxy-answer", tunnel},
                       {"traceparent", traceparent}};

}  // namespace
}  // namespace baton::fuzz

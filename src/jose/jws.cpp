#include "jose/jws.h"

#include <algorithm>
#include <array>

#include "jose/base64url.h"
#include "json/document.h"

namespace baton::jose {
namespace {

constexpr std::size_t kNameMax = 512;  // of kid and typ
// Bounds of the header: anybody may send one, and it is read before the signature is checked.
constexpr std::size_t kHeaderMax = 2'048, kMembersMax = 16;

tl::unexpected<base::Error> wrong(std::string reason) {
  return base::fail(base::ErrorCode::invalid_argument, "the token is not valid", std::move(reason));
}

bool is_digit(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

bool looks_like_jws(std::string_view text) {
  if (!text.starts_with("ey") || std::ranges::count(text, '.') != 2) return false;
  return std::ranges::all_of(text, [](char c) { return is_digit(c) || c == '.'; });
}

base::Result<JwsHeader> parse_jws_header(std::string_view text) {
  if (text.size() > kHeaderMax) return wrong("its header is too long");
  const auto header = decode_base64url(text);
  if (!header) return wrong("a part of it is not base64url");
  const auto document = json::Document::parse_view(*header, {.depth_max = 5});
  if (!document || !document->root().is_object()) return wrong("its header is not a JSON object");
  const json::Value members = document->root();
  if (members.size() > kMembersMax) return wrong("its header has too many members");
  for (const json::Value member : members) {
    if (members.repeats(member.key())) return wrong("its header repeats a member");
  }
  for (const char* name : {"crit", "b64", "enc", "zip"}) {
    if (!members[name].missing()) return wrong("its header has " + std::string(name));
  }
  const json::Value kid = members["kid"], typ = members["typ"];
  const auto is_name = [](json::Value value) {
    return value.missing() || (value.is_string() && value.string().size() <= kNameMax);
  };
  if (!is_name(kid) || !is_name(typ)) return wrong("its kid or typ is not a short string");
  const auto algorithm = algorithm_named(members["alg"].string());
  if (!algorithm) return wrong("its alg is not accepted");
  return JwsHeader{*algorithm, kid.str(), typ.str()};
}

base::Result<Jws> parse_jws(std::string_view text) {
  if (text.size() > kJwsBytesMax) return wrong("it is larger than 16 KiB");
  const std::size_t first = text.find('.'), last = text.rfind('.');
  if (first == last || text.find('.', first + 1) != last) return wrong("it does not have three parts");
  auto header = parse_jws_header(text.substr(0, first));
  if (!header) return base::fail(std::move(header.error()));
  auto payload = decode_base64url(text.substr(first + 1, last - first - 1));
  auto signature = decode_base64url(text.substr(last + 1));
  if (!payload || !signature) return wrong("a part of it is not base64url");
  return Jws{header->algorithm,   std::move(header->kid), std::move(header->typ),
             std::move(*payload), std::move(*signature),  text.substr(0, last)};
}

bool is_signed_by(const Jws& jws, const Jwk& key) {
  return key.serves(jws.algorithm) && key.key.verifies(jws.algorithm, jws.signed_text, jws.signature);
}

base::Result<std::string> sign_jws(const Key& key, Algorithm algorithm, std::string_view header,
                                   std::string_view payload) {
  std::string members = R"({"alg":")" + std::string(name_of(algorithm)) + '"';
  if (!header.empty()) members.append(",").append(header);
  members += '}';
  std::string text = encode_base64url(members) + "." + encode_base64url(payload);
  const auto signature = key.sign(algorithm, text);
  if (!signature) return base::fail(signature.error());
  return text + "." + encode_base64url(*signature);
}

}  // namespace baton::jose

#include "protocol/a2a/baton_extension.h"

#include "json/writer.h"

namespace baton::protocol {
namespace {

using base::ErrorCode;
using base::fail;

void write_others(json::Writer& out, json::Value metadata) {
  for (const json::Value member : metadata) {
    if (member.key() != kBatonExtension) out.key(member.key()).raw(member.raw());
  }
}

}  // namespace

base::Result<NumbersWish> read_numbers_wish(json::Value metadata, const std::string& name) {
  NumbersWish wish;
  const json::Value member = metadata[kBatonExtension];
  wish.given = !metadata["lastEventId"].absent();
  if (member.absent()) return wish;
  const std::string path = name + "[\"" + std::string(kBatonExtension) + "\"]";
  if (!member.is_object()) return fail(ErrorCode::invalid_argument, path + ": must be an object");
  const json::Value every = member["eventNumbers"], start = member["startAt"];
  if (!every.absent() && !every.is_bool()) {
    return fail(ErrorCode::invalid_argument, path + ".eventNumbers: must be true or false");
  }
  wish.every = every.is_bool() && every.boolean();
  wish.given = true;
  if (start.absent()) return wish;
  const auto number = start.integer();
  if (!number || *number < 1) {
    return fail(ErrorCode::invalid_argument, path + ".startAt: must be a whole number from 1");
  }
  wish.start_at = task::EventNumber{*number};
  return wish;
}

task::Json without_extension(json::Value metadata) {
  if (metadata.absent()) return {};
  if (metadata[kBatonExtension].missing()) return metadata.json();
  task::Json others;
  json::Writer out(others.text);
  if (metadata.size() > 1) out.object([&] { write_others(out, metadata); });
  return others;
}

task::Json with_from(const task::Json& metadata, task::EventNumber from) {
  const auto document = json::Document::view_of(metadata.text);
  task::Json marked;
  json::Writer out(marked.text);
  out.object([&] {
    write_others(out, document.root());
    out.key(kBatonExtension).object([&] { out.member("from", from.value); });
  });
  return marked;
}

}  // namespace baton::protocol

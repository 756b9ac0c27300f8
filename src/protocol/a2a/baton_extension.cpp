#include "protocol/a2a/baton_extension.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/text.h"
#include "json/writer.h"

namespace baton::protocol {
namespace {

using base::ErrorCode;
using base::fail;

std::string extension_path(const std::string& metadata) {
  return metadata + "[\"" + std::string(kBatonExtension) + "\"]";
}

void write_others(json::Writer& out, json::Value metadata) {
  for (const json::Value member : metadata) {
    if (member.key() != kBatonExtension) out.key(member.key()).raw(member.raw());
  }
}

// Returns the metadata with the extension's member replaced by the value that `write` writes.
task::Json marked(const task::Json& metadata,
                  const std::function<void(json::Writer& out, json::Value before)>& write) {
  const auto document = json::Document::view_of(metadata.text);
  task::Json marked;
  json::Writer out(marked.text);
  out.object([&] {
    write_others(out, document.root());
    out.key(kBatonExtension).object([&] { write(out, document.root()[kBatonExtension]); });
  });
  return marked;
}

// A limit of a budget; `counts` is null for the time, which is in seconds.
struct Limit {
  std::string_view name;
  std::optional<std::int64_t> task::Budget::*counts;
  std::int64_t most;
};
constexpr std::array kLimits{Limit{"max_tokens", &task::Budget::tokens, task::kBudgetMax},
                             Limit{"max_children", &task::Budget::children, task::kBudgetMax},
                             Limit{"max_depth", &task::Budget::depth, task::kBudgetMax},
                             Limit{"max_rounds", &task::Budget::rounds, task::kBudgetMax},
                             Limit{"max_wall_s", nullptr, task::kBudgetSecondsMax}};

const Limit* limit_named(std::string_view name) {
  const auto* const found = std::ranges::find(kLimits, name, &Limit::name);
  return found == kLimits.end() ? nullptr : &*found;
}

}  // namespace

bool repeats_safely(const task::AgentCard& card) {
  return std::ranges::any_of(card.extensions, [](const task::Extension& extension) {
    const auto params = json::Document::view_of(extension.params.text);
    return extension.uri == kBatonExtension && params.root()["idempotentSend"].boolean();
  });
}

bool has_baton_extension(const task::AgentCard& card) {
  return std::ranges::count(card.extensions, kBatonExtension, &task::Extension::uri) > 0;
}

base::Result<NumbersWish> read_send_numbers(json::Value metadata, const std::string& name) {
  NumbersWish wish;
  const json::Value member = metadata[kBatonExtension];
  wish.given = !metadata["lastEventId"].absent();
  if (member.absent()) return wish;
  const std::string path = extension_path(name);
  if (!member.is_object()) return fail(ErrorCode::invalid_argument, path + ": must be an object");
  const json::Value every = member["eventNumbers"];
  if (!every.absent() && !every.is_bool()) {
    return fail(ErrorCode::invalid_argument, path + ".eventNumbers: must be true or false");
  }
  wish.every = every.is_bool() && every.boolean();
  wish.given = true;
  return wish;
}

base::Result<NumbersWish> read_numbers_wish(json::Value metadata, const std::string& name) {
  auto wish = read_send_numbers(metadata, name);
  const json::Value start = metadata[kBatonExtension]["startAt"];
  if (!wish || start.absent()) return wish;
  const auto number = start.integer();
  if (!number || *number < 1) {
    return fail(ErrorCode::invalid_argument,
                extension_path(name) + ".startAt: must be a whole number from 1");
  }
  wish->start_at = task::EventNumber{*number};
  return wish;
}

base::Result<std::optional<base::Timestamp>> read_start_time(json::Value metadata, const std::string& name) {
  const json::Value start = metadata[kBatonExtension]["startAt"];
  if (start.absent() || start.integer()) return std::optional<base::Timestamp>();
  const auto time = start.is_string() ? base::parse_rfc3339(start.string()) : std::nullopt;
  if (!time) {
    return fail(ErrorCode::invalid_argument,
                extension_path(name) + ".startAt: must be a time such as \"2027-01-31T08:00:00+01:00\"");
  }
  return time;
}

base::Result<std::vector<std::string>> read_hops(json::Value metadata, const std::string& name) {
  constexpr std::size_t kHopMax = 300, kHopsMax = 100;
  const json::Value list = metadata[kBatonExtension]["hops"];
  std::vector<std::string> hops;
  if (list.absent()) return hops;
  const auto wrong = fail(ErrorCode::invalid_argument, name + "[\"" + std::string(kBatonExtension) +
                                                           "\"].hops: must be a list of short strings");
  if (!list.is_array() || list.size() > kHopsMax) return wrong;
  for (const json::Value hop : list) {
    if (!hop.is_string() || hop.string().empty() || hop.string().size() > kHopMax) return wrong;
    hops.push_back(hop.str());
  }
  return hops;
}

base::Result<std::string> read_ask(json::Value metadata, const std::string& name) {
  const json::Value ask = metadata[kBatonExtension]["ask"];
  if (ask.absent() || ask.is_string()) return ask.str();
  return fail(ErrorCode::invalid_argument,
              name + "[\"" + std::string(kBatonExtension) + "\"].ask: must be a string");
}

std::string asking_agent(const task::Json& metadata) {
  const auto document = json::Document::view_of(metadata.text);
  std::string agent;
  for (const json::Value asker : document.root()[kBatonExtension]["askedBy"]) agent = asker["agent"].str();
  return agent;
}

base::Result<std::shared_ptr<const task::Budget>> read_budget(json::Value metadata, const std::string& name) {
  const json::Value given = metadata[kBatonExtension]["budget"];
  if (given.absent()) return nullptr;
  const std::string path = extension_path(name) + ".budget";
  if (!given.is_object()) return fail(ErrorCode::invalid_argument, path + ": must be an object");
  task::Budget budget;
  for (const json::Value member : given) {
    const std::string place = path + "." + std::string(base::beginning_of(member.key(), 200));
    const Limit* limit = limit_named(member.key());
    if (limit == nullptr) return fail(ErrorCode::invalid_argument, place + ": is not a known limit");
    const auto number = member.integer();
    if (!number || *number < 0 || *number > limit->most) {
      return fail(ErrorCode::invalid_argument,
                  place + ": must be a whole number from 0 to " + std::to_string(limit->most));
    }
    if (limit->counts != nullptr) budget.*(limit->counts) = *number;
    if (limit->counts == nullptr) budget.wall = std::chrono::seconds(*number);
  }
  if (budget.empty()) return nullptr;
  return std::make_shared<const task::Budget>(budget);
}

task::Json with_hops(const task::Json& metadata, const std::vector<std::string>& hops,
                     const task::Budget& budget) {
  return marked(metadata, [&](json::Writer& out, json::Value) {
    out.key("hops").strings(hops);
    if (budget.empty()) return;
    out.key("budget").object([&] {
      for (const Limit& limit : kLimits) {
        if (limit.counts != nullptr && budget.*(limit.counts))
          out.member(limit.name, *(budget.*(limit.counts)));
      }
      if (!budget.wall) return;
      const auto seconds = std::chrono::ceil<std::chrono::seconds>(*budget.wall).count();
      out.member("max_wall_s", std::clamp<std::int64_t>(seconds, 0, task::kBudgetSecondsMax));
    });
  });
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
  return marked(metadata, [from](json::Writer& out, json::Value) { out.member("from", from.value); });
}

task::Json with_usage(const task::Json& metadata, const task::Status& status) {
  const task::Taken& taken = status.taken;
  if (taken.tokens == 0 && taken.children == 0) return metadata;
  return marked(metadata, [&](json::Writer& out, json::Value before) {
    for (const json::Value member : before) {
      if (member.key() != "usage") out.key(member.key()).raw(member.raw());
    }
    out.key("usage").object([&] { out.member("tokens", taken.tokens).member("children", taken.children); });
  });
}

task::Taken read_usage(const task::Json& metadata) {
  const auto document = json::Document::view_of(metadata.text);
  const json::Value usage = document.root()[kBatonExtension]["usage"];
  const auto count = [&](std::string_view name) {
    return std::clamp<std::int64_t>(usage[name].integer().value_or(0), 0, task::kReportMax);
  };
  return {count("tokens"), count("children")};
}

}  // namespace baton::protocol

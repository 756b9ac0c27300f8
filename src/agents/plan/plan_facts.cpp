#include "agents/plan/plan_facts.h"

#include <algorithm>
#include <array>

#include "json/document.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

using What = PlanRecord::What;

constexpr std::array<std::string_view, 10> kNames{"began",  "begin", "end",    "choose", "due",
                                                  "settle", "undo",  "cancel", "gone",   "lose"};

bool stands_below(const std::string& path, const std::string& around) {
  return path.starts_with(around) &&
         (path.size() == around.size() || path[around.size()] == '/' || path[around.size()] == '[');
}

}  // namespace

void PlanFacts::add(const PlanRecord& record) {
  const PlanEnd end{record.failure, record.text};
  if (!end.failure.empty()) failures_bytes_ += end.text.size();
  switch (record.what) {
    case What::began:
      plan_ = record.text;
      begun_ = record.at;
      return;
    case What::begin: {
      Attempts& attempts = attempts_[record.path];
      open_.insert(record.path);
      const bool is_first = attempts.first == base::Timestamp{};
      attempts = {record.number,  true, record.at, {}, {}, is_first ? record.at : attempts.first,
                  attempts.tokens};
      ++children_;
      return;
    }
    case What::end: {
      Attempts& attempts = attempts_[record.path];
      open_.erase(record.path);
      attempts.open = false;
      attempts.ended = record.at;
      attempts.end = end;
      attempts.called_off = end.failure == "canceled" && end.text == kNotNeeded;
      attempts.tokens += record.tokens;
      tokens_ += record.tokens;
      children_ += record.children;
      (end.failure.empty() ? done_ : failed_).push_back(record.path);
      return;
    }
    case What::choose:
      chosen_[record.path] = record.number;
      return;
    case What::due:
      due_[record.path] = record.at;
      return;
    case What::settle:
      settled_[record.path] = end;
      (end.failure.empty() ? done_ : failed_).push_back(record.path);
      return;
    case What::undo:
      undoing_ = end;
      undone_from_ = record.at;
      taken_before_undoing_ = {record.tokens, record.children};
      for (const PlanCall& late : late_) take_late(late);
      return;
    case What::cancel:
      canceled_.insert(name_of_call(record.path, record.number));
      return;
    case What::gone:
      canceled_.erase(name_of_call(record.path, record.number));
      if (record.text != kDoneLate) return;
      done_.push_back(record.path);
      late_.push_back({record.path, record.number});
      if (undoing_ || !lost_around(record.path).empty()) take_late(late_.back());
      return;
    case What::lose:
      lost_.insert(record.path);
      for (const PlanCall& late : late_) {
        if (stands_below(late.path, record.path)) take_late(late);
      }
      return;
  }
}

// Gives the attempt a successful end, for the step that undoes it.
void PlanFacts::take_late(const PlanCall& late) {
  Attempts& attempts = attempts_[late.path];
  if (attempts.number != late.attempt || attempts.open) return;
  attempts.end = {};
  attempts.called_off = false;
}

const PlanFacts::Attempts* PlanFacts::attempts(const std::string& path) const {
  const auto found = attempts_.find(path);
  return found == attempts_.end() ? nullptr : &found->second;
}

std::optional<int> PlanFacts::chosen(const std::string& path) const {
  const auto found = chosen_.find(path);
  return found == chosen_.end() ? std::nullopt : std::optional(found->second);
}

std::optional<base::Timestamp> PlanFacts::due(const std::string& path) const {
  const auto found = due_.find(path);
  return found == due_.end() ? std::nullopt : std::optional(found->second);
}

const PlanEnd* PlanFacts::settled(const std::string& path) const {
  const auto found = settled_.find(path);
  return found == settled_.end() ? nullptr : &found->second;
}

std::vector<std::string> PlanFacts::open_below(const std::string& path) const {
  std::vector<std::string> paths;
  for (auto one = open_.lower_bound(path); one != open_.end() && one->starts_with(path); ++one) {
    if (stands_below(*one, path)) paths.push_back(*one);
  }
  return paths;
}

std::string PlanFacts::lost_around(const std::string& path) const {
  if (lost_.empty()) return {};
  for (std::size_t end = path.find_first_of("/["); end != std::string::npos;
       end = path.find_first_of("/[", end + 1)) {
    if (std::string around = path.substr(0, end); lost_.contains(around)) return around;
  }
  return lost_.contains(path) ? path : std::string();
}

std::size_t PlanFacts::bytes() const {
  constexpr std::size_t kAttempts = 300, kOther = 100;
  return plan_.size() + failures_bytes_ + kAttempts * attempts_.size() +
         kOther * (chosen_.size() + settled_.size() + done_.size() + failed_.size() + open_.size() +
                   canceled_.size());
}

std::string name_of_call(const std::string& path, int attempt) {
  return path + "#" + std::to_string(attempt);
}

PlanCall parse_call(const std::string& name) {
  const std::size_t mark = name.rfind('#');
  if (mark == std::string::npos) return {};
  return {name.substr(0, mark), std::atoi(name.c_str() + mark + 1)};
}

task::Json write_records(const std::vector<PlanRecord>& records) {
  task::Json text;
  json::Writer out(text.text);
  out.each(records, [&](const PlanRecord& record) {
    out.object([&] {
      out.member("is", kNames.at(static_cast<std::size_t>(record.what))).optional("path", record.path);
      if (record.number != 0) out.member("number", record.number);
      if (record.at != base::Timestamp{}) out.member("at", base::to_ms(record.at));
      out.optional("failure", record.failure).optional("text", record.text);
      if (record.tokens != 0) out.member("tokens", record.tokens);
      if (record.children != 0) out.member("children", record.children);
    });
  });
  return text;
}

std::vector<PlanRecord> read_records(const task::Json& text) {
  std::vector<PlanRecord> records;
  const auto document = json::Document::view_of(text.text);
  for (const json::Value from : document.root()) {
    const auto name = std::ranges::find(kNames, from["is"].string());
    if (name == kNames.end()) continue;
    PlanRecord& record = records.emplace_back();
    record.what = static_cast<What>(name - kNames.begin());
    record.path = from["path"].str();
    record.number = static_cast<int>(from["number"].integer().value_or(0));
    record.at = base::from_ms(from["at"].integer().value_or(0));
    record.failure = from["failure"].str();
    record.text = from["text"].str();
    record.tokens = from["tokens"].integer().value_or(0);
    record.children = from["children"].integer().value_or(0);
  }
  return records;
}

}  // namespace baton::agents

#include "store/postgres/lane/write_log.h"

#include <algorithm>

#include "store/postgres/lane/dialect.h"

namespace baton::store::postgres {
namespace {

constexpr std::size_t kTextBlock = 256 << 10;
// Far below PostgreSQL's limit of 1 GB.
constexpr std::size_t kSetBytesMax = 32u << 20;

}  // namespace

std::string_view WriteLog::kept(std::string_view text) {
  if (text.empty()) return "";  // a null pointer would be stored as null
  if (texts_.empty() || texts_.back().capacity() - texts_.back().size() < text.size()) {
    texts_.emplace_back();
    texts_.back().reserve(std::max(kTextBlock, text.size()));
  }
  std::string& block = texts_.back();
  const std::size_t at = block.size();
  block += text;
  return std::string_view(block).substr(at);
}

void WriteLog::put(const char* sql, Parameters parameters, bool is_alone) {
  writes_.push_back({sql, parameters_.size(), parameters.size(), is_alone});
  for (sql::Parameter parameter : parameters) {
    parameter.bytes = kept(parameter.bytes);
    parameters_.push_back(parameter);
  }
}

void WriteLog::clear() {
  writes_.clear();
  parameters_.clear();
  // Keeps one block for the next group.
  if (texts_.size() > 1 || (!texts_.empty() && texts_.front().capacity() > kTextBlock)) texts_.clear();
  if (!texts_.empty()) texts_.front().clear();
  rewind();
}

void WriteLog::rewind() {
  sent_ = 0;
  // The connection may have been lost while sets were pending.
  pending_.clear();
  updated_.clear();
  pending_bytes_ = 0;
}

const std::optional<SetForm>& WriteLog::form_of(const Write& write) {
  const auto known = forms_.find(write.sql);
  if (known != forms_.end()) return known->second;
  return forms_.try_emplace(write.sql, set_form(translated(write.sql), write.count)).first->second;
}

// Whether another pending statement updates the same row.
bool WriteLog::meets_another(const Write& write, const SetForm& set) const {
  if (!set.key) return false;
  const auto table = updated_.find(set.table);
  if (table == updated_.end()) return false;
  const auto row = table->second.find(parameters_of(write)[*set.key].number);
  return row != table->second.end() && row->second.first != write.sql;
}

void WriteLog::put_aside(std::size_t run, const SetForm& set) {
  const Write& write = writes_[run];
  auto pending = std::ranges::find(pending_, write.sql, &Pending::sql);
  if (pending == pending_.end()) {
    pending_.push_back({write.sql, &set, {}});
    pending = pending_.end() - 1;
  }
  if (set.key) {
    auto& rows = updated_[set.table];
    const auto [row, is_new] =
        rows.try_emplace(parameters_of(write)[*set.key].number, write.sql, pending->runs.size());
    if (!is_new) {
      pending->runs[row->second.second].last = run;
      return;
    }
  }
  pending->runs.push_back({run, run});
}

void WriteLog::send(Session& session) {
  for (; sent_ < writes_.size(); ++sent_) {
    const Write& write = writes_[sent_];
    const auto& set = form_of(write);
    if (set && !write.is_alone) {
      if (meets_another(write, *set)) send_sets(session);
      put_aside(sent_, *set);
      for (const sql::Parameter& parameter : parameters_of(write)) pending_bytes_ += parameter.bytes.size();
      if (pending_bytes_ > kSetBytesMax) send_sets(session);
    } else {
      send_sets(session);
      session.send(write.sql, parameters_of(write));
    }
  }
  send_sets(session);
}

// Sends new rows first, because other statements may update them.
void WriteLog::send_sets(Session& session) {
  for (const bool inserts : {true, false}) {
    for (Pending& pending : pending_) {
      if (pending.set->key.has_value() != inserts) send_set(session, pending);
    }
  }
  pending_.clear();
  updated_.clear();
  pending_bytes_ = 0;
}

void WriteLog::send_set(Session& session, Pending& pending) const {
  const auto guard = pending.set->guard;
  if (pending.runs.size() == 1 && !guard)
    return session.send(pending.sql, parameters_of(pending.runs.front()));
  // Sorts by key, because every writer locks rows in the order of their keys.
  if (const auto key = pending.set->key) {
    std::ranges::sort(pending.runs, {}, [&](const Run& run) { return parameters_of(run)[*key].number; });
  }
  std::vector<Link::Array> arrays;
  const Parameters first = parameters_of(pending.runs.front());
  for (std::size_t i = 0; i < first.size(); ++i) {
    ArrayWriter array(first[i].kind, pending.runs.size());
    for (const Run& run : pending.runs)
      array.add(parameters_of(i == guard ? writes_[run.first] : writes_[run.last])[i]);
    arrays.push_back(array.take());
  }
  session.link().send_arrays(pending.set, pending.set->sql, arrays);
}

}  // namespace baton::store::postgres

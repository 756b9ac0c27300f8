// The objects that several answers of the operator API have in common.
//
// Threads: any; no state.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "engine/operators/operator_actions.h"
#include "json/writer.h"
#include "server/admission/access.h"
#include "server/operate/row_words.h"
#include "task/task.h"

namespace baton::server::operate {

// `words`: what else the row says; null: nothing.
void write_task_row(json::Writer& out, const store::TaskLine& line, const RowWords* words = nullptr);
// How many tasks the filter finds, if need be by looking at all of them. `exact` is false if that takes too
// long. Fails with overloaded while another thread counts: the API has two threads, and a count may keep one
// for two seconds.
base::Result<store::TaskCount> counted(const store::OperatorStore& store, std::atomic<bool>& is_counting,
                                       const store::TaskFilter& filter);
void write_count(json::Writer& out, const store::TaskCount& count);
void write_delivery(json::Writer& out, const store::DeliveryLine& line, const Operator& by);
// Shows whether a webhook has secrets, but not the secrets.
void write_config(json::Writer& out, const task::PushConfig& config, const Operator& by);

// A webhook's URL as this operator may see it. Read-only operators see it without user info and query,
// because both may contain a password.
std::string shown_url(std::string_view url, const Operator& by);

inline void write_key(json::Writer& out, std::string_view name, std::int64_t key) {
  out.member(name, std::to_string(key));
}

}  // namespace baton::server::operate

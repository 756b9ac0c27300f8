#include "agents/plan/plan_sources.h"

#include <utility>

#include "agents/plan/child_results.h"
#include "json/writer.h"

namespace baton::agents {
namespace {

// The value of a text that the caller keeps alive.
PlanValue viewed(std::string_view text) {
  auto document = std::make_shared<const json::Document>(json::Document::view_of(text));
  return {document->root(), std::move(document)};
}

std::size_t memory_of(const std::optional<PlanValue>& value) {
  return value && value->owner ? value->owner->memory() : 0;
}

}  // namespace

PlanValue parsed_value(std::string text) {
  auto parsed = json::Document::parse(std::move(text));
  if (!parsed) return {};
  auto document = std::make_shared<const json::Document>(std::move(*parsed));
  return {document->root(), std::move(document)};
}

PlanValue string_value(std::string_view text) {
  return parsed_value(json::string_of(text));
}

const std::string& PlanSources::Child::text() {
  if (!text_) text_ = text_of_result(task_);
  return *text_;
}

const PlanValue& PlanSources::Child::data() {
  if (!data_) data_ = parsed_value(data_of_result(task_).text);
  return *data_;
}

const PlanValue& PlanSources::message_text() {
  if (!text_) text_ = string_value(task::text_of(message_));
  return *text_;
}

const PlanValue& PlanSources::message_data() {
  if (!data_) {
    const task::Part* part = first_data(message_.parts);
    data_ = part == nullptr ? PlanValue() : viewed(part->content);
  }
  return *data_;
}

const PlanValue& PlanSources::message_metadata() {
  if (!metadata_) metadata_ = viewed(message_.metadata.text);
  return *metadata_;
}

std::shared_ptr<PlanSources::Child> PlanSources::child(const std::string& call, const ReadChild& read) {
  const auto known = children_.find(call);
  if (known != children_.end()) return known->second;
  auto task = read(call);
  if (!task) return nullptr;
  const std::size_t bytes = task::weight_of(*task);
  if (children_bytes_ + bytes > kChildrenMax) {
    children_.clear();
    children_bytes_ = 0;
  }
  children_bytes_ += bytes;
  return children_[call] = std::make_shared<Child>(std::move(*task));
}

std::size_t PlanSources::bytes() const {
  return bytes_ + children_bytes_ + task::weight_of(message_) + memory_of(text_) + memory_of(data_) +
         memory_of(metadata_);
}

}  // namespace baton::agents

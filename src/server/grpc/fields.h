// Reading and Writing: a message of schema/grpc/ by the names of its fields.
//
// A name that a message does not have is a fault of this program and throws. Views: the message must outlive
// them. Threads: none shared.
#pragma once

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "protocol/grpc/schema.h"

namespace baton::server::grpc {

namespace pb = google::protobuf;

inline const pb::FieldDescriptor* field_of(const pb::Message& message, const char* name) {
  const auto* field = message.GetDescriptor()->FindFieldByName(name);
  if (!field) throw std::logic_error(message.GetDescriptor()->full_name() + " has no " + name);
  return field;
}

class Reading {
 public:
  explicit Reading(const pb::Message& message) : message_(message), how_(*message.GetReflection()) {}

  bool has_field(const char* name) const { return message_.GetDescriptor()->FindFieldByName(name); }
  // Whether a message, a member of a oneof or an `optional` field is set.
  bool has(const char* name) const { return how_.HasField(message_, field(name)); }

  std::string text(const char* name) const { return how_.GetString(message_, field(name)); }
  bool truth(const char* name) const { return how_.GetBool(message_, field(name)); }
  int number(const char* name) const { return how_.GetInt32(message_, field(name)); }
  int enum_number(const char* name) const { return how_.GetEnumValue(message_, field(name)); }
  Reading child(const char* name) const { return Reading(how_.GetMessage(message_, field(name))); }
  // A field of one of protobuf's own types.
  template <class T>
  const T& as(const char* name) const {
    return static_cast<const T&>(how_.GetMessage(message_, field(name)));
  }

  int count(const char* name) const { return how_.FieldSize(message_, field(name)); }
  Reading at(const char* name, int index) const {
    return Reading(how_.GetRepeatedMessage(message_, field(name), index));
  }
  std::vector<std::string> texts(const char* name) const {
    std::vector<std::string> all;
    const auto* list = field(name);
    for (int i = 0; i < how_.FieldSize(message_, list); ++i) {
      all.push_back(how_.GetRepeatedString(message_, list, i));
    }
    return all;
  }

 private:
  const pb::FieldDescriptor* field(const char* name) const { return field_of(message_, name); }

  const pb::Message& message_;
  const pb::Reflection& how_;
};

class Writing {
 public:
  explicit Writing(pb::Message& message) : message_(message), how_(*message.GetReflection()) {}

  void text(const char* name, std::string text) const {
    how_.SetString(&message_, field(name), std::move(text));
  }
  void truth(const char* name, bool truth) const { how_.SetBool(&message_, field(name), truth); }
  void number(const char* name, int number) const { how_.SetInt32(&message_, field(name), number); }
  void enum_number(const char* name, int number) const { how_.SetEnumValue(&message_, field(name), number); }
  Writing child(const char* name) const { return Writing(*how_.MutableMessage(&message_, field(name))); }
  template <class T>
  T& as(const char* name) const {
    return static_cast<T&>(*how_.MutableMessage(&message_, field(name)));
  }

  Writing add(const char* name) const { return Writing(*how_.AddMessage(&message_, field(name))); }
  template <class T>
  T& add_as(const char* name) const {
    return static_cast<T&>(*how_.AddMessage(&message_, field(name)));
  }
  void add_text(const char* name, std::string text) const {
    how_.AddString(&message_, field(name), std::move(text));
  }
  void texts(const char* name, const std::vector<std::string>& all) const {
    for (const std::string& each : all) add_text(name, each);
  }

 private:
  const pb::FieldDescriptor* field(const char* name) const { return field_of(message_, name); }

  pb::Message& message_;
  const pb::Reflection& how_;
};

}  // namespace baton::server::grpc

// JSON values between protobuf's Struct and Value and the text that task::Json holds.
//
// To text: members are in the order of their names, so that equal messages have equal texts; numbers are
// written as protobuf's JSON has them. To protobuf: of repeated members the last one is kept; numbers that no
// double can hold and values nested too deep for a client's parser become strings of their text.
// Threads: any; no state.
#pragma once

#include <google/protobuf/struct.pb.h>

#include <string_view>

#include "json/writer.h"
#include "task/json.h"

namespace baton::server::grpc {

void write_value(json::Writer& out, const google::protobuf::Value& value);
// `without`: a member to leave out.
void write_struct(json::Writer& out, const google::protobuf::Struct& object, std::string_view without = {});
// Empty if there is no other member than `without`.
task::Json json_of(const google::protobuf::Struct& object, std::string_view without = {});

void read_value(std::string_view json, google::protobuf::Value& value);
// JSON that is not an object leaves `object` empty.
void read_struct(std::string_view json, google::protobuf::Struct& object);

}  // namespace baton::server::grpc

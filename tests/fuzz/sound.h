// What every decoder promises about the values it returns (task/message.h, task/json.h).
//
// Threads: one.
#pragma once

#include "task/event.h"
#include "task/task.h"

namespace baton::fuzz {

// Each ends the program if the promise is broken.
void check_json(const task::Json& json, const char* what);
// Absent, or an object.
void check_object(const task::Json& json, const char* what);
void check_text(std::string_view text, const char* what);
void check_part(const task::Part& part);
void check_message(const task::Message& message);
void check_task(const task::Task& task);
void check_body(const task::EventBody& body);

}  // namespace baton::fuzz

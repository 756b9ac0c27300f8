// Exception reports: for exceptions that a thread catches and has no caller to pass to.
#pragma once

namespace baton::base {

// `where` names the kind of thread. Called on the thread that caught the exception.
using ExceptionReport = void (*)(const char* where, const char* what) noexcept;
// Sets the report function of the whole program; null turns reports off. Threads: any.
void report_exceptions_to(ExceptionReport report);
void report_exception(const char* where, const char* what) noexcept;

}  // namespace baton::base

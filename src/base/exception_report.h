// Who hears of an exception that a thread caught and could tell nobody.
#pragma once

namespace baton::base {

// `where` names the threads. Called on the thread that caught it.
using ExceptionReport = void (*)(const char* where, const char* what) noexcept;
// For the whole program; null is nobody. Threads: any.
void report_exceptions_to(ExceptionReport report);
void report_exception(const char* where, const char* what) noexcept;

}  // namespace baton::base

#include "base/exception_report.h"

#include <atomic>

namespace baton::base {
namespace {

std::atomic<ExceptionReport> told = nullptr;

}  // namespace

void report_exceptions_to(ExceptionReport report) {
  told = report;
}

void report_exception(const char* where, const char* what) noexcept {
  if (const ExceptionReport report = told) report(where, what);
}

}  // namespace baton::base

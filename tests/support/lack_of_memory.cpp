#include "support/lack_of_memory.h"

#include <cstdlib>
#include <new>

namespace {

thread_local bool lacking = false;

}  // namespace

// Both forms of new are replaced, because memory from either is freed by the same delete. The array forms are
// not: AddressSanitizer has its own.
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return lacking ? nullptr : std::malloc(size == 0 ? 1 : size);
}
void* operator new(std::size_t size) {
  void* const memory = operator new(size, std::nothrow);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace baton::test {

LackOfMemory::LackOfMemory() {
  lacking = true;
}

LackOfMemory::~LackOfMemory() {
  lacking = false;
}

}  // namespace baton::test

// LackOfMemory: while one lives, this thread gets no memory from operator new.
#pragma once

namespace baton::test {

class LackOfMemory {
 public:
  LackOfMemory();
  ~LackOfMemory();
  LackOfMemory(const LackOfMemory&) = delete;
  LackOfMemory& operator=(const LackOfMemory&) = delete;
};

}  // namespace baton::test

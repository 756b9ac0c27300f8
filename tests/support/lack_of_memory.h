// LackOfMemory: while one exists, operator new fails on this thread.
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

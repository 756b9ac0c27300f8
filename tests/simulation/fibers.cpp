#include "fibers.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <cstdlib>
#include <exception>
#include <iterator>

// AddressSanitizer must be notified of each switch to another stack.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace baton::simulation {
namespace {

#ifdef __SANITIZE_ADDRESS__
constexpr std::size_t kStack = 2 << 20, kGuard = 4096;
#else
constexpr std::size_t kStack = 256 << 10, kGuard = 4096;
#endif

Fibers* the_fibers = nullptr;

// Stacks are reused: mapping one costs more than a step.
std::vector<char*>& free_stacks() {
  static std::vector<char*> stacks;
  return stacks;
}

char* take_stack() {
  if (!free_stacks().empty()) {
    char* stack = free_stacks().back();
    free_stacks().pop_back();
#ifdef __SANITIZE_ADDRESS__
    // A killed fiber leaves its frames poisoned.
    ASAN_UNPOISON_MEMORY_REGION(stack + kGuard, kStack - kGuard);
#endif
    return stack;
  }
  void* stack = mmap(nullptr, kStack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
  if (stack == MAP_FAILED) std::abort();
  mprotect(stack, kGuard, PROT_NONE);
  return static_cast<char*>(stack);
}

}  // namespace

struct Fibers::Fiber {
  enum class State { runnable, running, waiting, over };
  std::uint64_t id = 0;
  int process = 0;
  State state = State::runnable;
  std::function<void()> body;
  char* stack = nullptr;
  ucontext_t context{};
  WaitList* list = nullptr;                          // the one it waits in
  std::optional<std::pair<Time, std::uint64_t>> at;  // until when it sleeps
  WaitList joined;
  void* asan_frames = nullptr;  // AddressSanitizer's, while another stack is in use
};

Fibers& fibers() {
  if (the_fibers == nullptr) std::abort();
  return *the_fibers;
}

Fibers::Fibers(Random& random) : random_(random), outside_(std::make_unique<Fiber>()) {
  the_fibers = this;
  const std::int64_t pace[] = {3, 10, 40, 200, 1'000'000};
  locks_between_yields_ = static_cast<int>(pace[random_.below(5)]);
}

Fibers::~Fibers() {
  for (const auto& fiber : all_) {
    if (fiber->stack != nullptr) free_stacks().push_back(fiber->stack);
    // The body owns parts of a world that is gone, so it is leaked.
    if (fiber->body) static_cast<void>(new std::function<void()>(std::move(fiber->body)));
  }
  the_fibers = nullptr;
}

Fibers::Fiber* Fibers::spawn(std::function<void()> body, std::optional<int> process) {
  auto fiber = std::make_unique<Fiber>();
  fiber->id = ++last_id_;
  fiber->process = process.value_or(this->process());
  fiber->body = std::move(body);
  fiber->stack = take_stack();
  getcontext(&fiber->context);
  fiber->context.uc_stack.ss_sp = fiber->stack;
  fiber->context.uc_stack.ss_size = kStack;
  const auto address = reinterpret_cast<std::uintptr_t>(fiber.get());
  makecontext(&fiber->context, reinterpret_cast<void (*)()>(&Fibers::enter), 2,
              static_cast<unsigned>(address >> 32), static_cast<unsigned>(address));
  all_.push_back(std::move(fiber));
  runnable_.push_back(all_.back().get());
  return all_.back().get();
}

// Switches from `from` to `to`. Returns when something switches back to `from`.
void Fibers::change(Fiber& from, Fiber& to) {
#ifdef __SANITIZE_ADDRESS__
  const void* stack = to.stack == nullptr ? outside_stack_ : to.stack;
  const std::size_t size = to.stack == nullptr ? outside_stack_size_ : kStack;
  __sanitizer_start_switch_fiber(from.state == Fiber::State::over ? nullptr : &from.asan_frames, stack, size);
#endif
  swapcontext(&from.context, &to.context);
  changed(from);
}

// Must be called first after each switch to `fiber`.
void Fibers::changed([[maybe_unused]] Fiber& fiber) {
#ifdef __SANITIZE_ADDRESS__
  const bool inside = fiber.stack != nullptr;
  __sanitizer_finish_switch_fiber(fiber.asan_frames, inside ? &outside_stack_ : nullptr,
                                  inside ? &outside_stack_size_ : nullptr);
#endif
}

void Fibers::enter(unsigned high, unsigned low) {
  auto* fiber = reinterpret_cast<Fiber*>((static_cast<std::uintptr_t>(high) << 32) | low);
  Fibers& all = fibers();
  all.changed(*fiber);
  try {
    fiber->body();
    fiber->body = nullptr;
  } catch (const std::exception& error) {
    all.failure_ = std::string("an exception left its thread: ") + error.what();
  }
  fiber->state = Fiber::State::over;
  all.wake_all(fiber->joined);
  all.change(*fiber, *all.outside_);
  std::abort();
}

void Fibers::join(Fiber* fiber) {
  while (fiber->state != Fiber::State::over) wait(fiber->joined);
}

int Fibers::process() const {
  return current_ == nullptr ? 0 : current_->process;
}

// Switches back to `step`.
void Fibers::leave() {
  if (held_ != 0) fail("a lock is held over a wait");
  Fiber* self = current_;
  change(*self, *outside_);
}

bool Fibers::wait(WaitList& list, std::optional<Time> until) {
  if (current_ == nullptr) std::abort();  // nobody else could ever run
  Fiber* self = current_;
  self->state = Fiber::State::waiting;
  self->list = &list;
  list.waiting.push_back(self);
  if (until) {
    self->at.emplace(*until, ++sleeps_);
    sleeping_.emplace(*self->at, self);
  }
  leave();
  // wake_one and wake_all take the fiber out of the list; a deadline does not.
  const bool woken = self->list == nullptr;
  if (!woken) std::erase(list.waiting, self);
  self->list = nullptr;
  return woken;
}

void Fibers::sleep_until(Time until) {
  WaitList nobody;
  while (now_ < until) wait(nobody, until);
}

void Fibers::yield() {
  if (current_ == nullptr) return;
  current_->state = Fiber::State::runnable;
  runnable_.push_back(current_);
  leave();
}

void Fibers::give_way() {
  locks_to_yield_ = static_cast<int>(random_.between(1, 2L * locks_between_yields_));
  yield();
}

void Fibers::make_runnable(Fiber* fiber) {
  if (fiber->at) {
    sleeping_.erase(*fiber->at);
    fiber->at.reset();
  }
  fiber->state = Fiber::State::runnable;
  runnable_.push_back(fiber);
}

void Fibers::wake_one(WaitList& list) {
  if (list.waiting.empty()) return;
  const auto which = list.waiting.begin() + random_.below(std::ssize(list.waiting));
  Fiber* fiber = *which;
  list.waiting.erase(which);
  fiber->list = nullptr;
  if (fiber->state == Fiber::State::waiting) make_runnable(fiber);
}

void Fibers::wake_all(WaitList& list) {
  for (Fiber* fiber : std::exchange(list.waiting, {})) {
    fiber->list = nullptr;
    if (fiber->state == Fiber::State::waiting) make_runnable(fiber);
  }
}

void Fibers::wake_sleepers() {
  while (!sleeping_.empty() && sleeping_.begin()->first.first <= now_)
    make_runnable(sleeping_.begin()->second);
}

void Fibers::kill(int process) {
  const auto is_dead = [&](const Fiber* fiber) { return fiber->process == process; };
  std::erase_if(runnable_, is_dead);
  std::erase_if(aside_, is_dead);
  frozen_.erase(process);
  std::erase_if(sleeping_, [&](const auto& entry) { return is_dead(entry.second); });
  for (const auto& fiber : all_) {
    if (!is_dead(fiber.get()) || fiber->state == Fiber::State::over) continue;
    if (fiber->list != nullptr) std::erase(fiber->list->waiting, fiber.get());
    fiber->state = Fiber::State::over;
    if (fiber.get() != current_) retire(fiber.get());
  }
  if (current_ != nullptr && is_dead(current_)) {
    held_ = 0;
    leave();
  }
}

void Fibers::retire(Fiber* fiber) {
  if (fiber->stack != nullptr) free_stacks().push_back(std::exchange(fiber->stack, nullptr));
}

void Fibers::fail(std::string what) {
  if (!failure_) failure_ = std::move(what);
  held_ = 0;
  if (current_ == nullptr) throw Violation{*failure_};
  current_->state = Fiber::State::waiting;  // for ever
  change(*current_, *outside_);
}

void Fibers::thaw(int process) {
  if (frozen_.erase(process) == 0) return;
  runnable_.insert(runnable_.end(), aside_.begin(), aside_.end());
  aside_.clear();
  set_frozen_aside();
}

void Fibers::set_frozen_aside() {
  if (frozen_.empty()) return;
  const auto is_frozen = [&](const Fiber* fiber) { return frozen_.contains(fiber->process); };
  std::ranges::copy_if(runnable_, std::back_inserter(aside_), is_frozen);
  std::erase_if(runnable_, is_frozen);
}

bool Fibers::step() {
  now_ += Time(random_.below(20'000));
  wake_sleepers();
  set_frozen_aside();
  while (runnable_.empty()) {
    if (sleeping_.empty()) return false;
    now_ = std::max(now_, sleeping_.begin()->first.first);
    wake_sleepers();
    set_frozen_aside();
  }
  const auto which = static_cast<std::size_t>(random_.below(std::ssize(runnable_)));
  Fiber* fiber = std::exchange(runnable_[which], runnable_.back());
  runnable_.pop_back();
  ++steps_;
  note(fiber->id);
  note(static_cast<std::uint64_t>(now_.count()));
  fiber->state = Fiber::State::running;
  current_ = fiber;
  change(*outside_, *fiber);
  current_ = nullptr;
  if (fiber->state == Fiber::State::over) retire(fiber);
  if (failure_) throw Violation{*failure_};
  return true;
}

}  // namespace baton::simulation

#include "receivers.h"

#include "outbound/call.h"
#include "world.h"

namespace baton::simulation {

using std::chrono::milliseconds;

base::Result<notify::Rendered> render(const notify::DeliveryQueue& queue, const store::Delivery& delivery) {
  const auto head = queue.head(delivery.task);
  if (!head) return base::fail(head.error());
  const auto task = queue.read(delivery.task, task::Depth{0, false}, delivery.event);
  if (!task) return base::fail(task.error());
  return notify::Rendered{head->id, {"text/plain", std::string(name_of(task->status.state))}, nullptr};
}

task::PushConfig Receivers::make_config() {
  task::PushConfig config;
  config.id.value = "hook" + std::to_string(++made_);
  // The receivers share three hosts, so that a slow one may delay others.
  config.url = "http://r" + std::to_string(made_ % 3) + ".example/" + std::to_string(made_);
  config.version = world_.random.chance(500) ? task::ProtocolVersion::v1_0 : task::ProtocolVersion::v0_3;
  receivers_[config.url].version = config.version;
  return config;
}

void Receivers::expect(const std::string& url, task::TaskKey task, std::int64_t after) {
  Receiver& receiver = receivers_[url];
  receiver.task = task;
  receiver.after = after;
}

void Receivers::check(Receiver& receiver, const std::string& task, std::int64_t event,
                      const std::string& body) const {
  Fibers& fibers = world_.fibers;
  const std::string where = "webhook " + std::to_string(event) + " of " + task + ": ";
  if (event < receiver.last) fibers.fail(where + "sent after " + std::to_string(receiver.last));
  if (event > receiver.last && receiver.last_retries) {
    fibers.fail(where + "sent before " + std::to_string(receiver.last) + " was accepted");
  }
  if (receiver.accepted.contains(event)) SOMETIMES(webhook_repeated);
  const task::TaskKey key = world_.model.key_of(task);
  if (name_of(world_.model.state_at(key, {event})) != body) fibers.fail(where + "says " + body);
  if (receiver.process == 0) receiver.process = fibers.process();
  if (receiver.process != fibers.process()) SOMETIMES(webhook_delivered_after_restart);
}

base::Result<outbound::HttpAnswer> Receivers::answer(const outbound::HttpRequest& request) {
  Fibers& fibers = world_.fibers;
  Random& random = world_.random;
  fibers.sleep(milliseconds(random.below(50)));
  std::string id;
  for (const auto& [name, value] : request.headers) {
    if (name == "X-Baton-Delivery") id = value;
  }
  const std::size_t slash = id.rfind('/');
  const std::int64_t event = std::stol(id.substr(slash + 1));
  const auto found = receivers_.find(request.url);
  outbound::HttpAnswer answer;
  answer.status = 200;
  if (found == receivers_.end()) return answer;  // deleted meanwhile
  // The node was frozen while it sent this request and is dead now; another one leads.
  if (world_.is_dead(fibers.process())) {
    SOMETIMES(webhook_of_a_dead_node);
    return answer;
  }
  check(found->second, id.substr(0, slash), event, request.body);
  found->second.last = event;
  found->second.last_retries = true;
  fibers.note(static_cast<std::uint64_t>(event));
  const bool fails = !world_.calm() && random.chance(world_.features.hook_failures);
  const std::int64_t how = fails ? random.below(10) : -1;
  if (how >= 0 && how < 2) {
    SOMETIMES(webhook_hung);
    fibers.sleep(request.total_timeout);
    return base::fail(base::ErrorCode::deadline_exceeded, "no answer in time");
  }
  if (how == 2) answer.status = 410;
  if (how > 2) answer.status = 503;
  // Looked up again, because the fiber slept.
  const auto receiver = receivers_.find(request.url);
  if (receiver == receivers_.end()) return answer;
  if (how == 2) {
    receiver->second.gone = true;
    SOMETIMES(webhook_gone);
  }
  if (answer.status != 503) receiver->second.last_retries = false;
  if (answer.status == 200) receiver->second.accepted.insert(event);
  if (random.chance(300)) fibers.sleep(milliseconds(random.below(100)));  // the answer is on its way
  return answer;
}

void Receivers::check_all() const {
  for (const auto& [url, receiver] : receivers_) {
    if (!receiver.task || receiver.gone) continue;
    const Model::Task& task = world_.model.task(*receiver.task);
    if (task.erased) continue;
    for (std::int64_t number = receiver.after + 1; number <= std::ssize(task.log); ++number) {
      const auto& body = task.log[static_cast<std::size_t>(number) - 1].body;
      if (task::webhook_hears(receiver.version, body) && !receiver.accepted.contains(number)) {
        world_.fibers.fail("webhook " + std::to_string(number) + " of task " +
                           std::to_string(receiver.task->value) + " was never delivered");
      }
    }
  }
}

}  // namespace baton::simulation

namespace baton::outbound {

// Each request is answered on a thread of its own, which hands the answer to the loop.
class Call::Running : public std::enable_shared_from_this<Call::Running> {
 public:
  Running(base::EventLoop& loop, std::shared_ptr<const HttpRequest> request, Events events)
      : loop_(loop), request_(std::move(request)), events_(std::move(events)) {}

  void start() {
    simulation::fibers().spawn([self = shared_from_this()] {
      const auto answer = simulation::world().receivers.answer(*self->request_);
      if (self->is_canceled_) return;
      self->loop_.post([self, answer] {
        if (!self->is_canceled_) self->events_.on_end(answer);
      });
    });
  }
  void give_up() {
    const auto self = shared_from_this();  // the end may destroy the call
    is_canceled_ = true;
    events_.on_end(base::fail(base::ErrorCode::unavailable, "told to stop"));
  }
  void cancel() { is_canceled_ = true; }

 private:
  base::EventLoop& loop_;
  const std::shared_ptr<const HttpRequest> request_;
  const Events events_;
  bool is_canceled_ = false;
};

Call::Call(base::EventLoop& loop, std::shared_ptr<const HttpRequest> request, std::chrono::milliseconds,
           Events events)
    : running_(std::make_shared<Running>(loop, std::move(request), std::move(events))) {}

Call::~Call() {
  running_->cancel();
}

void Call::start() {
  running_->start();
}

void Call::give_up() {
  running_->give_up();
}

}  // namespace baton::outbound

#include "scheduler/preemption/object_writes.h"

#include <chrono>

#include "base/check.h"
#include "base/log.h"

namespace muster::scheduler {
namespace {

// Between two tries of what must be done whatever the server says.
constexpr Duration kEndlessPause = std::chrono::seconds{10};

api::Request read_request(const api::Object& object) {
  api::Request request;
  request.verb = api::Verb::Get;
  request.kind = &object.kind();
  request.version = request.kind->stored_version;
  request.name_space = object.meta().name_space;
  request.name = object.meta().name;
  return request;
}

// The object that was read, if it is the one that is meant.
api::ObjectPtr same_object(const api::Answer& answer, const api::Object& meant) {
  const auto* found = std::get_if<api::ObjectAnswer>(&answer.what);
  if (found == nullptr || found->object == nullptr) return nullptr;
  return found->object->meta().uid == meant.meta().uid ? found->object : nullptr;
}

}  // namespace

void ObjectWrites::add(Write write, Time now) {
  const Id id = ++last_id_;
  const bool reads = !write.request;
  tasks_.emplace(id, Task{.write = std::move(write), .reads = reads});
  waiting_.push_back(id);
  run(now);
}

void ObjectWrites::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    waiting_.push_back(retries_.begin()->second);
    retries_.erase(retries_.begin());
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const Id id = waiting_.front();
    waiting_.pop_front();
    send(id, now);
  }
}

void ObjectWrites::send(Id id, Time now) {
  Task& task = tasks_.at(id);
  std::optional<api::Request> request =
      task.reads ? read_request(*task.write.object) : task.write.request(now);
  if (!request) {
    tasks_.erase(id);
    return;
  }
  ++task.tries;
  ++in_flight_;
  calls_.send(std::move(*request),
              [this, id](const client::Outcome& outcome, Time at) { finish(id, outcome, at); });
}

void ObjectWrites::finish(Id id, const client::Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  Task& task = tasks_.at(id);
  const bool only_reads = !task.write.request;
  const api::ObjectPtr object =
      outcome && task.reads ? same_object(*outcome, *task.write.object) : nullptr;
  if (!outcome && outcome.error().reason != Reason::NotFound) {
    try_again(id, outcome.error(), now);
  } else if (!outcome || (task.reads && object == nullptr)) {
    end(id, {.end = End::Gone}, now);
  } else if (!task.reads) {
    end(id, {.end = End::Done}, now);
  } else if (only_reads) {
    end(id, {.end = End::Done, .object = object}, now);
  } else {
    task.reads = false;
    --task.tries;  // only what is to be written is worth counting
    waiting_.push_back(id);
  }
  run(now);
}

void ObjectWrites::try_again(Id id, const Error& error, Time now) {
  Task& task = tasks_.at(id);
  std::optional<Duration> delay = client::retry_delay(error, task.tries, {.conflicts = true});
  if (!delay && task.write.is_endless) {
    log(LogLevel::Warning, "preemption: {} is tried again: {}",
        api::key_text(task.write.object->meta()), error.message);
    delay = kEndlessPause;
    if (task.write.on_refused) task.write.on_refused(error, now);
  }
  if (!delay) return end(id, {.end = End::Failed, .error = error}, now);
  if (error.reason == Reason::Conflict) task.reads = true;
  retries_.emplace(now + *delay, id);
}

void ObjectWrites::end(Id id, const Ended& ended, Time now) {
  const OnEnded on_ended = std::move(tasks_.at(id).write.on_ended);
  tasks_.erase(id);
  on_ended(ended, now);
}

std::optional<Time> ObjectWrites::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::scheduler

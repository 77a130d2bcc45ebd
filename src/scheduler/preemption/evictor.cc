#include "scheduler/preemption/evictor.h"

#include "base/check.h"
#include "client/client.h"
#include "client/kit/status_writer.h"

namespace muster::scheduler {

void Evictor::evict(const api::ObjectPtr& pod, std::string message, Time now) {
  add({.pod = pod, .step = Step::Mark, .text = std::move(message)}, now);
}

void Evictor::nominate(const api::ObjectPtr& pod, std::string_view node, Time now) {
  add({.pod = pod, .step = Step::Nominate, .text = std::string(node)}, now);
}

void Evictor::add(Task task, Time now) {
  const Id id = ++last_id_;
  if (task.step == Step::Nominate) nominating_[task.pod->meta().uid] = id;
  tasks_.emplace(id, std::move(task));
  waiting_.push_back(id);
  run(now);
}

api::Request Evictor::request_of(const Task& task, Time now) const {
  const api::Object& pod = *task.pod;
  const api::ObjectMeta& meta = pod.meta();
  if (task.step == Step::Delete) return client::delete_request(pod, std::nullopt);
  api::Json patch;
  if (task.step == Step::Mark) {
    patch = client::condition_patch(pod,
                                    {.type = "DisruptionTarget",
                                     .status = "True",
                                     .reason = "PreemptionByScheduler",
                                     .message = task.text,
                                     .observed_generation = meta.generation},
                                    now);
  } else {
    api::JsonObject status;
    if (task.text.empty())
      status["nominatedNodeName"] = nullptr;
    else
      status["nominatedNodeName"] = task.text;
    patch = api::JsonObject{{"metadata", api::JsonObject{{"uid", meta.uid}}},
                            {"status", std::move(status)}};
  }
  return client::patch_request(pod.kind(), meta.name_space, meta.name, "status",
                               api::PatchType::StrategicMerge, std::move(patch));
}

void Evictor::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    waiting_.push_back(retries_.begin()->second);
    retries_.erase(retries_.begin());
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const Id id = waiting_.front();
    waiting_.pop_front();
    Task& task = tasks_.at(id);
    ++task.tries;
    ++in_flight_;
    calls_.send(request_of(task, now),
                [this, id](const client::Outcome& outcome, Time at) { finish(id, outcome, at); });
  }
}

void Evictor::finish(Id id, const client::Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  Task& task = tasks_.at(id);
  const std::string& uid = task.pod->meta().uid;
  const auto newest = nominating_.find(uid);
  const bool is_outdated =
      task.step == Step::Nominate && newest != nominating_.end() && newest->second != id;
  // Another pod of the name, or none: it is gone, as was wanted.
  const bool is_gone = !outcome && (outcome.error().reason == Reason::NotFound ||
                                    outcome.error().reason == Reason::Conflict);
  if (outcome && task.step == Step::Mark) {
    task.step = Step::Delete;
    task.tries = 0;
    waiting_.push_back(id);
    return run(now);
  }
  if (!outcome && outcome.error().reason != Reason::NotFound && !is_outdated) {
    const client::RetryOptions retry{.conflicts = task.step != Step::Delete};
    if (const auto delay = client::retry_delay(outcome.error(), task.tries, retry)) {
      retries_.emplace(now + *delay, id);
      return run(now);
    }
  }
  const Task ended = std::move(task);
  tasks_.erase(id);
  if (ended.step == Step::Nominate && !is_outdated) nominating_.erase(ended.pod->meta().uid);
  if (!outcome && !is_outdated && (!is_gone || ended.step == Step::Nominate))
    on_failed_(ended.pod, outcome.error(), now);
  run(now);
}

std::optional<Time> Evictor::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::scheduler

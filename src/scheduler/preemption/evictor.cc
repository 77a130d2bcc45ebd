#include "scheduler/preemption/evictor.h"

#include "client/client.h"
#include "client/kit/status_writer.h"

namespace muster::scheduler {

using End = ObjectWrites::End;
using Ended = ObjectWrites::Ended;

api::Request mark_request(const api::Object& object, std::string_view message, Time now) {
  const api::ObjectMeta& meta = object.meta();
  api::Condition mark;
  mark.type = "DisruptionTarget";
  if (!message.empty()) {
    mark.status = "True";
    mark.reason = "PreemptionByScheduler";
    mark.message = message;
    mark.observed_generation = meta.generation;
  }
  return client::patch_request(object.kind(), meta.name_space, meta.name, "status",
                               api::PatchType::StrategicMerge,
                               client::condition_patch(object, mark, now));
}

void Evictor::evict(const api::ObjectPtr& pod, std::string message, Time now) {
  writes_.add({.object = pod,
               .request = [pod, why = std::move(message)](
                              Time at) { return std::optional(mark_request(*pod, why, at)); },
               .on_ended =
                   [this, pod](const Ended& ended, Time at) {
                     if (ended.end == End::Done) remove(pod, at);
                     if (ended.end == End::Gone) evicted(pod, at);
                     if (ended.end == End::Failed) on_failed_(pod, ended.error, at);
                   }},
              now);
}

void Evictor::remove(const api::ObjectPtr& pod, Time now) {
  writes_.add(
      {.object = pod,
       .request = [pod](Time) { return std::optional(client::delete_request(*pod, std::nullopt)); },
       .on_ended =
           [this, pod](const Ended& ended, Time at) {
             if (ended.end == End::Failed)
               on_failed_(pod, ended.error, at);
             else
               evicted(pod, at);
           }},
      now);
}

void Evictor::nominate(const api::ObjectPtr& pod, std::string_view node, Time now) {
  const std::uint64_t number = ++last_nomination_;
  nominating_[pod->meta().uid] = number;
  const auto is_newest = [this, pod, number] {
    const auto newest = nominating_.find(pod->meta().uid);
    return newest != nominating_.end() && newest->second == number;
  };
  const auto request = [pod, node = std::string(node),
                        is_newest](Time) -> std::optional<api::Request> {
    if (!is_newest()) return std::nullopt;
    const api::ObjectMeta& meta = pod->meta();
    api::JsonObject status;
    if (node.empty())
      status["nominatedNodeName"] = nullptr;
    else
      status["nominatedNodeName"] = node;
    return client::patch_request(pod->kind(), meta.name_space, meta.name, "status",
                                 api::PatchType::StrategicMerge,
                                 api::JsonObject{{"metadata", api::JsonObject{{"uid", meta.uid}}},
                                                 {"status", std::move(status)}});
  };
  const auto on_ended = [this, pod, is_newest](const Ended& ended, Time at) {
    if (!is_newest()) return;
    nominating_.erase(pod->meta().uid);
    if (ended.end == End::Gone)
      on_failed_(pod, make_error(Reason::NotFound, "the pod is gone"), at);
    else if (ended.end == End::Failed)
      on_failed_(pod, ended.error, at);
  };
  writes_.add({.object = pod, .request = request, .on_ended = on_ended}, now);
}

}  // namespace muster::scheduler

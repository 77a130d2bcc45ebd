#include "client/kit/status_writer.h"

#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace muster::client {

namespace {

bool says_the_same(const api::Condition& a, const api::Condition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.observed_generation == b.observed_generation;
}

}  // namespace

api::Json condition_patch(const api::Object& object, const api::Condition& condition,
                          std::optional<Time> transition) {
  api::JsonObject entry;
  if (condition.status.empty()) {
    entry["$patch"] = "delete";
    entry["type"] = condition.type;
  } else {
    entry["type"] = condition.type;
    if (condition.observed_generation > 0)
      entry["observedGeneration"] = condition.observed_generation;
    entry["status"] = condition.status;
    if (transition) entry["lastTransitionTime"] = format_time(*transition);
    entry["reason"] = condition.reason;
    entry["message"] = condition.message;
  }
  api::JsonObject patch;
  api::ensure_object(patch, "metadata")["uid"] = object.meta().uid;
  api::ensure_array(api::ensure_object(patch, "status"), "conditions").push_back(std::move(entry));
  return patch;
}

void StatusWriter::write(const api::ObjectPtr& object, const api::Condition* current,
                         api::Condition wanted, Time now) {
  const std::string& uid = object->meta().uid;
  wanted.observed_generation = object->meta().generation;
  const auto at = records_.find(uid);
  if (at == records_.end()) {
    if (current != nullptr && says_the_same(*current, wanted)) return;
    Record& record = records_[uid];
    record.object = object;
    if (current == nullptr || current->status != wanted.status) record.transition = now;
    record.wanted = std::move(wanted);
    record.version = 1;
    return queue(uid, record);
  }
  Record& record = at->second;
  if (!record.forgotten && says_the_same(record.wanted, wanted)) return;
  if (record.wanted.status != wanted.status) record.transition = now;
  replace(uid, record, object, std::move(wanted));
}

void StatusWriter::replace(const std::string& uid, Record& record, const api::ObjectPtr& object,
                           api::Condition wanted) {
  record.object = object;
  record.wanted = std::move(wanted);
  record.forgotten = false;
  const bool waits = record.version != record.sent;
  ++record.version;
  if (!waits && !record.in_flight) queue(uid, record);
}

void StatusWriter::withdraw(const api::ObjectPtr& object, const api::Condition* current,
                            std::string_view reason) {
  const std::string& uid = object->meta().uid;
  const auto at = records_.find(uid);
  api::Condition none;
  if (at != records_.end()) {
    if (at->second.wanted.reason != reason) return;
    none.type = at->second.wanted.type;
    return replace(uid, at->second, object, std::move(none));
  }
  if (current == nullptr || current->reason != reason) return;
  none.type = current->type;
  Record& record = records_[uid];
  record.object = object;
  record.wanted = std::move(none);
  record.version = 1;
  queue(uid, record);
}

void StatusWriter::queue(const std::string& uid, Record& record) {
  record.tries = 0;
  waiting_.push_back(uid);
}

void StatusWriter::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    std::string uid = retries_.begin()->second;
    retries_.erase(retries_.begin());
    records_.at(uid).retry_at.reset();
    waiting_.push_back(std::move(uid));
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const std::string uid = std::move(waiting_.front());
    waiting_.pop_front();
    const auto at = records_.find(uid);
    if (at != records_.end() && !at->second.in_flight && at->second.version != at->second.sent)
      send(uid, at->second);
  }
}

void StatusWriter::send(const std::string& uid, Record& record) {
  const api::Object& object = *record.object;
  ++record.tries;
  ++in_flight_;
  record.in_flight = true;
  record.echoed = false;
  record.sent = record.version;
  calls_.send(patch_request(object.kind(), object.meta().name_space, object.meta().name, "status",
                            api::PatchType::StrategicMerge,
                            condition_patch(object, record.wanted, record.transition)),
              [this, uid](const Outcome& outcome, Time now) { finish(uid, outcome, now); });
}

void StatusWriter::finish(const std::string& uid, const Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  const auto at = records_.find(uid);
  CHECK(at != records_.end() && at->second.in_flight);
  Record& record = at->second;
  record.in_flight = false;
  const bool newer = record.version != record.sent;
  if (record.forgotten) {
    records_.erase(at);
  } else if (outcome) {
    record.transition.reset();
    if (newer)
      queue(uid, record);
    else if (record.echoed)
      records_.erase(at);
  } else if (const auto delay = retry_delay(outcome.error(), record.tries, {.conflicts = true})) {
    record.sent = 0;
    record.retry_at = now + *delay;
    retries_.emplace(*record.retry_at, uid);
  } else {
    if (outcome.error().reason != Reason::NotFound)
      log(LogLevel::Warning, "cannot write condition {} of {}: {}", record.wanted.type,
          api::key_text(record.object->meta()), outcome.error().message);
    records_.erase(at);
  }
  run(now);
}

void StatusWriter::observed(std::string_view uid) {
  const auto at = records_.find(std::string(uid));
  if (at == records_.end()) return;
  if (at->second.in_flight)
    at->second.echoed = true;
  else if (at->second.version == at->second.sent)
    records_.erase(at);
}

void StatusWriter::forget(std::string_view uid) {
  const auto at = records_.find(std::string(uid));
  if (at == records_.end()) return;
  Record& record = at->second;
  if (record.retry_at) retries_.erase({*record.retry_at, at->first});
  if (record.in_flight)
    record.forgotten = true;
  else
    records_.erase(at);
}

std::optional<Time> StatusWriter::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::client

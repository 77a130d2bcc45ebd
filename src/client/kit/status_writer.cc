#include "client/kit/status_writer.h"

#include <iterator>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace muster::client {

namespace {

bool says_the_same(const api::Condition& a, const api::Condition& b) {
  return a.status == b.status && a.reason == b.reason && a.message == b.message &&
         a.observed_generation == b.observed_generation;
}

bool is_said(const api::Condition* current, const api::Condition& wanted) {
  return current == nullptr ? wanted.status.empty() : says_the_same(*current, wanted);
}

bool changes_status(const api::Condition* current, const api::Condition& wanted) {
  return current == nullptr || current->status != wanted.status;
}

// An item of a strategic merge patch.
api::JsonObject patch_of(const api::Condition& condition, std::optional<Time> transition) {
  api::JsonObject entry;
  if (condition.status.empty()) {
    entry["$patch"] = "delete";
    entry["type"] = condition.type;
    return entry;
  }
  entry["type"] = condition.type;
  if (condition.observed_generation > 0)
    entry["observedGeneration"] = condition.observed_generation;
  entry["status"] = condition.status;
  if (transition) entry["lastTransitionTime"] = format_time(*transition);
  entry["reason"] = condition.reason;
  entry["message"] = condition.message;
  return entry;
}

api::Json status_patch(const api::Object& object, api::JsonArray conditions) {
  api::JsonObject patch;
  api::ensure_object(patch, "metadata")["uid"] = object.meta().uid;
  api::ensure_object(patch, "status")["conditions"] = std::move(conditions);
  return patch;
}

}  // namespace

api::Json condition_patch(const api::Object& object, const api::Condition& condition,
                          std::optional<Time> transition) {
  return status_patch(object, api::JsonArray{patch_of(condition, transition)});
}

StatusWriter::Record* StatusWriter::find(const Key& key) {
  const auto object = records_.find(key.uid);
  if (object == records_.end()) return nullptr;
  const auto at = object->second.find(key.type);
  return at == object->second.end() ? nullptr : &at->second;
}

StatusWriter::Record& StatusWriter::make(const Key& key) {
  ++pending_;
  return records_[key.uid].emplace(key.type, Record{}).first->second;
}

StatusWriter::Records::iterator StatusWriter::erase(Records& records, Records::iterator at) {
  --pending_;
  return records.erase(at);
}

void StatusWriter::drop(const Key& key) {
  const auto object = records_.find(key.uid);
  erase(object->second, object->second.find(key.type));
  if (object->second.empty()) records_.erase(object);
}

void StatusWriter::write(const api::ObjectPtr& object, const api::Condition* current,
                         api::Condition wanted, Companion companion, Time now) {
  const Key key{object->meta().uid, wanted.type};
  wanted.observed_generation = object->meta().generation;
  api::Condition& second = companion.wanted;
  if (!second.status.empty()) second.observed_generation = object->meta().generation;
  Record* const known = find(key);
  if (known == nullptr) {
    if (is_said(current, wanted) && is_said(companion.current, second)) return;
    Record& record = make(key);
    record.object = object;
    if (changes_status(current, wanted)) record.main.transition = now;
    if (changes_status(companion.current, second)) record.companion.transition = now;
    record.main.wanted = std::move(wanted);
    // What is not there need not be removed.
    if (companion.current != nullptr || !second.status.empty())
      record.companion.wanted = std::move(second);
    record.version = 1;
    return queue(key, record);
  }
  if (!known->forgotten && says_the_same(known->main.wanted, wanted) &&
      says_the_same(known->companion.wanted, second))
    return;
  if (changes_status(&known->main.wanted, wanted)) known->main.transition = now;
  if (changes_status(&known->companion.wanted, second)) known->companion.transition = now;
  replace(key, *known, object, std::move(wanted), std::move(second));
}

void StatusWriter::replace(const Key& key, Record& record, const api::ObjectPtr& object,
                           api::Condition wanted, api::Condition companion) {
  record.object = object;
  record.main.wanted = std::move(wanted);
  record.companion.wanted = std::move(companion);
  record.forgotten = false;
  const bool waits = record.version != record.sent;
  ++record.version;
  if (!waits && !record.in_flight) queue(key, record);
}

void StatusWriter::withdraw(const api::ObjectPtr& object, std::string_view type,
                            const api::Condition* current, std::string_view reason) {
  const Key key{object->meta().uid, std::string(type)};
  api::Condition none;
  none.type = type;
  if (Record* const known = find(key)) {
    if (known->main.wanted.reason == reason) replace(key, *known, object, std::move(none), {});
    return;
  }
  if (current == nullptr || current->reason != reason) return;
  Record& record = make(key);
  record.object = object;
  record.main.wanted = std::move(none);
  record.version = 1;
  queue(key, record);
}

void StatusWriter::queue(const Key& key, Record& record) {
  record.tries = 0;
  waiting_.push_back(key);
}

void StatusWriter::run(Time now) {
  while (!retries_.empty() && retries_.begin()->first <= now) {
    Key key = std::move(retries_.extract(retries_.begin()).value().second);
    find(key)->retry_at.reset();
    waiting_.push_back(std::move(key));
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const Key key = std::move(waiting_.front());
    waiting_.pop_front();
    Record* const record = find(key);
    if (record != nullptr && !record->in_flight && record->version != record->sent)
      send(key, *record);
  }
}

void StatusWriter::send(const Key& key, Record& record) {
  const api::Object& object = *record.object;
  ++record.tries;
  ++in_flight_;
  record.in_flight = true;
  record.echoed = false;
  record.sent = record.version;
  api::JsonArray conditions;
  for (const Statement* statement : {&record.main, &record.companion})
    if (!statement->wanted.type.empty())
      conditions.push_back(patch_of(statement->wanted, statement->transition));
  calls_.send(
      patch_request(object.kind(), object.meta().name_space, object.meta().name, "status",
                    api::PatchType::StrategicMerge, status_patch(object, std::move(conditions))),
      [this, key](const Outcome& outcome, Time now) { finish(key, outcome, now); });
}

void StatusWriter::finish(const Key& key, const Outcome& outcome, Time now) {
  CHECK(in_flight_ > 0);
  --in_flight_;
  Record* const found = find(key);
  CHECK(found != nullptr && found->in_flight);
  Record& record = *found;
  record.in_flight = false;
  const bool newer = record.version != record.sent;
  if (record.forgotten) {
    drop(key);
  } else if (outcome) {
    record.main.transition.reset();
    record.companion.transition.reset();
    if (newer)
      queue(key, record);
    else if (record.echoed)
      drop(key);
  } else if (const auto delay = retry_delay(outcome.error(), record.tries, {.conflicts = true})) {
    record.sent = 0;
    record.retry_at = now + *delay;
    retries_.emplace(*record.retry_at, key);
  } else {
    if (outcome.error().reason != Reason::NotFound)
      log(LogLevel::Warning, "cannot write condition {} of {}: {}", record.main.wanted.type,
          api::key_text(record.object->meta()), outcome.error().message);
    drop(key);
  }
  run(now);
}

void StatusWriter::observed(std::string_view uid) {
  const auto object = records_.find(std::string(uid));
  if (object == records_.end()) return;
  for (auto at = object->second.begin(); at != object->second.end();) {
    Record& record = at->second;
    if (record.in_flight) record.echoed = true;
    at = record.in_flight || record.version != record.sent ? std::next(at)
                                                           : erase(object->second, at);
  }
  if (object->second.empty()) records_.erase(object);
}

void StatusWriter::forget(std::string_view uid) {
  const auto object = records_.find(std::string(uid));
  if (object == records_.end()) return;
  for (auto at = object->second.begin(); at != object->second.end();) {
    Record& record = at->second;
    if (record.retry_at) retries_.erase({*record.retry_at, Key{object->first, at->first}});
    if (record.in_flight) record.forgotten = true;
    at = record.in_flight ? std::next(at) : erase(object->second, at);
  }
  if (object->second.empty()) records_.erase(object);
}

std::optional<Time> StatusWriter::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first);
}

}  // namespace muster::client

#include "client/kit/event_recorder.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <utility>

#include "api/kinds/kind.h"
#include "base/check.h"

namespace muster::client {

namespace {

constexpr std::size_t kMessageMax = 1024;
constexpr std::size_t kNameMax = 253;

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  hash = (hash ^ std::hash<std::string_view>{}(text)) * 0x9e3779b97f4a7c15U;
  return hash ^ (hash >> 32U);
}

// What events have in common that differ only in their messages.
std::uint64_t matter_of(const api::Object& about, const EventNote& note) {
  std::uint64_t hash = 0;
  for (const std::string* part : {&about.meta().uid, &note.type, &note.reason, &note.action})
    hash = mixed(hash, *part);
  return hash;
}

// As a key: eight bytes take no memory of their own.
std::string key_of(std::uint64_t hash) {
  std::string key(sizeof hash, '\0');
  std::memcpy(key.data(), &hash, sizeof hash);
  return key;
}

}  // namespace

// How an event names the object it is about.
api::Json EventRecorder::reference_to(const Regarding& object) {
  api::JsonObject reference;
  reference.reserve(6);
  reference["kind"] = object.kind->kind;
  if (!object.name_space.empty()) reference["namespace"] = object.name_space;
  reference["name"] = object.name;
  reference["uid"] = object.uid;
  reference["apiVersion"] = object.kind->api_version(object.kind->stored_version);
  if (object.revision.value > 0)
    reference["resourceVersion"] = std::to_string(object.revision.value);
  return reference;
}

std::string_view EventRecorder::name_space_of(const Sighting& sighting) {
  const std::string& name_space = sighting.regarding.name_space;
  return name_space.empty() ? std::string_view("default") : std::string_view(name_space);
}

std::string cut_message(std::string message) {
  if (message.size() <= kMessageMax) return message;
  std::size_t end = kMessageMax - 4;
  while (end > 0 && (static_cast<unsigned char>(message[end]) & 0xC0U) == 0x80U) --end;
  message.resize(end);
  return message + " ...";
}

EventRecorder::EventRecorder(Options options, Calls& calls)
    : options_(std::move(options)),
      calls_(calls),
      seen_(options_.remembered_max),
      similar_(options_.remembered_max),
      silence_(options_.remembered_max) {}

bool EventRecorder::may_speak(const api::Object& about, std::string_view type, Time now) {
  Time& full_at = silence_.use(key_of(mixed(mixed(0, about.meta().uid), type)));
  const Time next = std::max(full_at, now) + options_.refill;
  if (next - now > options_.refill * options_.burst) return false;
  full_at = next;
  return true;
}

bool EventRecorder::must_combine(std::uint64_t matter, std::string_view message, Time now) {
  Similar& similar = similar_.use(key_of(matter));
  if (similar.last + options_.similar_within < now) similar.messages.clear();
  similar.last = now;
  const std::size_t hash = std::hash<std::string_view>{}(message);
  if (std::ranges::find(similar.messages, hash) != similar.messages.end()) return false;
  if (similar.messages.size() >= options_.messages_max) return true;
  similar.messages.push_back(hash);
  return false;
}

void EventRecorder::record(const api::Object& about, EventNote note, Time now) {
  const std::uint64_t matter = matter_of(about, note);
  const bool combined = must_combine(matter, note.message, now);
  const std::uint64_t key = combined ? matter : mixed(matter, note.message);
  if (combined) note.message.insert(0, "(combined from similar events): ");
  note.message = cut_message(std::move(note.message));
  if (waiting_.size() >= options_.queue_max || !may_speak(about, note.type, now)) {
    ++dropped_;
    return;
  }
  SightingPtr& sighting = seen_.use(key_of(key));
  if (sighting == nullptr) {
    const api::ObjectMeta& meta = about.meta();
    sighting = std::make_shared<Sighting>();
    sighting->combined = combined;
    sighting->regarding = {&about.kind(), meta.name_space, meta.name, meta.uid, about.revision()};
    sighting->name = name_for(meta.name, now);
    sighting->first = now;
  }
  sighting->note = std::move(note);
  sighting->last = now;
  ++sighting->count;
  if (sighting->busy) return;
  sighting->busy = true;
  sighting->tries = 0;
  waiting_.push_back(sighting);
}

std::string EventRecorder::name_for(std::string_view object, Time now) {
  const auto nanos = std::chrono::nanoseconds{now.time_since_epoch()}.count();
  // Several within a microsecond stay apart, as nanoseconds would keep them.
  const std::string suffix =
      fmt::format(".{:x}", static_cast<std::uint64_t>(nanos) + counter_++ % 1'000);
  std::string name(object.substr(0, kNameMax - suffix.size()));
  while (!name.empty() && (name.back() == '.' || name.back() == '-')) name.pop_back();
  return name + suffix;
}

api::Json EventRecorder::body(const Sighting& sighting) const {
  api::JsonObject event;
  event.reserve(12);  // all that follows; one is made for every pod that is bound
  api::JsonObject& metadata = api::ensure_object(event, "metadata");
  metadata["name"] = sighting.name;
  metadata["namespace"] = name_space_of(sighting);
  event["involvedObject"] = reference_to(sighting.regarding);
  event["reason"] = sighting.note.reason;
  event["message"] = sighting.note.message;
  const EventNote& note = sighting.note;
  const std::string& component = note.component.empty() ? options_.component : note.component;
  api::ensure_object(event, "source")["component"] = component;
  event["firstTimestamp"] = format_time(sighting.first);
  event["lastTimestamp"] = format_time(sighting.last);
  event["count"] = sighting.count;
  event["type"] = sighting.note.type;
  event["action"] = sighting.note.action;
  event["reportingComponent"] = component;
  event["reportingInstance"] = note.instance.empty() ? options_.instance : note.instance;
  return event;
}

void EventRecorder::run(Time now) {
  seen_.drop_while([&](const SightingPtr& sighting) {
    return !sighting->busy && sighting->last + options_.repeats_within <= now;
  });
  similar_.drop_while(
      [&](const Similar& similar) { return similar.last + options_.similar_within < now; });
  silence_.drop_while([&](Time full_at) { return full_at <= now; });
  while (!retries_.empty() && retries_.begin()->first.first <= now) {
    waiting_.push_back(retries_.begin()->second);
    retries_.erase(retries_.begin());
  }
  while (!waiting_.empty() && in_flight_ < options_.in_flight_max) {
    const SightingPtr sighting = std::move(waiting_.front());
    waiting_.pop_front();
    send(sighting);
  }
}

void EventRecorder::send(const SightingPtr& sighting) {
  ++in_flight_;
  ++sighting->tries;
  api::Request request;
  if (sighting->written == 0) {
    request = create_request(api::kinds::event(), name_space_of(*sighting), body(*sighting));
  } else {
    api::JsonObject patch;
    patch["count"] = sighting->count;
    patch["lastTimestamp"] = format_time(sighting->last);
    if (sighting->combined) patch["message"] = sighting->note.message;
    request = patch_request(api::kinds::event(), name_space_of(*sighting), sighting->name, "",
                            api::PatchType::StrategicMerge, std::move(patch));
  }
  calls_.send(std::move(request),
              [this, sighting, sent = sighting->count](const Outcome& outcome, Time now) {
                finish(sighting, sent, outcome, now);
              });
}

void EventRecorder::finish(const SightingPtr& sighting, std::int64_t sent, const Outcome& outcome,
                           Time now) {
  CHECK(in_flight_ > 0 && sighting->busy);
  --in_flight_;
  sighting->busy = false;
  const auto again = [&] {
    sighting->busy = true;
    waiting_.push_back(sighting);
  };
  if (outcome) {
    sighting->written = sent;
    sighting->tries = 0;
    if (sighting->count > sent) again();
  } else if (outcome.error().reason == Reason::NotFound && sighting->written > 0) {
    sighting->written = 0;  // expired on the server: create it again
    again();
  } else if (outcome.error().reason == Reason::AlreadyExists && sighting->tries < 4) {
    const std::size_t dot = sighting->name.rfind('.');
    sighting->name = name_for(std::string_view(sighting->name).substr(0, dot), now);
    again();
  } else if (const auto delay = retry_delay(outcome.error(), sighting->tries, {})) {
    sighting->busy = true;
    retries_.emplace(std::pair{now + *delay, ++counter_}, sighting);
  } else {
    ++dropped_;
  }
  run(now);
}

std::optional<Time> EventRecorder::next_deadline() const {
  return retries_.empty() ? std::nullopt : std::optional(retries_.begin()->first.first);
}

}  // namespace muster::client

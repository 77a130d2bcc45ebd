#include "server/core/write/event_expiry.h"

#include <algorithm>
#include <chrono>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.h"
#include "server/core/request/selection.h"
#include "server/core/write/deletion.h"

namespace muster::server {
namespace {

constexpr std::chrono::hours kEventLife{1};

// When something last happened to an event.
Time last_seen(const api::Object& event) {
  Time seen = event.meta().creation_time.value_or(Time());
  for (const std::string_view field : {"lastTimestamp", "eventTime", "series.lastObservedTime"})
    if (const auto time = parse_time(scalar_at(event.bytes(), field))) seen = std::max(seen, *time);
  return seen;
}

api::Request about_events() {
  api::Request request;
  request.verb = api::Verb::Delete;
  request.kind = &api::kinds::event();
  request.version = request.kind->stored_version;
  return request;
}

class EventExpiry final : public SlicedRequest {
 public:
  EventExpiry() : SlicedRequest(about_events(), nullptr) {}

  bool step(Context& context) override {
    if (!listed_) events_ = context.staging.list(request_.kind->store_prefix + "/");
    listed_ = true;
    std::size_t changes = 0;
    for (std::size_t looks = 0; next_ < events_.size() && looks < kSliceLooks; ++looks) {
      if (changes == kSliceChanges) break;
      const api::ObjectPtr event = std::exchange(events_[next_++], nullptr);
      if (context.now - last_seen(*event) < kEventLife) continue;
      ++changes;
      expire(context, event->meta());
    }
    return next_ == events_.size();
  }

 private:
  void expire(Context& context, const api::ObjectMeta& meta) {
    const api::ObjectPtr event =
        context.staging.get(store::make_key(*request_.kind, meta.name_space, meta.name));
    if (!event || context.now - last_seen(*event) < kEventLife) return;
    request_.name_space = meta.name_space;
    request_.name = meta.name;
    if (Result<Decision> decision = decide_removal(context, event, {}))
      context.staging.stage(request_, *std::move(decision), nullptr);
    else
      log(LogLevel::Warning, "expiring event {}: {}", meta.name, decision.error().message);
  }

  bool listed_ = false;
  std::vector<api::ObjectPtr> events_;  // null once looked at
  std::size_t next_ = 0;
};

}  // namespace

std::unique_ptr<SlicedRequest> make_event_expiry() { return std::make_unique<EventExpiry>(); }

}  // namespace muster::server

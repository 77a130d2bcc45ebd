#include "server/core/write/event_expiry.h"

#include <chrono>
#include <cstddef>
#include <string_view>
#include <utility>

#include "base/log.h"
#include "server/core/request/selection.h"
#include "server/core/write/deletion.h"
#include "server/core/write/object_walk.h"

namespace muster::server {
namespace {

constexpr std::chrono::hours kEventLife{1};

// Whether nothing has happened to an event for as long as events live. `searched` counts the bytes
// that were read to find out: most events are younger, and say so in their metadata.
bool is_over(const api::Object& event, Time now, std::size_t& searched) {
  const Time recent = now - kEventLife;
  if (event.meta().creation_time.value_or(Time()) > recent) return false;
  for (const std::string_view field : {"lastTimestamp", "eventTime", "series.lastObservedTime"}) {
    searched += event.bytes().size();
    if (const auto time = parse_time(scalar_at(event.bytes(), field)); time && *time > recent)
      return false;
  }
  return true;
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
  EventExpiry()
      : SlicedRequest(about_events(), nullptr), walk_(request_.kind->store_prefix + "/") {}

  bool step(Context& context) override {
    std::size_t changes = 0;
    std::size_t bytes = 0;
    std::size_t searched = 0;
    for (std::size_t looks = 0; !walk_.done() && looks < kSliceLooks; ++looks) {
      if (changes == kSliceChanges || bytes >= kSliceBytes || searched >= kSliceSearch) break;
      const api::ObjectPtr event = walk_.next(context.staging);
      if (!event || !is_over(*event, context.now, searched)) continue;
      ++changes;
      bytes += event->bytes().size();
      expire(context, event);
    }
    return walk_.done();
  }

 private:
  void expire(Context& context, const api::ObjectPtr& event) {
    const api::ObjectMeta& meta = event->meta();
    request_.name_space = meta.name_space;
    request_.name = meta.name;
    if (Result<Decision> decision = decide_removal(context, event, {}))
      context.staging.stage(request_, *std::move(decision), nullptr);
    else
      log(LogLevel::Warning, "expiring event {}: {}", meta.name, decision.error().message);
  }

  ObjectWalk walk_;
};

}  // namespace

std::unique_ptr<SlicedRequest> make_event_expiry() { return std::make_unique<EventExpiry>(); }

}  // namespace muster::server

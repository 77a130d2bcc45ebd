#include "client/kit/controller.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/log.h"

namespace muster::client {

Controller::Controller(std::string_view name, ComponentContext context, std::vector<Watch> watches)
    : name_(name),
      watches_(std::move(watches)),
      calls_(std::move(context.send), context.metrics, context.host),
      events_({.component = name_ + "-controller", .instance = name_ + "-controller"}, calls_),
      work_(name, context.metrics),
      stopwatch_(std::move(context.stopwatch)) {
  if (context.metrics == nullptr) return;
  objects_read_ = context.metrics->counter("muster_controller_objects_read_total",
                                           "Objects that a controller looked at, from its mirrors.",
                                           {{"name", name_}});
  if (!stopwatch_) return;
  constexpr std::array kBounds{1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0, 1e2, 1e3};
  worked_ = context.metrics->histogram(
      "workqueue_work_duration_seconds",
      "How long in seconds processing an item from workqueue takes.", {{"name", name_}}, kBounds);
}

std::vector<const api::Kind*> Controller::watched_kinds() const {
  std::vector<const api::Kind*> out;
  out.reserve(watches_.size());
  for (const Watch& watch : watches_) out.push_back(watch.kind);
  return out;
}

void Controller::apply(Input input, Time now) {
  if (const auto* event = std::get_if<Event>(&input))
    on_event(*event, now);
  else if (const auto* called = std::get_if<Called>(&input))
    calls_.complete(called->ticket, called->outcome, now);
  else
    synced_ = true;
}

const Controller::Watch* Controller::watch_of(const api::Kind& kind) const {
  const auto at = std::ranges::find(watches_, &kind, &Watch::kind);
  return at == watches_.end() ? nullptr : &*at;
}

const Mirror* Controller::mirror_of(const api::Kind& kind) const {
  const Watch* watch = watch_of(kind);
  return watch == nullptr ? nullptr : watch->mirror;
}

void Controller::on_event(const Event& event, Time now) {
  const Watch* watch = watch_of(event.object->kind());
  CHECK(watch != nullptr);
  const bool ours = !watch->only || watch->only(*event.object);
  if (!ours && watch->mirror == nullptr) return;
  Change change{.before = nullptr, .after = nullptr, .at = now};
  // What no longer passes `only` is gone for this controller.
  if (event.type == Event::Type::Deleted || !ours) {
    change.before = event.object;
    if (watch->mirror != nullptr) {
      change.before = watch->mirror->remove(*event.object);
      if (change.before == nullptr) return;  // never seen
    }
  } else {
    change.after = event.object;
    if (watch->mirror != nullptr) change.before = watch->mirror->put(event.object);
  }
  for (const std::string& key : watch->keys_of(change)) work_.add(key, now);
}

std::size_t Controller::run_once(Time now, std::size_t limit) {
  if (!synced_) return 0;
  std::size_t done = 0;
  for (; done < limit && has_room(); ++done) {
    const std::optional<std::string> key = work_.pop(now);
    if (!key) break;
    look_at(*key, now);
  }
  events_.run(now);
  return done;
}

bool Controller::has_room() const {
  return calls_.under_way() < kCallsMax && calls_.bytes_under_way() < kCallBytesMax;
}

void Controller::look_at(const std::string& key, Time now) {
  const auto start = stopwatch_ ? stopwatch_() : std::chrono::nanoseconds{};
  charged_ = 0;
  const std::uint64_t before = count_reads();
  reconcile(key, now);
  if (stopwatch_) worked_.observe(std::chrono::duration<double>(stopwatch_() - start).count());
  // It made no call, so there was nothing to do.
  if (!work_.is_held(key)) work_.forget_failures(key);
  const std::uint64_t reads = count_reads();
  work_.charge(key, reads - before + charged_);
  objects_read_.add(static_cast<double>(reads - std::exchange(counted_reads_, reads)));
}

std::uint64_t Controller::count_reads() const {
  std::uint64_t reads = 0;
  for (const Watch& watch : watches_)
    if (watch.mirror != nullptr) reads += watch.mirror->reads();
  return reads;
}

std::optional<Time> Controller::next_deadline() const {
  if (!synced_) return std::nullopt;
  // With too much under way, the next answer leads to the next look.
  const std::optional<Time> work = has_room() ? work_.next_deadline() : std::nullopt;
  const std::optional<Time> events = events_.next_deadline();
  return work && events ? std::min(*work, *events) : work ? work : events;
}

void Controller::call(const std::string& key, api::Request request) {
  call(key, std::move(request),
       [this, key](const Outcome& outcome, Time now) { finish(key, outcome, now); });
}

void Controller::call(const std::string& key, api::Request request, Calls::OnOutcome on_outcome) {
  work_.hold(key);
  calls_.send(std::move(request),
              [this, key, on_outcome = std::move(on_outcome)](const Outcome& outcome, Time now) {
                on_outcome(outcome, now);
                work_.release(key, now);
              });
}

void Controller::finish(const std::string& key, const Outcome& outcome, Time now) {
  if (outcome || outcome.error().reason == Reason::NotFound) return work_.forget_failures(key);
  log(LogLevel::Debug, "{}: {}: {}; trying again", name_, key, outcome.error().message);
  work_.retry(key, now);
}

Controller::Keys Controller::own_key(const Change& change) {
  return {api::key_text(change.newest().meta())};
}

NamespacedName split_key(std::string_view key) {
  const std::size_t slash = key.find('/');
  if (slash == std::string_view::npos) return {.name_space = {}, .name = key};
  return {.name_space = key.substr(0, slash), .name = key.substr(slash + 1)};
}

}  // namespace muster::client

#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "client/component.h"
#include "client/kit/calls.h"
#include "client/kit/event_recorder.h"
#include "client/kit/mirror.h"
#include "client/kit/work_queue.h"

namespace muster::client {

// The part that all controllers share: feeds fill mirrors, changes make keys due, keys that are due
// are reconciled one after the other, calls that fail are tried again after a pause. A controller
// adds which kinds it watches, which keys a change concerns, and what to do about a key:
//
//   class Janitor final : public client::Controller {
//    public:
//     explicit Janitor(client::ComponentContext context)
//         : Controller("janitor", std::move(context),
//                      {{.kind = &api::kinds::pod(), .mirror = &pods_, .keys_of = own_key}}) {}
//
//    private:
//     void reconcile(const std::string& key, Time now) override;
//     client::Mirror pods_;
//   };
//
// Nothing is reconciled before every watched kind has handed over what exists, nor while a call
// about the key is under way; changes in between are looked at afterwards. Namespaces take
// turns, and a look at many objects counts as several turns. While kCallsMax calls, or
// kCallBytesMax of requests, are under way no look begins: otherwise one namespace could go
// before all others.
class Controller : public Component {
 public:
  static constexpr std::size_t kCallsMax = 2000;
  static constexpr std::size_t kCallBytesMax = 64UL << 20U;

  void apply(Input input, Time now) final;
  std::size_t run_once(Time now, std::size_t limit) final;
  std::optional<Time> next_deadline() const final;
  std::vector<const api::Kind*> watched_kinds() const final;

 protected:
  using Keys = std::vector<std::string>;
  // One object that was added, changed or removed.
  struct Change {
    api::ObjectPtr before;  // null: it is new; without a mirror only set if removed
    api::ObjectPtr after;   // null: it was removed
    Time at;
    const api::Object& newest() const { return after ? *after : *before; }
  };
  struct Watch {
    const api::Kind* kind;
    Mirror* mirror = nullptr;  // kept up to date before keys_of is asked; may be null
    // Which keys a change concerns.
    std::function<Keys(const Change& change)> keys_of;
    // Objects for which this is false are ignored; empty: none are.
    std::function<bool(const api::Object& object)> only = nullptr;
  };

  // `name` is its name in logs and metrics; its events come from "<name>-controller".
  Controller(std::string_view name, ComponentContext context, std::vector<Watch> watches);

  // Compares what is with what should be, for one key, and makes at most a few calls. It is asked
  // again when something changes that concerns the key, or after a call has failed.
  virtual void reconcile(const std::string& key, Time now) = 0;

  // Makes a call about a key. Without a function of its own the outcome is handled by finish().
  void call(const std::string& key, api::Request request);
  void call(const std::string& key, api::Request request, Calls::OnOutcome on_outcome);
  // Forgets the failures of the key after a success, or tries again after a pause. NotFound is not
  // a failure: the feed will show that the object is gone.
  void finish(const std::string& key, const Outcome& outcome, Time now);
  std::size_t calls_under_way() const { return calls_.under_way(); }
  // The current look has cost as much as reading this many objects of mirrors; reads of mirrors are
  // counted automatically.
  void charge(std::uint64_t objects) { charged_ += objects; }

  // Tells users what happened to an object.
  void record(const api::Object& about, EventNote note, Time now) {
    events_.record(about, std::move(note), now);
  }
  void record(const api::Object& about, std::string_view type, std::string_view reason,
              std::string message, Time now) {
    record(about,
           {.type = std::string(type),
            .reason = std::string(reason),
            .action = "",
            .message = std::move(message)},
           now);
  }

  WorkQueue& work() { return work_; }
  // The mirror of a watched kind; null if the kind is not watched or has none.
  const Mirror* mirror_of(const api::Kind& kind) const;

  // The key that most controllers use: namespace/name of the object itself.
  static Keys own_key(const Change& change);

 private:
  void on_event(const Event& event, Time now);
  bool has_room() const;
  void look_at(const std::string& key, Time now);
  std::uint64_t count_reads() const;
  const Watch* watch_of(const api::Kind& kind) const;

  const std::string name_;
  const std::vector<Watch> watches_;
  Calls calls_;
  EventRecorder events_;
  WorkQueue work_;
  const std::function<std::chrono::nanoseconds()> stopwatch_;
  Histogram worked_;
  Counter objects_read_;
  std::uint64_t counted_reads_ = 0;  // of those that it has counted
  std::uint64_t charged_ = 0;        // by the look that is under way
  bool synced_ = false;
};

// The two halves of a key "namespace/name"; objects without a namespace have the name alone.
struct NamespacedName {
  std::string_view name_space;
  std::string_view name;
};
NamespacedName split_key(std::string_view key);

}  // namespace muster::client
